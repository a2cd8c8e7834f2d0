/* SPDX-License-Identifier: MIT */
/* A filter written while hashes come in ascending order. */
#include "filter/filter_writer.h"

#include <string.h>

#include "base/error.h"
#include "filter/bloom_block.h"
#include "filter/filter_output.h"

/* Blocks that are filled and written together: 64 KiB of them. */
#define WINDOW_BLOCKS 1024

struct ksv_filter_writer {
    filter_output output;
    uint64_t window_start; /* its first block */
    uint64_t last_hash;
    uint64_t keys;
    ksv_status failed; /* that of the call that ended the writing */
    bool finished;
    uint8_t window[WINDOW_BLOCKS * BLOOM_BLOCK_BYTES];
};

ksv_status ksv_filter_writer_open(ksv_file *file,
                                  const ksv_filter_options *options,
                                  const ksv_allocator *allocator,
                                  ksv_filter_writer **writer, ksv_error *error)
{
    *writer = NULL;
    if (options->plan.kind != KSV_FILTER_BLOCKED)
        return error_set(error, KSV_ERROR_ARGUMENT, NULL,
                         "a textbook filter is not written in one pass");
    ksv_allocator a = allocator_or_default(allocator);
    ksv_filter_writer *w = memory_zalloc(&a, sizeof *w);
    if (w == NULL)
        return error_set_memory(error);
    ksv_status status =
        filter_output_begin(&w->output, file, options, allocator, error);
    if (status != KSV_OK) {
        ksv_filter_writer_close(w);
        return status;
    }
    *writer = w;
    return KSV_OK;
}

static uint64_t window_end(const ksv_filter_writer *w)
{
    uint64_t end = w->window_start + WINDOW_BLOCKS;
    uint64_t blocks = w->output.options.plan.blocks;
    return end < blocks ? end : blocks;
}

/* Writes the window and begins the next one. */
static ksv_status advance(ksv_filter_writer *w, ksv_error *error)
{
    uint64_t end = window_end(w);
    size_t size_bytes = (size_t)(end - w->window_start) * BLOOM_BLOCK_BYTES;
    w->failed = filter_output_body(&w->output, w->window, size_bytes, error);
    if (w->failed != KSV_OK)
        return w->failed;
    memset(w->window, 0, size_bytes);
    w->window_start = end;
    return KSV_OK;
}

static ksv_status check_open(const ksv_filter_writer *w, ksv_error *error)
{
    if (w->failed != KSV_OK)
        return error_set(error, w->failed, NULL,
                         "an earlier write to the filter failed");
    if (w->finished)
        return error_set(error, KSV_ERROR_ARGUMENT, NULL,
                         "the filter is finished already");
    return KSV_OK;
}

/* Refuses hashes that are not truncated, or not in ascending order after the
 * last one. */
static ksv_status check_hashes(const ksv_filter_writer *w,
                               const uint64_t *hashes, size_t count,
                               ksv_error *error)
{
    unsigned hash_bits = w->output.options.hash_bits;
    uint64_t last = w->last_hash;
    uint64_t all = 0;
    bool falls = false;
    for (size_t i = 0; i < count; i++) {
        all |= hashes[i];
        falls |= hashes[i] < last;
        last = hashes[i];
    }
    if (all != ksv_hash_truncate(all, hash_bits))
        return error_set(error, KSV_ERROR_ARGUMENT, NULL,
                         "a hash has more than %u bits", hash_bits);
    if (falls)
        return error_set(error, KSV_ERROR_ARGUMENT, NULL,
                         "hashes are not in ascending order");
    return KSV_OK;
}

/* Adds hashes, which are new, until one lies beyond the window; how many.
 * `functions` is a constant where this is inlined. */
static inline size_t fill_window(ksv_filter_writer *w, const uint64_t *hashes,
                                 size_t count, unsigned functions)
{
    uint64_t blocks = w->output.options.plan.blocks;
    uint64_t start = w->window_start;
    uint64_t window = window_end(w) - start;
    uint64_t last = w->last_hash;
    uint64_t keys = w->keys;
    size_t i = 0;
    for (; i < count; i++) {
        uint64_t hash = hashes[i];
        if (hash == last && keys > 0)
            continue;
        uint64_t place = bloom_block_number(hash, blocks) - start;
        if (place >= window)
            break;
        bloom_block_add(w->window + place * BLOOM_BLOCK_BYTES, hash, functions);
        last = hash;
        keys++;
    }
    w->last_hash = last;
    w->keys = keys;
    return i;
}

static size_t fill_window_by_functions(ksv_filter_writer *w,
                                       const uint64_t *hashes, size_t count)
{
    unsigned functions = w->output.options.plan.hash_functions;
    switch (functions) {
    case 6:
        return fill_window(w, hashes, count, 6);
    case 7:
        return fill_window(w, hashes, count, 7);
    case 9:
        return fill_window(w, hashes, count, 9);
    default:
        return fill_window(w, hashes, count, functions);
    }
}

ksv_status filter_writer_add_hashes(ksv_filter_writer *writer,
                                    const uint64_t *hashes, size_t count,
                                    ksv_error *error)
{
    KSV_TRY(check_open(writer, error));
    KSV_TRY(check_hashes(writer, hashes, count, error));
    for (size_t done = 0; done < count;) {
        done += fill_window_by_functions(writer, hashes + done, count - done);
        if (done < count)
            KSV_TRY(advance(writer, error));
    }
    return KSV_OK;
}

/* Takes over as many blocks as the window has room for; how many. */
static size_t copy_blocks(ksv_filter_writer *w, const filter_span *span,
                          size_t done)
{
    uint64_t place = span->first_block + done - w->window_start;
    uint64_t room = window_end(w) - w->window_start - place;
    size_t count = span->block_count - done;
    if (count > room)
        count = (size_t)room;
    uint8_t *to = w->window + place * BLOOM_BLOCK_BYTES;
    const uint8_t *from = span->blocks + done * BLOOM_BLOCK_BYTES;
    for (size_t i = 0; i < count * BLOOM_BLOCK_BYTES; i++)
        to[i] |= from[i];
    return count;
}

ksv_status filter_writer_add_span(ksv_filter_writer *writer,
                                  const filter_span *span, ksv_error *error)
{
    ksv_filter_writer *w = writer;
    KSV_TRY(check_open(w, error));
    for (size_t done = 0; done < span->block_count;) {
        if (span->first_block + done >= window_end(w))
            KSV_TRY(advance(w, error));
        else
            done += copy_blocks(w, span, done);
    }
    bool goes_on = w->keys > 0 && span->first_hash == w->last_hash;
    w->keys += span->keys - (goes_on ? 1 : 0);
    w->last_hash = span->last_hash;
    return KSV_OK;
}

ksv_status ksv_filter_writer_add(ksv_filter_writer *writer, uint64_t hash,
                                 ksv_error *error)
{
    return filter_writer_add_hashes(writer, &hash, 1, error);
}

ksv_status ksv_filter_writer_finish(ksv_filter_writer *writer, uint64_t *keys,
                                    ksv_error *error)
{
    KSV_TRY(check_open(writer, error));
    while (writer->window_start < writer->output.options.plan.blocks)
        KSV_TRY(advance(writer, error));
    writer->failed = filter_output_finish(&writer->output, writer->keys, error);
    if (writer->failed != KSV_OK)
        return writer->failed;
    writer->finished = true;
    if (keys != NULL)
        *keys = writer->keys;
    return KSV_OK;
}

void ksv_filter_writer_close(ksv_filter_writer *writer)
{
    if (writer == NULL)
        return;
    filter_output_release(&writer->output);
    ksv_allocator a = writer->output.allocator;
    memory_free(&a, writer, sizeof *writer);
}
