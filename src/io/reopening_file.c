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

static ksv_status open_now(const reopening_file *self, ksv_file **opened,
                           ksv_error *error)
{
    KSV_TRY(self->fs->open_read(self->fs->ctx, self->path, opened, error));
    if (self->expects_random)
        file_expect_random(*opened);
    return KSV_OK;
}

static ksv_status reopening_read_at(ksv_file *file, uint64_t offset,
                                    void *buffer, size_t size_bytes,
                                    size_t *got_bytes, ksv_error *error)
{
    *got_bytes = 0;
    ksv_file *opened;
    KSV_TRY(open_now((const reopening_file *)file, &opened, error));
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

/* So many are open at a time. */
#define OPEN_MOST 32

/* Files that take the place of those that are not open. */
typedef struct open_files {
    ksv_file *owners[OPEN_MOST];
    ksv_file *opened[OPEN_MOST];
    size_t count;
} open_files;

/* Opens the files of the reads from the first on, and puts them in their place;
 * `*end` is behind the last read that has an open file. */
static ksv_status open_some(open_files *files, ksv_read *reads, size_t count,
                            size_t *end, ksv_error *error)
{
    for (*end = 0; *end < count; ++*end) {
        ksv_file *file = reads[*end].file;
        if (file->ops != &REOPENING_OPS)
            continue;
        size_t n = files->count;
        if (n == 0 || files->owners[n - 1] != file) {
            if (n == OPEN_MOST)
                break;
            KSV_TRY(open_now((const reopening_file *)file, &files->opened[n],
                             error));
            files->owners[n++] = file;
            files->count = n;
        }
        reads[*end].file = files->opened[n - 1];
    }
    return KSV_OK;
}

static void close_all(open_files *files, ksv_read *reads, size_t count)
{
    size_t at = 0;
    for (size_t i = 0; i < count; i++) {
        if (at + 1 < files->count && reads[i].file == files->opened[at + 1])
            at++;
        if (at < files->count && reads[i].file == files->opened[at])
            reads[i].file = files->owners[at];
    }
    for (size_t i = 0; i < files->count; i++)
        file_close_quietly(files->opened[i]);
    files->count = 0;
}

ksv_status reopening_file_read_many(const ksv_file_system *fs, ksv_read *reads,
                                    size_t count, ksv_error *error)
{
    open_files files;
    files.count = 0;
    ksv_status status = KSV_OK;
    for (size_t first = 0; first < count && status == KSV_OK;) {
        size_t end;
        status = open_some(&files, reads + first, count - first, &end, error);
        if (status == KSV_OK)
            status = file_read_many(fs, reads + first, end, error);
        close_all(&files, reads + first, end);
        first += end;
    }
    return status;
}

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

static ksv_status system_open_read(void *ctx, const char *path, ksv_file **file,
                                   ksv_error *error)
{
    const reopening_file_system *self = ctx;
    return reopening_file_open(self->inner, path, self->allocator, file, error);
}

static ksv_status system_info(void *ctx, const char *path, ksv_file_info *info,
                              ksv_error *error)
{
    const reopening_file_system *self = ctx;
    return self->inner->info(self->inner->ctx, path, info, error);
}

void reopening_file_system_init(reopening_file_system *self,
                                const ksv_file_system *inner,
                                const ksv_allocator *allocator)
{
    *self = (reopening_file_system){
        .fs = {.ctx = self, .open_read = system_open_read, .info = system_info},
        .inner = inner,
        .allocator = allocator};
}
