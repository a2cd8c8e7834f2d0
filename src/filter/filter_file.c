/* SPDX-License-Identifier: MIT */
/* Filters in memory read from files and written to them. */
#include <string.h>

#include "base/coding.h"
#include "base/error.h"
#include "filter/filter_builder.h"
#include "filter/filter_format.h"
#include "filter/filter_output.h"
#include "filter/filter_reader.h"
#include "filter/update_lock.h"
#include "hash/hash.h"
#include "io/atomic_file.h"
#include "io/file.h"

/* Appended at once, so that no single write is huge. */
#define PIECE_BYTES ((size_t)1 << 24)

ksv_status ksv_filter_builder_write(ksv_filter_builder *builder, uint64_t keys,
                                    ksv_file *file, ksv_error *error)
{
    filter_builder_flush(builder);
    filter_output output;
    ksv_status status = filter_output_begin(&output, file, &builder->options,
                                            &builder->allocator, error);
    for (size_t done = 0; done < builder->data_bytes && status == KSV_OK;) {
        size_t left = builder->data_bytes - done;
        size_t piece = left < PIECE_BYTES ? left : PIECE_BYTES;
        status =
            filter_output_body(&output, builder->data + done, piece, error);
        done += piece;
    }
    if (status == KSV_OK)
        status = filter_output_finish(&output, keys, error);
    filter_output_release(&output);
    return status;
}

/* An id from the content: the same keys in a filter of the same shape give the
 * same file, and other content gets another id. */
static void make_id(ksv_filter_builder *b)
{
    uint8_t text[24 + sizeof b->options.hasher.key];
    const ksv_filter_plan *plan = &b->options.plan;
    store_u64(text, hash_checksum64(b->data, b->data_bytes));
    store_u64(text + 8, plan->bits);
    store_u32(text + 16, plan->hash_functions);
    store_u16(text + 20, (uint16_t)plan->kind);
    store_u16(text + 22, (uint16_t)b->options.hasher.kind);
    memcpy(text + 24, b->options.hasher.key, sizeof b->options.hasher.key);
    store_u64(b->options.id, hash_checksum64(text, sizeof text));
    store_u64(b->options.id + 8, hash_checksum64(text, sizeof text - 1));
}

static const ksv_file_system *or_posix(const ksv_file_system *fs)
{
    return fs != NULL ? fs : ksv_posix_file_system();
}

/* The directory of `path` ("." when it names none), and its last part. */
static ksv_status split_path(const char *path, const ksv_allocator *a,
                             char **directory, const char **name,
                             ksv_error *error)
{
    const char *slash = strrchr(path, '/');
    size_t length = slash == NULL ? 0 : (size_t)(slash - path);
    *name = slash == NULL ? path : slash + 1;
    *directory = NULL;
    if (**name == '\0')
        return error_set(error, KSV_ERROR_ARGUMENT, path,
                         "is not the name of a file");
    if (slash == NULL)
        *directory = memory_copy_string(a, ".", 1);
    else
        *directory = memory_copy_string(a, path, length > 0 ? length : 1);
    return *directory != NULL ? KSV_OK : error_set_memory(error);
}

static ksv_status publish(ksv_filter_builder *b, const ksv_file_system *fs,
                          const char *path, ksv_error *error)
{
    char *directory;
    const char *name;
    atomic_file *file = NULL;
    ksv_filter_info info;
    KSV_TRY(split_path(path, &b->allocator, &directory, &name, error));
    ksv_filter_builder_get_info(b, &info);
    if (b->options.is_standalone)
        make_id(b);
    ksv_status status =
        atomic_file_create(fs, directory, name, &b->allocator, &file, error);
    if (status != KSV_OK)
        goto cleanup;
    status =
        ksv_filter_builder_write(b, info.keys, atomic_file_handle(file), error);
    if (status != KSV_OK) {
        error_add_path(error, path);
        atomic_file_abandon(file);
        goto cleanup;
    }
    status = atomic_file_publish(file, error);
    if (status == KSV_OK)
        status = fs->sync_directory(fs->ctx, directory, error);
cleanup:
    memory_free_string(&b->allocator, directory);
    return status;
}

ksv_status ksv_filter_builder_save(ksv_filter_builder *builder,
                                   const ksv_file_system *fs, const char *path,
                                   ksv_error *error)
{
    update_lock lock;
    fs = or_posix(fs);
    KSV_TRY(update_lock_take(&lock, fs, path, &builder->allocator, error));
    ksv_status status = publish(builder, fs, path, error);
    update_lock_release(&lock, &builder->allocator);
    return status;
}

/* Merges the file when it has changed since `builder` was read from it. */
static ksv_status merge_file(ksv_filter_builder *builder,
                             const ksv_file_system *fs, const char *path,
                             ksv_error *error)
{
    ksv_filter_builder *there;
    KSV_TRY(ksv_filter_builder_open_file(fs, path, &builder->allocator, &there,
                                         error));
    ksv_status status = KSV_OK;
    if (memcmp(there->options.id, builder->options.id,
               sizeof there->options.id) != 0)
        status = ksv_filter_builder_merge(builder, there, error);
    if (status != KSV_OK)
        error_add_path(error, path);
    ksv_filter_builder_close(there);
    return status;
}

ksv_status ksv_filter_builder_update(ksv_filter_builder *builder,
                                     const ksv_file_system *fs,
                                     const char *path, ksv_error *error)
{
    update_lock lock;
    fs = or_posix(fs);
    if (!builder->options.is_standalone)
        return error_set(error, KSV_ERROR_MISMATCH, path,
                         "belongs to an index, which alone may change it");
    KSV_TRY(update_lock_take(&lock, fs, path, &builder->allocator, error));
    ksv_status status = merge_file(builder, fs, path, error);
    if (status == KSV_OK)
        status = publish(builder, fs, path, error);
    update_lock_release(&lock, &builder->allocator);
    return status;
}

ksv_status ksv_filter_builder_load(ksv_file *file,
                                   const ksv_allocator *allocator,
                                   ksv_filter_builder **builder,
                                   ksv_error *error)
{
    ksv_filter *filter = NULL;
    ksv_filter_info info;
    *builder = NULL;
    KSV_TRY(ksv_filter_open(file, allocator, &filter, error));
    ksv_status status = ksv_filter_load(filter, error);
    ksv_filter_get_info(filter, &info);
    if (status == KSV_OK)
        status = filter_builder_make(&info.options, allocator, builder, error);
    if (status == KSV_OK) {
        ksv_filter_builder *b = *builder;
        filter_reader_take_blocks(filter, &b->blocks);
        b->data = b->blocks.data;
        filter_count_set(&b->count, (double)info.keys);
    }
    ksv_filter_close(filter);
    return status;
}

ksv_status ksv_filter_builder_open_file(const ksv_file_system *fs,
                                        const char *path,
                                        const ksv_allocator *allocator,
                                        ksv_filter_builder **builder,
                                        ksv_error *error)
{
    ksv_file *file = NULL;
    *builder = NULL;
    fs = or_posix(fs);
    KSV_TRY(fs->open_read(fs->ctx, path, &file, error));
    ksv_status status =
        ksv_filter_builder_load(file, allocator, builder, error);
    if (status != KSV_OK)
        error_add_path(error, path);
    file_close_quietly(file);
    return status;
}
