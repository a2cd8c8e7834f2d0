/* SPDX-License-Identifier: MIT */
/* A file system that fails, ends the process or loses power when it is told
 * to. */
#include "support/fault_file_system.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "io/file.h"

typedef struct fault_shared {
    uint64_t operations;
    uint64_t open_files;
    uint64_t kept_names;
    char keep_directory[POWER_PATH_BYTES]; /* "": nothing is tracked */
    power_log log;
} fault_shared;

typedef struct fault_file {
    ksv_file base;
    fault_file_system *fault;
    ksv_file *inner;
    uint32_t number; /* of a tracked file; 0: none */
    uint64_t size_bytes;
} fault_file;

/* Counts an operation; true when it is one that fails. */
static bool is_chosen(fault_file_system *fault, fault_operation operation)
{
    const fault_plan *plan = &fault->plan;
    if ((plan->operations & (unsigned)operation) == 0)
        return false;
    pthread_mutex_lock(&fault->mutex);
    uint64_t number = ++fault->shared->operations;
    pthread_mutex_unlock(&fault->mutex);
    return plan->at != 0 &&
           (number == plan->at || (plan->and_later && number > plan->at));
}

static ksv_status strike(const fault_file_system *fault, const char *path,
                         ksv_error *error)
{
    if (fault->plan.kill)
        _exit(FAULT_EXIT_CODE);
    return error_set_os(error, fault->plan.os_errno, path, "fault");
}

#define FAIL_IF_CHOSEN(fault, operation, path, error) \
    do {                                              \
        if (is_chosen(fault, operation))              \
            return strike(fault, path, error);        \
    } while (0)

static bool is_tracking(const fault_file_system *fault)
{
    return fault->shared->keep_directory[0] != '\0';
}

static void copy_path(char out[POWER_PATH_BYTES], const char *path)
{
    if (strlen(path) >= POWER_PATH_BYTES) {
        fprintf(stderr, "a path is too long to be tracked: %s\n", path);
        exit(99);
    }
    strcpy(out, path);
}

static void write_down(fault_file_system *fault, const power_event *event)
{
    power_log *log = &fault->shared->log;
    pthread_mutex_lock(&fault->mutex);
    if (log->count < POWER_EVENTS_MAX)
        log->events[log->count] = *event;
    log->count++;
    pthread_mutex_unlock(&fault->mutex);
}

static void write_down_path(fault_file_system *fault, power_event_kind kind,
                            const char *path)
{
    if (!is_tracking(fault))
        return;
    power_event event = {.kind = kind};
    copy_path(event.path, path);
    write_down(fault, &event);
}

/* Gives a file that is about to lose its name another one. */
static void keep_file(fault_file_system *fault, const char *path,
                      char kept[POWER_PATH_BYTES])
{
    fault_shared *shared = fault->shared;
    pthread_mutex_lock(&fault->mutex);
    uint64_t number = ++shared->kept_names;
    pthread_mutex_unlock(&fault->mutex);
    int length = snprintf(kept, POWER_PATH_BYTES, "%s/%llu",
                          shared->keep_directory, (unsigned long long)number);
    if (length >= POWER_PATH_BYTES || link(path, kept) != 0)
        kept[0] = '\0';
}

static bool exists(const fault_file_system *fault, const char *path)
{
    ksv_file_info info;
    return fault->inner->info(fault->inner->ctx, path, &info, NULL) == KSV_OK;
}

static ksv_status fault_read_at(ksv_file *base, uint64_t offset, void *buffer,
                                size_t size_bytes, size_t *got_bytes,
                                ksv_error *error)
{
    fault_file *file = (fault_file *)base;
    *got_bytes = 0;
    FAIL_IF_CHOSEN(file->fault, FAULT_READ, NULL, error);
    return file->inner->ops->read_at(file->inner, offset, buffer, size_bytes,
                                     got_bytes, error);
}

static ksv_status fault_append(ksv_file *base, const void *data,
                               size_t size_bytes, ksv_error *error)
{
    fault_file *file = (fault_file *)base;
    if (is_chosen(file->fault, FAULT_APPEND)) {
        if (file->fault->plan.partial_append)
            KSV_TRY(file->inner->ops->append(file->inner, data, size_bytes / 2,
                                             error));
        return strike(file->fault, NULL, error);
    }
    KSV_TRY(file->inner->ops->append(file->inner, data, size_bytes, error));
    file->size_bytes += size_bytes;
    return KSV_OK;
}

static ksv_status fault_sync(ksv_file *base, ksv_error *error)
{
    fault_file *file = (fault_file *)base;
    FAIL_IF_CHOSEN(file->fault, FAULT_SYNC, NULL, error);
    KSV_TRY(file->inner->ops->sync(file->inner, error));
    if (file->number != 0) {
        power_event event = {.kind = POWER_SYNCED,
                             .file = file->number,
                             .size_bytes = file->size_bytes};
        write_down(file->fault, &event);
    }
    return KSV_OK;
}

static ksv_status fault_file_info(ksv_file *base, ksv_file_info *info,
                                  ksv_error *error)
{
    fault_file *file = (fault_file *)base;
    FAIL_IF_CHOSEN(file->fault, FAULT_INFO, NULL, error);
    return file->inner->ops->info(file->inner, info, error);
}

static ksv_status fault_close(ksv_file *base, ksv_error *error)
{
    fault_file *file = (fault_file *)base;
    fault_file_system *fault = file->fault;
    bool chosen = is_chosen(fault, FAULT_CLOSE);
    if (file->number != 0) {
        power_event event = {.kind = POWER_CLOSED,
                             .file = file->number,
                             .size_bytes = file->size_bytes};
        write_down(fault, &event);
    }
    ksv_status status = file->inner->ops->close(file->inner, error);
    free(file);
    pthread_mutex_lock(&fault->mutex);
    fault->shared->open_files--;
    pthread_mutex_unlock(&fault->mutex);
    return chosen ? strike(fault, NULL, error) : status;
}

static void fault_expect_random(ksv_file *base)
{
    ksv_file *inner = ((fault_file *)base)->inner;
    if (inner->ops->expect_random != NULL)
        inner->ops->expect_random(inner);
}

static const ksv_file_ops FAULT_FILE_OPS = {
    .read_at = fault_read_at,
    .append = fault_append,
    .sync = fault_sync,
    .info = fault_file_info,
    .close = fault_close,
    .expect_random = fault_expect_random,
};

/* Each is a read of its own, as the file system below would do it. */
static ksv_status fault_read_many(void *ctx, ksv_read *reads, size_t count,
                                  ksv_error *error)
{
    fault_file_system *fault = ctx;
    ksv_read *inner = calloc(count + 1, sizeof *inner);
    if (inner == NULL)
        abort();
    ksv_status status = KSV_OK;
    for (size_t i = 0; i < count && status == KSV_OK; i++) {
        inner[i] = reads[i];
        inner[i].file = ((fault_file *)reads[i].file)->inner;
        if (is_chosen(fault, FAULT_READ))
            status = strike(fault, NULL, error);
    }
    if (status == KSV_OK)
        status = file_read_many(fault->inner, inner, count, error);
    for (size_t i = 0; i < count; i++)
        reads[i].got_bytes = inner[i].got_bytes;
    free(inner);
    return status;
}

static void wrap(fault_file_system *fault, ksv_file *inner, uint32_t number,
                 ksv_file **out)
{
    fault_file *file = malloc(sizeof *file);
    if (file == NULL)
        abort();
    *file = (fault_file){{&FAULT_FILE_OPS}, fault, inner, number, 0};
    pthread_mutex_lock(&fault->mutex);
    fault->shared->open_files++;
    pthread_mutex_unlock(&fault->mutex);
    *out = &file->base;
}

static ksv_status fault_open_read(void *ctx, const char *path, ksv_file **out,
                                  ksv_error *error)
{
    fault_file_system *fault = ctx;
    *out = NULL;
    FAIL_IF_CHOSEN(fault, FAULT_OPEN_READ, path, error);
    ksv_file *inner;
    KSV_TRY(fault->inner->open_read(fault->inner->ctx, path, &inner, error));
    wrap(fault, inner, 0, out);
    return KSV_OK;
}

static ksv_status fault_create(void *ctx, const char *path, ksv_file **out,
                               ksv_error *error)
{
    fault_file_system *fault = ctx;
    *out = NULL;
    FAIL_IF_CHOSEN(fault, FAULT_CREATE, path, error);
    bool existed = is_tracking(fault) && exists(fault, path);
    ksv_file *inner;
    KSV_TRY(fault->inner->create(fault->inner->ctx, path, &inner, error));
    uint32_t number = 0;
    if (is_tracking(fault)) {
        pthread_mutex_lock(&fault->mutex);
        number = ++fault->shared->log.files;
        pthread_mutex_unlock(&fault->mutex);
        power_event event = {
            .kind = POWER_CREATED, .file = number, .existed = existed};
        copy_path(event.path, path);
        write_down(fault, &event);
    }
    wrap(fault, inner, number, out);
    return KSV_OK;
}

static ksv_status fault_info(void *ctx, const char *path, ksv_file_info *info,
                             ksv_error *error)
{
    fault_file_system *fault = ctx;
    FAIL_IF_CHOSEN(fault, FAULT_INFO, path, error);
    return fault->inner->info(fault->inner->ctx, path, info, error);
}

static ksv_status fault_rename(void *ctx, const char *from, const char *to,
                               ksv_error *error)
{
    fault_file_system *fault = ctx;
    FAIL_IF_CHOSEN(fault, FAULT_RENAME, from, error);
    power_event event = {.kind = POWER_RENAMED};
    if (is_tracking(fault)) {
        copy_path(event.path, from);
        copy_path(event.other, to);
        keep_file(fault, to, event.kept);
    }
    KSV_TRY(fault->inner->rename(fault->inner->ctx, from, to, error));
    if (is_tracking(fault))
        write_down(fault, &event);
    return KSV_OK;
}

static ksv_status fault_remove(void *ctx, const char *path, ksv_error *error)
{
    fault_file_system *fault = ctx;
    FAIL_IF_CHOSEN(fault, FAULT_REMOVE, path, error);
    power_event event = {.kind = POWER_REMOVED};
    if (is_tracking(fault)) {
        copy_path(event.path, path);
        keep_file(fault, path, event.kept);
    }
    KSV_TRY(fault->inner->remove(fault->inner->ctx, path, error));
    if (is_tracking(fault))
        write_down(fault, &event);
    return KSV_OK;
}

static ksv_status fault_make_directory(void *ctx, const char *path,
                                       ksv_error *error)
{
    fault_file_system *fault = ctx;
    FAIL_IF_CHOSEN(fault, FAULT_MAKE_DIRECTORY, path, error);
    bool existed = exists(fault, path);
    KSV_TRY(fault->inner->make_directory(fault->inner->ctx, path, error));
    if (!existed)
        write_down_path(fault, POWER_MADE_DIRECTORY, path);
    return KSV_OK;
}

static ksv_status fault_remove_directory(void *ctx, const char *path,
                                         ksv_error *error)
{
    fault_file_system *fault = ctx;
    FAIL_IF_CHOSEN(fault, FAULT_REMOVE_DIRECTORY, path, error);
    KSV_TRY(fault->inner->remove_directory(fault->inner->ctx, path, error));
    write_down_path(fault, POWER_REMOVED_DIRECTORY, path);
    return KSV_OK;
}

static ksv_status fault_sync_directory(void *ctx, const char *path,
                                       ksv_error *error)
{
    fault_file_system *fault = ctx;
    FAIL_IF_CHOSEN(fault, FAULT_SYNC_DIRECTORY, path, error);
    KSV_TRY(fault->inner->sync_directory(fault->inner->ctx, path, error));
    write_down_path(fault, POWER_SYNCED_DIRECTORY, path);
    return KSV_OK;
}

/* Counts as one sync. */
static ksv_status fault_sync_files(void *ctx, const char *directory,
                                   ksv_error *error)
{
    fault_file_system *fault = ctx;
    FAIL_IF_CHOSEN(fault, FAULT_SYNC, directory, error);
    KSV_TRY(fault->inner->sync_files(fault->inner->ctx, directory, error));
    write_down_path(fault, POWER_SYNCED_FILES, directory);
    return KSV_OK;
}

static ksv_status fault_list(void *ctx, const char *path, ksv_list_fn visit,
                             void *visit_ctx, ksv_error *error)
{
    fault_file_system *fault = ctx;
    FAIL_IF_CHOSEN(fault, FAULT_LIST, path, error);
    return fault->inner->list(fault->inner->ctx, path, visit, visit_ctx, error);
}

static ksv_status fault_lock(void *ctx, const char *path, ksv_file **lock,
                             ksv_error *error)
{
    fault_file_system *fault = ctx;
    *lock = NULL;
    FAIL_IF_CHOSEN(fault, FAULT_LOCK, path, error);
    ksv_file *inner;
    KSV_TRY(fault->inner->lock(fault->inner->ctx, path, &inner, error));
    wrap(fault, inner, 0, lock);
    return KSV_OK;
}

void fault_file_system_open(fault_file_system *fault,
                            const ksv_file_system *inner)
{
    fault_shared *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
             MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (shared == MAP_FAILED) {
        perror("mmap");
        exit(99);
    }
    *fault = (fault_file_system){
        .fs = {.ctx = fault,
               .open_read = fault_open_read,
               .create = fault_create,
               .info = fault_info,
               .rename = fault_rename,
               .remove = fault_remove,
               .make_directory = fault_make_directory,
               .remove_directory = fault_remove_directory,
               .sync_directory = fault_sync_directory,
               .list = fault_list,
               .lock = fault_lock,
               .read_many = fault_read_many,
               .sync_files =
                   inner->sync_files != NULL ? fault_sync_files : NULL},
        .inner = inner,
        .plan = {.operations = FAULT_ALL},
        .shared = shared,
    };
    pthread_mutex_init(&fault->mutex, NULL);
}

uint64_t fault_file_system_count(const fault_file_system *fault)
{
    return fault->shared->operations;
}

void fault_file_system_reset(fault_file_system *fault)
{
    fault->shared->operations = 0;
    fault->shared->open_files = 0;
    fault->shared->log.count = 0;
    fault->shared->log.files = 0;
}

uint64_t fault_file_system_open_files(const fault_file_system *fault)
{
    return fault->shared->open_files;
}

void fault_file_system_track(fault_file_system *fault,
                             const char *keep_directory)
{
    copy_path(fault->shared->keep_directory, keep_directory);
}

void fault_file_system_lose_power(fault_file_system *fault)
{
    power_loss_apply(&fault->shared->log);
}

void fault_file_system_close(fault_file_system *fault)
{
    pthread_mutex_destroy(&fault->mutex);
    munmap(fault->shared, sizeof *fault->shared);
    fault->shared = NULL;
}

int fault_run_forked(int (*body)(void *ctx), void *ctx)
{
    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        _exit(body(ctx));
    int wait_status;
    if (child < 0 || waitpid(child, &wait_status, 0) != child) {
        perror("fork");
        exit(99);
    }
    return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status)
                                  : -WTERMSIG(wait_status);
}
