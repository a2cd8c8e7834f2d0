/* SPDX-License-Identifier: MIT */
/* Pages that others have read, and tables in the address space, give what
 * ksv_table_find() reads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/random.h"
#include "support/table_fixture.h"
#include "support/temp_dir.h"
#include "table/table_reader.h"

/* Spread evenly, some repeated beyond a page, some with equal top bits. */
static void make_fixture(table_fixture *f, uint64_t seed, size_t count)
{
    random_source random = {seed};
    table_entry *entries = table_entries_alloc(3 * count);
    for (size_t i = 0; i < count; i++) {
        uint64_t few = random_below(&random, 3);
        entries[i] = (table_entry){random_next(&random), random_next(&random)};
        entries[count + i] = (table_entry){few << 50, i};
        entries[2 * count + i] =
            (table_entry){UINT64_C(5) << 60 | random_next(&random) << 50 >> 32,
                          random_next(&random)};
    }
    table_fixture_init(f, table_options(44, 34, 1), entries, 3 * count);
}

/* What the place that table_locate() names has of `hash`. */
static void search(table_fixture *f, ksv_table *table, uint64_t hash,
                   payload_list *list)
{
    table_place place;
    uint64_t page;
    page_view view;
    uint8_t bytes[PAGE_BUFFER_BYTES];
    assert_int_equal(table_locate(table, hash, &place, &page, NULL), KSV_OK);
    if (place == TABLE_NOWHERE)
        return;
    if (place == TABLE_IN_GROUP) {
        assert_int_equal(
            ksv_table_find(table, hash, payload_list_visit, list, NULL, NULL),
            KSV_OK);
        return;
    }
    memcpy(bytes, f->file.data + table_page_offset(page), TABLE_PAGE_BYTES);
    memset(bytes + TABLE_PAGE_BYTES, 0xa5, BITS_READ_PADDING_BYTES);
    const uint8_t *there =
        table->mapped != NULL ? table_mapped_page(table, page) : bytes;
    assert_int_equal(table_open_page(table, there, page, &view, NULL), KSV_OK);
    assert_int_equal(
        table_search_page(table, &view, hash, payload_list_visit, list, NULL),
        KSV_OK);
    table_prefetch(table, &view, hash);
}

static void check_hash(table_fixture *f, ksv_table *table, uint64_t hash)
{
    payload_list list = payload_list_of(f, hash);
    search(f, table, hash, &list);
    assert_false(list.wrong);
    assert_int_equal(list.visited, list.expected_count);
    list = payload_list_of(f, hash);
    assert_int_equal(
        ksv_table_find(table, hash, payload_list_visit, &list, NULL, NULL),
        KSV_OK);
    assert_false(list.wrong);
    assert_int_equal(list.visited, list.expected_count);
}

static void check_table(table_fixture *f, ksv_table *table, uint64_t seed)
{
    random_source random = {seed};
    for (size_t i = 0; i < f->count; i += 1 + random_below(&random, 20)) {
        check_hash(f, table, f->entries[i].hash);
        check_hash(f, table, f->entries[i].hash + (UINT64_C(1) << 20));
        check_hash(f, table, random_next(&random));
    }
    check_hash(f, table, 0);
    check_hash(f, table, UINT64_MAX);
}

static void test_pages_read_by_others(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        table_fixture f;
        ksv_table *table;
        make_fixture(&f, seed, seed * 1000);
        assert_int_equal(ksv_table_open(&f.file.base, NULL, &table, NULL),
                         KSV_OK);
        assert_int_equal(table_map(table, NULL), KSV_ERROR_UNSUPPORTED);
        check_table(&f, table, seed);
        ksv_table_close(table);
        table_fixture_release(&f);
    }
}

typedef struct mapped_table {
    temp_dir dir;
    ksv_file *file;
    ksv_table *table;
} mapped_table;

static void open_mapped(mapped_table *m, const table_fixture *f)
{
    const ksv_file_system *fs = ksv_posix_file_system();
    char path[TEMP_DIR_PATH_BYTES];
    temp_dir_make(&m->dir);
    temp_dir_write(&m->dir, "t", f->file.data, f->file.size);
    temp_dir_path(&m->dir, "t", path);
    assert_int_equal(fs->open_read(fs->ctx, path, &m->file, NULL), KSV_OK);
    assert_int_equal(ksv_table_open(m->file, NULL, &m->table, NULL), KSV_OK);
    assert_int_equal(table_map(m->table, NULL), KSV_OK);
}

static void close_mapped(mapped_table *m)
{
    ksv_table_close(m->table);
    assert_int_equal(m->file->ops->close(m->file, NULL), KSV_OK);
    temp_dir_remove(&m->dir);
}

static void test_mapped(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        table_fixture f;
        mapped_table m;
        make_fixture(&f, seed, seed * 1500);
        open_mapped(&m, &f);
        check_table(&f, m.table, seed);
        close_mapped(&m);
        table_fixture_release(&f);
    }
}

/* A page that was never accepted is summed up before it is believed. */
static void test_damage_in_mapped_page(void **state)
{
    (void)state;
    table_fixture f;
    make_fixture(&f, 9, 2000);
    random_source random = {1};
    for (int i = 0; i < 200; i++) {
        mapped_table m;
        uint64_t page = random_below(&random, f.info.pages);
        size_t at =
            (size_t)table_page_offset(page) + random_below(&random, 4096);
        f.file.data[at] ^= (uint8_t)(1u << random_below(&random, 8));
        open_mapped(&m, &f);
        page_view view;
        for (int again = 0; again < 2; again++)
            assert_int_equal(table_open_page(m.table,
                                             table_mapped_page(m.table, page),
                                             page, &view, NULL),
                             KSV_ERROR_CORRUPT);
        close_mapped(&m);
        table_fixture_release(&f);
        make_fixture(&f, 9, 2000);
    }
    table_fixture_release(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pages_read_by_others),
        cmocka_unit_test(test_mapped),
        cmocka_unit_test(test_damage_in_mapped_page),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
