/* SPDX-License-Identifier: MIT */
/* Trees with a changed byte or cut short: answers are right, or errors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "btree/tree_check.h"
#include "btree/tree_cursor.h"
#include "btree/tree_writer.h"
#include "io/memory_file_system.h"
#include "support/index_copy.h"
#include "support/pace.h"
#include "support/temp_dir.h"
#include "support/tree_model.h"
#include "support/write_faults.h"

#define PAGE_BYTES 4096
#define NAME "tree"

static const uint8_t id[16] = "damaged in tests";

/* A small tree that was changed, so that there are old pages, too. */
typedef struct scene {
    temp_dir dir;
    char path[TEMP_DIR_PATH_BYTES];
    tree_model model;
    uint8_t *bytes; /* of its file, some of them changed */
    size_t size;
    size_t whole_size;
    uint64_t txn_id;    /* the last one */
    ksv_file_system fs; /* in which every file is these bytes */
} scene;

static ksv_status open_bytes(void *ctx, const char *path, ksv_file **file,
                             ksv_error *error)
{
    scene *s = ctx;
    (void)path;
    return memory_file_over(s->bytes, s->size, NULL, file, error);
}

static tree_writer *open_writer(const scene *s)
{
    tree_writer *w;
    ksv_status status =
        tree_writer_open(ksv_posix_file_system(), s->path, id, NULL, &w, NULL);
    return status == KSV_OK ? w : NULL;
}

static bool is_two(void *ctx, uint64_t part)
{
    (void)ctx;
    return part == 2;
}

static ksv_status insert_all(tree_writer *w, const tree_model *m, uint64_t part)
{
    for (size_t i = 0; i < m->count; i++) {
        if (m->entries[i].place.part != part)
            continue;
        ksv_status status = tree_writer_insert(w, tree_model_key(m, i),
                                               m->entries[i].place, NULL);
        if (status != KSV_OK)
            return status;
    }
    return tree_writer_commit(w, NULL, NULL);
}

static void read_file(scene *s)
{
    index_copy copy;
    index_copy_take(&copy, s->dir.path);
    index_copy_file *file = index_copy_find(&copy, NAME);
    assert_non_null(file);
    s->size = s->whole_size = file->size;
    s->bytes = malloc(s->size);
    assert_non_null(s->bytes);
    memcpy(s->bytes, file->data, s->size);
    index_copy_release(&copy);
}

/* Parts 1 and 3 stay, 2 was there for a while. */
static int start(void **state)
{
    scene *s = calloc(1, sizeof *s);
    assert_non_null(s);
    *state = s;
    random_source random = {20};
    temp_dir_make(&s->dir);
    temp_dir_path(&s->dir, NAME, s->path);
    tree_model_add_random(&s->model, MODEL_KEYS_UUID, &random, 1, 150);
    tree_model_add_random(&s->model, MODEL_KEYS_SHORT, &random, 1, 100);
    tree_model_add_random(&s->model, MODEL_KEYS_LONG, &random, 1, 1);
    tree_model_load(&s->model, s->dir.path, NAME, id);
    for (uint64_t part = 2; part < 4; part++) {
        tree_model_add_random(&s->model, MODEL_KEYS_UUID, &random, part, 40);
        tree_writer *w = open_writer(s);
        assert_non_null(w);
        assert_int_equal(insert_all(w, &s->model, part), KSV_OK);
        tree_writer_close(w);
    }
    tree_writer *w = open_writer(s);
    assert_non_null(w);
    assert_int_equal(tree_writer_sweep(w, is_two, NULL, 5, NULL), KSV_OK);
    assert_int_equal(tree_writer_commit(w, &s->txn_id, NULL), KSV_OK);
    tree_writer_close(w);
    tree_model_remove_part(&s->model, 2);
    read_file(s);
    s->fs = (ksv_file_system){.ctx = s, .open_read = open_bytes};
    return 0;
}

static int finish(void **state)
{
    scene *s = *state;
    free(s->bytes);
    tree_model_release(&s->model);
    temp_dir_remove(&s->dir);
    free(s);
    return 0;
}

static bool is_entry(const tree_model *m, size_t i, const tree_cursor *c)
{
    if (i >= m->count)
        return false;
    tree_key key = tree_cursor_key(c);
    tree_place place = tree_cursor_place(c);
    const model_entry *e = &m->entries[i];
    return key.size_bytes == e->key_bytes &&
           (e->key_bytes == 0 || memcmp(key.data, e->key, e->key_bytes) == 0) &&
           place.part == e->place.part && place.offset == e->place.offset;
}

/* Entries of part 9 are those that a writer has put in meanwhile. */
static bool is_new(const tree_cursor *c)
{
    return tree_cursor_place(c).part == 9;
}

static void walk(const scene *s, tree_cursor *c, bool back)
{
    bool found;
    size_t i = 0;
    ksv_status status = back ? tree_cursor_last(c, &found, NULL)
                             : tree_cursor_first(c, &found, NULL);
    while (status == KSV_OK && found) {
        size_t at = back ? s->model.count - 1 - i : i;
        if (!is_new(c)) {
            if (!is_entry(&s->model, at, c))
                fail_msg("a wrong entry");
            i++;
        }
        status = back ? tree_cursor_previous(c, &found, NULL)
                      : tree_cursor_next(c, &found, NULL);
    }
    if (status == KSV_OK && i != s->model.count)
        fail_msg("%zu entries of %zu", i, s->model.count);
}

static bool count_place(void *ctx, tree_place place)
{
    *(size_t *)ctx += place.part != 9;
    return true;
}

static void find_some(const scene *s, tree_cursor *c, random_source *random)
{
    for (int i = 0; i < 4; i++) {
        size_t at = random_below(random, s->model.count);
        tree_key key = tree_model_key(&s->model, at);
        size_t first = tree_model_seek(&s->model, key);
        size_t expected = 0;
        while (first + expected < s->model.count &&
               s->model.entries[first + expected].key_bytes == key.size_bytes &&
               memcmp(s->model.entries[first + expected].key, key.data,
                      key.size_bytes) == 0)
            expected++;
        size_t count = 0;
        if (tree_cursor_find(c, key, count_place, &count, NULL) == KSV_OK &&
            count != expected)
            fail_msg("%zu places of %zu", count, expected);
    }
}

/* Returns whether the check found everything in order. */
static bool check_answers(const scene *s, const ksv_file_system *fs,
                          random_source *random)
{
    tree_reader_options options = {
        .fs = fs, .path = s->path, .least_txn_id = s->txn_id, .generation = 5};
    memcpy(options.id, id, sizeof id);
    tree_reader *reader;
    tree_cursor *c;
    if (tree_reader_open(&options, &reader, NULL) != KSV_OK)
        return false;
    assert_int_equal(tree_cursor_open(reader, &c, NULL), KSV_OK);
    find_some(s, c, random);
    walk(s, c, false);
    walk(s, c, true);
    tree_cursor_close(c);
    bool sound = tree_check(reader, NULL, NULL, NULL, NULL) == KSV_OK;
    tree_reader_close(reader);
    return sound;
}

/* Everything above the blocks, and of these some bytes. */
static bool is_tried(const scene *s, size_t at)
{
    const uint8_t *page = s->bytes + at / PAGE_BYTES * PAGE_BYTES;
    size_t in_page = at % PAGE_BYTES;
    bool is_inner = at < 2 * PAGE_BYTES || (page[10] & 3) != 0;
    return in_page < 160 || at % 13 == 0 ||
           (is_inner && (in_page < 300 || in_page > 3000));
}

static void test_whole(void **state)
{
    scene *s = *state;
    random_source random = {1};
    assert_true(check_answers(s, &s->fs, &random));
    assert_true(s->size > 12 * PAGE_BYTES);
}

static void test_each_byte_changed(void **state)
{
    scene *s = *state;
    random_source random = {21};
    size_t unnoticed = 0;
    size_t tried = 0;
    for (size_t at = 0; at < s->size; at += PACE_STEP) {
        if (!is_tried(s, at))
            continue;
        uint8_t was = s->bytes[at];
        s->bytes[at] ^= (uint8_t)(1u << random_below(&random, 8));
        unnoticed += check_answers(s, &s->fs, &random);
        tried++;
        s->bytes[at] = was;
    }
    /* Free pages and gaps in pages have no meaning. */
    assert_true((tried - unnoticed) * 10 > tried);
}

/* Every page number that the tree holds is made to lead to any other page. */
static void test_each_page_number_changed(void **state)
{
    scene *s = *state;
    random_source random = {22};
    size_t pages = s->size / PAGE_BYTES;
    size_t tried = 0;
    for (size_t at = 0; at + 8 <= s->size; at += 2) {
        uint64_t value;
        memcpy(&value, s->bytes + at, 8);
        if (value < 2 || value >= pages)
            continue;
        for (uint64_t other = 2; other < pages; other++) {
            memcpy(s->bytes + at, &other, 8);
            check_answers(s, &s->fs, &random);
        }
        memcpy(s->bytes + at, &value, 8);
        tried++;
    }
    assert_true(tried > 10);
}

static void test_cut_short(void **state)
{
    scene *s = *state;
    random_source random = {23};
    for (s->size = 0; s->size < s->whole_size;
         s->size += s->size < 400 ? 1 : 499)
        check_answers(s, &s->fs, &random);
    s->size = s->whole_size;
}

/* A writer may refuse, or work; never may it harm what it did not notice. */
static void write_and_check(scene *s, random_source *random)
{
    index_copy_write(s->dir.path, NAME, s->bytes, s->size);
    tree_writer *w = open_writer(s);
    if (w != NULL) {
        uint8_t key[MODEL_KEY_BYTES_MOST];
        ksv_status status = KSV_OK;
        for (uint64_t i = 0; i < 30 && status == KSV_OK; i++) {
            size_t size = tree_model_make_key(MODEL_KEYS_UUID, random, key);
            status = tree_writer_insert(w, (tree_key){key, size},
                                        (tree_place){9, i}, NULL);
        }
        status = tree_writer_commit(w, NULL, NULL);
        tree_writer_close(w);
    }
    check_answers(s, ksv_posix_file_system(), random);
}

static void test_writer_meets_a_changed_byte(void **state)
{
    scene *s = *state;
    random_source random = {24};
    for (size_t at = 0; at < s->size; at += PACE_STEP) {
        if (!is_tried(s, at) || random_below(&random, 4) > 0)
            continue;
        uint8_t was = s->bytes[at];
        s->bytes[at] ^= (uint8_t)(1u << random_below(&random, 8));
        write_and_check(s, &random);
        s->bytes[at] = was;
    }
}

static void test_writer_meets_a_cut_file(void **state)
{
    scene *s = *state;
    random_source random = {25};
    for (s->size = 0; s->size < s->whole_size; s->size += 1000)
        write_and_check(s, &random);
    s->size = s->whole_size;
}

int main(void)
{
    index_copy_prefer_memory();
    write_faults_arm(WRITE_FAULT_NONE, 0, 0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_whole, start, finish),
        cmocka_unit_test_setup_teardown(test_each_byte_changed, start, finish),
        cmocka_unit_test_setup_teardown(test_each_page_number_changed, start,
                                        finish),
        cmocka_unit_test_setup_teardown(test_cut_short, start, finish),
        cmocka_unit_test_setup_teardown(test_writer_meets_a_changed_byte, start,
                                        finish),
        cmocka_unit_test_setup_teardown(test_writer_meets_a_cut_file, start,
                                        finish),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
