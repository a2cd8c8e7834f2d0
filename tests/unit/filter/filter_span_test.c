/* SPDX-License-Identifier: MIT */
/* Filters written in spans are those that are written hash by hash. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "filter/filter_writer.h"
#include "support/random.h"

#define ENTRIES 20000

typedef struct kept_file {
    ksv_file base;
    byte_buffer bytes;
} kept_file;

static ksv_status keep(ksv_file *base, const void *data, size_t size_bytes,
                       ksv_error *error)
{
    return buffer_append(&((kept_file *)base)->bytes, data, size_bytes, error);
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

static ksv_filter_writer *open_writer(kept_file *file,
                                      const ksv_filter_options *options)
{
    ksv_filter_writer *w;
    assert_int_equal(
        ksv_filter_writer_open(&file->base, options, NULL, &w, NULL), KSV_OK);
    return w;
}

static uint64_t finish(ksv_filter_writer *w)
{
    uint64_t keys;
    assert_int_equal(ksv_filter_writer_finish(w, &keys, NULL), KSV_OK);
    ksv_filter_writer_close(w);
    return keys;
}

static uint64_t write_one_by_one(kept_file *file,
                                 const ksv_filter_options *options,
                                 const hash_entry *entries, size_t count)
{
    ksv_filter_writer *w = open_writer(file, options);
    for (size_t i = 0; i < count; i++) {
        uint64_t hash = ksv_hash_truncate(entries[i].hash, options->hash_bits);
        assert_int_equal(ksv_filter_writer_add(w, hash, NULL), KSV_OK);
    }
    return finish(w);
}

static uint64_t write_spans(kept_file *file, const ksv_filter_options *options,
                            const hash_entry *entries, size_t count,
                            size_t most, random_source *random)
{
    ksv_filter_writer *w = open_writer(file, options);
    filter_span span;
    filter_span_init(&span, NULL);
    for (size_t done = 0; done < count;) {
        size_t size = 1 + (size_t)random_below(random, most);
        if (size > count - done)
            size = count - done;
        assert_int_equal(
            filter_span_fill(&span, options, entries + done, size, NULL),
            KSV_OK);
        assert_int_equal(filter_writer_add_span(w, &span, NULL), KSV_OK);
        done += size;
    }
    filter_span_release(&span);
    return finish(w);
}

static int compare(const void *a, const void *b)
{
    uint64_t x = ((const hash_entry *)a)->hash;
    uint64_t y = ((const hash_entry *)b)->hash;
    return (x > y) - (x < y);
}

static void check(double fpr, uint64_t mask, size_t most, random_source *random)
{
    static hash_entry entries[ENTRIES];
    ksv_filter_options options = {.hash_bits = 40,
                                  .hasher = {.kind = KSV_HASH_XXH3}};
    for (size_t i = 0; i < ENTRIES; i++)
        entries[i] = (hash_entry){random_next(random) & mask, 0};
    qsort(entries, ENTRIES, sizeof *entries, compare);
    assert_int_equal(
        ksv_filter_make_plan(ENTRIES, fpr, 40, &options.plan, NULL), KSV_OK);
    kept_file one = new_file();
    kept_file many = new_file();
    uint64_t a = write_one_by_one(&one, &options, entries, ENTRIES);
    uint64_t b = write_spans(&many, &options, entries, ENTRIES, most, random);
    assert_true(a == b);
    assert_int_equal(one.bytes.size, many.bytes.size);
    assert_memory_equal(one.bytes.data, many.bytes.data, one.bytes.size);
    buffer_release(&one.bytes);
    buffer_release(&many.bytes);
}

static void test_spans_make_the_same_filter(void **state)
{
    (void)state;
    static const double rates[] = {0.02, 0.005, 0.001, 0.0001, 0.3};
    static const size_t most[] = {1, 40, 3000, ENTRIES};
    random_source random = {5};
    for (size_t r = 0; r < 5; r++)
        for (size_t m = 0; m < 4; m++) {
            check(rates[r], UINT64_MAX, most[m], &random);
            /* Hashes that repeat, and such that leave most blocks empty. */
            check(rates[r], UINT64_C(0xfff0000000000fff), most[m], &random);
            check(rates[r], UINT64_C(0x0f00000fff000000), most[m], &random);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spans_make_the_same_filter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
