/* SPDX-License-Identifier: MIT */
/* When segments are merged, what a merge does when something is in its way, and
 * how many small files become one segment. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <keysieve/keysieve.h>

#include "build/tier_merge.h"
#include "support/fault_file_system.h"
#include "support/index_copy.h"
#include "support/pace.h"
#include "support/temp_dir.h"

#define MOST_FILES 300

typedef struct fixture {
    temp_dir dir;
    char directory[TEMP_DIR_PATH_BYTES];
    char paths[MOST_FILES][TEMP_DIR_PATH_BYTES];
    ksv_format_options format;
    ksv_build_options options;
    ksv_build_report report;
    ksv_error error;
    size_t failures; /* told by the build */
} fixture;

static const char *const KEY = "id";

/* File n has the keys n-0, n-1 and n-2, and "all". */
static void write_file(fixture *f, size_t number, const char *more)
{
    char name[32], text[200];
    snprintf(name, sizeof name, "%zu.csv", number);
    snprintf(text, sizeof text, "id,v\n%zu-0,a\n%zu-1,b\n%zu-2,c\nall,%zu\n%s",
             number, number, number, number, more);
    temp_dir_write(&f->dir, name, text, strlen(text));
}

static void count_failure(void *ctx, const ksv_error *problem, bool is_warning)
{
    (void)problem;
    ((fixture *)ctx)->failures += !is_warning;
}

static int setup(void **state)
{
    static fixture f;
    memset(&f, 0, sizeof f);
    temp_dir_make(&f.dir);
    temp_dir_path(&f.dir, "ix", f.directory);
    for (size_t i = 0; i < MOST_FILES; i++) {
        char name[32];
        snprintf(name, sizeof name, "%zu.csv", i);
        temp_dir_path(&f.dir, name, f.paths[i]);
    }
    ksv_format_options_init(&f.format);
    f.format.format = KSV_FORMAT_CSV;
    f.format.keys = &KEY;
    f.format.key_count = 1;
    ksv_build_options_init(&f.options);
    f.options.format = &f.format;
    f.options.problem = count_failure;
    f.options.problem_ctx = &f;
    *state = &f;
    return 0;
}

static int teardown(void **state)
{
    temp_dir_remove(&((fixture *)*state)->dir);
    return 0;
}

static ksv_status build(fixture *f, size_t first, size_t count)
{
    const char *files[MOST_FILES];
    for (size_t i = 0; i < count; i++)
        files[i] = f->paths[first + i];
    return ksv_build(f->directory, files, count, &f->options, &f->report,
                     &f->error);
}

/* Writes and builds the files, at most 15 a time: each gets a segment. */
static void build_singly(fixture *f, size_t first, size_t count)
{
    for (size_t i = first; i < first + count; i += 15) {
        size_t some = first + count - i < 15 ? first + count - i : 15;
        for (size_t j = i; j < i + some; j++)
            write_file(f, j, "");
        assert_int_equal(build(f, i, some), KSV_OK);
    }
}

static ksv_index_info info_of(fixture *f)
{
    ksv_index *index;
    ksv_index_info info;
    assert_int_equal(ksv_index_open(f->directory, NULL, &index, NULL), KSV_OK);
    if (ksv_index_get_info(index, &info, &f->error) != KSV_OK)
        fail_msg("%s: %s", f->error.path, f->error.text);
    info.files = NULL;
    ksv_index_close(index);
    return info;
}

/* The values of the records of a key, each with a comma. */
typedef struct answer {
    char text[4000];
    ksv_receipt receipt;
} answer;

static bool add_value(void *ctx, size_t key_number, const ksv_record *record)
{
    (void)key_number;
    answer *a = ctx;
    if (record == NULL)
        return true;
    const char *comma = memchr(record->data, ',', (size_t)record->length);
    size_t skip = (size_t)(comma + 1 - (const char *)record->data);
    strncat(a->text, comma + 1, (size_t)record->length - skip);
    strcat(a->text, ",");
    return true;
}

static const char *get(ksv_index *index, const char *key, answer *a)
{
    memset(a, 0, sizeof *a);
    ksv_key asked = {key, strlen(key)};
    ksv_error error;
    ksv_status status = ksv_get(index, &asked, 1, NULL, add_value, a,
                                &a->receipt, NULL, &error);
    if (status != KSV_OK)
        snprintf(a->text, sizeof a->text, "? %s", error.text);
    return a->text;
}

static void check_keys(fixture *f, size_t count)
{
    ksv_index *index;
    answer a;
    char all[4000] = "";
    assert_int_equal(ksv_index_open(f->directory, NULL, &index, NULL), KSV_OK);
    for (size_t i = 0; i < count; i++) {
        char key[32];
        snprintf(key, sizeof key, "%zu-1", i);
        assert_string_equal(get(index, key, &a), "b,");
        snprintf(all + strlen(all), sizeof all - strlen(all), "%zu,", i);
    }
    /* In the order in which the files were given. */
    assert_string_equal(get(index, "all", &a), all);
    ksv_index_close(index);
}

static void test_tiers_of_new_segments(void **state)
{
    (void)state;
    assert_int_equal(tier_of_new(1), 0);
    assert_int_equal(tier_of_new(15), 0);
    assert_int_equal(tier_of_new(16), 1);
    assert_int_equal(tier_of_new(255), 1);
    assert_int_equal(tier_of_new(256), 2);
    assert_int_equal(tier_of_new(10000), 3);
}

static void test_a_full_tier_is_merged(void **state)
{
    fixture *f = *state;
    build_singly(f, 0, 15);
    assert_int_equal(info_of(f).segments, 15);
    build_singly(f, 15, 1);
    assert_int_equal(f->report.segments, 1);
    ksv_index_info info = info_of(f);
    assert_int_equal(info.segments, 1);
    assert_int_equal(info.tier_segments[1], 1);
    assert_int_equal(info.distinct_keys, 16 * 3 + 1);
    assert_true(info.file_filter_bytes > 0);
    check_keys(f, 16);
    build_singly(f, 16, 20);
    assert_int_equal(info_of(f).tier_segments[1], 2);
    check_keys(f, 36);
}

static void test_no_merge_leaves_them(void **state)
{
    fixture *f = *state;
    f->options.no_merge = true;
    build_singly(f, 0, 40);
    assert_int_equal(info_of(f).segments, 40);
    check_keys(f, 40);
    /* The next build without it makes that good in one merge. */
    f->options.no_merge = false;
    uint64_t generation = info_of(f).generation;
    assert_int_equal(build(f, 0, 1), KSV_OK);
    assert_int_equal(info_of(f).segments, 1);
    assert_int_equal(info_of(f).generation, generation + 1);
    check_keys(f, 40);
}

static void test_small_files_share_a_segment(void **state)
{
    fixture *f = *state;
    for (size_t i = 0; i < 16; i++)
        write_file(f, i, "");
    assert_int_equal(build(f, 0, 16), KSV_OK);
    ksv_index_info info = info_of(f);
    assert_int_equal(info.segments, 1);
    assert_int_equal(info.generation, 1);
    assert_int_equal(info.tier_segments[1], 1);
    assert_int_equal(f->report.distinct_keys, 16 * 3 + 1);
    check_keys(f, 16);
}

static void test_a_small_file_that_fails_is_left_out(void **state)
{
    fixture *f = *state;
    for (size_t i = 0; i < 21; i++)
        write_file(f, i, i == 20 ? "\"no end" : "");
    assert_int_equal(build(f, 0, 21), KSV_ERROR_DATA);
    assert_true(f->report.committed);
    assert_int_equal(f->failures, 1);
    assert_int_equal(f->report.files_failed, 1);
    assert_int_equal(f->report.files_indexed, 20);
    check_keys(f, 20);
}

/* A named file keeps its place, wherever it is named. */
static void test_small_files_replaced_and_new(void **state)
{
    fixture *f = *state;
    for (size_t i = 0; i < 20; i++)
        write_file(f, i, "");
    assert_int_equal(build(f, 0, 10), KSV_OK);
    for (size_t i = 0; i < 20; i++)
        write_file(f, i, "more,x\n");
    const char *files[20];
    for (size_t i = 0; i < 20; i++)
        files[i] = f->paths[19 - i];
    assert_int_equal(
        ksv_build(f->directory, files, 20, &f->options, &f->report, &f->error),
        KSV_OK);
    /* One for what is new in all of them, beside those of the first build. */
    assert_int_equal(info_of(f).segments, 11);
    ksv_index *index;
    answer a;
    assert_int_equal(ksv_index_open(f->directory, NULL, &index, NULL), KSV_OK);
    assert_string_equal(get(index, "all", &a),
                        "0,1,2,3,4,5,6,7,8,9,19,18,17,16,15,14,13,12,11,10,");
    assert_string_equal(get(index, "19-2", &a), "c,");
    ksv_index_close(index);
}

static void test_what_is_dead_to_a_quarter_is_rewritten(void **state)
{
    fixture *f = *state;
    for (size_t i = 0; i < 16; i++)
        write_file(f, i, "");
    assert_int_equal(build(f, 0, 16), KSV_OK);
    assert_int_equal(unlink(f->paths[15]), 0);
    assert_int_equal(unlink(f->paths[14]), 0);
    assert_int_equal(unlink(f->paths[13]), 0);
    assert_int_equal(
        ksv_update(f->directory, NULL, 0, &f->options, &f->report, &f->error),
        KSV_OK);
    assert_int_equal(info_of(f).dead_records, 12);
    assert_int_equal(info_of(f).records, 52);
    check_keys(f, 13);
    assert_int_equal(unlink(f->paths[12]), 0);
    assert_int_equal(
        ksv_update(f->directory, NULL, 0, &f->options, &f->report, &f->error),
        KSV_OK);
    ksv_index_info info = info_of(f);
    assert_int_equal(info.dead_records, 0);
    assert_int_equal(info.segments, 1);
    assert_int_equal(info.tier_segments[1], 1);
    assert_int_equal(info.distinct_keys, 12 * 3 + 1);
    check_keys(f, 12);
}

static void test_an_open_index_follows(void **state)
{
    fixture *f = *state;
    ksv_index *index;
    answer a;
    build_singly(f, 0, 15);
    assert_int_equal(ksv_index_open(f->directory, NULL, &index, NULL), KSV_OK);
    assert_string_equal(get(index, "3-1", &a), "b,");
    build_singly(f, 15, 1);
    assert_string_equal(get(index, "3-1", &a), "b,");
    for (size_t i = 0; i < 15; i++) {
        char key[32];
        snprintf(key, sizeof key, "%zu-2", i);
        assert_string_equal(get(index, key, &a), "c,");
    }
    ksv_index_close(index);
}

/* A lookup opens what it needs: a filter, a table, the data file. */
static void test_few_files_are_opened(void **state)
{
    fixture *f = *state;
    ksv_index *index;
    answer a;
    for (size_t i = 0; i < 100; i++)
        write_file(f, i, "");
    assert_int_equal(build(f, 0, 100), KSV_OK);
    assert_int_equal(ksv_index_open(f->directory, NULL, &index, NULL), KSV_OK);
    assert_string_equal(get(index, "57-1", &a), "b,");
    assert_int_equal(a.receipt.files_opened, 3);
    assert_int_equal(a.receipt.filter_probes, 1);
    assert_int_equal(a.receipt.table_pages_read, 1);
    assert_int_equal(a.receipt.data_reads, 1);
    assert_string_equal(get(index, "nothing", &a), "");
    assert_int_equal(a.receipt.files_opened, 0);
    ksv_index_close(index);
}

/* So does one over files that came a few at a time: as many segments as the
 * logarithm of their number says, and a filter and a table of each at most. */
static void test_files_opened_grow_slowly(void **state)
{
    fixture *f = *state;
    for (size_t count = 0; count < MOST_FILES; count += 15) {
        build_singly(f, count, 15);
        ksv_index_info info = info_of(f);
        size_t tiers = 0;
        for (size_t n = count + 15; n > 0; n /= TIER_SEGMENTS)
            tiers++;
        assert_true(info.segments <= tiers * (TIER_SEGMENTS - 1));
        ksv_index *index;
        answer a;
        char key[32];
        snprintf(key, sizeof key, "%zu-1", count / 2);
        assert_int_equal(ksv_index_open(f->directory, NULL, &index, NULL),
                         KSV_OK);
        assert_string_equal(get(index, key, &a), "b,");
        assert_true(a.receipt.files_opened <= 2 * info.segments + 1);
        ksv_index_close(index);
    }
    check_keys(f, MOST_FILES);
}

static void damage(const char *path)
{
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    /* Inside of the first page of entries. */
    assert_int_equal(fseek(file, 4096 + 100, SEEK_SET), 0);
    int c = fgetc(file);
    assert_int_equal(fseek(file, 4096 + 100, SEEK_SET), 0);
    assert_int_equal(fputc(c ^ 1, file), c ^ 1);
    assert_int_equal(fclose(file), 0);
}

static void test_a_damaged_table_is_named(void **state)
{
    fixture *f = *state;
    char path[TEMP_DIR_PATH_BYTES];
    build_singly(f, 0, 15);
    temp_dir_path(&f->dir, "ix/0000000000000007.kst", path);
    damage(path);
    write_file(f, 15, "");
    assert_int_equal(build(f, 15, 1), KSV_ERROR_CORRUPT);
    assert_string_equal(f->error.path, path);
    assert_int_equal(f->error.remedy, KSV_REMEDY_BUILD);
    assert_true(f->report.committed);
    assert_int_equal(f->report.segments, 16);
    /* The remedy: what is whole is not read again. */
    assert_int_equal(build(f, 0, 16), KSV_OK);
    assert_int_equal(f->report.files_indexed, 1);
    assert_int_equal(info_of(f).segments, 1);
    check_keys(f, 16);
}

static bool stop_at_merges(void *ctx, const ksv_progress *progress)
{
    (void)ctx;
    return progress->file[0] != '\0';
}

static void test_merges_can_be_stopped(void **state)
{
    fixture *f = *state;
    build_singly(f, 0, 15);
    write_file(f, 15, "");
    f->options.progress = stop_at_merges;
    assert_int_equal(build(f, 15, 1), KSV_ERROR_CANCELLED);
    assert_true(f->report.committed);
    assert_int_equal(info_of(f).segments, 16);
    check_keys(f, 16);
    f->options.progress = NULL;
    assert_int_equal(build(f, 15, 1), KSV_OK);
    assert_int_equal(info_of(f).segments, 1);
    check_keys(f, 16);
}

typedef struct loose_build {
    fixture *f;
    fault_file_system *faults;
} loose_build;

static int build_loose(void *ctx)
{
    loose_build *b = ctx;
    b->f->options.file_system = &b->faults->fs;
    return build(b->f, 0, 260) == KSV_OK ? 0 : 1;
}

/* Filters of very many files are synced together: once committed, all are
 * there, and nothing is left of a build that was killed. */
static void test_very_many_files_and_loss_of_power(void **state)
{
    fixture *f = *state;
    fault_file_system faults;
    loose_build b = {f, &faults};
    char keep[TEMP_DIR_PATH_BYTES];
    temp_dir_path(&f->dir, "lost", keep);
    for (size_t i = 0; i < 260; i++)
        write_file(f, i, "");
    fault_file_system_open(&faults, ksv_posix_file_system());
    /* Close to the end each step counts: there lie syncs and the commit. */
    int code = FAULT_EXIT_CODE;
    for (uint64_t at = 1; code != 0; at += at < 510 ? 73 : PACE_STEP) {
        char command[2 * TEMP_DIR_PATH_BYTES];
        snprintf(command, sizeof command, "rm -rf '%s' && mkdir '%s'", keep,
                 keep);
        assert_int_equal(system(command), 0);
        fault_file_system_reset(&faults);
        fault_file_system_track(&faults, keep);
        faults.plan =
            (fault_plan){.operations = FAULT_CHANGES, .at = at, .kill = true};
        code = fault_run_forked(build_loose, &b);
        fault_file_system_lose_power(&faults);
        assert_true(code == 0 || code == FAULT_EXIT_CODE);
        ksv_status status = ksv_verify(f->directory, NULL, NULL, NULL);
        assert_true(status == KSV_OK ||
                    (code != 0 && status == KSV_ERROR_NO_INDEX));
    }
    fault_file_system_close(&faults);
    /* Lock, catalog, copy, the segment, a filter each. */
    assert_int_equal(index_copy_entries(f->directory), 3 + 2 + 260);
    check_keys(f, 260);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        cmocka_unit_test(test_tiers_of_new_segments),
        TEST(test_a_full_tier_is_merged),
        TEST(test_no_merge_leaves_them),
        TEST(test_small_files_share_a_segment),
        TEST(test_a_small_file_that_fails_is_left_out),
        TEST(test_small_files_replaced_and_new),
        TEST(test_what_is_dead_to_a_quarter_is_rewritten),
        TEST(test_an_open_index_follows),
        TEST(test_few_files_are_opened),
        TEST(test_files_opened_grow_slowly),
        TEST(test_a_damaged_table_is_named),
        TEST(test_merges_can_be_stopped),
        TEST(test_very_many_files_and_loss_of_power),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
