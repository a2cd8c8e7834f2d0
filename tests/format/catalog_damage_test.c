/* SPDX-License-Identifier: MIT */
/* Every byte of catalog.mdb and of its copy changed, cut, emptied, replaced. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <stdlib.h>

#include "catalog/catalog.h"
#include "catalog/catalog_records.h"
#include "io/file.h"
#include "io/memory_file_system.h"
#include "mdb/lmdb_layout.h"
#include "support/catalog_samples.h"
#include "support/index_copy.h"
#include "support/pace.h"
#include "support/temp_dir.h"

#define PAGE_BYTES 4096

typedef struct fixture {
    temp_dir dir;
    char index[TEMP_DIR_PATH_BYTES];
    index_copy good;
    index_copy_file *mdb;
    index_copy_file *ksc;
    char old_copy_name[CATALOG_NAME_BYTES];
    index_copy_file old_copy;
    catalog_state old;
    catalog_state now;
    uint64_t seed;
} fixture;

static void commit_next(fixture *f)
{
    ksv_error error;
    catalog *c;
    catalog_state found;
    bool repaired;
    assert_int_equal(catalog_open(ksv_posix_file_system(), f->index, NULL, &c,
                                  &found, &repaired, NULL, &error),
                     KSV_OK);
    catalog_state_release(&found);
    catalog_state_release(&f->old);
    sample_copy(&f->now, &f->old);
    sample_add_files(&f->now, &f->seed, 2);
    assert_int_equal(catalog_commit(c, &f->now, &error), KSV_OK);
    catalog_close(c);
}

static void start(fixture *f, int commits)
{
    memset(f, 0, sizeof *f);
    temp_dir_make(&f->dir);
    temp_dir_path(&f->dir, "index", f->index);
    f->seed = 5;
    sample_start(&f->now, &f->seed);
    for (int i = 0; i < commits; i++) {
        if (i == commits - 1 && i > 0) {
            index_copy before;
            index_copy_take(&before, f->index);
            f->old_copy = *index_copy_find(&before, CATALOG_COPY_ENDING);
            index_copy_find(&before, CATALOG_COPY_ENDING)->data = NULL;
            index_copy_release(&before);
        }
        commit_next(f);
    }
    index_copy_take(&f->good, f->index);
    f->mdb = index_copy_find(&f->good, CATALOG_FILE_NAME);
    f->ksc = index_copy_find(&f->good, CATALOG_COPY_ENDING);
    assert_non_null(f->mdb);
    assert_non_null(f->ksc);
}

static void finish(fixture *f)
{
    free(f->old_copy.data);
    index_copy_release(&f->good);
    catalog_state_release(&f->old);
    catalog_state_release(&f->now);
    temp_dir_remove(&f->dir);
}

/* The right state, or a status that says that it is damaged. */
static ksv_status check_reader(const fixture *f, const char *what, size_t at)
{
    ksv_error error;
    catalog_state read;
    ksv_status status =
        catalog_read(ksv_posix_file_system(), f->index, NULL, &read, &error);
    if (status == KSV_OK) {
        if (!sample_equal(&read, &f->now))
            fail_msg("%s, byte %zu: a wrong state", what, at);
        catalog_state_release(&read);
    } else if (status == KSV_ERROR_CORRUPT) {
        assert_int_equal(error.remedy, KSV_REMEDY_BUILD);
        assert_non_null(strstr(error.path, "index/"));
    } else if (status != KSV_ERROR_VERSION) {
        fail_msg("%s, byte %zu: status %d", what, at, (int)status);
    }
    return status;
}

/* The state comes back, but for a later version, which is left alone. */
static void check_repair(const fixture *f, const char *what, size_t at)
{
    ksv_error error;
    catalog *c;
    catalog_state found;
    bool repaired;
    ksv_error damage;
    bool was_good = check_reader(f, what, at) == KSV_OK;
    ksv_status status = catalog_open(ksv_posix_file_system(), f->index, NULL,
                                     &c, &found, &repaired, &damage, &error);
    if (status == KSV_ERROR_VERSION)
        return;
    if (status != KSV_OK)
        fail_msg("%s, byte %zu: open: %s: %s", what, at, error.path,
                 error.text);
    if (!sample_equal(&found, &f->now))
        fail_msg("%s, byte %zu: another state after the repair", what, at);
    assert_true(repaired || was_good);
    assert_int_equal(repaired, damage.status == KSV_ERROR_CORRUPT);
    catalog_state_release(&found);
    catalog_close(c);
    assert_int_equal(check_reader(f, what, at), KSV_OK);
    uint64_t bytes = 0;
    assert_int_equal(
        catalog_verify(ksv_posix_file_system(), f->index, NULL, &bytes, &error),
        KSV_OK);
}

static void check_flip(const fixture *f, const index_copy_file *file, size_t at,
                       uint8_t bits)
{
    index_copy_restore(&f->good, f->index);
    file->data[at] ^= bits;
    index_copy_write(f->index, file->name, file->data, file->size);
    file->data[at] ^= bits;
    check_repair(f, file->name, at);
}

static void test_every_byte_of_the_copy(void **unused)
{
    (void)unused;
    fixture f;
    start(&f, 3);
    for (size_t i = 0; i < f.ksc->size; i += PACE_STEP) {
        f.ksc->data[i] ^= (uint8_t)(1u << (i % 8));
        index_copy_write(f.index, f.ksc->name, f.ksc->data, f.ksc->size);
        f.ksc->data[i] ^= (uint8_t)(1u << (i % 8));
        assert_int_not_equal(check_reader(&f, "copy", i), KSV_OK);
        if (i < 64 || i % 17 == 0)
            check_repair(&f, "copy", i);
        if (i < 64 || i % 17 == 0)
            index_copy_restore(&f.good, f.index);
    }
    finish(&f);
}

static void test_bytes_of_the_environment(void **unused)
{
    (void)unused;
    fixture f;
    start(&f, 3);
    for (size_t i = 0; i < f.mdb->size; i += PACE_STEP) {
        bool is_meta = i < 2 * PAGE_BYTES && i % PAGE_BYTES < LMDB_META_BYTES;
        if (is_meta)
            check_flip(&f, f.mdb, i, 0xff);
        if (is_meta || i % 257 == 0)
            check_flip(&f, f.mdb, i, (uint8_t)(1u << (i % 8)));
    }
    finish(&f);
}

/* All bytes of all pages, by the functions that judge them. */
static void test_every_byte_for_the_walker(void **unused)
{
    (void)unused;
    fixture f;
    start(&f, 4);
    ksv_allocator a = allocator_or_default(NULL);
    size_t wrong = 0;
    for (size_t i = 0; i < 2 * f.mdb->size; i += PACE_STEP) {
        uint8_t bits = (uint8_t)(i % 2 == 0 ? 0xff : 1u << (i / 2 % 8));
        f.mdb->data[i / 2] ^= bits;
        ksv_file *file;
        lmdb_head head;
        catalog_state state;
        uint64_t checksum;
        assert_int_equal(
            memory_file_over(f.mdb->data, f.mdb->size, NULL, &file, NULL),
            KSV_OK);
        ksv_status status = lmdb_head_read(file, "x", &head, NULL);
        if (status == KSV_OK && head.txn_id > 0)
            status = records_read(file, "x", &head, &a, &state, &checksum, NULL,
                                  NULL);
        if (status == KSV_OK) {
            assert_true(sample_equal(&state, &f.now));
            catalog_state_release(&state);
        } else {
            assert_true(status == KSV_ERROR_CORRUPT);
            wrong++;
        }
        file_close_quietly(file);
        f.mdb->data[i / 2] ^= bits;
    }
    assert_true(wrong > 1000 / PACE_STEP);
    finish(&f);
}

/* A builder killed just after its commit leaves the copy before: no damaged
 * transaction id may lead to it. */
static void test_older_copy_is_never_taken(void **unused)
{
    (void)unused;
    /* One bit changes the ids 3 and 6 to 1 and 4, neighbours of 2 and 5. */
    for (int commits = 3; commits <= 6; commits += 3) {
        fixture f;
        start(&f, commits);
        for (size_t i = 0; i < 2 * LMDB_META_BYTES * 8; i += PACE_STEP) {
            size_t at = i / 8 % LMDB_META_BYTES +
                        (i / 8 < LMDB_META_BYTES ? 0 : PAGE_BYTES);
            uint8_t bit = (uint8_t)(1u << i % 8);
            index_copy_restore(&f.good, f.index);
            index_copy_write(f.index, f.old_copy.name, f.old_copy.data,
                             f.old_copy.size);
            f.mdb->data[at] ^= bit;
            index_copy_write(f.index, f.mdb->name, f.mdb->data, f.mdb->size);
            f.mdb->data[at] ^= bit;
            /* Most end the same way: a few go through a repair. */
            if (at % PAGE_BYTES >= LMDB_META_BYTES - 8 || i % 97 == 0)
                check_repair(&f, "meta page", at);
        }
        finish(&f);
    }
}

static void write_over(const fixture *f, const index_copy_file *file,
                       const void *data, size_t size, const char *what)
{
    index_copy_restore(&f->good, f->index);
    index_copy_write(f->index, file->name, data, size);
    assert_int_equal(check_reader(f, what, size), KSV_ERROR_CORRUPT);
    check_repair(f, what, size);
}

static void remove_file(const fixture *f, const char *name)
{
    char path[TEMP_DIR_PATH_BYTES + 256];
    snprintf(path, sizeof path, "%s/%s", f->index, name);
    assert_int_equal(remove(path), 0);
}

static void test_cut_emptied_overwritten_removed(void **unused)
{
    (void)unused;
    fixture f;
    start(&f, 3);
    static char text[PAGE_BYTES];
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = "This is no index.\n"[i % 18];
    const index_copy_file *files[] = {f.mdb, f.ksc};
    for (size_t i = 0; i < 2; i++) {
        write_over(&f, files[i], "", 0, "emptied");
        write_over(&f, files[i], text, sizeof text, "text");
        index_copy_restore(&f.good, f.index);
        remove_file(&f, files[i]->name);
        assert_int_equal(check_reader(&f, "removed", i), KSV_ERROR_CORRUPT);
        check_repair(&f, "removed", i);
    }
    for (size_t size = 0; size < f.ksc->size; size += PACE_STEP) {
        index_copy_write(f.index, f.ksc->name, f.ksc->data, size);
        assert_int_equal(check_reader(&f, "cut", size), KSV_ERROR_CORRUPT);
        if (size % 101 == 0)
            write_over(&f, f.ksc, f.ksc->data, size, "cut");
    }
    for (size_t size = 0; size < f.mdb->size; size += 379) {
        index_copy_restore(&f.good, f.index);
        index_copy_write(f.index, f.mdb->name, f.mdb->data, size);
        check_repair(&f, "cut", size);
    }
    finish(&f);
}

/* Not even a builder touches what a later version made. */
static void test_later_version_is_left_alone(void **unused)
{
    (void)unused;
    fixture f;
    start(&f, 2);
    for (int i = 0; i < 2; i++) {
        index_copy_restore(&f.good, f.index);
        const index_copy_file *file = i == 0 ? f.mdb : f.ksc;
        uint8_t *changed = malloc(file->size);
        assert_non_null(changed);
        memcpy(changed, file->data, file->size);
        size_t offset = i == 0 ? LMDB_PAGE_HEADER_BYTES + 4 : 8;
        memset(changed + offset, 0xff, 2);
        if (i == 0)
            memset(changed + PAGE_BYTES + offset, 0xff, 2);
        index_copy_write(f.index, file->name, changed, file->size);
        index_copy before;
        index_copy_take(&before, f.index);
        assert_int_equal(check_reader(&f, "version", 0), KSV_ERROR_VERSION);
        catalog *c;
        catalog_state found;
        bool repaired;
        ksv_error error;
        assert_int_equal(catalog_open(ksv_posix_file_system(), f.index, NULL,
                                      &c, &found, &repaired, NULL, &error),
                         KSV_ERROR_VERSION);
        assert_null(c);
        assert_non_null(strstr(error.text, "version 65535"));
        assert_int_equal(index_copy_entries(f.index), before.count);
        for (size_t k = 0; k < before.count; k++) {
            index_copy after;
            index_copy_take(&after, f.index);
            index_copy_file *same =
                index_copy_find(&after, before.files[k].name);
            assert_non_null(same);
            assert_int_equal(same->size, before.files[k].size);
            assert_memory_equal(same->data, before.files[k].data, same->size);
            index_copy_release(&after);
        }
        index_copy_release(&before);
        free(changed);
    }
    finish(&f);
}

static void test_files_of_another_index(void **unused)
{
    (void)unused;
    fixture f;
    fixture other;
    start(&f, 2);
    start(&other, 2);
    write_over(&f, f.ksc, other.ksc->data, other.ksc->size, "copy of another");
    write_over(&f, f.mdb, other.mdb->data, other.mdb->size,
               "environment of another");
    finish(&other);
    finish(&f);
}

/* Both damaged: the index starts anew, and until that is committed the damage
 * stays visible. */
static void test_beyond_repair(void **unused)
{
    (void)unused;
    fixture f;
    start(&f, 3);
    index_copy_write(f.index, f.mdb->name, "x", 1);
    index_copy_write(f.index, f.ksc->name, "y", 1);
    catalog *c;
    catalog_state found;
    bool repaired;
    ksv_error damage;
    ksv_error error;
    assert_int_equal(catalog_open(ksv_posix_file_system(), f.index, NULL, &c,
                                  &found, &repaired, &damage, &error),
                     KSV_OK);
    assert_true(repaired);
    assert_int_equal(damage.status, KSV_ERROR_CORRUPT);
    assert_int_equal(found.generation, 0);
    assert_int_equal(found.file_count, 0);
    assert_int_equal(check_reader(&f, "lost", 0), KSV_ERROR_CORRUPT);
    catalog_close(c);
    assert_int_equal(check_reader(&f, "lost", 0), KSV_ERROR_CORRUPT);

    assert_int_equal(catalog_open(ksv_posix_file_system(), f.index, NULL, &c,
                                  &found, &repaired, &damage, &error),
                     KSV_OK);
    assert_true(repaired);
    assert_int_equal(catalog_commit(c, &f.now, &error), KSV_OK);
    assert_true(f.now.generation > 3);
    assert_int_equal(check_reader(&f, "found", 0), KSV_OK);
    sample_add_files(&f.now, &f.seed, 1);
    assert_int_equal(catalog_commit(c, &f.now, &error), KSV_OK);
    assert_int_equal(catalog_clean(c, &f.now, &error), KSV_OK);
    catalog_close(c);
    assert_int_equal(check_reader(&f, "found", 0), KSV_OK);
    assert_int_equal(index_copy_entries(f.index), 3);
    finish(&f);
}

int main(void)
{
    index_copy_prefer_memory();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_byte_of_the_copy),
        cmocka_unit_test(test_bytes_of_the_environment),
        cmocka_unit_test(test_every_byte_for_the_walker),
        cmocka_unit_test(test_older_copy_is_never_taken),
        cmocka_unit_test(test_cut_emptied_overwritten_removed),
        cmocka_unit_test(test_later_version_is_left_alone),
        cmocka_unit_test(test_files_of_another_index),
        cmocka_unit_test(test_beyond_repair),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
