/* SPDX-License-Identifier: MIT */
/* Readers in threads and processes beside a builder that commits all the time,
 * and that is killed again and again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "catalog/catalog.h"
#include "io/file.h"
#include "support/catalog_samples.h"
#include "support/index_copy.h"
#include "support/temp_dir.h"

/* The state of a step is known from its number alone, which it carries as the
 * number of its first file's records. */
static void make_state(catalog_state *state, uint64_t step)
{
    uint64_t seed = step;
    sample_start(state, &seed);
    sample_add_files(state, &seed, 1 + step * 7 % 23);
    state->files[0].records = step;
    state->files[0].records_without_key = 0;
}

/* The step of a state, or a failure text. */
static const char *check_state(const catalog_state *state, uint64_t *step)
{
    if (state->file_count == 0)
        return "a state without files";
    *step = state->files[0].records;
    catalog_state wanted;
    make_state(&wanted, *step);
    bool equal = sample_equal(&wanted, state);
    catalog_state_release(&wanted);
    return equal ? NULL : "a state that was never committed";
}

typedef struct reader {
    const char *index;
    atomic_bool *stop;
    char failure[256];
    uint64_t reads;
    uint64_t last_step;
} reader;

static bool read_once(reader *r)
{
    ksv_error error;
    catalog_state state;
    ksv_status status =
        catalog_read(ksv_posix_file_system(), r->index, NULL, &state, &error);
    if (status == KSV_ERROR_NO_INDEX && r->last_step == 0)
        return true;
    if (status != KSV_OK) {
        snprintf(r->failure, sizeof r->failure, "after step %llu: %.200s",
                 (unsigned long long)r->last_step, error.text);
        return false;
    }
    uint64_t step = 0;
    const char *wrong = check_state(&state, &step);
    if (wrong == NULL && step < r->last_step)
        wrong = "an older state than before";
    catalog_state_release(&state);
    if (wrong != NULL) {
        snprintf(r->failure, sizeof r->failure, "%s", wrong);
        return false;
    }
    r->reads++;
    r->last_step = step;
    return true;
}

static void *run_reader(void *ctx)
{
    reader *r = ctx;
    while (!atomic_load(r->stop) && read_once(r))
        continue;
    return NULL;
}

static pid_t start_reader_process(const char *index)
{
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child > 0)
        return child;
    atomic_bool never = false;
    reader r = {.index = index, .stop = &never};
    run_reader(&r);
    fprintf(stderr, "reader process: %s\n", r.failure);
    _exit(1);
}

/* Commits the steps from `first` on; `commits` 0 means for ever. */
static int commit_steps(const char *index, uint64_t first, uint64_t commits)
{
    catalog *c;
    catalog_state found;
    bool repaired;
    if (catalog_open(ksv_posix_file_system(), index, NULL, &c, &found,
                     &repaired, NULL, NULL) != KSV_OK)
        return 1;
    catalog_state_release(&found);
    int result = repaired ? 2 : 0;
    for (uint64_t i = 0; result == 0 && (commits == 0 || i < commits); i++) {
        catalog_state state;
        make_state(&state, first + i);
        if (catalog_commit(c, &state, NULL) != KSV_OK)
            result = 3;
        else if (i % 5 == 0 && catalog_clean(c, &state, NULL) != KSV_OK)
            result = 4;
        catalog_state_release(&state);
    }
    catalog_close(c);
    return result;
}

#define THREADS 3

static void test_readers_beside_commits(void **unused)
{
    (void)unused;
    temp_dir dir;
    char index[TEMP_DIR_PATH_BYTES];
    temp_dir_make(&dir);
    temp_dir_path(&dir, "index", index);
    pid_t child = start_reader_process(index);
    atomic_bool stop = false;
    reader readers[THREADS];
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        readers[i] = (reader){.index = index, .stop = &stop};
        assert_int_equal(
            pthread_create(&threads[i], NULL, run_reader, &readers[i]), 0);
    }
    int result = 0;
    for (uint64_t first = 1; first < 200 && result == 0; first += 20)
        result = commit_steps(index, first, 20);
    atomic_store(&stop, true);
    int status = 0;
    assert_int_equal(waitpid(child, &status, WNOHANG), 0);
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(result, 0);
    uint64_t reads = 0;
    for (int i = 0; i < THREADS; i++) {
        assert_string_equal(readers[i].failure, "");
        reads += readers[i].reads;
    }
    assert_true(reads > 0);
    temp_dir_remove(&dir);
}

static void kill_a_builder(const char *index, uint64_t first, uint64_t after_us)
{
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(commit_steps(index, first, 0));
    usleep((useconds_t)after_us);
    kill(child, SIGKILL);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
}

static void test_killed_at_random_moments(void **unused)
{
    (void)unused;
    temp_dir dir;
    char index[TEMP_DIR_PATH_BYTES];
    temp_dir_make(&dir);
    temp_dir_path(&dir, "index", index);
    atomic_bool never = false;
    reader r = {.index = index, .stop = &never};
    uint64_t seed = 9;
    for (int round = 0; round < 40; round++) {
        kill_a_builder(index, r.last_step + 1, sample_below(&seed, 30000));
        if (!read_once(&r))
            fail_msg("round %d: %s", round, r.failure);
    }
    assert_true(r.reads > 0);
    assert_int_equal(commit_steps(index, r.last_step + 1, 1), 0);
    assert_true(read_once(&r));
    assert_int_equal(index_copy_entries(index), 3);
    temp_dir_remove(&dir);
}

/* Two indexes at once in one process, as two threads may do. */
static void *build_one(void *ctx)
{
    return (void *)(intptr_t)commit_steps(ctx, 1, 30);
}

static void test_two_indexes_in_one_process(void **unused)
{
    (void)unused;
    temp_dir dir;
    char index[2][TEMP_DIR_PATH_BYTES];
    pthread_t threads[2];
    temp_dir_make(&dir);
    for (int i = 0; i < 2; i++) {
        temp_dir_path(&dir, i == 0 ? "one" : "two", index[i]);
        assert_int_equal(pthread_create(&threads[i], NULL, build_one, index[i]),
                         0);
    }
    for (int i = 0; i < 2; i++) {
        void *result;
        pthread_join(threads[i], &result);
        assert_null(result);
        uint64_t bytes = 0;
        assert_int_equal(catalog_verify(ksv_posix_file_system(), index[i], NULL,
                                        &bytes, NULL),
                         KSV_OK);
    }
    temp_dir_remove(&dir);
}

int main(void)
{
    index_copy_prefer_memory();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_killed_at_random_moments),
        cmocka_unit_test(test_readers_beside_commits),
        cmocka_unit_test(test_two_indexes_in_one_process),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
