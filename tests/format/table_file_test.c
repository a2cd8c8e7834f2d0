/* SPDX-License-Identifier: MIT */
/* Tables written before, cut short, changed or mixed up. With an argument it
 * writes the golden file there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/pace.h"
#include "support/random.h"
#include "support/table_fixture.h"
#include "table/table_format.h"

#define GOLDEN KSV_TEST_DIR "/format/golden/table_v1.kst"

/* Uniform hashes, close ones, and one repeated for more than a page. */
static void make_fixture(table_fixture *f, uint64_t seed, uint8_t id)
{
    random_source random = {seed};
    table_entry *entries = table_entries_alloc(1300);
    for (size_t i = 0; i < 1300; i++) {
        uint64_t hash = i < 400   ? random_next(&random)
                        : i < 600 ? UINT64_C(0x4000000000000000) | i << 21
                                  : UINT64_C(0x7777777777700000);
        entries[i] = (table_entry){hash, random_next(&random)};
    }
    table_fixture_init(f, table_options(44, 50, id), entries, 1300);
}

/* Every answer is that of the fixture, or an error. Returns whether there was
 * an error from opening or iterating. */
static bool check_answers(const table_fixture *f, table_bytes *file,
                          size_t finds)
{
    ksv_table *table;
    ksv_status status = ksv_table_open(&file->base, NULL, &table, NULL);
    if (status != KSV_OK)
        return true;
    random_source random = {file->size};
    for (size_t i = 0; i < finds; i++) {
        uint64_t hash =
            f->entries[random_below(&random, f->count)].hash + (i % 3 << 20);
        payload_list list = payload_list_of(f, hash);
        status =
            ksv_table_find(table, hash, payload_list_visit, &list, NULL, NULL);
        if (list.wrong ||
            (status == KSV_OK && list.visited != list.expected_count))
            fail_msg("a wrong answer");
    }
    ksv_table_iterator *iterator;
    assert_int_equal(ksv_table_iterator_open(table, &iterator, NULL), KSV_OK);
    bool end = false;
    size_t i = 0;
    while (!end) {
        uint64_t hash, payload;
        status = ksv_table_iterator_next(iterator, &hash, &payload, &end, NULL);
        if (status != KSV_OK)
            break;
        if (!end && (i >= f->count || hash != f->entries[i].hash ||
                     payload != f->entries[i].payload))
            fail_msg("a wrong entry");
        i += end ? 0 : 1;
    }
    if (status == KSV_OK)
        assert_int_equal(i, f->count);
    ksv_table_iterator_close(iterator);
    ksv_table_close(table);
    return status != KSV_OK;
}

static void test_golden(void **state)
{
    (void)state;
    static uint8_t golden[65536];
    FILE *in = fopen(GOLDEN, "rb");
    assert_non_null(in);
    size_t size = fread(golden, 1, sizeof golden, in);
    fclose(in);
    table_fixture f;
    make_fixture(&f, 1, 1);
    assert_int_equal(size, f.file.size);
    assert_memory_equal(golden, f.file.data, size);
    assert_false(check_answers(&f, &f.file, 2000));
    table_fixture_release(&f);
}

static void test_every_length(void **state)
{
    (void)state;
    table_fixture f;
    make_fixture(&f, 1, 1);
    size_t whole = f.file.size;
    for (size_t size = 0; size < whole; size += PACE_STEP) {
        ksv_table *table;
        ksv_error error = {0};
        f.file.size = size;
        assert_int_equal(ksv_table_open(&f.file.base, NULL, &table, &error),
                         KSV_ERROR_CORRUPT);
        assert_null(table);
        assert_int_equal(error.status, KSV_ERROR_CORRUPT);
    }
    f.file.size = whole;
    assert_int_equal(f.file.base.ops->append(&f.file.base, "\0", 1, NULL),
                     KSV_OK);
    assert_true(check_answers(&f, &f.file, 0));
    table_fixture_release(&f);
}

static void test_every_byte(void **state)
{
    (void)state;
    table_fixture f;
    make_fixture(&f, 1, 1);
    for (size_t i = 0; i < f.file.size; i += PACE_STEP) {
        uint8_t before = f.file.data[i];
        f.file.data[i] = (uint8_t)(before ^ 1u << i % 8);
        if (!check_answers(&f, &f.file, 3))
            fail_msg("byte %zu was changed and nobody saw it", i);
        f.file.data[i] = before;
    }
    assert_false(check_answers(&f, &f.file, 3));
    table_fixture_release(&f);
}

static void exchange(uint8_t *a, uint8_t *b)
{
    uint8_t page[TABLE_PAGE_BYTES];
    memcpy(page, a, sizeof page);
    memcpy(a, b, sizeof page);
    memcpy(b, page, sizeof page);
}

static void test_exchanged_pages(void **state)
{
    (void)state;
    table_fixture f;
    make_fixture(&f, 1, 1);
    uint64_t all = f.info.pages + table_fence_page_count(f.info.pages);
    assert_true(f.info.pages >= 3);
    for (uint64_t a = 0; a < all; a++)
        for (uint64_t b = 0; b < a; b++) {
            uint8_t *page_a = f.file.data + table_page_offset(a);
            uint8_t *page_b = f.file.data + table_page_offset(b);
            exchange(page_a, page_b);
            assert_true(check_answers(&f, &f.file, 200));
            exchange(page_a, page_b);
        }
    table_fixture_release(&f);
}

/* Parts of another table of the same shape. */
static void test_foreign_parts(void **state)
{
    (void)state;
    table_fixture f, other;
    make_fixture(&f, 1, 1);
    make_fixture(&other, 2, 2);
    assert_int_equal(f.file.size, other.file.size);
    for (size_t at = 0; at < f.file.size; at += TABLE_PAGE_BYTES) {
        uint8_t page[TABLE_PAGE_BYTES];
        size_t size =
            f.file.size - at < sizeof page ? f.file.size - at : sizeof page;
        memcpy(page, f.file.data + at, size);
        memcpy(f.file.data + at, other.file.data + at, size);
        assert_true(check_answers(&f, &f.file, 200));
        memcpy(f.file.data + at, page, size);
    }
    assert_false(check_answers(&f, &f.file, 200));
    table_fixture_release(&f);
    table_fixture_release(&other);
}

static void test_later_version(void **state)
{
    (void)state;
    table_fixture f;
    make_fixture(&f, 1, 1);
    ksv_table *table;
    ksv_error error;
    f.file.data[8] = 2;
    assert_int_equal(ksv_table_open(&f.file.base, NULL, &table, &error),
                     KSV_ERROR_VERSION);
    assert_non_null(strstr(error.text, "format 2"));
    f.file.size = 20; /* however long headers will be then */
    assert_int_equal(ksv_table_open(&f.file.base, NULL, &table, &error),
                     KSV_ERROR_VERSION);
    table_fixture_release(&f);
}

static int write_golden(const char *path)
{
    table_fixture f;
    make_fixture(&f, 1, 1);
    FILE *out = fopen(path, "wb");
    bool written =
        out != NULL && fwrite(f.file.data, 1, f.file.size, out) == f.file.size;
    if (out != NULL && fclose(out) != 0)
        written = false;
    table_fixture_release(&f);
    return written ? 0 : 1;
}

int main(int argc, char **argv)
{
    if (argc == 2)
        return write_golden(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden),
        cmocka_unit_test(test_every_length),
        cmocka_unit_test(test_every_byte),
        cmocka_unit_test(test_exchanged_pages),
        cmocka_unit_test(test_foreign_parts),
        cmocka_unit_test(test_later_version),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
