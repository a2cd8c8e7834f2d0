/* SPDX-License-Identifier: MIT */
/* Merging streams: however large the tables are, it takes the pages that are
 * read ahead of each, and for whole keys what their hashes are sorted in. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <keysieve/keysieve.h>

#include "support/fault_allocator.h"
#include "support/index_copy.h"
#include "support/organisations.h"
#include "support/pace.h"
#include "support/temp_dir.h"

enum {
    FILES = 16,
    ROWS = PACE_STEP == 1 ? 80000 : 10000, /* a file */
    HASH_MOST_BYTES = 4 << 20,             /* the entries are 20 MB */
    SORTED_MOST_BYTES = 24 << 20           /* with their keys 40 MB */
};

typedef struct fixture {
    temp_dir dir;
    char directory[TEMP_DIR_PATH_BYTES];
    char paths[FILES][TEMP_DIR_PATH_BYTES];
} fixture;

static void write_files(fixture *f, unsigned rows)
{
    for (unsigned i = 0; i < FILES; i++) {
        char name[32];
        snprintf(name, sizeof name, "%u.txt", i);
        FILE *file = fopen(temp_dir_path(&f->dir, name, f->paths[i]), "wb");
        assert_non_null(file);
        for (unsigned row = 0; row < rows; row++)
            fprintf(file, "key %u of %u\n", row * 7919 % rows, i);
        assert_int_equal(fclose(file), 0);
    }
}

static void build(fixture *f, size_t first, size_t count, bool no_merge,
                  const ksv_allocator *allocator, ksv_build_report *report)
{
    const char *files[FILES];
    for (size_t i = 0; i < count; i++)
        files[i] = f->paths[first + i];
    ksv_format_options format;
    ksv_build_options options;
    ksv_error error;
    ksv_format_options_init(&format);
    ksv_build_options_init(&options);
    format.format = KSV_FORMAT_LINES;
    options.format = &format;
    options.organisation = organisation_tried;
    options.no_merge = no_merge;
    options.threads = 1;
    options.allocator = allocator;
    if (ksv_build(f->directory, files, count, &options, report, &error) !=
        KSV_OK)
        fail_msg("%s: %s", error.path, error.text);
}

/* The most memory that a build takes which has nothing to do but merge. */
static size_t merge_peak(unsigned rows)
{
    fixture f;
    fault_allocator counted;
    ksv_build_report report;
    temp_dir_make(&f.dir);
    temp_dir_path(&f.dir, "ix", f.directory);
    write_files(&f, rows);
    build(&f, 0, FILES / 2, true, NULL, &report);
    build(&f, FILES / 2, FILES / 2, true, NULL, &report);
    assert_int_equal(report.segments, FILES);
    fault_allocator_init(&counted, 0);
    build(&f, 0, 1, false, &counted.allocator, &report);
    assert_int_equal(report.segments, 1);
    assert_int_equal(report.files_unchanged, 1);
    assert_int_equal(report.index_keyed_records, (uint64_t)FILES * rows);
    assert_true(fault_allocator_is_clean(&counted));
    temp_dir_remove(&f.dir);
    return counted.peak_bytes;
}

static void test_memory_of_merges(void **state)
{
    (void)state;
    size_t most = organisation_tried == KSV_ORGANISATION_HASH
                      ? HASH_MOST_BYTES
                      : SORTED_MOST_BYTES;
    size_t peak = merge_peak(ROWS);
    if (peak > most)
        fail_msg("%zu bytes", peak);
}

int main(void)
{
    index_copy_prefer_memory();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory_of_merges),
    };
    int failures = 0;
    ORGANISATIONS_RUN(tests, failures);
    return failures;
}
