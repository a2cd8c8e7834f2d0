/* SPDX-License-Identifier: MIT */
/* An update stopped or failing at every single change that it makes to the
 * disk, those of LMDB included: files have grown, were replaced, have vanished
 * and are new. Until it is done no answer is wrong, and the next one sets all
 * right. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <keysieve/keysieve.h>

#include "support/data_set.h"
#include "support/index_check.h"
#include "support/index_copy.h"
#include "support/organisations.h"
#include "support/pace.h"
#include "support/write_faults.h"

typedef struct crash_case {
    data_set set;
    char directory[TEMP_DIR_PATH_BYTES];
    index_copy before;
} crash_case;

enum { GROWN, GROWN_GZIP, REPLACED, VANISHED, ADDED };

static void choose_options(const crash_case *c, ksv_format_options *format,
                           ksv_build_options *options)
{
    data_set_format(&c->set, format);
    ksv_build_options_init(options);
    options->format = format;
    options->organisation = organisation_tried;
}

static void make_case(crash_case *c)
{
    random_source random = {99};
    char pattern[TEMP_DIR_PATH_BYTES];
    data_set_make(&c->set, KSV_FORMAT_CSV, 100);
    const char *patterns = temp_dir_path(&c->set.dir, "*.csv", pattern);
    temp_dir_path(&c->set.dir, "ix", c->directory);
    c->set.is_gzip[GROWN_GZIP] = true;
    for (size_t i = GROWN; i <= VANISHED; i++)
        data_set_write(&c->set, i, 150, &random);
    ksv_format_options format;
    ksv_build_options options;
    choose_options(c, &format, &options);
    options.watch_patterns = &patterns;
    options.watch_pattern_count = 1;
    assert_int_equal(ksv_build(c->directory, NULL, 0, &options, NULL, NULL),
                     KSV_OK);
    index_copy_take(&c->before, c->directory);
    data_set_append(&c->set, GROWN, 30, &random);
    data_set_append(&c->set, GROWN_GZIP, 20, &random);
    data_set_write(&c->set, REPLACED, 160, &random);
    data_set_drop(&c->set, VANISHED);
    data_set_write(&c->set, ADDED, 50, &random);
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
    return ksv_update(c->directory, NULL, 0, &options, report, error);
}

enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_SILENT = 2, EXIT_UNHARMED = 100 };

/* The exit code of an update that meets a fault; -1 when it was killed. */
static int update_with_fault(const crash_case *c, write_fault fault, long at,
                             int error_number)
{
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        ksv_error error = {.status = KSV_OK};
        write_faults_arm(fault, at, error_number);
        int result = EXIT_DONE;
        if (update(c, NULL, &error) != KSV_OK)
            result = error.text[0] != '\0' ? EXIT_FAILED : EXIT_SILENT;
        _exit(write_faults_count() < at ? result + EXIT_UNHARMED : result);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFSIGNALED(status)) {
        assert_int_equal(WTERMSIG(status), SIGKILL);
        return -1;
    }
    return WEXITSTATUS(status);
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
    assert_int_equal(report.files_indexed, 4);
    assert_int_equal(report.files_dropped, 1);
    assert_int_equal(report.records, 30 + 20 + 160 + 50);
    return index_copy_entries(c->directory);
}

static void try_all(write_fault fault, int error_number)
{
    crash_case c;
    memset(&c, 0, sizeof c);
    make_case(&c);
    size_t entries = clean_update(&c);
    bool was_stale = false;
    long at = 1;
    for (int result = 0; result < EXIT_UNHARMED; at += PACE_STEP) {
        index_copy_restore(&c.before, c.directory);
        result = update_with_fault(&c, fault, at, error_number);
        if (result > EXIT_UNHARMED)
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
    };
    int failures = 0;
    ORGANISATIONS_RUN(tests, failures);
    return failures;
}
