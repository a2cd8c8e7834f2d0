/* SPDX-License-Identifier: MIT */
/* Writers change data files, updaters follow and are killed, readers in threads
 * and processes ask: every answer is compared with what the files have held.
 * soak [--seconds N] [--seed N] [--organisation NAME]: exit status 0 when none
 * was wrong. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <keysieve/keysieve.h>

#include "soak_model.h"
#include "support/index_tools.h"
#include "support/organisations.h"

enum { READER_PROCESSES = 2, READER_THREADS = 2 };

static ksv_status update_index(soak_model *model, ksv_error *error)
{
    static const char *const key = "id";
    ksv_format_options format;
    char pattern[TEMP_DIR_PATH_BYTES];
    snprintf(pattern, sizeof pattern, "%s", model->paths[0]);
    strcpy(strrchr(pattern, '/'), "/*.csv");
    const char *patterns = pattern;
    ksv_build_options options;
    index_options_of(KSV_FORMAT_CSV, &key, &format, &options);
    options.watch_patterns = &patterns;
    options.watch_pattern_count = 1;
    options.organisation = model->organisation;
    ksv_index *index;
    if (ksv_index_open(model->index, NULL, &index, NULL) != KSV_OK)
        return ksv_build(model->index, NULL, 0, &options, NULL, error);
    ksv_index_close(index);
    return ksv_update(model->index, NULL, 0, &options, NULL, error);
}

/* Files may change or vanish while they are read: the others are indexed. */
static void note_update(soak_model *model, ksv_status status,
                        const ksv_error *error)
{
    bool is_of_data = status == KSV_ERROR_STALE || status == KSV_ERROR_DATA ||
                      (status == KSV_ERROR_IO && error->path[0] != '\0' &&
                       strstr(error->path, ".csv") != NULL);
    if (status == KSV_OK)
        atomic_fetch_add(&model->counts.updates, 1);
    else if (is_of_data)
        atomic_fetch_add(&model->counts.updates_refused, 1);
    else
        soak_complain(model, "update: %s: %s: %s", ksv_status_text(status),
                      error->path, error->text);
}

/* Between two updates: which files the index has, and keeps unless they are
 * deleted from now on. */
static void note_files(soak_model *model)
{
    uint64_t deletions[SOAK_FILES];
    for (unsigned i = 0; i < SOAK_FILES; i++)
        deletions[i] = atomic_load(&model->files[i].deletions);
    ksv_index *index;
    ksv_index_info info;
    if (ksv_index_open(model->index, NULL, &index, NULL) != KSV_OK)
        return;
    if (ksv_index_get_info(index, &info, NULL) != KSV_OK)
        info.file_count = 0;
    for (size_t f = 0; f < info.file_count; f++)
        for (unsigned i = 0; i < SOAK_FILES; i++)
            if (strcmp(info.files[f].file, model->paths[i]) == 0 &&
                info.files[f].state != KSV_STATE_MISSING)
                atomic_store(&model->files[i].known, deletions[i]);
    ksv_index_close(index);
}

static void update_in_child(soak_model *model, random_source *random)
{
    bool is_to_die = random_below(random, 3) == 0;
    pid_t child = fork();
    if (child == 0) {
        ksv_error error = {.status = KSV_OK};
        ksv_status status = update_index(model, &error);
        note_update(model, status, &error);
        _exit(0);
    }
    if (is_to_die) {
        usleep((useconds_t)random_below(random, 60000));
        kill(child, SIGKILL);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL && is_to_die)
        atomic_fetch_add(&model->counts.updates_killed, 1);
    else if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        soak_complain(model, "an updater ended with status %d", status);
}

void soak_update(soak_model *model, uint64_t seed)
{
    random_source random = {seed};
    while (!atomic_load(&model->is_over)) {
        update_in_child(model, &random);
        note_files(model);
        usleep((useconds_t)random_below(&random, 5000));
    }
}

typedef struct soak_thread {
    pthread_t thread;
    soak_model *model;
    unsigned number;
    uint64_t seed;
} soak_thread;

static void *run_writer(void *ctx)
{
    soak_thread *t = ctx;
    soak_write(t->model, t->number, t->seed);
    return NULL;
}

static void *run_reader(void *ctx)
{
    soak_thread *t = ctx;
    if (t->number % 2 == 0)
        soak_read(t->model, t->seed);
    else
        soak_read_anew(t->model, t->seed);
    return NULL;
}

static pid_t start_process(void (*body)(soak_model *model, uint64_t seed),
                           soak_model *model, uint64_t seed)
{
    pid_t child = fork();
    if (child == 0) {
        /* Nobody would tell it that all is over. */
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        body(model, seed);
        _exit(0);
    }
    return child;
}

static void start_thread(soak_thread *t, soak_model *model, unsigned number,
                         uint64_t seed, void *(*body)(void *ctx))
{
    *t = (soak_thread){.model = model, .number = number, .seed = seed};
    if (pthread_create(&t->thread, NULL, body, t) != 0)
        abort();
}

static void run_all(soak_model *model, uint64_t seconds, uint64_t seed)
{
    pid_t processes[READER_PROCESSES + 1];
    soak_thread threads[SOAK_FILES + READER_THREADS];
    processes[0] = start_process(soak_update, model, seed + 1);
    for (unsigned i = 1; i <= READER_PROCESSES; i++)
        processes[i] = start_process(i % 2 == 0 ? soak_read : soak_read_anew,
                                     model, seed + 10 + i);
    for (unsigned i = 0; i < SOAK_FILES; i++)
        start_thread(&threads[i], model, i, seed + 100 + i, run_writer);
    for (unsigned i = 0; i < READER_THREADS; i++)
        start_thread(&threads[SOAK_FILES + i], model, i, seed + 200 + i,
                     run_reader);
    /* Not beyond the first wrong answer: the files show more then. */
    for (uint64_t i = 0; i < 10 * seconds; i++)
        if (atomic_load(&model->counts.wrong) == 0)
            usleep(100000);
    atomic_store(&model->is_over, true);
    for (unsigned i = 0; i < SOAK_FILES + READER_THREADS; i++)
        pthread_join(threads[i].thread, NULL);
    for (unsigned i = 0; i <= READER_PROCESSES; i++) {
        int status = 0;
        waitpid(processes[i], &status, 0);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
            soak_complain(model, "process %u ended with status %d", i, status);
    }
}

/* Nothing changes any more: everything has to be right. */
static void check_end(soak_model *model)
{
    ksv_error error;
    if (update_index(model, &error) != KSV_OK)
        soak_complain(model, "last update: %s: %s", error.path, error.text);
    soak_check_all(model);
    ksv_verify_options options;
    ksv_verify_options_init(&options);
    options.data = true;
    if (ksv_verify(model->index, &options, NULL, &error) != KSV_OK)
        soak_complain(model, "verify: %s: %s", error.path, error.text);
}

static bool report(const soak_model *model, uint64_t seed)
{
    const soak_counts *c = &model->counts;
    printf("seed %llu: %llu changes; %llu updates, %llu met a change, %llu "
           "killed; %llu found, %llu not found, %llu stale, %llu not judged; "
           "%llu wrong\n",
           (unsigned long long)seed, (unsigned long long)c->changes,
           (unsigned long long)c->updates,
           (unsigned long long)c->updates_refused,
           (unsigned long long)c->updates_killed, (unsigned long long)c->found,
           (unsigned long long)c->not_found, (unsigned long long)c->stale,
           (unsigned long long)c->passed_over, (unsigned long long)c->wrong);
    return c->wrong == 0 && c->changes > 0 &&
           c->updates + c->updates_refused > 0 && c->found > 0 &&
           c->not_found > 0;
}

static const char *text_argument(int argc, char **argv, const char *name,
                                 const char *otherwise)
{
    for (int i = 1; i + 1 < argc; i += 2)
        if (strcmp(argv[i], name) == 0)
            return argv[i + 1];
    return otherwise;
}

static uint64_t argument(int argc, char **argv, const char *name,
                         uint64_t otherwise)
{
    const char *text = text_argument(argc, argv, name, NULL);
    return text != NULL ? strtoull(text, NULL, 10) : otherwise;
}

int main(int argc, char **argv)
{
    uint64_t seconds = argument(argc, argv, "--seconds", 600);
    uint64_t seed = argument(argc, argv, "--seed", (uint64_t)time(NULL));
    temp_dir dir;
    soak_model *model = mmap(NULL, sizeof *model, PROT_READ | PROT_WRITE,
                             MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (model == MAP_FAILED)
        return 2;
    const char *organisation =
        text_argument(argc, argv, "--organisation", "hash");
    if (!organisation_by_name(organisation, &model->organisation)) {
        fprintf(stderr, "no such organisation: %s\n", organisation);
        return 2;
    }
    temp_dir_make(&dir);
    temp_dir_path(&dir, "ix", model->index);
    for (unsigned i = 0; i < SOAK_FILES; i++) {
        char name[16];
        snprintf(name, sizeof name, "%u.csv", i);
        temp_dir_path(&dir, name, model->paths[i]);
        model->files[i].known = UINT64_MAX;
    }
    /* So that there is an index at any time. */
    temp_dir_write(&dir, "always.csv", "id\nalways\n", 10);
    ksv_error error;
    if (update_index(model, &error) != KSV_OK) {
        fprintf(stderr, "%s: %s\n", error.path, error.text);
        return 2;
    }
    run_all(model, seconds, seed);
    if (atomic_load(&model->counts.wrong) == 0)
        check_end(model);
    bool is_good = report(model, seed);
    if (is_good)
        temp_dir_remove(&dir);
    else
        fprintf(stderr, "kept: %s\n", dir.path);
    return is_good ? 0 : 1;
}
