/* SPDX-License-Identifier: MIT */
/* A file that is put together in memory and written at once. */
#include "io/buffer_file.h"

#include "base/error.h"
#include "io/file.h"

static ksv_status refuse(ksv_error *error)
{
    return error_set(error, KSV_ERROR_ARGUMENT, NULL,
                     "is open for appending only");
}

static ksv_status buffer_read_at(ksv_file *base, uint64_t offset, void *buffer,
                                 size_t size_bytes, size_t *got_bytes,
                                 ksv_error *error)
{
    (void)base, (void)offset, (void)buffer, (void)size_bytes;
    *got_bytes = 0;
    return refuse(error);
}

static ksv_status buffer_append_bytes(ksv_file *base, const void *data,
                                      size_t size_bytes, ksv_error *error)
{
    return buffer_append(&((buffer_file *)base)->bytes, data, size_bytes,
                         error);
}

static ksv_status buffer_sync(ksv_file *base, ksv_error *error)
{
    (void)base;
    return refuse(error);
}

static ksv_status buffer_info(ksv_file *base, ksv_file_info *info,
                              ksv_error *error)
{
    (void)error;
    *info = (ksv_file_info){.size_bytes = ((buffer_file *)base)->bytes.size};
    return KSV_OK;
}

static ksv_status buffer_close(ksv_file *base, ksv_error *error)
{
    (void)base, (void)error;
    return KSV_OK;
}

static const ksv_file_ops BUFFER_FILE_OPS = {
    .read_at = buffer_read_at,
    .append = buffer_append_bytes,
    .sync = buffer_sync,
    .info = buffer_info,
    .close = buffer_close,
};

void buffer_file_init(buffer_file *file, const ksv_allocator *allocator)
{
    file->base.ops = &BUFFER_FILE_OPS;
    buffer_init(&file->bytes, allocator);
}

void buffer_file_release(buffer_file *file)
{
    buffer_release(&file->bytes);
}

static ksv_status write_to(const buffer_file *file, const ksv_file_system *fs,
                           const char *path, ksv_error *error)
{
    ksv_file *made;
    KSV_TRY(fs->create(fs->ctx, path, &made, error));
    ksv_status status =
        made->ops->append(made, file->bytes.data, file->bytes.size, error);
    ksv_status closed = made->ops->close(made, status == KSV_OK ? error : NULL);
    if (status == KSV_OK)
        status = closed;
    if (status != KSV_OK) {
        error_add_path(error, path);
        ksv_status ignored = fs->remove(fs->ctx, path, NULL);
        (void)ignored;
    }
    return status;
}

ksv_status buffer_file_write(const buffer_file *file, const ksv_file_system *fs,
                             const char *directory, const char *name,
                             ksv_error *error)
{
    char *path = path_join(file->bytes.allocator, directory, name);
    if (path == NULL)
        return error_set_memory(error);
    ksv_status status = write_to(file, fs, path, error);
    memory_free_string(file->bytes.allocator, path);
    return status;
}
