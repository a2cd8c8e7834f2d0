/* SPDX-License-Identifier: MIT */
/* The walker over environments that the installed LMDB wrote. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <lmdb.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/memory.h"
#include "io/file.h"
#include "io/memory_file_system.h"
#include "mdb/lmdb_walker.h"
#include "support/catalog_samples.h"
#include "support/index_copy.h"
#include "support/temp_dir.h"

#define KEYS 4000
#define VALUE_BYTES_MOST 30000

/* The truth: value size and first byte of each key; 0: not there. */
typedef struct model {
    uint32_t size[KEYS];
    uint8_t byte[KEYS];
} model;

static void make_key(unsigned i, char key[16])
{
    snprintf(key, 16, "key-%08u", i * 2654435761u);
}

static void need(int code)
{
    if (code != 0)
        fail_msg("LMDB: %s", mdb_strerror(code));
}

static void change(MDB_txn *txn, MDB_dbi dbi, model *m, unsigned i,
                   uint64_t *seed)
{
    static uint8_t value[VALUE_BYTES_MOST];
    char key[16];
    make_key(i, key);
    MDB_val k = {strlen(key), key};
    if (m->size[i] != 0 && sample_below(seed, 2) == 0) {
        need(mdb_del(txn, dbi, &k, NULL));
        m->size[i] = 0;
        return;
    }
    m->size[i] = 1 + (uint32_t)(sample_below(seed, 30) == 0
                                    ? sample_below(seed, VALUE_BYTES_MOST - 1)
                                    : sample_below(seed, 200));
    m->byte[i] = (uint8_t)sample_random(seed);
    memset(value, m->byte[i], m->size[i]);
    MDB_val v = {m->size[i], value};
    need(mdb_put(txn, dbi, &k, &v, 0));
}

static void commit_changes(const char *path, model *m, unsigned changes,
                           uint64_t *seed)
{
    MDB_env *env;
    MDB_txn *txn;
    MDB_dbi dbi;
    need(mdb_env_create(&env));
    need(mdb_env_set_mapsize(env, (size_t)256 << 20));
    need(mdb_env_open(env, path, MDB_NOSUBDIR | MDB_NOLOCK | MDB_NOSYNC, 0600));
    need(mdb_txn_begin(env, NULL, 0, &txn));
    need(mdb_dbi_open(txn, NULL, 0, &dbi));
    for (unsigned i = 0; i < changes; i++)
        change(txn, dbi, m, (unsigned)sample_below(seed, KEYS), seed);
    need(mdb_txn_commit(txn));
    mdb_env_close(env);
}

typedef struct visit_check {
    const model *model;
    bool seen[KEYS];
    size_t count;
    char last[16];
} visit_check;

static ksv_status visit(void *ctx, const uint8_t *key, size_t key_bytes,
                        const uint8_t *value, size_t value_bytes,
                        ksv_error *error)
{
    (void)error;
    visit_check *v = ctx;
    char text[16] = "";
    assert_true(key_bytes < sizeof text);
    memcpy(text, key, key_bytes);
    assert_true(strcmp(v->last, text) < 0);
    strcpy(v->last, text);
    for (unsigned i = 0; i < KEYS; i++) {
        char wanted[16];
        make_key(i, wanted);
        if (strcmp(wanted, text) != 0)
            continue;
        assert_int_equal(value_bytes, v->model->size[i]);
        assert_int_equal(value[0], v->model->byte[i]);
        assert_int_equal(value[value_bytes - 1], v->model->byte[i]);
        assert_false(v->seen[i]);
        v->seen[i] = true;
        v->count++;
        return KSV_OK;
    }
    fail_msg("a key that was never put: %s", text);
    return KSV_OK;
}

static ksv_status walk_file(ksv_file *file, const char *path, lmdb_head *head,
                            lmdb_visit_fn fn, void *ctx, ksv_error *error)
{
    ksv_allocator a = allocator_or_default(NULL);
    ksv_status status = lmdb_head_read(file, path, head, error);
    lmdb_walk_options options = {.visit = fn, .ctx = ctx};
    uint64_t bytes = 0;
    if (status == KSV_OK)
        status = lmdb_walk(file, path, head, &a, &options, &bytes, error);
    file_close_quietly(file);
    return status;
}

static ksv_status walk(const char *path, lmdb_head *head, lmdb_visit_fn fn,
                       void *ctx, ksv_error *error)
{
    const ksv_file_system *fs = ksv_posix_file_system();
    ksv_file *file;
    assert_int_equal(fs->open_read(fs->ctx, path, &file, NULL), KSV_OK);
    return walk_file(file, path, head, fn, ctx, error);
}

static void run(uint64_t seed, unsigned commits, unsigned changes,
                bool look_at_values)
{
    temp_dir dir;
    char path[TEMP_DIR_PATH_BYTES];
    static model m;
    memset(&m, 0, sizeof m);
    temp_dir_make(&dir);
    temp_dir_path(&dir, "env.mdb", path);
    uint64_t random = seed;
    for (unsigned i = 0; i < commits; i++) {
        commit_changes(path, &m, 1 + (unsigned)sample_below(&random, changes),
                       &random);
        lmdb_head head;
        ksv_error error;
        static visit_check v;
        memset(&v, 0, sizeof v);
        v.model = &m;
        if (walk(path, &head, look_at_values ? visit : NULL, &v, &error) !=
            KSV_OK)
            fail_msg("seed %llu, commit %u: %s", (unsigned long long)seed, i,
                     error.text);
        assert_int_equal(head.txn_id, i + 1);
        size_t wanted = 0;
        for (unsigned k = 0; k < KEYS; k++)
            wanted += m.size[k] != 0;
        assert_int_equal(head.newest.main.entries, wanted);
        if (look_at_values)
            assert_int_equal(v.count, wanted);
    }
    temp_dir_remove(&dir);
}

static void test_thousands_of_entries(void **unused)
{
    (void)unused;
    run(1, 3, 4000, true);
}

static void test_many_commits(void **unused)
{
    (void)unused;
    run(2, 60, 400, false);
    run(3, 150, 10, false);
    run(4, 12, 4000, false);
}

/* The ids that catalog.mdb gets outlast every commit of LMDB, which puts its
 * commits in turns into the two pages and gives an id again that was not used.
 */
static void test_what_is_assumed_of_meta_pages(void **unused)
{
    (void)unused;
    temp_dir dir;
    char path[TEMP_DIR_PATH_BYTES];
    static model m;
    memset(&m, 0, sizeof m);
    temp_dir_make(&dir);
    temp_dir_path(&dir, "env.mdb", path);
    uint64_t random = 6;
    commit_changes(path, &m, 20, &random);
    index_copy files;
    index_copy_take(&files, dir.path);
    uint8_t *data = files.files[0].data;
    lmdb_meta_patch(data, 0x1122334455667788u, 1000);
    lmdb_meta_patch(data + 4096, 0x1122334455667788u, 1001);
    index_copy_write(dir.path, "env.mdb", data, files.files[0].size);
    index_copy_release(&files);
    for (uint64_t i = 1; i < 20; i++) {
        lmdb_head before;
        lmdb_head after;
        ksv_error error;
        assert_int_equal(walk(path, &before, NULL, NULL, &error), KSV_OK);
        commit_changes(path, &m, 20, &random);
        assert_int_equal(walk(path, &after, NULL, NULL, &error), KSV_OK);
        assert_true(after.environment_id == 0x1122334455667788u);
        assert_int_equal(after.txn_id, 1001 + i);
        unsigned kept = before.txn_id & 1;
        assert_memory_equal(before.raw[kept], after.raw[kept], LMDB_META_BYTES);
        assert_true(after.other_checksum ==
                    lmdb_meta_checksum(before.raw[kept]));
    }
    temp_dir_remove(&dir);
}

/* Bytes changed at random are either noticed or change no key. */
static void test_damaged_pages_do_no_harm(void **unused)
{
    (void)unused;
    temp_dir dir;
    char path[TEMP_DIR_PATH_BYTES];
    static model m;
    memset(&m, 0, sizeof m);
    temp_dir_make(&dir);
    temp_dir_path(&dir, "env.mdb", path);
    uint64_t random = 5;
    for (int i = 0; i < 5; i++)
        commit_changes(path, &m, 100, &random);
    index_copy files;
    index_copy_take(&files, dir.path);
    uint8_t *data = files.files[0].data;
    size_t noticed = 0;
    for (int i = 0; i < 3000; i++) {
        size_t at = (size_t)sample_below(&random, files.files[0].size);
        if (i % 2 == 0)
            at = at / 4096 * 4096 + at % 64;
        uint8_t bits = (uint8_t)(1 + sample_below(&random, 255));
        data[at] ^= bits;
        lmdb_head head;
        ksv_error error;
        ksv_file *file;
        assert_int_equal(
            memory_file_over(data, files.files[0].size, NULL, &file, NULL),
            KSV_OK);
        ksv_status status = walk_file(file, path, &head, NULL, NULL, &error);
        noticed += status != KSV_OK;
        assert_true(status == KSV_OK || status == KSV_ERROR_CORRUPT);
        data[at] ^= bits;
    }
    assert_true(noticed > 100);
    index_copy_release(&files);
    temp_dir_remove(&dir);
}

int main(void)
{
    index_copy_prefer_memory();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_thousands_of_entries),
        cmocka_unit_test(test_many_commits),
        cmocka_unit_test(test_what_is_assumed_of_meta_pages),
        cmocka_unit_test(test_damaged_pages_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
