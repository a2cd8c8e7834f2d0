/* SPDX-License-Identifier: MIT */
/* Hundreds of small files that have grown, all of one segment, each with a last
 * record that goes on: what an update finds, what it syncs, what is left of it
 * when power is lost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <keysieve/keysieve.h>

#include "support/fault_file_system.h"
#include "support/index_copy.h"
#include "support/index_tools.h"
#include "support/pace.h"
#include "support/temp_dir.h"

enum { FILES = 300, ROWS = 12 };

typedef struct fixture {
    temp_dir dir;
    char directory[TEMP_DIR_PATH_BYTES];
    char kept[TEMP_DIR_PATH_BYTES]; /* a copy of the index */
    char lost[TEMP_DIR_PATH_BYTES];
    char paths[FILES][TEMP_DIR_PATH_BYTES];
    fault_file_system faults;
    ksv_build_report report;
    ksv_error error;
} fixture;

/* "la" in every second file, "same" in the others, which have it twice. */
static void write_first(fixture *f, size_t number)
{
    char text[1000] = "id,v\nsame,1\n";
    for (int row = 0; row < ROWS; row++)
        sprintf(text + strlen(text), "k%zu-%d,some value\n", number, row);
    strcat(text, number % 2 == 0 ? "la" : "same");
    char name[32];
    snprintf(name, sizeof name, "%zu.csv", number);
    temp_dir_write(&f->dir, name, text, strlen(text));
    temp_dir_path(&f->dir, name, f->paths[number]);
}

/* They become "last" and a number, and "samest" and a number. */
static void append_more(fixture *f, size_t number)
{
    FILE *file = fopen(f->paths[number], "ab");
    assert_non_null(file);
    fprintf(file, "st%zu,2\nmore%zu,3\n", number, number);
    assert_int_equal(fclose(file), 0);
}

static ksv_status build(fixture *f, const char *directory, bool no_merge,
                        const ksv_file_system *fs)
{
    static const char *const key = "id";
    const char *files[FILES];
    for (size_t i = 0; i < FILES; i++)
        files[i] = f->paths[i];
    ksv_format_options format;
    ksv_build_options options;
    index_options_of(KSV_FORMAT_CSV, &key, &format, &options);
    options.no_merge = no_merge;
    options.file_system = fs;
    return ksv_build(directory, files, FILES, &options, &f->report, &f->error);
}

static void shell(const char *form, const char *a, const char *b)
{
    char command[3 * TEMP_DIR_PATH_BYTES];
    snprintf(command, sizeof command, form, a, b, a);
    assert_int_equal(system(command), 0);
}

/* The index is of the files before they have grown. */
static int setup(void **state)
{
    static fixture f;
    memset(&f, 0, sizeof f);
    temp_dir_make(&f.dir);
    temp_dir_path(&f.dir, "ix", f.directory);
    temp_dir_path(&f.dir, "kept", f.kept);
    temp_dir_path(&f.dir, "lost", f.lost);
    for (size_t i = 0; i < FILES; i++)
        write_first(&f, i);
    assert_int_equal(build(&f, f.directory, false, NULL), KSV_OK);
    shell("cp -r %s %s", f.directory, f.kept);
    for (size_t i = 0; i < FILES; i++)
        append_more(&f, i);
    fault_file_system_open(&f.faults, ksv_posix_file_system());
    *state = &f;
    return 0;
}

static int teardown(void **state)
{
    fixture *f = *state;
    fault_file_system_close(&f->faults);
    temp_dir_remove(&f->dir);
    return 0;
}

static bool count_record(void *ctx, size_t number, const ksv_record *record)
{
    (void)number;
    *(size_t *)ctx += record != NULL;
    return true;
}

static void expect_records(fixture *f, ksv_index *index, const char *key,
                           size_t wanted)
{
    const ksv_key asked = {key, strlen(key)};
    size_t records = 0;
    if (ksv_get(index, &asked, 1, NULL, count_record, &records, NULL, NULL,
                &f->error) != KSV_OK)
        fail_msg("%s: %s: %s", key, f->error.path, f->error.text);
    if (records != wanted)
        fail_msg("%s: %zu records, not %zu", key, records, wanted);
}

static void check_answers(fixture *f)
{
    ksv_index *index;
    assert_int_equal(ksv_index_open(f->directory, NULL, &index, &f->error),
                     KSV_OK);
    expect_records(f, index, "la", 0);
    expect_records(f, index, "same", FILES);
    expect_records(f, index, "st0", 0);
    for (size_t i = 0; i < FILES; i++) {
        char key[32];
        snprintf(key, sizeof key, i % 2 == 0 ? "last%zu" : "samest%zu", i);
        expect_records(f, index, key, 1);
        snprintf(key, sizeof key, "more%zu", i);
        expect_records(f, index, key, 1);
        snprintf(key, sizeof key, "k%zu-%zu", i, i % ROWS);
        expect_records(f, index, key, 1);
    }
    ksv_index_close(index);
}

static void verify(fixture *f)
{
    ksv_verify_options options;
    ksv_verify_options_init(&options);
    options.data = true;
    if (ksv_verify(f->directory, &options, NULL, &f->error) != KSV_OK)
        fail_msg("%s: %s", f->error.path, f->error.text);
}

/* The keys that are lost are counted once for each file that has no other
 * record with them: as an index that is made anew counts. */
static void test_as_made_anew(void **state)
{
    fixture *f = *state;
    assert_int_equal(build(f, f->directory, false, NULL), KSV_OK);
    assert_int_equal(f->report.files_indexed, FILES);
    /* What is new, and the record that has gone on. */
    assert_int_equal(f->report.records, 2 * FILES);
    assert_int_equal(index_info_of(f->directory).segments, 2);
    check_answers(f);
    verify(f);
    char fresh[TEMP_DIR_PATH_BYTES];
    temp_dir_path(&f->dir, "fresh", fresh);
    assert_int_equal(build(f, fresh, false, NULL), KSV_OK);
    ksv_index_info grown = index_info_of(f->directory);
    ksv_index_info anew = index_info_of(fresh);
    assert_int_equal(grown.records, anew.records);
    assert_int_equal(grown.distinct_keys, anew.distinct_keys);
    assert_int_equal(grown.distinct_keys, 1 + (ROWS + 2) * FILES);
}

/* Filter and table of the segment, the copy of the catalog, and one for the
 * filters of all files. */
static void test_few_syncs(void **state)
{
    fixture *f = *state;
    f->faults.plan = (fault_plan){.operations = FAULT_SYNC};
    assert_int_equal(build(f, f->directory, true, &f->faults.fs), KSV_OK);
    assert_int_equal(f->report.files_indexed, FILES);
    assert_true(fault_file_system_count(&f->faults) >= 3);
    if (f->faults.fs.sync_files != NULL)
        assert_true(fault_file_system_count(&f->faults) <= 5);
}

static int build_in_child(void *ctx)
{
    fixture *f = ctx;
    return build(f, f->directory, true, &f->faults.fs) == KSV_OK ? 0 : 1;
}

/* Killed at operation `at`, after which only what was synced is there. */
static int lose_power_at(fixture *f, uint64_t at)
{
    shell("rm -rf %s && cp -r %s %s", f->directory, f->kept);
    shell("rm -rf %s && mkdir %s", f->lost, f->lost);
    fault_file_system_reset(&f->faults);
    fault_file_system_track(&f->faults, f->lost);
    f->faults.plan =
        (fault_plan){.operations = FAULT_CHANGES, .at = at, .kill = true};
    int code = fault_run_forked(build_in_child, f);
    fault_file_system_lose_power(&f->faults);
    return code;
}

static void test_power_is_lost(void **state)
{
    fixture *f = *state;
    assert_int_equal(lose_power_at(f, 0), 0);
    uint64_t operations = fault_file_system_count(&f->faults);
    assert_true(operations > 2 * FILES);
    check_answers(f);
    /* Removals that are not durable come back, and go with the next build. */
    assert_int_equal(build(f, f->directory, true, NULL), KSV_OK);
    size_t entries = index_copy_entries(f->directory);
    /* Close to the end each step counts: there lie syncs and the commit. */
    uint64_t step;
    for (uint64_t at = 1; at <= operations; at += step) {
        step = at + 16 < operations ? operations / 5 : PACE_STEP;
        assert_int_equal(lose_power_at(f, at), FAULT_EXIT_CODE);
        if (ksv_verify(f->directory, NULL, NULL, &f->error) != KSV_OK &&
            f->error.status != KSV_ERROR_STALE)
            fail_msg("operation %llu: %s: %s", (unsigned long long)at,
                     f->error.path, f->error.text);
        assert_int_equal(build(f, f->directory, true, NULL), KSV_OK);
        if (index_copy_entries(f->directory) != entries)
            fail_msg("operation %llu: files are left over",
                     (unsigned long long)at);
    }
    check_answers(f);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    index_copy_prefer_memory();
    const struct CMUnitTest tests[] = {
        TEST(test_as_made_anew),
        TEST(test_few_syncs),
        TEST(test_power_is_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
