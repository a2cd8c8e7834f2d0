/* SPDX-License-Identifier: MIT */
/* Readers of a tree beside a writer: what stays is found at every moment. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdatomic.h>

#include "btree/tree_cursor.h"
#include "btree/tree_writer.h"
#include "support/index_copy.h"
#include "support/temp_dir.h"
#include "support/tree_model.h"
#include "support/write_faults.h"

#define READERS 2
#define ROUNDS 40
/* Of what comes and goes. */
#define PASSING_ENTRIES 300

static const uint8_t id[16] = "readers at a tre";

typedef struct scene {
    temp_dir dir;
    char path[TEMP_DIR_PATH_BYTES];
    tree_model model; /* part 1, which stays */
    tree_reader *reader;
    _Atomic(bool) done;
    _Atomic(unsigned) walks;
    char failure[512]; /* of a thread; the first one stays */
    pthread_mutex_t lock;
} scene;

static void note(scene *s, const char *what, const ksv_error *error)
{
    pthread_mutex_lock(&s->lock);
    if (s->failure[0] == '\0')
        snprintf(s->failure, sizeof s->failure, "%s: %.300s", what,
                 error != NULL ? error->text : "");
    pthread_mutex_unlock(&s->lock);
    atomic_store(&s->done, true);
}

static bool is_entry(const scene *s, size_t i, const tree_cursor *c)
{
    tree_key key = tree_cursor_key(c);
    const model_entry *e = &s->model.entries[i];
    return i < s->model.count && key.size_bytes == e->key_bytes &&
           tree_cursor_place(c).offset == e->place.offset &&
           (e->key_bytes == 0 || memcmp(key.data, e->key, e->key_bytes) == 0);
}

/* All of part 1 in order; others are passed by. */
static bool walk(scene *s, tree_cursor *c)
{
    ksv_error error;
    bool found;
    size_t i = 0;
    ksv_status status = tree_cursor_first(c, &found, &error);
    while (status == KSV_OK && found) {
        if (tree_cursor_place(c).part == 1 && !is_entry(s, i++, c)) {
            note(s, "a wrong entry", NULL);
            return false;
        }
        status = tree_cursor_next(c, &found, &error);
    }
    if (status != KSV_OK)
        note(s, "walk", &error);
    else if (i != s->model.count)
        note(s, "entries are missing", NULL);
    return status == KSV_OK;
}

static bool count_one(void *ctx, tree_place place)
{
    *(unsigned *)ctx += place.part == 1;
    return true;
}

static bool find(scene *s, tree_cursor *c, size_t i)
{
    ksv_error error;
    unsigned count = 0;
    ksv_status status = tree_cursor_find(c, tree_model_key(&s->model, i),
                                         count_one, &count, &error);
    if (status != KSV_OK)
        note(s, "find", &error);
    else if (count == 0)
        note(s, "a key was not found", NULL);
    return status == KSV_OK;
}

static void *read_on(void *ctx)
{
    scene *s = ctx;
    tree_cursor *c;
    random_source random = {(uint64_t)(uintptr_t)&c};
    if (tree_cursor_open(s->reader, &c, NULL) != KSV_OK) {
        note(s, "open", NULL);
        return NULL;
    }
    bool fine = true;
    while (fine && !atomic_load(&s->done)) {
        for (int i = 0; i < 50 && fine; i++)
            fine = find(s, c, random_below(&random, s->model.count));
        if (fine)
            fine = walk(s, c);
        atomic_fetch_add(&s->walks, 1);
    }
    tree_cursor_close(c);
    return NULL;
}

static bool is_passing(void *ctx, uint64_t part)
{
    (void)ctx;
    return part != 1;
}

static ksv_status write_round(tree_writer *w, uint64_t part,
                              random_source *random)
{
    tree_model m = {0};
    ksv_status status = KSV_OK;
    tree_model_add_random(&m, MODEL_KEYS_MIXED, random, part, PASSING_ENTRIES);
    for (size_t i = 0; i < m.count && status == KSV_OK; i++) {
        status = tree_writer_insert(w, tree_model_key(&m, i),
                                    m.entries[i].place, NULL);
        if (status == KSV_OK && i % 100 == 0)
            status = tree_writer_commit(w, NULL, NULL);
    }
    tree_model_release(&m);
    if (status == KSV_OK)
        status = tree_writer_commit(w, NULL, NULL);
    if (status == KSV_OK && part % 3 == 0)
        status = tree_writer_sweep(w, is_passing, NULL, part, NULL);
    return status;
}

static void open_reader(scene *s)
{
    tree_reader_options options = {.fs = ksv_posix_file_system(),
                                   .path = s->path,
                                   .generation = UINT64_MAX};
    memcpy(options.id, id, sizeof id);
    assert_int_equal(tree_reader_open(&options, &s->reader, NULL), KSV_OK);
}

static void test_readers_beside_a_writer(void **state)
{
    (void)state;
    static scene s;
    random_source random = {41};
    tree_writer *w;
    pthread_t threads[READERS];
    temp_dir_make(&s.dir);
    temp_dir_path(&s.dir, "tree", s.path);
    pthread_mutex_init(&s.lock, NULL);
    tree_model_add_random(&s.model, MODEL_KEYS_MIXED, &random, 1, 1500);
    tree_model_load(&s.model, s.dir.path, "tree", id);
    open_reader(&s);
    for (int i = 0; i < READERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, read_on, &s), 0);
    assert_int_equal(
        tree_writer_open(ksv_posix_file_system(), s.path, id, NULL, &w, NULL),
        KSV_OK);
    for (uint64_t part = 2; part < 2 + ROUNDS && !atomic_load(&s.done); part++)
        if (write_round(w, part, &random) != KSV_OK)
            note(&s, "the writer failed", NULL);
    tree_writer_close(w);
    while (atomic_load(&s.walks) < 2 * READERS && !atomic_load(&s.done))
        sched_yield();
    atomic_store(&s.done, true);
    for (int i = 0; i < READERS; i++)
        pthread_join(threads[i], NULL);
    tree_reader_close(s.reader);
    tree_model_release(&s.model);
    temp_dir_remove(&s.dir);
    if (s.failure[0] != '\0')
        fail_msg("%s", s.failure);
}

/* A reader whose state of the catalog names what was swept has to be told. */
static void test_reader_of_an_older_state(void **state)
{
    (void)state;
    static scene s;
    random_source random = {42};
    tree_writer *w;
    tree_cursor *c;
    temp_dir_make(&s.dir);
    temp_dir_path(&s.dir, "tree", s.path);
    tree_model_add_random(&s.model, MODEL_KEYS_UUID, &random, 2, 500);
    tree_model_load(&s.model, s.dir.path, "tree", id);
    tree_reader_options options = {
        .fs = ksv_posix_file_system(), .path = s.path, .generation = 9};
    memcpy(options.id, id, sizeof id);
    assert_int_equal(tree_reader_open(&options, &s.reader, NULL), KSV_OK);
    assert_int_equal(tree_writer_open(options.fs, s.path, id, NULL, &w, NULL),
                     KSV_OK);
    assert_int_equal(tree_writer_sweep(w, is_passing, NULL, 10, NULL), KSV_OK);
    for (uint64_t part = 4; part < 8; part++)
        assert_int_equal(write_round(w, part, &random), KSV_OK);
    tree_writer_close(w);
    assert_int_equal(tree_cursor_open(s.reader, &c, NULL), KSV_OK);
    for (size_t i = 0; i < s.model.count; i++) {
        unsigned count = 0;
        tree_key key = tree_model_key(&s.model, i);
        ksv_status status = tree_cursor_find(c, key, count_one, &count, NULL);
        assert_int_equal(status, KSV_ERROR_STALE);
    }
    tree_cursor_close(c);
    tree_reader_close(s.reader);
    assert_int_equal(tree_reader_open(&options, &s.reader, NULL),
                     KSV_ERROR_STALE);
    tree_model_release(&s.model);
    temp_dir_remove(&s.dir);
}

int main(void)
{
    index_copy_prefer_memory();
    write_faults_arm(WRITE_FAULT_NONE, 0, 0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_readers_beside_a_writer),
        cmocka_unit_test(test_reader_of_an_older_state),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
