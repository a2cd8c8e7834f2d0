/* SPDX-License-Identifier: MIT */
/* A builder stopped at every single change that it makes to the disk. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>

#include "catalog/catalog.h"
#include "support/catalog_samples.h"
#include "support/index_copy.h"
#include "support/temp_dir.h"
#include "support/write_faults.h"

typedef enum damage {
    DAMAGE_NONE,
    DAMAGE_ENVIRONMENT, /* a byte of a page in use */
    DAMAGE_HEAD,        /* both meta pages */
    DAMAGE_COPY,
    DAMAGE_BOTH
} damage_kind;

typedef struct scenario {
    temp_dir dir;
    char index[TEMP_DIR_PATH_BYTES];
    index_copy before;
    int commits; /* that are there before */
    damage_kind damage;
    catalog_state old;
    catalog_state new;
    catalog_state third;
    bool is_repaired_by_open;
} scenario;

enum { EXIT_DONE = 0, EXIT_OPEN_FAILED = 3, EXIT_COMMIT_FAILED = 4 };

static void write_sidecars(const char *index, const catalog_state *state,
                           const catalog_segment *segment)
{
    char name[CATALOG_NAME_BYTES];
    catalog_sidecar_name(segment->filter.id, CATALOG_FILTER_ENDING, name);
    index_copy_write(index, name, "filter", 6);
    const char *ending = catalog_table_ending(state->parameters.organisation);
    catalog_sidecar_name(segment->id, ending, name);
    index_copy_write(index, name, "table", 5);
}

/* What a builder does, in the order in which it does it. */
static int build(const char *index, const catalog_state *to_commit)
{
    const ksv_file_system *fs = ksv_posix_file_system();
    catalog *c;
    catalog_state found;
    catalog_state state;
    bool repaired;
    if (catalog_open(fs, index, NULL, &c, &found, &repaired, NULL, NULL) !=
        KSV_OK)
        return EXIT_OPEN_FAILED;
    catalog_state_release(&found);
    sample_copy(to_commit, &state);
    for (size_t i = 0; i < state.segment_count; i++)
        write_sidecars(index, &state, &state.segments[i]);
    int result = catalog_commit(c, &state, NULL) == KSV_OK ? EXIT_DONE
                                                           : EXIT_COMMIT_FAILED;
    if (result == EXIT_DONE) {
        ksv_status ignored = catalog_clean(c, &state, NULL);
        (void)ignored;
    }
    catalog_close(c);
    catalog_state_release(&state);
    return result;
}

/* In a process that meets a fault. */
static int try_to_build(void *ctx)
{
    const scenario *s = ctx;
    return build(s->index, &s->new);
}

static void apply_damage(const scenario *s, index_copy *files)
{
    if (s->damage == DAMAGE_NONE)
        return;
    index_copy_file *mdb = index_copy_find(files, CATALOG_FILE_NAME);
    index_copy_file *ksc = index_copy_find(files, CATALOG_COPY_ENDING);
    assert_non_null(mdb);
    assert_non_null(ksc);
    if (s->damage == DAMAGE_HEAD || s->damage == DAMAGE_BOTH)
        memset(mdb->data, 'x', 8192);
    if (s->damage == DAMAGE_ENVIRONMENT)
        memset(mdb->data + 8192, 'x', mdb->size - 8192);
    if (s->damage == DAMAGE_COPY || s->damage == DAMAGE_BOTH)
        ksc->data[ksc->size / 2] ^= 1;
}

static void start(scenario *s, int commits, damage_kind damage)
{
    memset(s, 0, sizeof *s);
    temp_dir_make(&s->dir);
    temp_dir_path(&s->dir, "index", s->index);
    s->commits = commits;
    s->damage = damage;
    uint64_t seed = 77;
    sample_start(&s->new, &seed);
    sample_add_files(&s->new, &seed, 3);
    for (int i = 0; i < commits; i++) {
        assert_int_equal(build(s->index, &s->new), EXIT_DONE);
        catalog_state_release(&s->old);
        sample_copy(&s->new, &s->old);
        sample_change(&s->new, &seed);
        sample_add_files(&s->new, &seed, 2);
    }
    sample_copy(&s->new, &s->third);
    sample_add_files(&s->third, &seed, 1);
    index_copy_take(&s->before, s->index);
    apply_damage(s, &s->before);
}

static void finish(scenario *s)
{
    index_copy_release(&s->before);
    catalog_state_release(&s->old);
    catalog_state_release(&s->new);
    catalog_state_release(&s->third);
    temp_dir_remove(&s->dir);
}

/* Old, new, or where there was none or only a damaged one, that. */
static void check_reader(const scenario *s, long at, bool has_failed)
{
    ksv_error error;
    catalog_state read;
    ksv_status status =
        catalog_read(ksv_posix_file_system(), s->index, NULL, &read, &error);
    if (status == KSV_OK) {
        bool is_old = s->commits > 0 && sample_equal(&read, &s->old);
        bool is_new = sample_equal(&read, &s->new);
        catalog_state_release(&read);
        if (!is_old && !is_new)
            fail_msg("operation %ld: a state that never was", at);
        if (has_failed && is_new)
            fail_msg("operation %ld: a failed commit is visible", at);
        return;
    }
    bool allowed = s->commits == 0 ? status == KSV_ERROR_NO_INDEX
                                   : s->damage != DAMAGE_NONE &&
                                         status == KSV_ERROR_CORRUPT;
    if (!allowed)
        fail_msg("operation %ld: %s: %s", at, error.path, error.text);
}

/* The next builder works, sees what readers saw, and leaves nothing behind. */
static void check_next_builder(const scenario *s, write_fault fault, long at)
{
    const ksv_file_system *fs = ksv_posix_file_system();
    ksv_error error;
    catalog *c;
    catalog_state found;
    catalog_state read;
    bool repaired;
    bool readable = catalog_read(fs, s->index, NULL, &read, NULL) == KSV_OK;
    if (catalog_open(fs, s->index, NULL, &c, &found, &repaired, NULL, &error) !=
        KSV_OK)
        fail_msg("operation %ld: open: %s: %s", at, error.path, error.text);
    if (readable) {
        assert_true(sample_equal(&read, &found));
        catalog_state_release(&read);
    } else if (found.generation != 0) {
        assert_true(sample_equal(&found, &s->old) ||
                    sample_equal(&found, &s->new));
    }
    /* LMDB leaves half a meta page behind when it cannot write it. */
    if (s->damage == DAMAGE_NONE && fault != WRITE_FAULT_FAIL_ONE)
        assert_false(repaired);
    if (s->damage != DAMAGE_NONE && s->damage != DAMAGE_BOTH)
        assert_true(found.generation != 0);
    if (repaired && found.generation != 0) {
        catalog_state now;
        assert_int_equal(catalog_read(fs, s->index, NULL, &now, NULL), KSV_OK);
        assert_true(sample_equal(&now, &found));
        catalog_state_release(&now);
    }
    catalog_state_release(&found);
    catalog_close(c);
    assert_int_equal(build(s->index, &s->third), EXIT_DONE);
    assert_int_equal(catalog_read(fs, s->index, NULL, &read, NULL), KSV_OK);
    assert_true(sample_equal(&read, &s->third));
    catalog_state_release(&read);
    assert_int_equal(index_copy_entries(s->index),
                     3 + 2 * s->third.segment_count);
}

static void try_all(int commits, damage_kind damage, write_fault fault)
{
    scenario s;
    start(&s, commits, damage);
    int result = 0;
    long at = 0;
    while (result < WRITE_FAULTS_UNHARMED) {
        at++;
        index_copy_restore(&s.before, s.index);
        result = write_faults_run(fault, at, ENOSPC, try_to_build, &s);
        bool has_failed =
            result == EXIT_OPEN_FAILED || result == EXIT_COMMIT_FAILED;
        check_reader(&s, at, has_failed);
        check_next_builder(&s, fault, at);
    }
    assert_int_equal(result, WRITE_FAULTS_UNHARMED + EXIT_DONE);
    /* The write transaction of LMDB alone is four operations. */
    assert_true(at > 8);
    finish(&s);
}

static void try_commits_and_damages(write_fault fault)
{
    for (int commits = 0; commits < 4; commits++)
        try_all(commits, DAMAGE_NONE, fault);
    for (damage_kind d = DAMAGE_ENVIRONMENT; d <= DAMAGE_BOTH; d++)
        try_all(2, d, fault);
}

static void test_killed_before_each_operation(void **unused)
{
    (void)unused;
    try_commits_and_damages(WRITE_FAULT_KILL);
}

static void test_killed_in_the_middle_of_each_write(void **unused)
{
    (void)unused;
    try_all(1, DAMAGE_NONE, WRITE_FAULT_KILL_HALF);
    try_all(2, DAMAGE_HEAD, WRITE_FAULT_KILL_HALF);
}

static void test_each_operation_fails(void **unused)
{
    (void)unused;
    try_commits_and_damages(WRITE_FAULT_FAIL_ONE);
}

static void test_the_disk_becomes_full(void **unused)
{
    (void)unused;
    for (int commits = 0; commits < 3; commits++)
        try_all(commits, DAMAGE_NONE, WRITE_FAULT_FULL);
}

int main(void)
{
    index_copy_prefer_memory();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_killed_before_each_operation),
        cmocka_unit_test(test_killed_in_the_middle_of_each_write),
        cmocka_unit_test(test_each_operation_fails),
        cmocka_unit_test(test_the_disk_becomes_full),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
