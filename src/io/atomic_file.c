/* SPDX-License-Identifier: MIT */
/* Files that appear whole or not at all: temporary name, sync, rename. */
#include "io/atomic_file.h"

#include <stddef.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "io/file.h"

struct atomic_file {
    ksv_file_system fs;
    ksv_allocator allocator;
    ksv_file *file; /* NULL after it was closed, or when others write it */
    char *final_path;
    char *temporary_path;
};

static void free_all(atomic_file *file)
{
    ksv_allocator a = file->allocator;
    memory_free_string(&a, file->temporary_path);
    memory_free_string(&a, file->final_path);
    memory_free(&a, file, sizeof *file);
}

static ksv_status make_paths(atomic_file *file, const char *directory,
                             const char *name, ksv_error *error)
{
    file->final_path = path_join(&file->allocator, directory, name);
    if (file->final_path == NULL)
        return error_set_memory(error);
    file->temporary_path =
        path_append(&file->allocator, file->final_path, ATOMIC_FILE_TEMPORARY);
    return file->temporary_path != NULL ? KSV_OK : error_set_memory(error);
}

static ksv_status open_temporary(atomic_file *file, ksv_error *error)
{
    KSV_TRY(file->fs.create(file->fs.ctx, file->temporary_path, &file->file,
                            error));
    if (file->file->ops->expect_sync != NULL)
        file->file->ops->expect_sync(file->file);
    return KSV_OK;
}

ksv_status atomic_file_adopt(const ksv_file_system *fs, const char *directory,
                             const char *name, const ksv_allocator *allocator,
                             atomic_file **out, ksv_error *error)
{
    *out = NULL;
    ksv_allocator a = allocator_or_default(allocator);
    atomic_file *file = memory_zalloc(&a, sizeof *file);
    if (file == NULL)
        return error_set_memory(error);
    file->fs = *fs;
    file->allocator = a;
    ksv_status status = make_paths(file, directory, name, error);
    if (status != KSV_OK) {
        free_all(file);
        return status;
    }
    *out = file;
    return KSV_OK;
}

ksv_status atomic_file_create(const ksv_file_system *fs, const char *directory,
                              const char *name, const ksv_allocator *allocator,
                              atomic_file **out, ksv_error *error)
{
    KSV_TRY(atomic_file_adopt(fs, directory, name, allocator, out, error));
    ksv_status status = open_temporary(*out, error);
    if (status != KSV_OK) {
        free_all(*out);
        *out = NULL;
    }
    return status;
}

ksv_file *atomic_file_handle(atomic_file *file)
{
    return file->file;
}

ksv_status atomic_file_read_back(const atomic_file *file, ksv_file **out,
                                 ksv_error *error)
{
    return file->fs.open_read(file->fs.ctx, file->temporary_path, out, error);
}

ksv_status atomic_file_sync(atomic_file *file, ksv_error *error)
{
    if (file->file == NULL)
        return KSV_OK;
    ksv_status status = file->file->ops->sync(file->file, error);
    if (status != KSV_OK)
        error_add_path(error, file->temporary_path);
    return status;
}

static ksv_status close_rename(atomic_file *file, ksv_error *error)
{
    ksv_file *handle = file->file;
    file->file = NULL;
    if (handle != NULL)
        KSV_TRY(handle->ops->close(handle, error));
    return file->fs.rename(file->fs.ctx, file->temporary_path, file->final_path,
                           error);
}

ksv_status atomic_file_publish_synced(atomic_file *file, ksv_error *error)
{
    ksv_status status = close_rename(file, error);
    if (status == KSV_OK) {
        free_all(file);
        return KSV_OK;
    }
    error_add_path(error, file->temporary_path);
    atomic_file_abandon(file);
    return status;
}

ksv_status atomic_file_publish(atomic_file *file, ksv_error *error)
{
    ksv_status status = atomic_file_sync(file, error);
    if (status == KSV_OK)
        return atomic_file_publish_synced(file, error);
    atomic_file_abandon(file);
    return status;
}

void atomic_file_abandon(atomic_file *file)
{
    if (file == NULL)
        return;
    file_close_quietly(file->file);
    /* A name that cannot be removed now is found by its ending later. */
    ksv_status ignored =
        file->fs.remove(file->fs.ctx, file->temporary_path, NULL);
    (void)ignored;
    free_all(file);
}
