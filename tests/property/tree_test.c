/* SPDX-License-Identifier: MIT */
/* Trees of random entries against a model: loaded, changed, swept. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "btree/tree_writer.h"
#include "support/index_copy.h"
#include "support/pace.h"
#include "support/temp_dir.h"
#include "support/tree_model.h"
#include "support/write_faults.h"

#define ROUNDS PACE_ROUNDS(12)

static const uint8_t id[16] = "a tree for tests";

typedef struct scene {
    temp_dir dir;
    char path[TEMP_DIR_PATH_BYTES];
    tree_model model;
    random_source random;
    model_keys kind;
    uint64_t next_part;
} scene;

static void start(scene *s, model_keys kind, uint64_t seed)
{
    memset(s, 0, sizeof *s);
    temp_dir_make(&s->dir);
    temp_dir_path(&s->dir, "tree", s->path);
    s->kind = kind;
    s->random = (random_source){seed};
    s->next_part = 1;
}

static void finish(scene *s)
{
    tree_model_release(&s->model);
    temp_dir_remove(&s->dir);
}

static void compare(scene *s)
{
    tree_reader *reader = tree_model_open(s->path, id);
    tree_model_compare(&s->model, reader, random_next(&s->random));
    tree_reader_close(reader);
}

static void need(ksv_status status, const ksv_error *error)
{
    if (status != KSV_OK)
        fail_msg("%s: %s (byte %llu)", error->path, error->text,
                 (unsigned long long)error->byte_offset);
}

static tree_writer *open_writer(const scene *s)
{
    tree_writer *w;
    ksv_error error;
    need(tree_writer_open(ksv_posix_file_system(), s->path, id, NULL, &w,
                          &error),
         &error);
    return w;
}

/* A new part, in order or not. */
static void add_part(scene *s, tree_writer *w, size_t count)
{
    tree_model part = {0};
    ksv_error error;
    uint64_t number = s->next_part++;
    tree_model_add_random(&part, s->kind, &s->random, number, count);
    bool is_sorted = random_below(&s->random, 3) > 0;
    for (size_t k = 0; k < part.count; k++) {
        size_t i = is_sorted ? k : (k * 7919) % part.count;
        if (!is_sorted && part.count % 7919 == 0)
            i = k;
        need(tree_writer_insert(w, tree_model_key(&part, i),
                                part.entries[i].place, &error),
             &error);
    }
    for (size_t i = 0; i < part.count; i++)
        tree_model_add(&s->model, part.entries[i].key,
                       part.entries[i].key_bytes, number,
                       part.entries[i].place.offset);
    tree_model_sort(&s->model);
    tree_model_release(&part);
}

/* Some entries, and some that are not there. */
static void delete_some(scene *s, tree_writer *w)
{
    ksv_error error;
    size_t count = random_below(&s->random, 200);
    size_t at =
        s->model.count > 0 ? random_below(&s->random, s->model.count) : 0;
    for (size_t i = 0; i < count && at < s->model.count; i++) {
        const model_entry *e = &s->model.entries[at];
        tree_place place = e->place;
        bool is_there = random_below(&s->random, 4) > 0;
        if (!is_there)
            place.part = s->next_part + 1000;
        need(
            tree_writer_delete(w, tree_model_key(&s->model, at), place, &error),
            &error);
        if (is_there)
            tree_model_remove(&s->model, at);
        else
            at++;
    }
}

static bool is_part(void *ctx, uint64_t part)
{
    return part == *(uint64_t *)ctx;
}

static void sweep_one(scene *s, tree_writer *w)
{
    uint64_t part = random_below(&s->random, s->next_part + 1);
    ksv_error error;
    need(tree_writer_sweep(w, is_part, &part, 0, &error), &error);
    tree_model_remove_part(&s->model, part);
}

static void change(scene *s, tree_writer *w)
{
    switch (random_below(&s->random, 4)) {
    case 0:
        sweep_one(s, w);
        break;
    case 1:
        delete_some(s, w);
        break;
    default:
        add_part(s, w, random_below(&s->random, 800));
    }
}

static void check_parts(const scene *s, const tree_writer *w)
{
    size_t count;
    uint64_t sum = 0;
    const tree_part *parts = tree_writer_parts(w, &count);
    for (size_t i = 0; i < count; i++) {
        uint64_t expected = 0;
        for (size_t k = 0; k < s->model.count; k++)
            expected += s->model.entries[k].place.part == parts[i].part;
        assert_int_equal(parts[i].entries, expected);
        sum += expected;
    }
    assert_int_equal(sum, s->model.count);
}

static void run(model_keys kind, uint64_t seed, size_t entries)
{
    scene s;
    ksv_error error;
    start(&s, kind, seed);
    tree_model_add_random(&s.model, kind, &s.random, s.next_part++, entries);
    tree_model_load(&s.model, s.dir.path, "tree", id);
    compare(&s);
    for (int i = 0; i < ROUNDS; i++) {
        tree_writer *w = open_writer(&s);
        for (uint64_t n = random_below(&s.random, 3) + 1; n > 0; n--)
            change(&s, w);
        need(tree_writer_commit(w, NULL, &error), &error);
        check_parts(&s, w);
        tree_writer_close(w);
        compare(&s);
    }
    finish(&s);
}

static void test_short_keys(void **state)
{
    (void)state;
    run(MODEL_KEYS_SHORT, 1, 3000);
    run(MODEL_KEYS_SHORT, 2, 0);
}

static void test_random_keys(void **state)
{
    (void)state;
    run(MODEL_KEYS_UUID, 3, 5000);
}

static void test_keys_with_a_long_beginning(void **state)
{
    (void)state;
    run(MODEL_KEYS_SHARED, 4, 2000);
}

static void test_long_keys(void **state)
{
    (void)state;
    run(MODEL_KEYS_LONG, 5, 300);
}

static void test_keys_with_many_places(void **state)
{
    (void)state;
    run(MODEL_KEYS_SAME, 6, 5000);
}

static void test_all_kinds(void **state)
{
    (void)state;
    run(MODEL_KEYS_MIXED, 7, 2000);
    run(MODEL_KEYS_MIXED, 8, 1);
}

int main(void)
{
    /* Nothing here depends on what is on the disk. */
    index_copy_prefer_memory();
    write_faults_arm(WRITE_FAULT_NONE, 0, 0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_short_keys),
        cmocka_unit_test(test_random_keys),
        cmocka_unit_test(test_keys_with_a_long_beginning),
        cmocka_unit_test(test_long_keys),
        cmocka_unit_test(test_keys_with_many_places),
        cmocka_unit_test(test_all_kinds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
