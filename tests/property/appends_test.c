/* SPDX-License-Identifier: MIT */
/* Files that are appended to again and again, each time followed by an update:
 * every record is found, and however often that was, few sidecars are there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <keysieve/keysieve.h>

#include "support/data_set.h"
#include "support/index_check.h"
#include "support/index_copy.h"
#include "support/index_tools.h"
#include "support/organisations.h"
#include "support/pace.h"

enum {
    FAN_OUT = 16,
    APPENDS = PACE_ROUNDS(200), /* to the plain file */
    GZIP_EACH = 4,              /* of them, one goes to the gzip file too */
    FIRST_RECORDS = 60,
    MORE_RECORDS = 5,
    /* An extent is larger than all behind it together: of a file that has
     * become 18 times as large by appends of a twelfth there are no more. */
    EXTENTS_MOST = 9,
    FILES_APART = 24, /* that grow in turn */
    CHECK_EACH = 20
};

typedef struct append_case {
    data_set set;
    char merged[TEMP_DIR_PATH_BYTES];
    char unmerged[TEMP_DIR_PATH_BYTES]; /* "": there is none */
    random_source random;
    size_t step;
} append_case;

static void fail_at(const append_case *c, const char *what)
{
    fail_msg("step %zu: %s", c->step, what);
}

static void update(const append_case *c, const char *directory, bool no_merge,
                   size_t records)
{
    ksv_build_options options;
    ksv_build_report report;
    ksv_error error;
    ksv_build_options_init(&options);
    options.no_merge = no_merge;
    if (ksv_update(directory, NULL, 0, &options, &report, &error) != KSV_OK)
        fail_msg("step %zu: %s: %s", c->step, error.path, error.text);
    assert_int_equal(report.index_records, c->set.model.count);
    assert_true(report.records >= records);
}

static void build(append_case *c, const char *directory, bool no_merge)
{
    ksv_format_options format;
    ksv_build_options options;
    ksv_error error;
    data_set_format(&c->set, &format);
    ksv_build_options_init(&options);
    options.format = &format;
    options.organisation = organisation_tried;
    options.no_merge = no_merge;
    /* Few at a time, so that each has a segment. */
    for (size_t i = 0; i < c->set.file_count; i += FAN_OUT - 1) {
        const char *files[FAN_OUT];
        size_t count = c->set.file_count - i;
        count = count < FAN_OUT - 1 ? count : FAN_OUT - 1;
        for (size_t j = 0; j < count; j++)
            files[j] = c->set.paths[i + j];
        if (ksv_build(directory, files, count, &options, NULL, &error) !=
            KSV_OK)
            fail_msg("%s: %s", error.path, error.text);
    }
}

static void start(append_case *c, size_t files)
{
    for (size_t i = 0; i < files; i++)
        data_set_write(&c->set, i, FIRST_RECORDS, &c->random);
    build(c, c->merged, false);
    if (c->unmerged[0] != '\0')
        build(c, c->unmerged, true);
}

static void append(append_case *c, size_t number)
{
    data_set_append(&c->set, number, MORE_RECORDS, &c->random);
}

static void verify(const append_case *c, const char *directory)
{
    ksv_verify_options options;
    ksv_error error;
    ksv_verify_options_init(&options);
    options.data = true;
    if (ksv_verify(directory, &options, NULL, &error) != KSV_OK)
        fail_msg("step %zu: %s: %s", c->step, error.path, error.text);
}

static void check_index(append_case *c, const char *directory)
{
    const char *what = index_check_directory(directory, &c->set);
    if (what != NULL)
        fail_at(c, what);
    verify(c, directory);
}

static void check_answers(append_case *c)
{
    check_index(c, c->merged);
    if (c->unmerged[0] != '\0')
        check_index(c, c->unmerged);
}

/* Lock, catalog and its copy; tables and their filters; filters of extents and
 * access points. */
static void check_sidecars(const append_case *c, const char *directory,
                           size_t segments, size_t files)
{
    size_t most = 3 + 2 * segments + (EXTENTS_MOST + 1) * files;
    if (index_copy_entries(directory) > most)
        fail_msg("step %zu: %zu files in %s", c->step,
                 index_copy_entries(directory), directory);
}

/* No tier has as many as are merged. */
static void check_tiers(const append_case *c, const ksv_index_info *info)
{
    for (size_t tier = 0; tier < KSV_INFO_TIERS; tier++)
        if (info->tier_segments[tier] >= FAN_OUT)
            fail_msg("step %zu: %zu segments in tier %zu", c->step,
                     (size_t)info->tier_segments[tier], tier);
}

static void open_case(append_case *c, uint64_t seed, uint64_t key_space)
{
    memset(c, 0, sizeof *c);
    c->random = (random_source){seed};
    data_set_make(&c->set, KSV_FORMAT_CSV, key_space);
    temp_dir_path(&c->set.dir, "merged", c->merged);
}

/* Two files alone: what their extents leave behind is gone at once. */
static void test_one_plain_and_one_gzip(void **state)
{
    (void)state;
    static append_case c;
    open_case(&c, 71, 300);
    c.set.is_gzip[1] = true;
    start(&c, 2);
    for (c.step = 1; c.step <= APPENDS; c.step++) {
        size_t files = 1 + (c.step % GZIP_EACH == 0);
        for (size_t i = 0; i < files; i++)
            append(&c, i);
        update(&c, c.merged, false, files * MORE_RECORDS);
        ksv_index_info info = index_info_of(c.merged);
        assert_true(info.segments <= 2 * EXTENTS_MOST);
        check_tiers(&c, &info);
        check_sidecars(&c, c.merged, info.segments, 2);
        if (c.step % CHECK_EACH == 0)
            check_answers(&c);
    }
    check_answers(&c);
    data_set_remove(&c.set);
}

/* Files that grow in turn: their segments fill tiers, which are merged by
 * updates themselves, unless these were told not to. */
static void test_many_in_turn(void **state)
{
    (void)state;
    static append_case c;
    open_case(&c, 72, 500);
    temp_dir_path(&c.set.dir, "unmerged", c.unmerged);
    for (size_t i = 3; i < FILES_APART; i += 7)
        c.set.is_gzip[i] = true;
    start(&c, FILES_APART);
    size_t merges = 0;
    for (c.step = 1; c.step <= 3 * FILES_APART; c.step++) {
        uint64_t before = index_info_of(c.merged).generation;
        uint64_t left = index_info_of(c.unmerged).generation;
        append(&c, c.step % FILES_APART);
        update(&c, c.merged, false, MORE_RECORDS);
        update(&c, c.unmerged, true, MORE_RECORDS);
        ksv_index_info info = index_info_of(c.merged);
        check_tiers(&c, &info);
        check_sidecars(&c, c.merged, info.segments, FILES_APART);
        merges += info.generation > before + 1;
        /* A commit and nothing behind it. */
        assert_int_equal(index_info_of(c.unmerged).generation, left + 1);
        assert_int_equal(index_info_of(c.unmerged).tier_segments[1], 0);
        if (c.step % CHECK_EACH == 0)
            check_answers(&c);
    }
    assert_true(merges >= 3);
    assert_true(index_info_of(c.unmerged).segments >= 2 * FILES_APART);
    /* The next one that may does what was left. */
    update(&c, c.unmerged, false, 0);
    ksv_index_info info = index_info_of(c.unmerged);
    check_tiers(&c, &info);
    check_answers(&c);
    data_set_remove(&c.set);
}

int main(void)
{
    index_copy_prefer_memory();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_plain_and_one_gzip),
        cmocka_unit_test(test_many_in_turn),
    };
    int failures = 0;
    ORGANISATIONS_RUN(tests, failures);
    return failures;
}
