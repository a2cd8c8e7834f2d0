/* SPDX-License-Identifier: MIT */
/* An update stopped or failing at every single change that it makes to the
 * disk, those of LMDB included, and power that is lost there: files have grown,
 * many small ones at once too, were replaced, have vanished and are new. Until
 * it is done no answer is wrong, and the next one sets all right. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include <keysieve/keysieve.h>

#include "support/data_set.h"
#include "support/fault_file_system.h"
#include "support/index_check.h"
#include "support/index_copy.h"
#include "support/organisations.h"
#include "support/pace.h"
#include "support/write_faults.h"

/* What has happened to the data files. */
typedef enum crash_shape { ONE_OF_EACH_KIND, MANY_GROWN } crash_shape;

typedef struct crash_case {
    crash_shape shape;
    data_set set;
    char directory[TEMP_DIR_PATH_BYTES];
    index_copy before;
    const ksv_file_system *fs; /* of updates; or NULL */
} crash_case;

enum { GROWN, GROWN_GZIP, REPLACED, VANISHED, ADDED };

/* So many that their entries are collected for one segment. */
enum { MANY = 18, MANY_RECORDS = 12, MANY_MORE = 3 };

static void choose_options(const crash_case *c, ksv_format_options *format,
                           ksv_build_options *options)
{
    data_set_format(&c->set, format);
    ksv_build_options_init(options);
    options->format = format;
    options->organisation = organisation_tried;
}

static void write_first(crash_case *c, random_source *random)
{
    data_set *set = &c->set;
    set->is_gzip[GROWN_GZIP] = true;
    if (c->shape == ONE_OF_EACH_KIND)
        for (size_t i = GROWN; i <= VANISHED; i++)
            data_set_write(set, i, 150, random);
    else
        for (size_t i = 0; i < MANY; i++)
            data_set_write(set, i, MANY_RECORDS, random);
}

static void change(crash_case *c, random_source *random)
{
    data_set *set = &c->set;
    for (size_t i = 0; c->shape == MANY_GROWN && i < MANY; i++)
        data_set_append(set, i, MANY_MORE, random);
    if (c->shape == MANY_GROWN)
        return;
    data_set_append(set, GROWN, 30, random);
    data_set_append(set, GROWN_GZIP, 20, random);
    data_set_write(set, REPLACED, 160, random);
    data_set_drop(set, VANISHED);
    data_set_write(set, ADDED, 50, random);
}

static void make_case(crash_case *c, crash_shape shape)
{
    random_source random = {99};
    memset(c, 0, sizeof *c);
    c->shape = shape;
    char pattern[TEMP_DIR_PATH_BYTES];
    const char *files[MANY];
    data_set_make(&c->set, KSV_FORMAT_CSV, 100);
    const char *patterns = temp_dir_path(&c->set.dir, "*.csv", pattern);
    temp_dir_path(&c->set.dir, "ix", c->directory);
    write_first(c, &random);
    ksv_format_options format;
    ksv_build_options options;
    choose_options(c, &format, &options);
    /* A pattern would give the many in another order than the model. */
    options.watch_patterns = &patterns;
    options.watch_pattern_count = shape == ONE_OF_EACH_KIND;
    for (size_t i = 0; i < MANY; i++)
        files[i] = c->set.paths[i];
    assert_int_equal(ksv_build(c->directory, files,
                               shape == MANY_GROWN ? MANY : 0, &options, NULL,
                               NULL),
                     KSV_OK);
    index_copy_take(&c->before, c->directory);
    change(c, &random);
}

static void end_case(crash_case *c)
{
    index_copy_release(&c->before);
    data_set_remove(&c->set);
}

static ksv_status update(const crash_case *c, ksv_build_report *report,
                         ksv_error *error)
{
    ksv_format_options format;
    ksv_build_options options;
    choose_options(c, &format, &options);
    options.file_system = c->fs;
    return ksv_update(c->directory, NULL, 0, &options, report, error);
}

enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_SILENT = 2 };

/* In a process that meets a fault. */
static int try_to_update(void *ctx)
{
    ksv_error error = {.status = KSV_OK};
    if (update(ctx, NULL, &error) == KSV_OK)
        return EXIT_DONE;
    return error.text[0] != '\0' ? EXIT_FAILED : EXIT_SILENT;
}

typedef struct honesty {
    data_set *set;
    size_t records; /* of the key that is asked for */
    int warnings;
    const char *wrong;
} honesty;

static bool take_record(void *ctx, size_t number, const ksv_record *record)
{
    honesty *h = ctx;
    (void)number;
    if (record == NULL)
        return true;
    size_t count;
    const key_entry *entries =
        key_model_find(&h->set->model, record->key, record->key_bytes, &count);
    bool is_there = false;
    for (size_t i = 0; i < count; i++) {
        const key_place *p = &entries[i].place;
        is_there =
            is_there ||
            (strcmp(record->file, h->set->paths[p->file]) == 0 &&
             record->offset == p->offset && record->length == p->length &&
             memcmp(record->data, h->set->contents[p->file] + p->offset,
                    p->length) == 0);
    }
    h->records++;
    if (!is_there)
        h->wrong = "a record that is not there";
    return true;
}

static void take_warning(void *ctx, const ksv_error *problem, bool is_warning)
{
    (void)problem;
    (void)is_warning;
    ((honesty *)ctx)->warnings++;
}

/* Each key gives its records, or some of them with a warning, or an error that
 * says "stale". */
static const char *check_honesty(const crash_case *c, bool *is_stale)
{
    data_set set = c->set;
    honesty h = {.set = &set};
    ksv_index_options options;
    ksv_index_options_init(&options);
    options.problem = take_warning;
    options.problem_ctx = &h;
    ksv_index *index;
    *is_stale = false;
    if (ksv_index_open(c->directory, &options, &index, NULL) != KSV_OK)
        return "the index cannot be opened";
    for (uint64_t i = 0; i < set.key_space + 20 && h.wrong == NULL; i++) {
        char text[64];
        ksv_key key = {text, data_set_key(&set, i, text)};
        size_t count;
        key_model_find(&set.model, key.data, key.bytes, &count);
        h.records = 0;
        ksv_status status =
            ksv_get(index, &key, 1, NULL, take_record, &h, NULL, NULL, NULL);
        if (status != KSV_OK && status != KSV_ERROR_STALE)
            h.wrong = "another error than a stale file";
        /* A warning about a file is given once. */
        if (status == KSV_OK && h.records != count && h.warnings == 0)
            h.wrong = "records are missing without a word";
        *is_stale = *is_stale || status != KSV_OK || h.warnings > 0;
    }
    ksv_index_close(index);
    return h.wrong;
}

static void check_next_update(crash_case *c, long at, size_t entries)
{
    ksv_error error;
    ksv_build_report report;
    if (update(c, &report, &error) != KSV_OK)
        fail_msg("operation %ld: the next update: %s: %s", at, error.path,
                 error.text);
    const char *what = index_check_directory(c->directory, &c->set);
    if (what != NULL)
        fail_msg("operation %ld: after the next update: %s", at, what);
    if (index_copy_entries(c->directory) != entries)
        fail_msg("operation %ld: files are left over", at);
}

/* How many files an undisturbed update leaves. */
static size_t clean_update(crash_case *c)
{
    ksv_build_report report;
    assert_int_equal(update(c, &report, NULL), KSV_OK);
    bool is_many = c->shape == MANY_GROWN;
    assert_int_equal(report.files_indexed, is_many ? MANY : 4);
    assert_int_equal(report.files_dropped, is_many ? 0 : 1);
    assert_int_equal(report.records,
                     is_many ? MANY * MANY_MORE : 30 + 20 + 160 + 50);
    return index_copy_entries(c->directory);
}

/* What comes once for each of many files need not fail for each of them. */
static long step_of(const crash_case *c)
{
    return c->shape == MANY_GROWN ? 5 * PACE_STEP : PACE_STEP;
}

static void try_shape(crash_shape shape, write_fault fault, int error_number)
{
    crash_case c;
    make_case(&c, shape);
    size_t entries = clean_update(&c);
    bool was_stale = false;
    long at = 1;
    for (int result = 0; result < WRITE_FAULTS_UNHARMED; at += step_of(&c)) {
        index_copy_restore(&c.before, c.directory);
        result = write_faults_run(fault, at, error_number, try_to_update, &c);
        if (result > WRITE_FAULTS_UNHARMED)
            fail_msg("an update that nothing happened to fails");
        if (result == EXIT_SILENT)
            fail_msg("operation %ld: an error without a text", at);
        bool is_stale;
        const char *what = check_honesty(&c, &is_stale);
        if (what != NULL)
            fail_msg("operation %ld: %s", at, what);
        if (result == EXIT_DONE && is_stale)
            fail_msg("operation %ld: done, and yet it is not", at);
        was_stale = was_stale || is_stale;
        check_next_update(&c, at, entries);
    }
    assert_true(was_stale);
    assert_true(at > 30);
    end_case(&c);
}

static void try_all(write_fault fault, int error_number)
{
    try_shape(ONE_OF_EACH_KIND, fault, error_number);
    try_shape(MANY_GROWN, fault, error_number);
}

static int update_in_child(void *ctx)
{
    return update(ctx, NULL, NULL) == KSV_OK ? EXIT_DONE : EXIT_FAILED;
}

/* What was committed is there, with all that it names; LMDB's own files are
 * taken to be durable, so that whatever else is not makes a difference. */
static void lose_power_everywhere(crash_shape shape)
{
    static crash_case c;
    static fault_file_system faults;
    char lost[TEMP_DIR_PATH_BYTES];
    make_case(&c, shape);
    size_t entries = clean_update(&c);
    temp_dir_path(&c.set.dir, "lost", lost);
    int code = EXIT_FAILED;
    for (long at = 1; code != EXIT_DONE; at += step_of(&c)) {
        assert_int_equal(mkdir(lost, 0700), 0);
        index_copy_restore(&c.before, c.directory);
        fault_file_system_open(&faults, ksv_posix_file_system());
        fault_file_system_track(&faults, lost);
        faults.plan = (fault_plan){
            .operations = FAULT_CHANGES, .at = (uint64_t)at, .kill = true};
        c.fs = &faults.fs;
        code = fault_run_forked(update_in_child, &c);
        c.fs = NULL;
        fault_file_system_lose_power(&faults);
        fault_file_system_close(&faults);
        assert_true(code == EXIT_DONE || code == FAULT_EXIT_CODE);
        bool is_stale;
        const char *what = check_honesty(&c, &is_stale);
        if (what != NULL)
            fail_msg("operation %ld: %s", at, what);
        if (code == EXIT_DONE && is_stale)
            fail_msg("what was done is lost");
        check_next_update(&c, at, entries);
        index_copy_restore(&(index_copy){.exists = true}, lost);
        assert_int_equal(rmdir(lost), 0);
    }
    end_case(&c);
}

static void test_power_is_lost(void **state)
{
    (void)state;
    lose_power_everywhere(ONE_OF_EACH_KIND);
    lose_power_everywhere(MANY_GROWN);
}

static void test_killed(void **state)
{
    (void)state;
    try_all(WRITE_FAULT_KILL, 0);
}

static void test_killed_in_the_middle_of_writes(void **state)
{
    (void)state;
    try_all(WRITE_FAULT_KILL_HALF, 0);
}

static void test_disk_full(void **state)
{
    (void)state;
    try_all(WRITE_FAULT_FULL, ENOSPC);
}

static void test_errors(void **state)
{
    (void)state;
    try_all(WRITE_FAULT_FAIL_ONE, EIO);
}

int main(void)
{
    index_copy_prefer_memory();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_killed),
        cmocka_unit_test(test_killed_in_the_middle_of_writes),
        cmocka_unit_test(test_disk_full),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_power_is_lost),
    };
    int failures = 0;
    ORGANISATIONS_RUN(tests, failures);
    return failures;
}
