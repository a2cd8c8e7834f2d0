/* SPDX-License-Identifier: MIT */
/* Random sequences of states: what was committed is what is read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "catalog/catalog.h"
#include "support/catalog_samples.h"
#include "support/index_copy.h"
#include "support/temp_dir.h"

static void need_ok(ksv_status status, const ksv_error *error, uint64_t seed)
{
    if (status != KSV_OK)
        fail_msg("seed %llu: %s: %s", (unsigned long long)seed, error->path,
                 error->text);
}

static void need_committed(const char *directory, const catalog_state *wanted,
                           uint64_t seed)
{
    const ksv_file_system *fs = ksv_posix_file_system();
    ksv_error error;
    catalog_state read;
    uint64_t bytes = 0;
    need_ok(catalog_read(fs, directory, NULL, &read, &error), &error, seed);
    if (!sample_equal(wanted, &read) || read.generation != wanted->generation)
        fail_msg("seed %llu: another state was read", (unsigned long long)seed);
    catalog_state_release(&read);
    need_ok(catalog_verify(fs, directory, NULL, &bytes, &error), &error, seed);
    assert_true(bytes > 4096);
}

/* Opens anew every few commits, as builds do. */
static void run_sequence(uint64_t seed, int commits, size_t files_most)
{
    const ksv_file_system *fs = ksv_posix_file_system();
    temp_dir dir;
    temp_dir_make(&dir);
    char path[TEMP_DIR_PATH_BYTES];
    temp_dir_path(&dir, "index", path);
    uint64_t random = seed;
    catalog_state state;
    sample_start(&state, &random);
    catalog *c = NULL;
    for (int i = 0; i < commits; i++) {
        ksv_error error;
        if (c == NULL) {
            catalog_state found;
            bool repaired;
            need_ok(catalog_open(fs, path, NULL, &c, &found, &repaired, NULL,
                                 &error),
                    &error, seed);
            assert_false(repaired);
            assert_int_equal(found.generation, i);
            if (i > 0)
                assert_true(sample_equal(&state, &found));
            catalog_state_release(&found);
        }
        sample_change(&state, &random);
        sample_add_files(&state, &random,
                         (size_t)sample_below(&random, files_most));
        need_ok(catalog_commit(c, &state, &error), &error, seed);
        assert_int_equal(state.generation, i + 1);
        need_committed(path, &state, seed);
        if (sample_below(&random, 3) == 0) {
            catalog_close(c);
            c = NULL;
        }
    }
    catalog_close(c);
    catalog_state_release(&state);
    temp_dir_remove(&dir);
}

static void test_many_small_states(void **unused)
{
    (void)unused;
    for (uint64_t seed = 1; seed <= 10; seed++)
        run_sequence(seed, 10, 8);
}

static void test_states_of_many_pages(void **unused)
{
    (void)unused;
    for (uint64_t seed = 100; seed < 103; seed++)
        run_sequence(seed, 8, 400);
}

int main(void)
{
    index_copy_prefer_memory();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_many_small_states),
        cmocka_unit_test(test_states_of_many_pages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
