/* SPDX-License-Identifier: MIT */
/* The iterator finds what does not fit together under right checksums. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/coding.h"
#include "support/random.h"
#include "support/table_fixture.h"
#include "table/page.h"

/* Some pages of uniform hashes, then a group of some pages. */
static void make_fixture(table_fixture *f)
{
    random_source random = {11};
    table_entry *entries = table_entries_alloc(5000);
    for (size_t i = 0; i < 5000; i++) {
        uint64_t r = random_next(&random);
        uint64_t hash = i < 2000   ? r >> 1
                        : i < 3500 ? UINT64_C(0x9000000000000000) | r >> 33
                                   : UINT64_C(0xa000000000000000);
        entries[i] = (table_entry){hash, random_next(&random)};
    }
    table_fixture_init(f, table_options(48, 30, 1), entries, 5000);
}

/* What the iterator says of the whole table. */
static ksv_status iterate(table_bytes *file, size_t *count, ksv_error *error)
{
    ksv_table *table;
    ksv_table_iterator *iterator;
    bool end = false;
    *count = 0;
    ksv_status status = ksv_table_open(&file->base, NULL, &table, error);
    if (status != KSV_OK)
        return status;
    status = ksv_table_iterator_open(table, &iterator, error);
    while (status == KSV_OK && !end) {
        uint64_t hash, payload;
        status =
            ksv_table_iterator_next(iterator, &hash, &payload, &end, error);
        if (status == KSV_OK && !end)
            ++*count;
        if (status == KSV_ERROR_CORRUPT)
            assert_int_equal(
                ksv_table_iterator_next(iterator, &hash, &payload, &end, NULL),
                KSV_ERROR_CORRUPT);
    }
    ksv_table_iterator_close(iterator);
    ksv_table_close(table);
    return status;
}

static void check_refused(table_fixture *f, const char *why)
{
    size_t count;
    ksv_error error = {0};
    table_reseal(f->file.data, f->file.size);
    assert_int_equal(iterate(&f->file, &count, &error), KSV_ERROR_CORRUPT);
    if (strstr(error.text, why) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", error.text, why);
    table_fixture_release(f);
}

static uint8_t *page_of(const table_fixture *f, uint64_t number)
{
    assert_true(number < f->info.pages);
    return f->file.data + table_page_offset(number);
}

static uint8_t *footer_of(const table_fixture *f)
{
    return f->file.data + f->file.size - TABLE_FOOTER_BYTES;
}

static void test_all_is_well(void **state)
{
    (void)state;
    table_fixture f;
    size_t count;
    make_fixture(&f);
    assert_int_equal(iterate(&f.file, &count, NULL), KSV_OK);
    assert_int_equal(count, 5000);
    /* Both kinds of division are there. */
    unsigned flags = 0;
    for (uint64_t i = 0; i < f.info.pages; i++)
        flags |= page_of(&f, i)[PAGE_FLAGS];
    assert_int_equal(flags, TABLE_FLAGS);
    table_fixture_release(&f);
}

static void test_disorder_within_a_page(void **state)
{
    (void)state;
    table_fixture f;
    make_fixture(&f);
    /* Bits of the low parts, which all are in the middle of the page. */
    uint8_t *page = page_of(&f, 1);
    for (size_t i = 500; i < 600; i++)
        page[i] = (uint8_t)~page[i];
    check_refused(&f, "order");
    make_fixture(&f);
    /* The payloads of a run stand at the end. */
    page = page_of(&f, f.info.pages - 2);
    for (size_t i = 3000; i < 3010; i++)
        page[i] = (uint8_t)~page[i];
    check_refused(&f, "order");
}

static void test_pages_of_a_group_exchanged(void **state)
{
    (void)state;
    table_fixture f;
    uint8_t other[TABLE_PAGE_BYTES];
    make_fixture(&f);
    uint64_t first = f.info.pages;
    while (first > 0 &&
           load_u64(page_of(&f, first - 1) + PAGE_BASE) >> 16 >= 0x90000000)
        first--;
    memcpy(other, page_of(&f, first), sizeof other);
    memcpy(page_of(&f, first), page_of(&f, first + 1), sizeof other);
    memcpy(page_of(&f, first + 1), other, sizeof other);
    store_u32(page_of(&f, first) + PAGE_NUMBER, (uint32_t)first);
    store_u32(page_of(&f, first + 1) + PAGE_NUMBER, (uint32_t)first + 1);
    uint8_t flags = page_of(&f, first)[PAGE_FLAGS];
    page_of(&f, first)[PAGE_FLAGS] = page_of(&f, first + 1)[PAGE_FLAGS];
    page_of(&f, first + 1)[PAGE_FLAGS] = flags;
    check_refused(&f, "order");
}

static void test_flags(void **state)
{
    (void)state;
    static const uint8_t wrong[] = {TABLE_FLAG_GROUP_BEFORE,
                                    TABLE_FLAG_GROUP_AFTER, TABLE_FLAGS};
    table_fixture f;
    make_fixture(&f);
    uint64_t pages = f.info.pages;
    table_fixture_release(&f);
    for (uint64_t i = 0; i < pages; i++)
        for (size_t w = 0; w < sizeof wrong; w++) {
            make_fixture(&f);
            uint8_t *flags = page_of(&f, i) + PAGE_FLAGS;
            if (*flags == wrong[w]) {
                table_fixture_release(&f);
                continue;
            }
            *flags = wrong[w];
            check_refused(&f, w < 2 || i + 1 < pages ? "" : "flags");
        }
}

static void test_fences(void **state)
{
    (void)state;
    table_fixture f;
    make_fixture(&f);
    uint8_t *fences = f.file.data + table_page_offset(f.info.pages);
    store_u32(fences + 16 + 4, load_u32(fences + 16 + 4) + 1);
    check_refused(&f, "fence");
}

/* Counts that are possible but not those of the pages. */
static void test_totals(void **state)
{
    (void)state;
    static const struct {
        size_t offset;
        uint64_t more;
        const char *why;
    } cases[] = {{8, 1, "counts"},           {8, UINT64_MAX, "counts"},
                 {16, UINT64_MAX, "counts"}, {40, 1, "counts"},
                 {40, UINT64_MAX, "counts"}, {48, 65536, "first"},
                 {56, 65536, "last"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        table_fixture f;
        make_fixture(&f);
        uint8_t *field = footer_of(&f) + cases[i].offset;
        store_u64(field, load_u64(field) + cases[i].more);
        check_refused(&f, cases[i].why);
    }
}

static void test_failed_reads(void **state)
{
    (void)state;
    table_fixture f;
    make_fixture(&f);
    for (long i = 0;; i++) {
        size_t count;
        ksv_error error;
        f.file.reads = 0;
        f.file.failing_read = i;
        ksv_status status = iterate(&f.file, &count, &error);
        if (f.file.reads <= i) {
            assert_int_equal(status, KSV_OK);
            assert_int_equal(i, 4);
            break;
        }
        assert_int_equal(status, KSV_ERROR_IO);
    }
    table_fixture_release(&f);
}

/* A read that failed may be tried again. */
static void test_goes_on_after_a_failed_read(void **state)
{
    (void)state;
    table_fixture f;
    make_fixture(&f);
    ksv_table *table;
    ksv_table_iterator *iterator;
    assert_int_equal(ksv_table_open(&f.file.base, NULL, &table, NULL), KSV_OK);
    assert_int_equal(ksv_table_iterator_open(table, &iterator, NULL), KSV_OK);
    f.file.failing_read = 2;
    uint64_t hash, payload;
    bool end = false;
    assert_int_equal(
        ksv_table_iterator_next(iterator, &hash, &payload, &end, NULL),
        KSV_ERROR_IO);
    for (size_t i = 0; i < f.count; i++) {
        assert_int_equal(
            ksv_table_iterator_next(iterator, &hash, &payload, &end, NULL),
            KSV_OK);
        assert_false(end);
        assert_true(hash == f.entries[i].hash &&
                    payload == f.entries[i].payload);
    }
    assert_int_equal(
        ksv_table_iterator_next(iterator, &hash, &payload, &end, NULL), KSV_OK);
    assert_true(end);
    ksv_table_iterator_close(iterator);
    ksv_table_iterator_close(NULL);
    ksv_table_close(table);
    table_fixture_release(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_is_well),
        cmocka_unit_test(test_disorder_within_a_page),
        cmocka_unit_test(test_pages_of_a_group_exchanged),
        cmocka_unit_test(test_flags),
        cmocka_unit_test(test_fences),
        cmocka_unit_test(test_totals),
        cmocka_unit_test(test_failed_reads),
        cmocka_unit_test(test_goes_on_after_a_failed_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
