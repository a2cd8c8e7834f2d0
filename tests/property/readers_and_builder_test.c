/* SPDX-License-Identifier: MIT */
/* Any number of readers beside one builder: more threads with an open index
 * than LMDB has slots for readers, processes, and calls in whose midst an
 * update replaces all that they have not opened yet. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <keysieve/keysieve.h>

#include "support/index_copy.h"
#include "support/index_tools.h"
#include "support/organisations.h"
#include "support/pace.h"
#include "support/temp_dir.h"

enum {
    FIRST_FILES = 15, /* one more fills a tier, which is merged at once */
    MORE_FILES = 18,  /* so that there are two merges of sixteen */
    FILES = FIRST_FILES + MORE_FILES,
    KEYS = 4, /* a file */
    THREADS = PACE_STEP > 3 ? 16 : 150,
    PROCESSES = 6
};

/* In memory that processes share. */
typedef struct shared_state {
    atomic_uint committed; /* files */
    atomic_bool is_over;
    atomic_uint calls;
} shared_state;

typedef struct fixture {
    temp_dir dir;
    char directory[TEMP_DIR_PATH_BYTES];
    char paths[FILES][TEMP_DIR_PATH_BYTES];
    shared_state *shared;
} fixture;

static int setup(void **state)
{
    static fixture f;
    memset(&f, 0, sizeof f);
    temp_dir_make(&f.dir);
    temp_dir_path(&f.dir, "ix", f.directory);
    for (unsigned i = 0; i < FILES; i++) {
        char name[32], text[256] = "id,v\n";
        snprintf(name, sizeof name, "%02u.csv", i);
        for (unsigned key = 0; key < KEYS; key++)
            sprintf(text + strlen(text), "k%u-%u,%u\n", i, key, 7 * i + key);
        temp_dir_write(&f.dir, name, text, strlen(text));
        temp_dir_path(&f.dir, name, f.paths[i]);
    }
    f.shared = mmap(NULL, sizeof *f.shared, PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(f.shared != MAP_FAILED);
    *state = &f;
    return 0;
}

static int teardown(void **state)
{
    fixture *f = *state;
    munmap(f->shared, sizeof *f->shared);
    temp_dir_remove(&f->dir);
    return 0;
}

static ksv_status build(fixture *f, unsigned first, unsigned count)
{
    static const char *const key = "id";
    const char *files[FILES];
    for (unsigned i = 0; i < count; i++)
        files[i] = f->paths[first + i];
    ksv_format_options format;
    ksv_build_options options;
    index_options_of(KSV_FORMAT_CSV, &key, &format, &options);
    options.organisation = organisation_tried;
    ksv_error error;
    ksv_status status =
        ksv_build(f->directory, files, count, &options, NULL, &error);
    if (status == KSV_OK)
        atomic_store(&f->shared->committed, first + count);
    else
        print_message("build: %s: %s\n", error.path, error.text);
    return status;
}

/* NULL, or what is wrong about one key that has to be there. */
static const char *ask(ksv_index *index, unsigned file, unsigned number)
{
    static _Thread_local char wrong[400];
    char key[32], wanted[32], record[32] = "";
    uint64_t length = 0;
    bool found = false;
    ksv_error error = {.status = KSV_OK};
    snprintf(key, sizeof key, "k%u-%u", file, number);
    snprintf(wanted, sizeof wanted, "%s,%u", key, 7 * file + number);
    ksv_status status =
        ksv_get_first(index, key, strlen(key), record, sizeof record - 1,
                      &length, &found, NULL, &error);
    if (status == KSV_OK && found && strcmp(record, wanted) == 0)
        return NULL;
    snprintf(wrong, sizeof wrong, "key %s: found %d, '%s' %.300s", key, found,
             record, error.text);
    return wrong;
}

/* Absent keys are absent, also while all is replaced. */
static const char *ask_absent(ksv_index *index, unsigned number)
{
    char key[32];
    bool found = true;
    snprintf(key, sizeof key, "none%u", number);
    const ksv_key asked = {key, strlen(key)};
    ksv_status status =
        ksv_has(index, &asked, 1, false, &found, NULL, NULL, NULL);
    return status == KSV_OK && !found ? NULL : "an absent key";
}

/* With one handle that stays open, of what there was then, and one that is
 * opened now and then. */
static const char *read_until_over(fixture *f, unsigned seed)
{
    ksv_index *kept;
    unsigned files = atomic_load(&f->shared->committed);
    if (ksv_index_open(f->directory, NULL, &kept, NULL) != KSV_OK)
        return "the index cannot be opened";
    const char *wrong = NULL;
    for (unsigned i = seed; wrong == NULL && !atomic_load(&f->shared->is_over);
         i++) {
        unsigned now = atomic_load(&f->shared->committed);
        wrong = ask(kept, i % files, i % KEYS);
        if (wrong == NULL && i % 8 == 0)
            wrong = ask_absent(kept, i);
        ksv_index *anew = NULL;
        if (wrong == NULL && i % 16 == 0 &&
            ksv_index_open(f->directory, NULL, &anew, NULL) != KSV_OK)
            wrong = "the index cannot be opened anew";
        if (wrong == NULL && anew != NULL)
            wrong = ask(anew, (i + 1) % now, 0);
        ksv_index_close(anew);
        atomic_fetch_add(&f->shared->calls, 1);
        usleep(20000);
    }
    ksv_index_close(kept);
    if (wrong != NULL) /* nobody is to wait for it */
        atomic_fetch_add(&f->shared->calls, 1000000);
    return wrong;
}

typedef struct reader {
    pthread_t thread;
    fixture *f;
    unsigned seed;
    char wrong[400];
} reader;

static void *run_reader(void *ctx)
{
    reader *r = ctx;
    const char *wrong = read_until_over(r->f, r->seed);
    snprintf(r->wrong, sizeof r->wrong, "%s", wrong != NULL ? wrong : "");
    return NULL;
}

static pid_t start_process(fixture *f, unsigned seed)
{
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child > 0)
        return child;
    const char *wrong = read_until_over(f, seed);
    if (wrong != NULL)
        fprintf(stderr, "reader process: %s\n", wrong);
    _exit(wrong != NULL);
}

static void test_many_readers(void **state)
{
    fixture *f = *state;
    static reader readers[THREADS];
    pid_t processes[PROCESSES];
    assert_int_equal(build(f, 0, FIRST_FILES), KSV_OK);
    for (unsigned i = 0; i < PROCESSES; i++)
        processes[i] = start_process(f, 1000 + i);
    for (unsigned i = 0; i < THREADS; i++) {
        readers[i] = (reader){.f = f, .seed = i};
        assert_int_equal(
            pthread_create(&readers[i].thread, NULL, run_reader, &readers[i]),
            0);
    }
    ksv_status status = KSV_OK;
    for (unsigned i = FIRST_FILES; i < FILES && status == KSV_OK; i++)
        status = build(f, i, 1);
    /* All of them have read, whatever the machine was busy with. */
    while (atomic_load(&f->shared->calls) < 4 * (THREADS + PROCESSES))
        usleep(3000);
    atomic_store(&f->shared->is_over, true);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(readers[i].thread, NULL);
    for (unsigned i = 0; i < PROCESSES; i++) {
        int code;
        assert_int_equal(waitpid(processes[i], &code, 0), processes[i]);
        assert_int_equal(code, 0);
    }
    assert_int_equal(status, KSV_OK);
    for (unsigned i = 0; i < THREADS; i++)
        assert_string_equal(readers[i].wrong, "");
}

/* A call that builds when its first key is answered. */
typedef struct interrupted_call {
    fixture *f;
    size_t answered;
    bool is_right;
    ksv_status built;
} interrupted_call;

static bool take_answer(void *ctx, size_t number, const ksv_record *record)
{
    interrupted_call *call = ctx;
    unsigned file = (unsigned)(number / KEYS);
    char wanted[32];
    int length = snprintf(wanted, sizeof wanted, "k%u-%u,%u", file,
                          (unsigned)(number % KEYS),
                          7 * file + (unsigned)(number % KEYS));
    call->is_right = call->is_right && number == call->answered &&
                     record != NULL && record->length == (uint64_t)length &&
                     memcmp(record->data, wanted, (size_t)length) == 0;
    if (call->answered++ == 0)
        call->built = build(call->f, FIRST_FILES, 1);
    return true;
}

/* After that build none of the tables is there that the call began with. */
static void run_interrupted(fixture *f, bool each_on_its_own)
{
    static char texts[FIRST_FILES * KEYS][16];
    ksv_key keys[FIRST_FILES * KEYS];
    ksv_receipt receipts[FIRST_FILES * KEYS];
    for (size_t i = 0; i < FIRST_FILES * KEYS; i++) {
        keys[i].bytes =
            (size_t)sprintf(texts[i], "k%zu-%zu", i / KEYS, i % KEYS);
        keys[i].data = texts[i];
    }
    ksv_index *index;
    assert_int_equal(build(f, 0, FIRST_FILES), KSV_OK);
    assert_int_equal(ksv_index_open(f->directory, NULL, &index, NULL), KSV_OK);
    interrupted_call call = {.f = f, .is_right = true, .built = KSV_ERROR_IO};
    ksv_error error;
    ksv_status status =
        ksv_get(index, keys, FIRST_FILES * KEYS, NULL, take_answer, &call, NULL,
                each_on_its_own ? receipts : NULL, &error);
    if (status != KSV_OK)
        fail_msg("%s: %s", error.path, error.text);
    assert_int_equal(call.built, KSV_OK);
    assert_true(call.is_right);
    assert_int_equal(call.answered, FIRST_FILES * KEYS);
    ksv_index_close(index);
    assert_int_equal(ksv_index_open(f->directory, NULL, &index, NULL), KSV_OK);
    const char *wrong = ask(index, FIRST_FILES, 1);
    assert_string_equal(wrong != NULL ? wrong : "", "");
    ksv_index_close(index);
}

static void test_update_in_the_midst_of_a_call(void **state)
{
    run_interrupted(*state, false);
}

static void test_update_between_keys_of_a_call(void **state)
{
    run_interrupted(*state, true);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    index_copy_prefer_memory();
    const struct CMUnitTest tests[] = {
        TEST(test_many_readers),
        TEST(test_update_in_the_midst_of_a_call),
        TEST(test_update_between_keys_of_a_call),
    };
    int failures = 0;
    ORGANISATIONS_RUN_THREADS(tests, failures);
    return failures;
}
