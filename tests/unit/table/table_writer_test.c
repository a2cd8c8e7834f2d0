/* SPDX-License-Identifier: MIT */
/* What a table writer accepts, refuses, and does when it cannot write. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/fault_allocator.h"
#include "support/random.h"
#include "support/table_fixture.h"

static void test_options(void **state)
{
    (void)state;
    static const struct {
        unsigned hash_bits;
        unsigned payload_bits;
        ksv_status status;
    } cases[] = {{36, 1, KSV_OK},
                 {64, 57, KSV_OK},
                 {35, 30, KSV_ERROR_ARGUMENT},
                 {65, 30, KSV_ERROR_ARGUMENT},
                 {40, 0, KSV_ERROR_ARGUMENT},
                 {40, 58, KSV_ERROR_ARGUMENT}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ksv_table_options options =
            table_options(cases[i].hash_bits, cases[i].payload_bits, 1);
        table_bytes file;
        ksv_table_writer *writer;
        table_bytes_init(&file);
        assert_int_equal(
            ksv_table_writer_open(&file.base, &options, NULL, &writer, NULL),
            cases[i].status);
        assert_int_equal(writer == NULL, cases[i].status != KSV_OK);
        ksv_table_writer_close(writer);
        table_bytes_release(&file);
    }
    ksv_table_options options = table_options(40, 30, 1);
    ksv_table_writer *writer;
    options.hasher.kind = (ksv_hash_kind)9;
    assert_int_equal(ksv_table_writer_open(NULL, &options, NULL, &writer, NULL),
                     KSV_ERROR_ARGUMENT);
}

/* Nothing that is refused leaves a trace in the table. */
static void test_refused_entries(void **state)
{
    (void)state;
    const uint64_t unit = UINT64_C(1) << 24;
    ksv_table_options options = table_options(40, 30, 1);
    table_bytes file;
    table_bytes_init(&file);
    ksv_table_writer *writer;
    ksv_table_info info;
    assert_int_equal(
        ksv_table_writer_open(&file.base, &options, NULL, &writer, NULL),
        KSV_OK);
    assert_int_equal(ksv_table_writer_add(writer, 5 * unit, 7, NULL), KSV_OK);
    static const struct {
        uint64_t hash;
        uint64_t payload;
    } wrong[] = {{4, 9}, {5, 6}, {6, UINT64_C(1) << 30}};
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(ksv_table_writer_add(writer, wrong[i].hash * unit,
                                              wrong[i].payload, NULL),
                         KSV_ERROR_ARGUMENT);
    assert_int_equal(ksv_table_writer_add(writer, 6 * unit + 1, 0, NULL),
                     KSV_ERROR_ARGUMENT);
    assert_int_equal(ksv_table_writer_add(writer, 5 * unit, 7, NULL), KSV_OK);
    assert_int_equal(ksv_table_writer_finish(writer, &info, NULL), KSV_OK);
    assert_true(info.entries == 2 && info.distinct_hashes == 1 &&
                info.longest_run == 2);
    size_t size = file.size;
    assert_int_equal(ksv_table_writer_add(writer, 9 * unit, 0, NULL),
                     KSV_ERROR_ARGUMENT);
    assert_int_equal(ksv_table_writer_finish(writer, &info, NULL),
                     KSV_ERROR_ARGUMENT);
    ksv_table_writer_close(writer);
    assert_int_equal(file.size, size);

    table_bytes clean;
    table_bytes_init(&clean);
    const table_entry entries[] = {{5 * unit, 7}, {5 * unit, 7}};
    assert_int_equal(
        table_write(&clean, &options, entries, 2, NULL, NULL, NULL), KSV_OK);
    assert_int_equal(clean.size, size);
    assert_memory_equal(clean.data, file.data, size);
    table_bytes_release(&clean);
    table_bytes_release(&file);
}

static void make_fixture(table_fixture *f, size_t count, unsigned hash_bits,
                         unsigned payload_bits)
{
    random_source random = {5};
    table_entry *entries = table_entries_alloc(count);
    for (size_t i = 0; i < count; i++)
        entries[i] = (table_entry){random_next(&random), random_next(&random)};
    table_fixture_init(f, table_options(hash_bits, payload_bits, 1), entries,
                       count);
}

static void test_failed_appends(void **state)
{
    (void)state;
    table_fixture f;
    make_fixture(&f, 20000, 40, 30);
    long appends = f.file.appends;
    assert_in_range(appends, 3, 100);
    for (long i = 0; i < appends; i++) {
        table_bytes file;
        table_bytes_init(&file);
        file.failing_append = i;
        ksv_table_writer *writer;
        ksv_error error;
        assert_int_equal(
            ksv_table_writer_open(&file.base, &f.options, NULL, &writer, NULL),
            KSV_OK);
        ksv_status status = KSV_OK;
        for (size_t e = 0; e < f.count && status == KSV_OK; e++)
            status = ksv_table_writer_add(writer, f.entries[e].hash,
                                          f.entries[e].payload, &error);
        if (status == KSV_OK)
            status = ksv_table_writer_finish(writer, NULL, &error);
        assert_int_equal(status, KSV_ERROR_IO);
        assert_int_equal(error.os_errno, 28);
        size_t size = file.size;
        assert_int_equal(
            ksv_table_writer_add(writer, UINT64_MAX << 24, 1, NULL),
            KSV_ERROR_IO);
        assert_int_equal(ksv_table_writer_finish(writer, NULL, NULL),
                         KSV_ERROR_IO);
        assert_int_equal(file.size, size);
        ksv_table_writer_close(writer);
        table_bytes_release(&file);
    }
    table_fixture_release(&f);
}

static void test_failed_allocations(void **state)
{
    (void)state;
    table_fixture f;
    make_fixture(&f, 20000, 64, 57);
    for (size_t i = 1;; i++) {
        fault_allocator faults;
        fault_allocator_init(&faults, i);
        table_bytes file;
        table_bytes_init(&file);
        ksv_status status = table_write(&file, &f.options, f.entries, f.count,
                                        &faults.allocator, NULL, NULL);
        assert_true(fault_allocator_is_clean(&faults));
        if (status == KSV_OK) {
            assert_true(faults.calls < i && i > 3);
            assert_int_equal(file.size, f.file.size);
            assert_memory_equal(file.data, f.file.data, file.size);
            table_bytes_release(&file);
            break;
        }
        assert_int_equal(status, KSV_ERROR_MEMORY);
        table_bytes_release(&file);
    }
    table_fixture_release(&f);
}

/* The whole file, as the design counts it: a page of 4064 bytes is filled but
 * for less than an entry; fences and fixed parts come on top. */
static void test_size(void **state)
{
    (void)state;
    static const struct {
        unsigned hash_bits;
        unsigned payload_bits;
        double spread_bits; /* low bits and unary part of an entry */
    } cases[] = {
        /* 2^40 / 1e6 apart: 2^20 * 1.0486, so 19 low bits, 1 + 2.097 unary */
        {40, 30, 22.098},
        {41, 30, 23.098},
        {44, 28, 26.098},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        table_fixture f;
        make_fixture(&f, 1000000, cases[i].hash_bits, cases[i].payload_bits);
        double bits = cases[i].spread_bits + cases[i].payload_bits;
        double page_entries = 4064 * 8 / bits - 1;
        double bound = 1e6 / page_entries * (4096 + 4.1) + 3 * 4096;
        print_message("w %u, v %u: %.3f bytes an entry, bound %.3f\n",
                      cases[i].hash_bits, cases[i].payload_bits,
                      (double)f.info.file_bytes / 1e6, bound / 1e6);
        assert_true((double)f.info.file_bytes <= bound);
        table_fixture_release(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_options),
        cmocka_unit_test(test_refused_entries),
        cmocka_unit_test(test_failed_appends),
        cmocka_unit_test(test_failed_allocations),
        cmocka_unit_test(test_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
