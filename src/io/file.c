/* SPDX-License-Identifier: MIT */
/* Helpers over the file vtable that every layer uses. */
#include "io/file.h"

#include <errno.h>

#include "base/error.h"

#define READ_ALL_MIN_BYTES 512

ksv_status file_read_exactly(ksv_file *file, uint64_t offset, void *buffer,
                             size_t size_bytes, ksv_error *error)
{
    size_t got;
    KSV_TRY(file->ops->read_at(file, offset, buffer, size_bytes, &got, error));
    if (got < size_bytes)
        return error_set_at(error, KSV_ERROR_CORRUPT, NULL, offset + got,
                            "ends too early");
    return KSV_OK;
}

static ksv_status too_large(const char *path, uint64_t limit_bytes,
                            ksv_error *error)
{
    return error_set(error, KSV_ERROR_CORRUPT, path,
                     "is larger than the %llu bytes that it may have",
                     (unsigned long long)limit_bytes);
}

/* Goes on until a read comes short, in case the size was wrong. */
static ksv_status read_all(ksv_file *file, const char *path,
                           uint64_t limit_bytes, byte_buffer *out,
                           ksv_error *error)
{
    ksv_file_info info;
    KSV_TRY(file->ops->info(file, &info, error));
    if (info.size_bytes > limit_bytes)
        return too_large(path, limit_bytes, error);
    uint64_t done = 0;
    for (;;) {
        uint64_t wanted = READ_ALL_MIN_BYTES;
        if (info.size_bytes > done && info.size_bytes - done >= wanted)
            wanted = info.size_bytes - done + 1;
        if (wanted > SIZE_MAX)
            return error_set_memory(error);
        KSV_TRY(buffer_reserve(out, (size_t)wanted, error));
        size_t got;
        KSV_TRY(file->ops->read_at(file, done, out->data + out->size,
                                   (size_t)wanted, &got, error));
        out->size += got;
        done += got;
        if (done > limit_bytes)
            return too_large(path, limit_bytes, error);
        if (got < wanted)
            return KSV_OK;
    }
}

ksv_status file_read_all(const ksv_file_system *fs, const char *path,
                         uint64_t limit_bytes, byte_buffer *out,
                         ksv_error *error)
{
    ksv_file *file;
    KSV_TRY(fs->open_read(fs->ctx, path, &file, error));
    size_t old_size = out->size;
    ksv_status status = read_all(file, path, limit_bytes, out, error);
    if (status != KSV_OK) {
        out->size = old_size;
        error_add_path(error, path);
    }
    file_close_quietly(file);
    return status;
}

ksv_status file_read_each(ksv_read *reads, size_t count, ksv_error *error)
{
    for (size_t i = 0; i < count; i++) {
        ksv_read *r = &reads[i];
        KSV_TRY(r->file->ops->read_at(r->file, r->offset, r->buffer,
                                      r->size_bytes, &r->got_bytes, error));
    }
    return KSV_OK;
}

ksv_status file_read_many(const ksv_file_system *fs, ksv_read *reads,
                          size_t count, ksv_error *error)
{
    if (fs->read_many == NULL)
        return file_read_each(reads, count, error);
    return fs->read_many(fs->ctx, reads, count, error);
}

void file_expect_random(ksv_file *file)
{
    if (file->ops->expect_random != NULL)
        file->ops->expect_random(file);
}

void file_close_quietly(ksv_file *file)
{
    if (file == NULL)
        return;
    ksv_status ignored = file->ops->close(file, NULL);
    (void)ignored;
}

bool file_error_is_missing(const ksv_error *error)
{
    return error->status == KSV_ERROR_IO &&
           (error->os_errno == ENOENT || error->os_errno == ENOTDIR);
}

bool file_info_is_same(const ksv_file_info *a, const ksv_file_info *b)
{
    return a->size_bytes == b->size_bytes && a->mtime_ns == b->mtime_ns &&
           a->ctime_ns == b->ctime_ns && a->inode == b->inode &&
           a->device == b->device && a->kind == b->kind;
}

#define CLOCK_TICK_NS 12000000
#define SECOND_NS 1000000000

/* Some file systems keep whole seconds, or every other. */
static int64_t tick_ns(const ksv_file_info *info)
{
    bool is_coarse =
        info->ctime_ns % SECOND_NS == 0 && info->mtime_ns % SECOND_NS == 0;
    return is_coarse ? 2 * (int64_t)SECOND_NS : CLOCK_TICK_NS;
}

void file_wait_for_tick(const ksv_file_info *info)
{
    int64_t age_ns = clock_realtime_ns() - info->ctime_ns;
    if (age_ns >= 0 && age_ns < tick_ns(info))
        clock_sleep_ns((uint64_t)(tick_ns(info) - age_ns));
}
