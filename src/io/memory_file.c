/* SPDX-License-Identifier: MIT */
/* A file for reading over borrowed bytes. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "io/memory_file_system.h"

typedef struct borrowed_file {
    ksv_file base;
    ksv_allocator allocator;
    const uint8_t *data;
    size_t size_bytes;
} borrowed_file;

static ksv_status borrowed_read_at(ksv_file *base, uint64_t offset,
                                   void *buffer, size_t size_bytes,
                                   size_t *got_bytes, ksv_error *error)
{
    (void)error;
    const borrowed_file *file = (const borrowed_file *)base;
    *got_bytes = 0;
    if (offset >= file->size_bytes || size_bytes == 0)
        return KSV_OK;
    size_t left = file->size_bytes - (size_t)offset;
    *got_bytes = left < size_bytes ? left : size_bytes;
    memcpy(buffer, file->data + offset, *got_bytes);
    return KSV_OK;
}

static ksv_status borrowed_append(ksv_file *base, const void *data,
                                  size_t size_bytes, ksv_error *error)
{
    (void)base;
    (void)data;
    (void)size_bytes;
    return error_set(error, KSV_ERROR_ARGUMENT, NULL,
                     "is not open for writing");
}

static ksv_status borrowed_sync(ksv_file *base, ksv_error *error)
{
    return borrowed_append(base, NULL, 0, error);
}

static ksv_status borrowed_info(ksv_file *base, ksv_file_info *info,
                                ksv_error *error)
{
    (void)error;
    const borrowed_file *file = (const borrowed_file *)base;
    *info = (ksv_file_info){.size_bytes = file->size_bytes,
                            .kind = KSV_FILE_REGULAR};
    return KSV_OK;
}

static ksv_status borrowed_close(ksv_file *base, ksv_error *error)
{
    (void)error;
    borrowed_file *file = (borrowed_file *)base;
    ksv_allocator a = file->allocator;
    memory_free(&a, file, sizeof *file);
    return KSV_OK;
}

static const ksv_file_ops BORROWED_FILE_OPS = {
    .read_at = borrowed_read_at,
    .append = borrowed_append,
    .sync = borrowed_sync,
    .info = borrowed_info,
    .close = borrowed_close,
};

ksv_status memory_file_over(const void *data, size_t size_bytes,
                            const ksv_allocator *allocator, ksv_file **file,
                            ksv_error *error)
{
    *file = NULL;
    ksv_allocator a = allocator_or_default(allocator);
    borrowed_file *made = memory_alloc(&a, sizeof *made);
    if (made == NULL)
        return error_set_memory(error);
    *made = (borrowed_file){{&BORROWED_FILE_OPS}, a, data, size_bytes};
    *file = &made->base;
    return KSV_OK;
}
