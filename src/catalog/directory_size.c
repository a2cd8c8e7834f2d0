/* SPDX-License-Identifier: MIT */
/* How many bytes the files of an index take. */
#include "catalog/directory_size.h"

#include "base/error.h"
#include "base/memory.h"
#include "io/file.h"

typedef struct size_sum {
    const ksv_file_system *fs;
    const char *directory;
    const ksv_allocator *allocator;
    uint64_t size_bytes;
    bool out_of_memory;
} size_sum;

static bool add_entry(void *ctx, const char *name)
{
    size_sum *sum = ctx;
    char *path = path_join(sum->allocator, sum->directory, name);
    if (path == NULL) {
        sum->out_of_memory = true;
        return false;
    }
    ksv_file_info info;
    if (sum->fs->info(sum->fs->ctx, path, &info, NULL) == KSV_OK &&
        info.kind == KSV_FILE_REGULAR)
        sum->size_bytes += info.size_bytes;
    memory_free_string(sum->allocator, path);
    return true;
}

ksv_status directory_size(const ksv_file_system *fs, const char *directory,
                          const ksv_allocator *allocator, uint64_t *size_bytes,
                          ksv_error *error)
{
    size_sum sum = {fs, directory, allocator, 0, false};
    *size_bytes = 0;
    KSV_TRY(fs->list(fs->ctx, directory, add_entry, &sum, error));
    if (sum.out_of_memory)
        return error_set_memory(error);
    *size_bytes = sum.size_bytes;
    return KSV_OK;
}
