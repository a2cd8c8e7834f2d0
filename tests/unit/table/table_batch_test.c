/* SPDX-License-Identifier: MIT */
/* Tables written in batches are those that are written entry by entry. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "support/random.h"
#include "table/table_batch.h"

#define MOST_ENTRIES 60000

/* A file that keeps what is appended. */
typedef struct kept_file {
    ksv_file base;
    byte_buffer bytes;
    bool fails;
} kept_file;

static ksv_status keep(ksv_file *base, const void *data, size_t size_bytes,
                       ksv_error *error)
{
    kept_file *file = (kept_file *)base;
    if (file->fails)
        return KSV_ERROR_IO;
    return buffer_append(&file->bytes, data, size_bytes, error);
}

static const ksv_file_ops KEPT_OPS = {.append = keep};

static ksv_allocator allocator;

static kept_file new_file(void)
{
    allocator = allocator_or_default(NULL);
    kept_file file = {.base = {&KEPT_OPS}};
    buffer_init(&file.bytes, &allocator);
    return file;
}

static ksv_table_options options_for(unsigned payload_bits)
{
    return (ksv_table_options){.hash_bits = 40,
                               .payload_bits = payload_bits,
                               .hasher = {.kind = KSV_HASH_XXH3}};
}

static ksv_table_writer *open_writer(kept_file *file, unsigned payload_bits)
{
    ksv_table_options options = options_for(payload_bits);
    ksv_table_writer *w;
    assert_int_equal(
        ksv_table_writer_open(&file->base, &options, NULL, &w, NULL), KSV_OK);
    return w;
}

static ksv_table_info finish(ksv_table_writer *w)
{
    ksv_table_info info;
    assert_int_equal(ksv_table_writer_finish(w, &info, NULL), KSV_OK);
    ksv_table_writer_close(w);
    return info;
}

static ksv_table_info write_one_by_one(kept_file *file, unsigned payload_bits,
                                       const hash_entry *entries, size_t count)
{
    ksv_table_writer *w = open_writer(file, payload_bits);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(
            ksv_table_writer_add(w, ksv_hash_truncate(entries[i].hash, 40),
                                 entries[i].payload, NULL),
            KSV_OK);
    return finish(w);
}

/* As many batches at once as fit, of sizes up to `most`; their pages are made
 * in any order. */
static ksv_table_info write_batches(kept_file *file, unsigned payload_bits,
                                    const hash_entry *entries, size_t count,
                                    size_t most, random_source *random)
{
    enum { BATCHES = 3 };
    table_batch batches[BATCHES];
    for (size_t i = 0; i < BATCHES; i++)
        table_batch_init(&batches[i], NULL);
    ksv_table_writer *w = open_writer(file, payload_bits);
    for (size_t done = 0; done < count;) {
        size_t used = 0;
        for (; used < BATCHES && done < count; used++) {
            size_t size = 1 + (size_t)random_below(random, most);
            if (size > count - done)
                size = count - done;
            assert_int_equal(
                table_batch_plan(&batches[used], w, entries + done, size, NULL),
                KSV_OK);
            done += size;
        }
        for (size_t i = used; i-- > 0;)
            table_batch_make_pages(&batches[i]);
        for (size_t i = 0; i < used; i++)
            assert_int_equal(table_batch_append(&batches[i], w, NULL), KSV_OK);
    }
    for (size_t i = 0; i < BATCHES; i++)
        table_batch_release(&batches[i]);
    return finish(w);
}

static int compare(const void *a, const void *b)
{
    const hash_entry *x = a, *y = b;
    uint64_t p = ksv_hash_truncate(x->hash, 40);
    uint64_t q = ksv_hash_truncate(y->hash, 40);
    if (p != q)
        return p < q ? -1 : 1;
    return (x->payload > y->payload) - (x->payload < y->payload);
}

/* Hashes whose top bits repeat as `kind` says: 0 not at all, 1 in groups, 2 in
 * groups longer than a page, 3 in runs longer than a page. */
static uint64_t make_hash(random_source *random, unsigned kind)
{
    uint64_t r = random_next(random);
    switch (kind) {
    case 0:
        return r;
    case 1:
        return r >> 44 << 44 | (r & UINT64_C(0xffffffff));
    case 2:
        return (r & 3) << 60 | (r >> 10 & UINT64_C(0xffffffff));
    default:
        return (r & 7) << 61 | (r >> 40 & 3) << 24 | (r >> 50);
    }
}

static void check_kind(unsigned kind, size_t count, unsigned payload_bits,
                       size_t most, random_source *random)
{
    static hash_entry entries[MOST_ENTRIES];
    for (size_t i = 0; i < count; i++)
        entries[i] = (hash_entry){make_hash(random, kind),
                                  random_next(random) >> (64 - payload_bits)};
    qsort(entries, count, sizeof *entries, compare);
    kept_file one = new_file();
    kept_file many = new_file();
    ksv_table_info a = write_one_by_one(&one, payload_bits, entries, count);
    ksv_table_info b =
        write_batches(&many, payload_bits, entries, count, most, random);
    assert_int_equal(one.bytes.size, many.bytes.size);
    assert_memory_equal(one.bytes.data, many.bytes.data, one.bytes.size);
    assert_true(a.entries == b.entries && a.pages == b.pages &&
                a.distinct_hashes == b.distinct_hashes &&
                a.longest_run == b.longest_run && a.file_bytes == b.file_bytes);
    buffer_release(&one.bytes);
    buffer_release(&many.bytes);
}

static void test_batches_make_the_same_table(void **state)
{
    (void)state;
    static const size_t most[] = {1, 300, 2500, 20000, MOST_ENTRIES};
    random_source random = {11};
    for (unsigned kind = 0; kind < 4; kind++)
        for (size_t m = 0; m < sizeof most / sizeof most[0]; m++) {
            size_t count = most[m] == 1 ? 2000 : MOST_ENTRIES;
            check_kind(kind, count, 30, most[m], &random);
            check_kind(kind, count / 2 + 17, 57, most[m], &random);
            check_kind(kind, count / 3 + 1, 1, most[m], &random);
        }
}

static void test_a_failed_append_is_told_again(void **state)
{
    (void)state;
    static hash_entry entries[5000];
    for (uint64_t i = 0; i < 5000; i++)
        entries[i] = (hash_entry){i << 40, i};
    kept_file file = new_file();
    ksv_table_writer *w = open_writer(&file, 30);
    table_batch batch;
    table_batch_init(&batch, NULL);
    assert_int_equal(table_batch_plan(&batch, w, entries, 5000, NULL), KSV_OK);
    table_batch_make_pages(&batch);
    file.fails = true;
    assert_int_equal(table_batch_append(&batch, w, NULL), KSV_ERROR_IO);
    file.fails = false;
    assert_int_equal(table_batch_plan(&batch, w, entries, 5000, NULL),
                     KSV_ERROR_IO);
    assert_int_equal(ksv_table_writer_finish(w, NULL, NULL), KSV_ERROR_IO);
    table_batch_release(&batch);
    ksv_table_writer_close(w);
    buffer_release(&file.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_batches_make_the_same_table),
        cmocka_unit_test(test_a_failed_append_is_told_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
