/* SPDX-License-Identifier: MIT */
/* Entries in batches make the same table as one by one; its hashes alone are
 * those of the iterator. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/random.h"
#include "support/table_fixture.h"
#include "table/table_hashes.h"
#include "table/table_writer.h"

/* Hashes of which every `repeat`-th group of 2,000 is one key. */
static void make_fixture(table_fixture *f, size_t count, unsigned hash_bits,
                         unsigned payload_bits, size_t repeat)
{
    random_source random = {count + hash_bits};
    table_entry *entries = table_entries_alloc(count);
    for (size_t i = 0; i < count; i++) {
        uint64_t hash = random_next(&random);
        if (repeat > 0 && i / 2000 % repeat == 0)
            hash = UINT64_C(0x7700000000000000) + i / 2000;
        entries[i] = (table_entry){hash, random_next(&random)};
    }
    table_fixture_init(f, table_options(hash_bits, payload_bits, 1), entries,
                       count);
}

static void check_batches(const table_fixture *f, size_t most)
{
    random_source random = {most};
    table_bytes file;
    table_bytes_init(&file);
    ksv_table_writer *writer;
    ksv_table_info info;
    assert_int_equal(
        ksv_table_writer_open(&file.base, &f->options, NULL, &writer, NULL),
        KSV_OK);
    for (size_t done = 0; done < f->count;) {
        hash_entry batch[3000];
        size_t count = 1 + (size_t)random_below(&random, most);
        count = count < f->count - done ? count : f->count - done;
        for (size_t i = 0; i < count; i++) {
            /* Bits that the table does not keep play no part. */
            uint64_t more =
                random_next(&random) &
                ~ksv_hash_truncate(UINT64_MAX, f->options.hash_bits);
            batch[i].hash = f->entries[done + i].hash | more;
            batch[i].payload = f->entries[done + i].payload;
        }
        assert_int_equal(table_writer_add_entries(writer, batch, count, NULL),
                         KSV_OK);
        done += count;
    }
    assert_int_equal(ksv_table_writer_finish(writer, &info, NULL), KSV_OK);
    ksv_table_writer_close(writer);
    assert_int_equal(file.size, f->file.size);
    assert_memory_equal(file.data, f->file.data, file.size);
    assert_memory_equal(&info, &f->info, sizeof info);
    table_bytes_release(&file);
}

static void check_hashes(table_fixture *f)
{
    ksv_table *table;
    table_hashes *hashes;
    assert_int_equal(ksv_table_open(&f->file.base, NULL, &table, NULL), KSV_OK);
    assert_int_equal(table_hashes_open(table, &hashes, NULL), KSV_OK);
    size_t done = 0;
    for (;;) {
        const uint64_t *values;
        size_t count;
        assert_int_equal(table_hashes_next(hashes, &values, &count, NULL),
                         KSV_OK);
        if (count == 0)
            break;
        assert_true(count <= f->count - done);
        for (size_t i = 0; i < count; i++, done++)
            assert_true(values[i] == f->entries[done].hash);
    }
    assert_int_equal(done, f->count);
    table_hashes_close(hashes);
    table_hashes_close(NULL);
    ksv_table_close(table);
}

static void test_batches_and_hashes(void **state)
{
    (void)state;
    static const size_t counts[] = {0, 1, 700, 60000};
    static const unsigned bits[][2] = {{36, 1}, {44, 30}, {64, 57}};
    for (size_t c = 0; c < 4; c++)
        for (size_t b = 0; b < 3; b++)
            for (size_t repeat = 0; repeat <= 3; repeat += 3) {
                table_fixture f;
                make_fixture(&f, counts[c], bits[b][0], bits[b][1], repeat);
                check_batches(&f, 3000);
                check_batches(&f, 40);
                check_hashes(&f);
                table_fixture_release(&f);
            }
}

static void test_refused_batches(void **state)
{
    (void)state;
    const uint64_t unit = UINT64_C(1) << 24;
    ksv_table_options options = table_options(40, 30, 1);
    const hash_entry wrong[][2] = {{{5 * unit, 1}, {4 * unit, 1}},
                                   {{5 * unit, 2}, {5 * unit, 1}},
                                   {{5 * unit, 1}, {6 * unit, 1 << 30}}};
    for (size_t i = 0; i < 3; i++) {
        table_bytes file;
        table_bytes_init(&file);
        ksv_table_writer *writer;
        assert_int_equal(
            ksv_table_writer_open(&file.base, &options, NULL, &writer, NULL),
            KSV_OK);
        assert_int_equal(table_writer_add_entries(writer, wrong[i], 2, NULL),
                         KSV_ERROR_ARGUMENT);
        ksv_table_writer_close(writer);
        table_bytes_release(&file);
    }
}

/* A flipped bit anywhere in the pages is found. */
static void test_damage(void **state)
{
    (void)state;
    table_fixture f;
    make_fixture(&f, 3000, 44, 30, 0);
    for (size_t at = 4096; at < 4096 + f.info.pages * 4096; at += 97) {
        f.file.data[at] ^= 4;
        ksv_table *table;
        table_hashes *hashes;
        assert_int_equal(ksv_table_open(&f.file.base, NULL, &table, NULL),
                         KSV_OK);
        assert_int_equal(table_hashes_open(table, &hashes, NULL), KSV_OK);
        const uint64_t *values;
        size_t count = 1;
        ksv_status status = KSV_OK;
        while (status == KSV_OK && count > 0)
            status = table_hashes_next(hashes, &values, &count, NULL);
        assert_int_equal(status, KSV_ERROR_CORRUPT);
        table_hashes_close(hashes);
        ksv_table_close(table);
        f.file.data[at] ^= 4;
    }
    table_fixture_release(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_batches_and_hashes),
        cmocka_unit_test(test_refused_batches),
        cmocka_unit_test(test_damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
