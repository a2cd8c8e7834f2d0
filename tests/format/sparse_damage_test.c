/* SPDX-License-Identifier: MIT */
/* The table of a data file in the order of its keys, cut short or changed:
 * every lookup and range gives what it should, or a status. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <keysieve/keysieve.h>

#include "support/index_copy.h"
#include "support/ordered_lines.h"
#include "support/pace.h"
#include "support/random.h"
#include "support/sorted_fixture.h"
#include "support/temp_dir.h"

/* 1.2 MB in some twenty spans. */
enum { RECORD_BYTES = 120, RECORDS = 10000 };

typedef struct damage_case {
    temp_dir dir;
    char path[TEMP_DIR_PATH_BYTES];
    char directory[TEMP_DIR_PATH_BYTES];
    index_copy copy;
    index_copy_file *table;
    uint8_t *changed;
} damage_case;

static void make_case(damage_case *c)
{
    temp_dir_make(&c->dir);
    const char *path = temp_dir_path(&c->dir, "data.txt", c->path);
    temp_dir_path(&c->dir, "ix", c->directory);
    ordered_lines_append(path, 0, RECORDS, RECORD_BYTES);
    assert_int_equal(ordered_lines_build(c->directory, path, false, NULL, NULL),
                     KSV_OK);
    index_copy_take(&c->copy, c->directory);
    c->table = index_copy_find(&c->copy, ".kss");
    assert_non_null(c->table);
    assert_true(c->table->size < RECORDS / 10);
    c->changed = malloc(c->table->size);
    assert_non_null(c->changed);
}

static void end_case(damage_case *c)
{
    free(c->changed);
    index_copy_release(&c->copy);
    temp_dir_remove(&c->dir);
}

static ksv_status ask_key(ksv_index *index, unsigned number, bool may_miss)
{
    ordered_answer got;
    ksv_status status = ordered_lines_ask(index, number, &got);
    if (status != KSV_OK)
        return status;
    bool is_there = number % 2 == 0 && number < 2 * RECORDS;
    if (!may_miss || !is_there)
        assert_int_equal(got.records, is_there);
    if (got.records > 0)
        assert_int_equal(got.offset, number / 2 * RECORD_BYTES);
    return KSV_OK;
}

/* Goes over all keys; they come in order, and all of them unless some may miss.
 */
static ksv_status ask_all(ksv_index *index, bool may_miss)
{
    const ksv_range range = {.prefix = {"", 0}};
    ksv_iterator *it;
    ksv_status status = ksv_iterator_open(index, &range, &it, NULL);
    if (status != KSV_OK)
        return status;
    size_t count = 0;
    uint64_t offset = 0;
    for (;; count++) {
        ksv_entry entry;
        bool end;
        status = ksv_iterator_next(it, &entry, &end, NULL);
        if (status != KSV_OK || end)
            break;
        assert_int_equal(entry.key_bytes, 10);
        assert_true(count == 0 || entry.offset > offset);
        offset = entry.offset;
    }
    ksv_iterator_close(it);
    if (status == KSV_OK && !may_miss)
        assert_int_equal(count, RECORDS);
    return status;
}

/* The first status that is not KSV_OK. */
static ksv_status ask(const damage_case *c, bool all, bool may_miss)
{
    ksv_index *index;
    ksv_status status = ksv_index_open(c->directory, NULL, &index, NULL);
    if (status != KSV_OK)
        return status;
    status = all ? ask_all(index, may_miss) : KSV_OK;
    for (unsigned i = 0; i < 5 && status == KSV_OK; i++)
        status = ask_key(index, i * RECORDS / 2 + i, may_miss);
    ksv_index_close(index);
    return status;
}

static void write_table(const damage_case *c, size_t size)
{
    index_copy_write(c->directory, c->table->name, c->changed, size);
}

static void test_every_length(void **state)
{
    (void)state;
    damage_case c;
    make_case(&c);
    memcpy(c.changed, c.table->data, c.table->size);
    for (size_t size = 0; size < c.table->size; size += PACE_STEP) {
        write_table(&c, size);
        assert_int_equal(ask(&c, false, false), KSV_ERROR_CORRUPT);
    }
    write_table(&c, c.table->size);
    assert_int_equal(ask(&c, true, false), KSV_OK);
    end_case(&c);
}

static void test_every_byte(void **state)
{
    (void)state;
    damage_case c;
    make_case(&c);
    for (size_t at = 0; at < c.table->size; at += PACE_STEP) {
        memcpy(c.changed, c.table->data, c.table->size);
        c.changed[at] ^= (uint8_t)(1u << (at % 8));
        write_table(&c, c.table->size);
        assert_int_not_equal(ask(&c, at % 16 == 0, false), KSV_OK);
    }
    end_case(&c);
}

/* Checksums are right, and what stands there is not: answers may miss, but
 * none is wrong, and none misses where a check of the data finds no fault. */
static void test_forged(void **state)
{
    (void)state;
    damage_case c;
    random_source random = {5};
    make_case(&c);
    ksv_verify_options options;
    ksv_verify_options_init(&options);
    options.data = true;
    for (int round = 0; round < 600; round += PACE_STEP) {
        memcpy(c.changed, c.table->data, c.table->size);
        for (uint64_t n = 1 + random_below(&random, 2); n > 0; n--)
            c.changed[random_below(&random, c.table->size)] ^=
                (uint8_t)(1 + random_below(&random, 255));
        sorted_reseal(c.changed, c.table->size);
        write_table(&c, c.table->size);
        ksv_status status = ask(&c, round % 8 == 0, true);
        bool is_same = memcmp(c.changed, c.table->data, c.table->size) == 0;
        assert_true(status == KSV_OK || !is_same);
        if (round % 4 == 0 &&
            ksv_verify(c.directory, &options, NULL, NULL) == KSV_OK)
            assert_int_equal(ask(&c, true, false), KSV_OK);
    }
    end_case(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_length),
        cmocka_unit_test(test_every_byte),
        cmocka_unit_test(test_forged),
    };
    index_copy_prefer_memory();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
