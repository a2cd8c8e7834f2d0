/* SPDX-License-Identifier: MIT */
/* A writer of a tree stopped at every single change that it makes to the disk.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>

#include "btree/tree_loader.h"
#include "btree/tree_writer.h"
#include "support/index_copy.h"
#include "support/pace.h"
#include "support/temp_dir.h"
#include "support/tree_model.h"
#include "support/write_faults.h"

#define NAME "tree"

enum { EXIT_DONE = 0, EXIT_FAILED = 3 };

static const uint8_t id[16] = "killed in a test";

/* Part 1 is there, part 2 is taken out, part 3 is put in. */
typedef struct scene {
    temp_dir dir;
    char path[TEMP_DIR_PATH_BYTES];
    index_copy before;
    tree_model old;
    tree_model added;
    tree_model new;
} scene;

static void copy_model(const tree_model *from, tree_model *to)
{
    for (size_t i = 0; i < from->count; i++)
        tree_model_add(to, from->entries[i].key, from->entries[i].key_bytes,
                       from->entries[i].place.part,
                       from->entries[i].place.offset);
}

static void start(scene *s)
{
    random_source random = {31};
    memset(s, 0, sizeof *s);
    temp_dir_make(&s->dir);
    temp_dir_path(&s->dir, NAME, s->path);
    tree_model_add_random(&s->old, MODEL_KEYS_MIXED, &random, 1, 300);
    tree_model_add_random(&s->old, MODEL_KEYS_UUID, &random, 2, 100);
    tree_model_add_random(&s->added, MODEL_KEYS_MIXED, &random, 3, 200);
    tree_model_load(&s->old, s->dir.path, NAME, id);
    copy_model(&s->old, &s->new);
    tree_model_remove_part(&s->new, 2);
    copy_model(&s->added, &s->new);
    tree_model_sort(&s->new);
    index_copy_take(&s->before, s->dir.path);
}

static void finish(scene *s)
{
    index_copy_release(&s->before);
    tree_model_release(&s->old);
    tree_model_release(&s->added);
    tree_model_release(&s->new);
    temp_dir_remove(&s->dir);
}

static bool is_two(void *ctx, uint64_t part)
{
    (void)ctx;
    return part == 2;
}

static bool is_three(void *ctx, uint64_t part)
{
    (void)ctx;
    return part == 3;
}

/* Commits in between, as a long run of changes does. */
static ksv_status insert_added(const scene *s, tree_writer *w)
{
    for (size_t i = 0; i < s->added.count; i++) {
        ksv_status status = tree_writer_insert(w, tree_model_key(&s->added, i),
                                               s->added.entries[i].place, NULL);
        if (status == KSV_OK && i % 70 == 69)
            status = tree_writer_commit(w, NULL, NULL);
        if (status != KSV_OK)
            return status;
    }
    return tree_writer_commit(w, NULL, NULL);
}

static int change(const scene *s)
{
    tree_writer *w;
    if (tree_writer_open(ksv_posix_file_system(), s->path, id, NULL, &w,
                         NULL) != KSV_OK)
        return EXIT_FAILED;
    ksv_status status = insert_added(s, w);
    if (status == KSV_OK)
        status = tree_writer_sweep(w, is_two, NULL, 7, NULL);
    tree_writer_close(w);
    return status == KSV_OK ? EXIT_DONE : EXIT_FAILED;
}

/* In a process that meets a fault. */
static int try_to_change(void *ctx)
{
    return change(ctx);
}

static int try_to_load(void *ctx)
{
    const scene *s = ctx;
    tree_model_load(&s->new, s->dir.path, NAME, id);
    return EXIT_DONE;
}

static tree_writer *open_writer(const scene *s, long at)
{
    tree_writer *w;
    ksv_error error;
    if (tree_writer_open(ksv_posix_file_system(), s->path, id, NULL, &w,
                         &error) != KSV_OK)
        fail_msg("operation %ld: %s: %s", at, error.path, error.text);
    return w;
}

static void compare(const scene *s, const tree_model *m)
{
    tree_reader_options options = {
        .fs = ksv_posix_file_system(), .path = s->path, .generation = 7};
    memcpy(options.id, id, sizeof id);
    tree_reader *reader;
    assert_int_equal(tree_reader_open(&options, &reader, NULL), KSV_OK);
    tree_model_compare(m, reader, 1);
    tree_reader_close(reader);
}

/* What no catalog names is taken out again: then the tree is as it was, less
 * what may have been swept. After that all of it works. */
static void check_next_writer(const scene *s, long at)
{
    tree_writer *w = open_writer(s, at);
    assert_int_equal(tree_writer_sweep(w, is_three, NULL, 7, NULL), KSV_OK);
    assert_int_equal(tree_writer_sweep(w, is_two, NULL, 7, NULL), KSV_OK);
    tree_writer_close(w);
    tree_model expected = {0};
    copy_model(&s->old, &expected);
    tree_model_remove_part(&expected, 2);
    compare(s, &expected);
    tree_model_release(&expected);
    assert_int_equal(change(s), EXIT_DONE);
    compare(s, &s->new);
}

static void try_all(write_fault fault)
{
    scene s;
    start(&s);
    int result = 0;
    long at = 0;
    while (result < WRITE_FAULTS_UNHARMED) {
        at++;
        index_copy_restore(&s.before, s.dir.path);
        result = write_faults_run(fault, at, ENOSPC, try_to_change, &s);
        if (result == WRITE_FAULTS_UNHARMED + EXIT_DONE)
            compare(&s, &s.new);
        check_next_writer(&s, at);
    }
    assert_int_equal(result, WRITE_FAULTS_UNHARMED + EXIT_DONE);
    /* Four transactions, each of at least three operations. */
    assert_true(at > 12);
    finish(&s);
}

static void test_killed_before_each_operation(void **state)
{
    (void)state;
    try_all(WRITE_FAULT_KILL);
}

static void test_killed_in_the_middle_of_each_write(void **state)
{
    (void)state;
    try_all(WRITE_FAULT_KILL_HALF);
}

static void test_each_operation_fails(void **state)
{
    (void)state;
    try_all(WRITE_FAULT_FAIL_ONE);
}

static void test_the_disk_becomes_full(void **state)
{
    (void)state;
    try_all(WRITE_FAULT_FULL);
}

/* A tree in the making is under another name, and is begun anew. */
static void test_loading_is_killed(void **state)
{
    (void)state;
    scene s;
    start(&s);
    bool killed = true;
    for (long at = 1; killed; at += PACE_STEP > 3 ? 3 : 1) {
        killed = write_faults_run(WRITE_FAULT_KILL, at, 0, try_to_load, &s) < 0;
        if (!killed)
            compare(&s, &s.new);
        else if (index_copy_entries(s.dir.path) == 2)
            compare(&s, &s.old);
    }
    tree_model_load(&s.old, s.dir.path, NAME, id);
    assert_int_equal(index_copy_entries(s.dir.path), 1);
    compare(&s, &s.old);
    finish(&s);
}

int main(void)
{
    index_copy_prefer_memory();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_killed_before_each_operation),
        cmocka_unit_test(test_killed_in_the_middle_of_each_write),
        cmocka_unit_test(test_each_operation_fails),
        cmocka_unit_test(test_the_disk_becomes_full),
        cmocka_unit_test(test_loading_is_killed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
