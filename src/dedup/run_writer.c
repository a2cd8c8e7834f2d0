/* SPDX-License-Identifier: MIT */
/* Writes a run: keys in ascending order of their hashes. */
#include "dedup/run_writer.h"

#include <string.h>

#include "base/coding.h"
#include "base/error.h"
#include "hash/hash.h"
#include "io/file.h"

#define BUFFER_BYTES ((size_t)256 << 10)

struct run_writer {
    ksv_allocator allocator;
    const ksv_file_system *fs;
    char *path;
    ksv_file *file;
    run_info info;
    uint64_t number;
    uint8_t *buffer; /* of whole pages */
    size_t buffer_pages;
    size_t full_pages; /* in it; the one behind them is being filled */
    run_page_head page;
    run_entry_before before; /* in the page */
    byte_buffer fences;
    memory_filter filter;
};

static ksv_status open_writer(run_writer *w, const run_writer_options *options,
                              ksv_error *error)
{
    uint8_t header[RUN_FIRST_PAGE_OFFSET];
    w->path =
        memory_copy_string(&w->allocator, options->path, strlen(options->path));
    w->buffer =
        memory_alloc(&w->allocator, w->buffer_pages * w->info.page_bytes);
    if (w->path == NULL || w->buffer == NULL)
        return error_set_memory(error);
    if (options->filter_blocks > 0)
        KSV_TRY(memory_filter_init(&w->filter, options->filter_blocks,
                                   options->filter_functions, &w->allocator,
                                   error));
    KSV_TRY(w->fs->create(w->fs->ctx, w->path, &w->file, error));
    run_header_encode(&w->info, header);
    return w->file->ops->append(w->file, header, sizeof header, error);
}

ksv_status run_writer_open(const run_writer_options *options, run_writer **out,
                           ksv_error *error)
{
    *out = NULL;
    ksv_allocator a = allocator_or_default(options->allocator);
    run_writer *w = memory_zalloc(&a, sizeof *w);
    if (w == NULL)
        return error_set_memory(error);
    w->allocator = a;
    w->fs = options->fs;
    w->number = options->number;
    w->info = (run_info){
        .hasher = options->hasher,
        .page_bytes = options->page_bytes,
        .base_time_ms = options->base_time_ms,
        .newest_time_ms = options->base_time_ms,
        .filter_blocks = options->filter_blocks,
        .filter_functions = options->filter_functions,
        .level = options->level,
    };
    hash_random_id(w->info.id);
    w->buffer_pages = BUFFER_BYTES / options->page_bytes + 1;
    buffer_init(&w->fences, &w->allocator);
    ksv_status status = open_writer(w, options, error);
    if (status != KSV_OK) {
        run_writer_abandon(w);
        return status;
    }
    *out = w;
    return KSV_OK;
}

static void free_writer(run_writer *w)
{
    ksv_allocator a = w->allocator;
    file_close_quietly(w->file);
    memory_free_string(&a, w->path);
    if (w->buffer != NULL)
        memory_free(&a, w->buffer, w->buffer_pages * w->info.page_bytes);
    buffer_release(&w->fences);
    memory_filter_release(&w->filter, &a);
    memory_free(&a, w, sizeof *w);
}

void run_writer_abandon(run_writer *w)
{
    if (w == NULL)
        return;
    if (w->file != NULL) {
        file_close_quietly(w->file);
        w->file = NULL;
        (void)w->fs->remove(w->fs->ctx, w->path, NULL);
    }
    free_writer(w);
}

static ksv_status flush_pages(run_writer *w, ksv_error *error)
{
    size_t bytes = w->full_pages * w->info.page_bytes;
    w->full_pages = 0;
    if (bytes == 0)
        return KSV_OK;
    return w->file->ops->append(w->file, w->buffer, bytes, error);
}

/* Where the next bytes of the current page go. */
static uint8_t *room(const run_writer *w)
{
    return w->buffer + w->full_pages * w->info.page_bytes +
           RUN_PAGE_HEAD_BYTES + w->page.used_bytes;
}

static size_t room_bytes(const run_writer *w)
{
    return w->info.page_bytes - RUN_PAGE_HEAD_BYTES - w->page.used_bytes;
}

static ksv_status end_page(run_writer *w, ksv_error *error)
{
    if (w->page.kind == 0)
        return KSV_OK;
    run_page_seal(&w->info, &w->page,
                  w->buffer + w->full_pages * w->info.page_bytes);
    w->page.kind = 0;
    if (++w->full_pages == w->buffer_pages)
        return flush_pages(w, error);
    return KSV_OK;
}

static ksv_status begin_page(run_writer *w, run_page_kind kind, uint64_t hash,
                             ksv_error *error)
{
    KSV_TRY(end_page(w, error));
    w->page = (run_page_head){.kind = kind, .number = w->info.pages++};
    w->before = (run_entry_before){.hash = 0};
    return buffer_put_u32(&w->fences, run_fence(hash), error);
}

static void put(run_writer *w, const void *data, size_t bytes)
{
    memcpy(room(w), data, bytes);
    w->page.used_bytes += (uint32_t)bytes;
}

static ksv_status add_long(run_writer *w, const run_entry *entry,
                           ksv_error *error)
{
    uint8_t head[RUN_ENTRY_HEAD_MAX];
    const uint8_t *key = entry->key.stored;
    KSV_TRY(begin_page(w, RUN_PAGE_LONG, entry->hash, error));
    w->page.count = 1;
    put(w, head, run_entry_head_encode(&w->info, &w->before, entry, head));
    uint64_t left = entry->key.stored_bytes;
    for (uint32_t back = 0;;) {
        size_t n = left < room_bytes(w) ? (size_t)left : room_bytes(w);
        put(w, key, n);
        key += n;
        left -= n;
        if (left == 0)
            return end_page(w, error);
        KSV_TRY(begin_page(w, RUN_PAGE_REST, entry->hash, error));
        w->page.count = ++back;
    }
}

/* An entry whose key is short. */
static ksv_status add_short(run_writer *w, const run_entry *entry,
                            ksv_error *error)
{
    size_t key_bytes = (size_t)entry->key.stored_bytes;
    if (w->page.kind == 0 || room_bytes(w) < RUN_ENTRY_HEAD_MAX + key_bytes)
        KSV_TRY(begin_page(w, RUN_PAGE_KEYS, entry->hash, error));
    uint8_t *out = room(w);
    size_t head_bytes = run_entry_head_encode(&w->info, &w->before, entry, out);
    memcpy(out + head_bytes, entry->key.stored, key_bytes);
    w->page.used_bytes += (uint32_t)(head_bytes + key_bytes);
    w->page.count++;
    run_entry_note(&w->before, entry);
    return KSV_OK;
}

ksv_status run_writer_add_entry(run_writer *w, const run_entry *entry,
                                ksv_error *error)
{
    if (entry->time_ms < w->info.base_time_ms)
        return error_set(error, KSV_ERROR_ARGUMENT, NULL,
                         "a time before the beginning of its run");
    memory_filter_add(&w->filter, entry->hash);
    w->info.entries++;
    if (entry->time_ms > w->info.newest_time_ms)
        w->info.newest_time_ms = entry->time_ms;
    return entry->key.stored_bytes <= RUN_SHORT_KEY_MAX(w->info.page_bytes)
               ? add_short(w, entry, error)
               : add_long(w, entry, error);
}

ksv_status run_writer_add(run_writer *w, uint64_t hash, int64_t time_ms,
                          const void *key, uint64_t key_bytes, ksv_error *error)
{
    uint8_t packed[RUN_KEY_PACKED_BYTES];
    run_entry entry = {.hash = run_hash(hash), .time_ms = time_ms};
    run_key_pack(key, key_bytes, packed, &entry.key);
    return run_writer_add_entry(w, &entry, error);
}

static ksv_status write_tail(run_writer *w, ksv_error *error)
{
    uint8_t footer[RUN_FOOTER_BYTES];
    const filter_memory *filter = &w->filter.memory;
    ksv_file *file = w->file;
    KSV_TRY(key_run_sum_tail(&w->allocator, w->fences.data, w->fences.size,
                             &w->filter, w->info.tail_sum, error));
    run_footer_encode(&w->info, footer);
    if (w->fences.size > 0)
        KSV_TRY(file->ops->append(file, w->fences.data, w->fences.size, error));
    if (filter->size_bytes > 0)
        KSV_TRY(
            file->ops->append(file, filter->data, filter->size_bytes, error));
    return file->ops->append(file, footer, sizeof footer, error);
}

/* Gives what is in memory to a run. */
static ksv_status make_run(run_writer *w, key_run **out, ksv_error *error)
{
    key_run *run = memory_zalloc(&w->allocator, sizeof *run);
    if (run == NULL)
        return error_set_memory(error);
    run->allocator = w->allocator;
    run->number = w->number;
    run->fences = memory_alloc(&w->allocator, key_run_fence_bytes(&w->info));
    if (run->fences == NULL) {
        key_run_close(run);
        return error_set_memory(error);
    }
    run->info = w->info;
    for (uint64_t i = 0; i < w->info.pages; i++)
        run->fences[i] = load_u32(w->fences.data + RUN_FENCE_BYTES * i);
    buffer_release(&w->fences);
    run->filter = w->filter;
    w->filter = (memory_filter){.blocks = 0};
    ksv_status status =
        w->fs->open_read(w->fs->ctx, w->path, &run->file, error);
    if (status != KSV_OK) {
        key_run_close(run);
        return status;
    }
    file_expect_random(run->file);
    *out = run;
    return KSV_OK;
}

static ksv_status finish(run_writer *w, bool sync, key_run **run,
                         ksv_error *error)
{
    KSV_TRY(end_page(w, error));
    KSV_TRY(flush_pages(w, error));
    KSV_TRY(write_tail(w, error));
    if (sync)
        KSV_TRY(w->file->ops->sync(w->file, error));
    ksv_file *file = w->file;
    w->file = NULL;
    ksv_status status = file->ops->close(file, error);
    if (status == KSV_OK)
        status = make_run(w, run, error);
    if (status != KSV_OK)
        (void)w->fs->remove(w->fs->ctx, w->path, NULL);
    return status;
}

ksv_status run_writer_finish(run_writer *w, bool sync, key_run **run,
                             ksv_error *error)
{
    *run = NULL;
    ksv_status status = finish(w, sync, run, error);
    if (status == KSV_OK)
        free_writer(w);
    else
        run_writer_abandon(w);
    return status;
}
