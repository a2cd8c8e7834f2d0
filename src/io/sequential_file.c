/* SPDX-License-Identifier: MIT */
/* A source that gives its bytes once, in order, as a file to those who read in
 * order. */
#include "io/sequential_file.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"

typedef struct sequential_file {
    ksv_file base;
    ksv_allocator allocator;
    sequential_read_fn read;
    void *ctx;
    byte_buffer kept; /* the beginning */
    uint64_t offset;  /* of what the source gives next */
    bool at_end;
} sequential_file;

/* The next bytes of the source, once. */
static ksv_status read_once(sequential_file *f, uint8_t *buffer,
                            size_t size_bytes, size_t *got_bytes,
                            ksv_error *error)
{
    *got_bytes = 0;
    KSV_TRY(f->read(f->ctx, buffer, size_bytes, got_bytes, &f->at_end, error));
    size_t got = *got_bytes;
    size_t room = SEQUENTIAL_FILE_KEPT_BYTES - f->kept.size;
    if (f->offset == f->kept.size && got > 0)
        KSV_TRY(
            buffer_append(&f->kept, buffer, got < room ? got : room, error));
    f->offset += got;
    return KSV_OK;
}

/* What is kept from `offset` on; what is not goes on where the source does. */
static ksv_status read_kept(const sequential_file *f, uint64_t offset,
                            void *buffer, size_t size_bytes, size_t *got_bytes,
                            ksv_error *error)
{
    *got_bytes = 0;
    if (offset < f->kept.size) {
        size_t left = f->kept.size - (size_t)offset;
        *got_bytes = size_bytes < left ? size_bytes : left;
        memcpy(buffer, f->kept.data + offset, *got_bytes);
    }
    if (*got_bytes == size_bytes || offset + *got_bytes == f->offset)
        return KSV_OK;
    return error_set(error, KSV_ERROR_UNSUPPORTED, NULL,
                     "cannot be read again from its beginning");
}

/* Fewer bytes than are asked for come only at the end. */
static ksv_status sequential_read_at(ksv_file *base, uint64_t offset,
                                     void *buffer, size_t size_bytes,
                                     size_t *got_bytes, ksv_error *error)
{
    sequential_file *f = (sequential_file *)base;
    KSV_TRY(read_kept(f, offset, buffer, size_bytes, got_bytes, error));
    while (*got_bytes < size_bytes && !f->at_end) {
        size_t got;
        KSV_TRY(read_once(f, (uint8_t *)buffer + *got_bytes,
                          size_bytes - *got_bytes, &got, error));
        *got_bytes += got;
    }
    return KSV_OK;
}

static ksv_status sequential_append(ksv_file *base, const void *data,
                                    size_t size_bytes, ksv_error *error)
{
    (void)base;
    (void)data;
    (void)size_bytes;
    return error_set(error, KSV_ERROR_ARGUMENT, NULL,
                     "is not open for writing");
}

static ksv_status sequential_sync(ksv_file *base, ksv_error *error)
{
    return sequential_append(base, NULL, 0, error);
}

static ksv_status sequential_info(ksv_file *base, ksv_file_info *info,
                                  ksv_error *error)
{
    (void)base;
    (void)error;
    *info = (ksv_file_info){.kind = KSV_FILE_OTHER};
    return KSV_OK;
}

static ksv_status sequential_close(ksv_file *base, ksv_error *error)
{
    sequential_file *f = (sequential_file *)base;
    ksv_allocator a = f->allocator;
    (void)error;
    buffer_release(&f->kept);
    memory_free(&a, f, sizeof *f);
    return KSV_OK;
}

static const ksv_file_ops SEQUENTIAL_FILE_OPS = {
    .read_at = sequential_read_at,
    .append = sequential_append,
    .sync = sequential_sync,
    .info = sequential_info,
    .close = sequential_close,
};

ksv_status sequential_file_open(sequential_read_fn read, void *ctx,
                                const void *head, size_t head_bytes,
                                bool at_end, const ksv_allocator *allocator,
                                ksv_file **out, ksv_error *error)
{
    *out = NULL;
    ksv_allocator a = allocator_or_default(allocator);
    sequential_file *f = memory_zalloc(&a, sizeof *f);
    if (f == NULL)
        return error_set_memory(error);
    f->base.ops = &SEQUENTIAL_FILE_OPS;
    f->allocator = a;
    f->read = read;
    f->ctx = ctx;
    f->offset = head_bytes;
    f->at_end = at_end;
    buffer_init(&f->kept, &f->allocator);
    ksv_status status = buffer_append(&f->kept, head, head_bytes, error);
    if (status != KSV_OK) {
        (void)sequential_close(&f->base, NULL);
        return status;
    }
    *out = &f->base;
    return KSV_OK;
}

ksv_status sequential_file_read_some(ksv_file *file, uint64_t offset,
                                     void *buffer, size_t size_bytes,
                                     size_t *got_bytes, bool *at_end,
                                     ksv_error *error)
{
    *at_end = false;
    if (file->ops != &SEQUENTIAL_FILE_OPS) {
        KSV_TRY(file->ops->read_at(file, offset, buffer, size_bytes, got_bytes,
                                   error));
        *at_end = *got_bytes < size_bytes;
        return KSV_OK;
    }
    sequential_file *f = (sequential_file *)file;
    KSV_TRY(read_kept(f, offset, buffer, size_bytes, got_bytes, error));
    if (*got_bytes == 0 && !f->at_end)
        KSV_TRY(read_once(f, buffer, size_bytes, got_bytes, error));
    *at_end = f->at_end && offset + *got_bytes == f->offset;
    return KSV_OK;
}
