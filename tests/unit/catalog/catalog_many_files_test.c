/* SPDX-License-Identifier: MIT */
/* A catalog of a hundred thousand data files: the map of LMDB grows with it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "catalog/catalog.h"
#include "support/catalog_samples.h"
#include "support/pace.h"
#include "support/temp_dir.h"

#define FILES (PACE_STEP == 1 ? 100000 : 20000)

static const uint64_t SEED = 4711;

static char *make_path(const catalog_state *s, const char *form, int number)
{
    char text[64];
    snprintf(text, sizeof text, form, number);
    char *path = memory_copy_string(&s->allocator, text, strlen(text));
    assert_non_null(path);
    return path;
}

static void add_files(catalog_state *state, int count)
{
    for (int i = 0; i < count; i++) {
        catalog_file file = {
            .ordinal = state->next_ordinal++,
            .given_path = make_path(state, "data/part-%06d.csv", i),
            .relative_path = make_path(state, "../data/part-%06d.csv", i),
            .size_bytes = (uint64_t)i * 1000,
            .content_bytes = (uint64_t)i * 1000,
            .records = (uint64_t)i};
        assert_int_equal(catalog_state_add_file(state, &file, NULL), KSV_OK);
    }
}

/* A builder that touches some files, drops all but `keep`, and commits. */
static void commit_change(const char *directory, size_t change_every,
                          size_t keep, catalog_state *wanted)
{
    catalog *c;
    catalog_state found;
    bool repaired;
    ksv_error error;
    assert_int_equal(catalog_open(ksv_posix_file_system(), directory, NULL, &c,
                                  &found, &repaired, NULL, &error),
                     KSV_OK);
    assert_false(repaired);
    assert_true(sample_equal(&found, wanted));
    for (size_t i = 0; i < wanted->file_count; i += change_every)
        wanted->files[i].mtime_ns++;
    while (wanted->file_count > keep)
        catalog_file_release(&wanted->allocator,
                             &wanted->files[--wanted->file_count]);
    if (catalog_commit(c, wanted, &error) != KSV_OK)
        fail_msg("%s: %s", error.path, error.text);
    assert_int_equal(catalog_clean(c, wanted, &error), KSV_OK);
    catalog_close(c);
    catalog_state_release(&found);
}

static void check_read(const char *directory, const catalog_state *wanted)
{
    catalog_state read;
    uint64_t bytes = 0;
    const ksv_file_system *fs = ksv_posix_file_system();
    assert_int_equal(catalog_read(fs, directory, NULL, &read, NULL), KSV_OK);
    assert_true(sample_equal(&read, wanted));
    assert_int_equal(catalog_verify(fs, directory, NULL, &bytes, NULL), KSV_OK);
    assert_true(bytes > FILES * 100);
    catalog_state_release(&read);
}

static void test_growing(void **unused)
{
    (void)unused;
    temp_dir dir;
    catalog *c;
    catalog_state state;
    catalog_state nothing;
    bool repaired;
    uint64_t seed = SEED;
    temp_dir_make(&dir);
    assert_int_equal(catalog_open(ksv_posix_file_system(), dir.path, NULL, &c,
                                  &nothing, &repaired, NULL, NULL),
                     KSV_OK);
    sample_start(&state, &seed);
    add_files(&state, 10);
    assert_int_equal(catalog_commit(c, &state, NULL), KSV_OK);
    /* In one step beyond the map that a small environment gets. */
    add_files(&state, FILES - 10);
    assert_int_equal(catalog_commit(c, &state, NULL), KSV_OK);
    assert_int_equal(catalog_clean(c, &state, NULL), KSV_OK);
    catalog_close(c);
    catalog_state_release(&nothing);
    check_read(dir.path, &state);
    commit_change(dir.path, 1, FILES, &state);
    check_read(dir.path, &state);
    commit_change(dir.path, FILES, 5, &state);
    commit_change(dir.path, 1, 5, &state);
    catalog_state_release(&state);
    temp_dir_remove(&dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_growing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
