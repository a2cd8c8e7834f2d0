/* SPDX-License-Identifier: MIT */
/* A file for reading that holds no descriptor between reads. */
#include "io/reopening_file.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "io/file.h"

typedef struct reopening_file {
    ksv_file base;
    const ksv_file_system *fs;
    ksv_allocator allocator;
    char *path;
    bool expects_random;
} reopening_file;

static ksv_status reopening_read_at(ksv_file *file, uint64_t offset,
                                    void *buffer, size_t size_bytes,
                                    size_t *got_bytes, ksv_error *error)
{
    const reopening_file *self = (const reopening_file *)file;
    *got_bytes = 0;
    ksv_file *opened;
    KSV_TRY(self->fs->open_read(self->fs->ctx, self->path, &opened, error));
    if (self->expects_random)
        file_expect_random(opened);
    ksv_status status = opened->ops->read_at(opened, offset, buffer, size_bytes,
                                             got_bytes, error);
    file_close_quietly(opened);
    return status;
}

static ksv_status reopening_append(ksv_file *file, const void *data,
                                   size_t size_bytes, ksv_error *error)
{
    (void)data;
    (void)size_bytes;
    return error_set(error, KSV_ERROR_ARGUMENT,
                     ((const reopening_file *)file)->path,
                     "file is open for reading only");
}

static ksv_status reopening_sync(ksv_file *file, ksv_error *error)
{
    return reopening_append(file, NULL, 0, error);
}

static ksv_status reopening_info(ksv_file *file, ksv_file_info *info,
                                 ksv_error *error)
{
    const reopening_file *self = (const reopening_file *)file;
    return self->fs->info(self->fs->ctx, self->path, info, error);
}

static ksv_status reopening_close(ksv_file *file, ksv_error *error)
{
    (void)error;
    reopening_file *self = (reopening_file *)file;
    ksv_allocator a = self->allocator;
    memory_free_string(&a, self->path);
    memory_free(&a, self, sizeof *self);
    return KSV_OK;
}

static void reopening_expect_random(ksv_file *file)
{
    ((reopening_file *)file)->expects_random = true;
}

static const ksv_file_ops REOPENING_OPS = {
    .read_at = reopening_read_at,
    .append = reopening_append,
    .sync = reopening_sync,
    .info = reopening_info,
    .close = reopening_close,
    .expect_random = reopening_expect_random,
};

ksv_status reopening_file_open(const ksv_file_system *fs, const char *path,
                               const ksv_allocator *allocator, ksv_file **file,
                               ksv_error *error)
{
    *file = NULL;
    ksv_file_info info;
    KSV_TRY(fs->info(fs->ctx, path, &info, error));
    ksv_allocator a = allocator_or_default(allocator);
    reopening_file *self = memory_zalloc(&a, sizeof *self);
    if (self == NULL)
        return error_set_memory(error);
    self->base.ops = &REOPENING_OPS;
    self->fs = fs;
    self->allocator = a;
    self->path = memory_copy_string(&a, path, strlen(path));
    if (self->path == NULL) {
        memory_free(&a, self, sizeof *self);
        return error_set_memory(error);
    }
    *file = &self->base;
    return KSV_OK;
}
