/* SPDX-License-Identifier: MIT */
/* What is an alarm about a data file and what is not: touched, copied, restored
 * and moved files are not; any other content is, wherever it differs. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "catalog/catalog.h"
#include "catalog/file_identity.h"
#include "io/file.h"
#include "segment/data_identity.h"
#include "support/counting_file_system.h"
#include "support/gzip_data.h"
#include "support/index_fixture.h"

enum { ROWS = 20000, ROW_BYTES = 13, HEADER_BYTES = 5 };

/* Large enough for a fingerprint of samples, packed too. */
static void write_packed_rows(index_fixture *f, bool is_packed)
{
    char *text = malloc(HEADER_BYTES + ROWS * ROW_BYTES + 1);
    assert_non_null(text);
    size_t size = (size_t)sprintf(text, "id,v\n");
    for (int i = 0; i < ROWS; i++)
        size += (size_t)sprintf(text + size, "k%06d,1234\n", i);
    gzip_bytes packed = {NULL, 0, 0};
    gzip_how stored = gzip_how_usual();
    stored.level = 0;
    if (is_packed)
        gzip_member_add(&packed, text, size, &stored, NULL, 0);
    else
        gzip_bytes_add(&packed, text, size);
    temp_dir_write(&f->dir, "0.csv", packed.data, packed.size);
    gzip_bytes_release(&packed);
    free(text);
}

static void write_rows(index_fixture *f)
{
    write_packed_rows(f, false);
}

static int setup(void **state)
{
    static index_fixture f;
    index_fixture_make(&f);
    write_rows(&f);
    *state = &f;
    return index_fixture_build(&f, 1) == KSV_OK ? 0 : -1;
}

static int teardown(void **state)
{
    index_fixture_remove(*state);
    return 0;
}

static void run(const char *form, const char *a, const char *b)
{
    char command[3 * TEMP_DIR_PATH_BYTES];
    snprintf(command, sizeof command, form, a, b);
    assert_int_equal(system(command), 0);
}

static void set_mtime(const char *path, struct timespec mtime)
{
    const struct timespec times[2] = {mtime, mtime};
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

/* Found and not found, without a word, and nothing to do for an update. */
static void expect_no_alarm(index_fixture *f)
{
    assert_string_equal(index_fixture_get(f, "k000007"), "k000007,1234\n");
    assert_string_equal(index_fixture_get(f, "none"), "");
    assert_int_equal(
        ksv_update(f->directory, NULL, 0, NULL, &f->report, &f->error), KSV_OK);
    assert_int_equal(f->report.files_indexed, 0);
    assert_int_equal(f->report.files_unchanged, 1);
    assert_string_equal(index_fixture_get(f, "none"), "");
}

static void expect_stale(index_fixture *f, const char *key)
{
    assert_int_equal(index_fixture_get(f, key)[0], '?');
    assert_int_equal(f->error.status, KSV_ERROR_STALE);
}

static void test_no_alarm(void **state)
{
    index_fixture *f = *state;
    char other[TEMP_DIR_PATH_BYTES];
    temp_dir_path(&f->dir, "other", other);
    expect_no_alarm(f);
    run("touch %s", f->paths[0], "");
    expect_no_alarm(f);
    run("touch -d 2001-02-03 %s", f->paths[0], "");
    expect_no_alarm(f);
    run("cp %s %s", f->paths[0], other);
    run("mv %s %s", other, f->paths[0]);
    expect_no_alarm(f);
    run("cp -p %s %s", f->paths[0], other);
    run("mv %s %s", other, f->paths[0]);
    expect_no_alarm(f);
    run("mv %s %s", f->paths[0], other);
    expect_stale(f, "k000007");
    run("mv %s %s", other, f->paths[0]);
    expect_no_alarm(f);
    run("chmod 600 %s", f->paths[0], "");
    expect_no_alarm(f);
    run("ln %s %s", f->paths[0], other);
    expect_no_alarm(f);
}

/* A backup brought back after a change; the directory renamed as a whole. */
static void test_restored_and_renamed(void **state)
{
    index_fixture *f = *state;
    char backup[TEMP_DIR_PATH_BYTES];
    temp_dir_path(&f->dir, "backup", backup);
    run("cp -p %s %s", f->paths[0], backup);
    run("echo x,1 >> %s", f->paths[0], "");
    expect_stale(f, "x");
    run("cp -p %2$s %1$s", f->paths[0], backup);
    expect_no_alarm(f);
    char moved[sizeof f->dir.path + 8];
    snprintf(moved, sizeof moved, "%s.moved", f->dir.path);
    assert_int_equal(rename(f->dir.path, moved), 0);
    char directory[TEMP_DIR_PATH_BYTES];
    snprintf(directory, sizeof directory, "%s%s", moved,
             f->directory + strlen(f->dir.path));
    ksv_index *index;
    ksv_status status = ksv_index_open(directory, NULL, &index, &f->error);
    const ksv_key keys[2] = {{"k000007", 7}, {"none", 4}};
    bool found[2] = {false, true};
    if (status == KSV_OK) {
        status = ksv_has(index, keys, 2, false, found, NULL, NULL, &f->error);
        ksv_index_close(index);
    }
    assert_int_equal(rename(moved, f->dir.path), 0);
    assert_int_equal(status, KSV_OK);
    assert_true(found[0]);
    assert_false(found[1]);
}

/* The catalog's entry of the data file. */
static void read_entry(index_fixture *f, catalog_state *state)
{
    assert_int_equal(catalog_read(ksv_posix_file_system(), f->directory, NULL,
                                  state, &f->error),
                     KSV_OK);
    assert_int_equal(state->file_count, 1);
}

static void flip(const char *path, uint64_t offset)
{
    int fd = open(path, O_RDWR);
    unsigned char byte;
    assert_true(fd >= 0);
    assert_int_equal(pread(fd, &byte, 1, (off_t)offset), 1);
    byte ^= 1;
    assert_int_equal(pwrite(fd, &byte, 1, (off_t)offset), 1);
    assert_int_equal(close(fd), 0);
}

static file_identity identity_of(const ksv_file_system *fs, const char *path,
                                 const catalog_file *file)
{
    file_identity identity;
    ksv_file_info info;
    assert_int_equal(file_identity_look(fs, path, file, &identity, &info, NULL),
                     KSV_OK);
    return identity;
}

/* A byte of each sample is changed and the time put back: found by samples. A
 * byte beside them: by reading everything. */
static void test_samples(void **state)
{
    index_fixture *f = *state;
    const char *path = f->paths[0];
    static counting_file_system counting;
    counting_file_system_open(&counting, ksv_posix_file_system(), ".csv");
    catalog_state entry;
    read_entry(f, &entry);
    const catalog_file *file = &entry.files[0];
    struct stat before;
    assert_int_equal(stat(path, &before), 0);
    run("touch %s", path, "");
    assert_int_equal(identity_of(&counting.fs, path, file),
                     FILE_IDENTITY_TOUCHED);
    assert_true(counting.bytes_read < file->size_bytes / 2);
    size_t samples = counting.reads;
    assert_true(samples > 4);
    segment_place place = {.fs = &counting.fs,
                           .directory = f->directory,
                           .allocator = &entry.allocator,
                           .parameters = &entry.parameters};
    for (size_t i = 0; i < samples; i++) {
        counted_read sample = counting.log[i];
        if (sample.size_bytes == 0)
            continue;
        const uint64_t at[3] = {sample.offset,
                                sample.offset + sample.size_bytes / 2,
                                sample.offset + sample.size_bytes - 1};
        for (int j = 0; j < 3; j++) {
            flip(path, at[j]);
            set_mtime(path, before.st_mtim);
            assert_int_equal(identity_of(&counting.fs, path, file),
                             FILE_IDENTITY_CHANGED);
            flip(path, at[j]);
        }
        uint64_t beside = sample.offset + sample.size_bytes + 3;
        if (beside >= file->size_bytes)
            continue;
        data_identity found;
        flip(path, beside);
        assert_int_equal(data_identity_check(&place, file, path, &found, NULL),
                         KSV_OK);
        assert_int_equal(found.identity, FILE_IDENTITY_CHANGED);
        flip(path, beside);
    }
    catalog_state_release(&entry);
    counting_file_system_close(&counting);
}

static void test_sizes(void **state)
{
    index_fixture *f = *state;
    const ksv_file_system *fs = ksv_posix_file_system();
    catalog_state entry;
    read_entry(f, &entry);
    const catalog_file *file = &entry.files[0];
    struct stat before;
    assert_int_equal(stat(f->paths[0], &before), 0);
    run("printf x >> %s", f->paths[0], "");
    set_mtime(f->paths[0], before.st_mtim);
    assert_int_equal(identity_of(fs, f->paths[0], file), FILE_IDENTITY_GROWN);
    flip(f->paths[0], 0);
    assert_int_equal(identity_of(fs, f->paths[0], file), FILE_IDENTITY_CHANGED);
    flip(f->paths[0], 0);
    assert_int_equal(truncate(f->paths[0], before.st_size - 1), 0);
    set_mtime(f->paths[0], before.st_mtim);
    assert_int_equal(identity_of(fs, f->paths[0], file), FILE_IDENTITY_CHANGED);
    assert_int_equal(unlink(f->paths[0]), 0);
    assert_int_equal(identity_of(fs, f->paths[0], file), FILE_IDENTITY_MISSING);
    catalog_state_release(&entry);
}

/* Same size, same time, other inode and other content. */
static void test_replaced(void **state)
{
    index_fixture *f = *state;
    struct stat before;
    assert_int_equal(stat(f->paths[0], &before), 0);
    char other[TEMP_DIR_PATH_BYTES];
    temp_dir_path(&f->dir, "other", other);
    run("sed s/k010000/n010000/ %s > %s", f->paths[0], other);
    set_mtime(other, before.st_mtim);
    assert_int_equal(rename(other, f->paths[0]), 0);
    expect_stale(f, "n010000");
    expect_stale(f, "k010000");
    assert_int_equal(
        ksv_update(f->directory, NULL, 0, NULL, &f->report, &f->error), KSV_OK);
    assert_int_equal(f->report.files_indexed, 1);
    assert_string_equal(index_fixture_get(f, "n010000"), "n010000,1234\n");
    assert_string_equal(index_fixture_get(f, "k010000"), "");
}

static ksv_status verify_data(index_fixture *f, const ksv_file_system *fs)
{
    ksv_verify_options options;
    ksv_verify_options_init(&options);
    options.data = true;
    options.file_system = fs;
    return ksv_verify(f->directory, &options, NULL, &f->error);
}

/* Where a file system tells no times, a change of the same size looks like
 * none: whoever wants to know reads the data. Every byte counts, of what is
 * stored in gzip too. */
static void verify_finds_everything(index_fixture *f, bool is_packed)
{
    static counting_file_system hiding;
    counting_file_system_open(&hiding, ksv_posix_file_system(), ".csv");
    hiding.hide_times = true;
    f->options.file_system = &hiding.fs;
    assert_int_equal(unlink(f->paths[0]), 0);
    write_packed_rows(f, is_packed);
    assert_int_equal(index_fixture_build(f, 1), KSV_OK);
    assert_int_equal(verify_data(f, &hiding.fs), KSV_OK);
    const uint64_t size = HEADER_BYTES + ROWS * ROW_BYTES;
    for (uint64_t at = HEADER_BYTES + 30; at < size; at += size / 20) {
        flip(f->paths[0], at);
        ksv_status status = verify_data(f, &hiding.fs);
        if (status == KSV_OK || (!is_packed && status != KSV_ERROR_STALE))
            fail_msg("byte %llu: nothing is found", (unsigned long long)at);
        flip(f->paths[0], at);
    }
    assert_int_equal(verify_data(f, &hiding.fs), KSV_OK);
    counting_file_system_close(&hiding);
}

static void test_verify_finds_everything(void **state)
{
    verify_finds_everything(*state, false);
    verify_finds_everything(*state, true);
}

/* An update looks at what is unchanged, and does not open it. */
static void test_update_costs_a_look(void **state)
{
    index_fixture *f = *state;
    static counting_file_system counting;
    counting_file_system_open(&counting, ksv_posix_file_system(), ".csv");
    f->options.file_system = &counting.fs;
    assert_int_equal(
        ksv_update(f->directory, NULL, 0, &f->options, &f->report, &f->error),
        KSV_OK);
    assert_int_equal(f->report.files_unchanged, 1);
    assert_int_equal(counting.opens, 0);
    assert_int_equal(counting.bytes_read, 0);
    assert_true(counting.infos <= 1);
    counting_file_system_reset(&counting);
    counting_file_system_close(&counting);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_no_alarm),
        TEST(test_restored_and_renamed),
        TEST(test_samples),
        TEST(test_sizes),
        TEST(test_replaced),
        TEST(test_verify_finds_everything),
        TEST(test_update_costs_a_look),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
