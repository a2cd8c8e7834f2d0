/* SPDX-License-Identifier: MIT */
/* Random sets of files and random changes: an index whose segments are merged,
 * one whose segments are left as they are, and a model give the same answers.
 */
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

typedef struct merge_case {
    uint64_t seed;
    data_set set;
    char merged[TEMP_DIR_PATH_BYTES];
    char unmerged[TEMP_DIR_PATH_BYTES];
    fault_allocator counted;
} merge_case;

static void fail_with(const merge_case *c, const char *what)
{
    fail_msg("seed %llu: %s", (unsigned long long)c->seed, what);
}

/* Builds over `count` files from `first` on, or updates all. */
static void build(merge_case *c, const char *directory, size_t first,
                  size_t count, bool update)
{
    const char *files[DATA_SET_FILES];
    for (size_t i = 0; i < count; i++)
        files[i] = c->set.paths[first + i];
    ksv_format_options format;
    data_set_format(&c->set, &format);
    ksv_build_options options;
    ksv_build_options_init(&options);
    options.format = &format;
    options.organisation = organisation_tried;
    options.no_merge = directory == c->unmerged;
    options.allocator = &c->counted.allocator;
    ksv_error error;
    ksv_build_report report;
    ksv_status status =
        update ? ksv_update(directory, NULL, 0, &options, &report, &error)
               : ksv_build(directory, files, count, &options, &report, &error);
    if (status != KSV_OK) {
        print_message("%s: %s\n", error.path, error.text);
        fail_with(c, "a build fails");
    }
}

static void build_both(merge_case *c, size_t first, size_t count, bool update)
{
    build(c, c->merged, first, count, update);
    build(c, c->unmerged, first, count, update);
}

static void verify(merge_case *c, const char *directory)
{
    ksv_verify_options options;
    ksv_verify_options_init(&options);
    options.data = true;
    ksv_error error;
    if (ksv_verify(directory, &options, NULL, &error) != KSV_OK) {
        print_message("%s: %s\n", error.path, error.text);
        fail_with(c, "verify finds damage");
    }
}

static ksv_index_info info_of(merge_case *c, const char *directory)
{
    ksv_index *index;
    ksv_index_info info;
    assert_int_equal(ksv_index_open(directory, NULL, &index, NULL), KSV_OK);
    assert_int_equal(ksv_index_get_info(index, &info, NULL), KSV_OK);
    if (info.records != c->set.model.count ||
        info.distinct_keys != key_model_distinct_keys(&c->set.model))
        fail_with(c, "info counts wrong");
    info.files = NULL;
    ksv_index_close(index);
    return info;
}

/* No tier is full, and no segment is dead to a quarter. */
static void check_merged(merge_case *c)
{
    ksv_index_info info = info_of(c, c->merged);
    for (size_t i = 0; i < KSV_INFO_TIERS; i++)
        if (info.tier_segments[i] >= 16)
            fail_with(c, "a tier is full");
    if (info.segments > 0 && 3 * info.dead_records > info.records)
        fail_with(c, "too many dead records");
}

static void check_all(merge_case *c)
{
    const char *what = index_check_directory(c->merged, &c->set);
    if (what == NULL)
        what = index_check_directory(c->unmerged, &c->set);
    if (what != NULL)
        fail_with(c, what);
    check_merged(c);
    info_of(c, c->unmerged);
    verify(c, c->merged);
    verify(c, c->unmerged);
}

/* Adds files, in one build or in several. */
static void add_files(merge_case *c, random_source *random)
{
    size_t first = c->set.file_count;
    size_t count = 1 + random_below(random, DATA_SET_FILES - first);
    for (size_t i = 0; i < count; i++)
        data_set_write(&c->set, first + i, random_below(random, 60), random);
    if (random_below(random, 2) == 0) {
        build_both(c, first, count, false);
        return;
    }
    for (size_t i = 0; i < count;) {
        size_t some = 1 + random_below(random, 3);
        if (some > count - i)
            some = count - i;
        build_both(c, first + i, some, false);
        i += some;
    }
}

static void change_files(merge_case *c, random_source *random)
{
    uint64_t changed = 1 + random_below(random, 4);
    for (size_t i = 0; i < c->set.file_count; i++) {
        if (c->set.contents[i] == NULL || random_below(random, 4) >= changed)
            continue;
        if (random_below(random, 3) == 0)
            data_set_drop(&c->set, i);
        else
            data_set_write(&c->set, i, random_below(random, 60), random);
    }
    build_both(c, 0, 0, true);
}

static void run(uint64_t seed)
{
    random_source random = {seed};
    merge_case c = {.seed = seed};
    data_set_make(&c.set, KSV_FORMAT_CSV, 1 + random_below(&random, 400));
    temp_dir_path(&c.set.dir, "merged", c.merged);
    temp_dir_path(&c.set.dir, "unmerged", c.unmerged);
    fault_allocator_init(&c.counted, 0);
    add_files(&c, &random);
    check_all(&c);
    for (int i = 0; i < 3; i++) {
        change_files(&c, &random);
        if (c.set.file_count < DATA_SET_FILES && random_below(&random, 2) == 0)
            add_files(&c, &random);
        check_all(&c);
    }
    assert_true(fault_allocator_is_clean(&c.counted));
    data_set_remove(&c.set);
}

static void test_merged_as_unmerged(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++)
        run(seed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_merged_as_unmerged),
    };
    int failures = 0;
    ORGANISATIONS_RUN(tests, failures);
    return failures;
}
