/* SPDX-License-Identifier: MIT */
/* A file system that counts what is read of some files, and can hide their
 * times. */
#include "support/counting_file_system.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

typedef struct counting_file {
    ksv_file base;
    counting_file_system *counting;
    ksv_file *inner;
} counting_file;

static bool is_counted(const counting_file_system *c, const char *path)
{
    size_t length = strlen(path);
    size_t ending = strlen(c->ending);
    return length >= ending && strcmp(path + length - ending, c->ending) == 0;
}

static void hide(const counting_file_system *c, ksv_file_info *info)
{
    if (!c->hide_times)
        return;
    info->mtime_ns = 1;
    info->ctime_ns = 1;
    info->inode = 0;
}

static void count(counting_file_system *c, uint64_t *counter)
{
    pthread_mutex_lock(&c->mutex);
    ++*counter;
    pthread_mutex_unlock(&c->mutex);
}

static ksv_status counting_read_at(ksv_file *base, uint64_t offset,
                                   void *buffer, size_t size_bytes,
                                   size_t *got_bytes, ksv_error *error)
{
    counting_file *file = (counting_file *)base;
    counting_file_system *c = file->counting;
    KSV_TRY(file->inner->ops->read_at(file->inner, offset, buffer, size_bytes,
                                      got_bytes, error));
    pthread_mutex_lock(&c->mutex);
    if (c->reads < COUNTED_READS_MAX)
        c->log[c->reads] = (counted_read){offset, *got_bytes};
    c->reads++;
    c->bytes_read += *got_bytes;
    pthread_mutex_unlock(&c->mutex);
    return KSV_OK;
}

static ksv_status refuse(ksv_error *error)
{
    return error_set(error, KSV_ERROR_ARGUMENT, NULL, "only for reading");
}

static ksv_status counting_append(ksv_file *file, const void *data,
                                  size_t size_bytes, ksv_error *error)
{
    (void)file;
    (void)data;
    (void)size_bytes;
    return refuse(error);
}

static ksv_status counting_sync(ksv_file *file, ksv_error *error)
{
    (void)file;
    return refuse(error);
}

static ksv_status counting_file_info(ksv_file *base, ksv_file_info *info,
                                     ksv_error *error)
{
    counting_file *file = (counting_file *)base;
    KSV_TRY(file->inner->ops->info(file->inner, info, error));
    hide(file->counting, info);
    return KSV_OK;
}

static ksv_status counting_close(ksv_file *base, ksv_error *error)
{
    counting_file *file = (counting_file *)base;
    ksv_status status = file->inner->ops->close(file->inner, error);
    free(file);
    return status;
}

static const ksv_file_ops COUNTING_FILE_OPS = {.read_at = counting_read_at,
                                               .append = counting_append,
                                               .sync = counting_sync,
                                               .info = counting_file_info,
                                               .close = counting_close};

static ksv_status counting_open_read(void *ctx, const char *path,
                                     ksv_file **out, ksv_error *error)
{
    counting_file_system *c = ctx;
    KSV_TRY(c->inner->open_read(c->inner->ctx, path, out, error));
    if (!is_counted(c, path))
        return KSV_OK;
    count(c, &c->opens);
    counting_file *file = malloc(sizeof *file);
    if (file == NULL)
        abort();
    *file = (counting_file){{&COUNTING_FILE_OPS}, c, *out};
    *out = &file->base;
    return KSV_OK;
}

static ksv_status counting_info(void *ctx, const char *path,
                                ksv_file_info *info, ksv_error *error)
{
    counting_file_system *c = ctx;
    KSV_TRY(c->inner->info(c->inner->ctx, path, info, error));
    if (is_counted(c, path)) {
        count(c, &c->infos);
        hide(c, info);
    }
    return KSV_OK;
}

static ksv_status counting_create(void *ctx, const char *path, ksv_file **file,
                                  ksv_error *error)
{
    counting_file_system *c = ctx;
    return c->inner->create(c->inner->ctx, path, file, error);
}

static ksv_status counting_rename(void *ctx, const char *from, const char *to,
                                  ksv_error *error)
{
    counting_file_system *c = ctx;
    return c->inner->rename(c->inner->ctx, from, to, error);
}

static ksv_status counting_remove(void *ctx, const char *path, ksv_error *error)
{
    counting_file_system *c = ctx;
    return c->inner->remove(c->inner->ctx, path, error);
}

static ksv_status counting_make_directory(void *ctx, const char *path,
                                          ksv_error *error)
{
    counting_file_system *c = ctx;
    return c->inner->make_directory(c->inner->ctx, path, error);
}

static ksv_status counting_remove_directory(void *ctx, const char *path,
                                            ksv_error *error)
{
    counting_file_system *c = ctx;
    return c->inner->remove_directory(c->inner->ctx, path, error);
}

static ksv_status counting_sync_directory(void *ctx, const char *path,
                                          ksv_error *error)
{
    counting_file_system *c = ctx;
    return c->inner->sync_directory(c->inner->ctx, path, error);
}

static ksv_status counting_list(void *ctx, const char *path, ksv_list_fn visit,
                                void *visit_ctx, ksv_error *error)
{
    counting_file_system *c = ctx;
    return c->inner->list(c->inner->ctx, path, visit, visit_ctx, error);
}

static ksv_status counting_lock(void *ctx, const char *path, ksv_file **lock,
                                ksv_error *error)
{
    counting_file_system *c = ctx;
    return c->inner->lock(c->inner->ctx, path, lock, error);
}

void counting_file_system_open(counting_file_system *counting,
                               const ksv_file_system *inner, const char *ending)
{
    memset(counting, 0, sizeof *counting);
    counting->inner = inner;
    counting->ending = ending;
    pthread_mutex_init(&counting->mutex, NULL);
    counting->fs =
        (ksv_file_system){.ctx = counting,
                          .open_read = counting_open_read,
                          .create = counting_create,
                          .info = counting_info,
                          .rename = counting_rename,
                          .remove = counting_remove,
                          .make_directory = counting_make_directory,
                          .remove_directory = counting_remove_directory,
                          .sync_directory = counting_sync_directory,
                          .list = counting_list,
                          .lock = counting_lock};
}

void counting_file_system_reset(counting_file_system *counting)
{
    counting->infos = 0;
    counting->opens = 0;
    counting->reads = 0;
    counting->bytes_read = 0;
}

void counting_file_system_close(counting_file_system *counting)
{
    pthread_mutex_destroy(&counting->mutex);
}
