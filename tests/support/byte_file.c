/* SPDX-License-Identifier: MIT */
/* A file in memory whose bytes a test can see and change, and whose operations
 * can be made to fail. */
#include "support/byte_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

static ksv_status read_at(ksv_file *file, uint64_t offset, void *buffer,
                          size_t size_bytes, size_t *got_bytes,
                          ksv_error *error)
{
    byte_file *f = (byte_file *)file;
    uint64_t number = __atomic_fetch_add(&f->reads, 1, __ATOMIC_RELAXED);
    *got_bytes = 0;
    if (number == f->failing_read)
        return error_set_os(error, EIO, NULL, "read");
    if (offset >= f->size_bytes)
        return KSV_OK;
    size_t left = f->size_bytes - (size_t)offset;
    size_t got = size_bytes < left ? size_bytes : left;
    memcpy(buffer, f->data + offset, got);
    __atomic_fetch_add(&f->read_bytes, got, __ATOMIC_RELAXED);
    *got_bytes = got;
    return KSV_OK;
}

static ksv_status append(ksv_file *file, const void *data, size_t size_bytes,
                         ksv_error *error)
{
    byte_file *f = (byte_file *)file;
    if (f->appends++ == f->failing_append)
        return error_set_os(error, ENOSPC, NULL, "write");
    if (f->size_bytes + size_bytes > f->capacity) {
        f->capacity = (f->size_bytes + size_bytes) * 2;
        f->data = realloc(f->data, f->capacity);
        if (f->data == NULL)
            abort();
    }
    memcpy(f->data + f->size_bytes, data, size_bytes);
    f->size_bytes += size_bytes;
    return KSV_OK;
}

static ksv_status sync_nothing(ksv_file *file, ksv_error *error)
{
    (void)file;
    (void)error;
    return KSV_OK;
}

static ksv_status info(ksv_file *file, ksv_file_info *out, ksv_error *error)
{
    (void)error;
    *out = (ksv_file_info){.size_bytes = ((byte_file *)file)->size_bytes};
    return KSV_OK;
}

static const ksv_file_ops OPS = {read_at, append, sync_nothing, info,
                                 sync_nothing};

void byte_file_init(byte_file *f)
{
    *f = (byte_file){.base = {&OPS},
                     .failing_read = BYTE_FILE_NEVER,
                     .failing_append = BYTE_FILE_NEVER};
}

void byte_file_init_with(byte_file *f, const void *data, size_t size_bytes)
{
    byte_file_init(f);
    if (size_bytes == 0)
        return;
    if (append(&f->base, data, size_bytes, NULL) != KSV_OK)
        abort();
    byte_file_reset_counters(f);
}

void byte_file_release(byte_file *f)
{
    free(f->data);
    byte_file_init(f);
}

void byte_file_reset_counters(byte_file *f)
{
    f->reads = 0;
    f->read_bytes = 0;
    f->appends = 0;
}
