/* SPDX-License-Identifier: MIT */
/* Random data files through build, update and lookups, against a model in
 * memory and against a linear scan. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <keysieve/keysieve.h>

#include "support/data_set.h"
#include "support/fault_allocator.h"
#include "support/index_check.h"
#include "support/organisations.h"
#include "support/pace.h"

#define FEW_FILES 8

/* Fails with the seed, so that it can be run again. */
#define CHECK(what, seed)                                                 \
    do {                                                                  \
        const char *what_ = (what);                                       \
        if (what_ != NULL)                                                \
            fail_msg("seed %llu: %s", (unsigned long long)(seed), what_); \
    } while (0)

static void build(const char *directory, data_set *set, bool update,
                  const ksv_allocator *allocator, ksv_build_report *report)
{
    const char *files[DATA_SET_FILES];
    size_t count = 0;
    for (size_t i = 0; i < set->file_count; i++)
        if (set->contents[i] != NULL)
            files[count++] = set->paths[i];
    ksv_format_options format;
    data_set_format(set, &format);
    ksv_build_options options;
    ksv_build_options_init(&options);
    options.format = &format;
    options.organisation = organisation_tried;
    options.allocator = allocator;
    ksv_error error;
    ksv_status status =
        update ? ksv_update(directory, NULL, 0, &options, report, &error)
               : ksv_build(directory, files, count, &options, report, &error);
    if (status != KSV_OK)
        fail_msg("%s: %s", error.path, error.text);
}

static void verify(const char *directory)
{
    ksv_verify_options options;
    ksv_verify_options_init(&options);
    options.data = true;
    ksv_verify_report report;
    ksv_error error;
    if (ksv_verify(directory, &options, &report, &error) != KSV_OK)
        fail_msg("verify: %s: %s", error.path, error.text);
}

static void check_info(const char *directory, data_set *set)
{
    ksv_index *index;
    assert_int_equal(ksv_index_open(directory, NULL, &index, NULL), KSV_OK);
    ksv_index_info info;
    assert_int_equal(ksv_index_get_info(index, &info, NULL), KSV_OK);
    assert_int_equal(info.records, set->model.count);
    assert_int_equal(info.records_without_key, 0);
    assert_int_equal(info.distinct_keys, key_model_distinct_keys(&set->model));
    ksv_index_close(index);
}

static void run(uint64_t seed, ksv_format format)
{
    random_source random = {seed};
    data_set set;
    data_set_make(&set, format, 1 + random_below(&random, 3000));
    char directory[TEMP_DIR_PATH_BYTES];
    temp_dir_path(&set.dir, "ix", directory);
    size_t files = 1 + random_below(&random, FEW_FILES);
    for (size_t i = 0; i < files; i++)
        data_set_write(&set, i, random_below(&random, 3000), &random);
    fault_allocator counted;
    fault_allocator_init(&counted, 0);
    ksv_build_report report;
    build(directory, &set, false, &counted.allocator, &report);
    assert_int_equal(report.files_indexed, files);
    assert_int_equal(report.records, set.model.count);
    CHECK(index_check_directory(directory, &set), seed);
    check_info(directory, &set);

    /* One file changes, one vanishes; what is left stays as it was. */
    data_set_write(&set, 0, random_below(&random, 2000), &random);
    if (files > 2)
        data_set_drop(&set, 1);
    build(directory, &set, true, &counted.allocator, &report);
    assert_int_equal(report.files_indexed, 1);
    assert_int_equal(report.files_dropped, files > 2);
    assert_int_equal(report.files_unchanged, files - 1 - (files > 2));
    CHECK(index_check_directory(directory, &set), seed);

    /* A new file is added by a second build. */
    if (files < FEW_FILES) {
        data_set_write(&set, files, 100, &random);
        build(directory, &set, false, &counted.allocator, &report);
        assert_int_equal(report.files_indexed, 1);
        CHECK(index_check_directory(directory, &set), seed);
    }
    check_info(directory, &set);
    verify(directory);
    assert_true(fault_allocator_is_clean(&counted));
    data_set_remove(&set);
}

static void test_csv(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= PACE_ROUNDS(8); seed++)
        run(seed, KSV_FORMAT_CSV);
}

static void test_tsv(void **state)
{
    (void)state;
    for (uint64_t seed = 101; seed <= 100 + PACE_ROUNDS(4); seed++)
        run(seed, KSV_FORMAT_TSV);
}

static void test_lines(void **state)
{
    (void)state;
    for (uint64_t seed = 201; seed <= 200 + PACE_ROUNDS(4); seed++)
        run(seed, KSV_FORMAT_LINES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_csv),
        cmocka_unit_test(test_tsv),
        cmocka_unit_test(test_lines),
    };
    int failures = 0;
    ORGANISATIONS_RUN(tests, failures);
    return failures;
}
