/* SPDX-License-Identifier: MIT */
/* One pass over a BGZF file whose blocks several threads inflate. */
#include "datafile/bgzf_stream.h"

#include <string.h>

#include "base/coding.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/thread_pool.h"
#include "compress/inflate.h"
#include "datafile/crc32.h"
#include "datafile/gzip_header.h"

/* A batch is what one thread inflates at a time: some blocks of the file. It
 * ends when one of these is full. */
#define BATCH_INPUT_BYTES ((size_t)256 << 10)
#define BATCH_OUTPUT_BYTES ((size_t)768 << 10)
#define BATCH_BLOCKS 256

/* No block holds more. */
#define BLOCK_CONTENT_BYTES 65536u

/* Batches for each thread: one at work, one waiting. */
#define BATCHES_PER_THREAD 2

typedef struct bgzf_block {
    uint32_t offset;      /* in the batch's input */
    uint32_t body_offset; /* likewise, of its DEFLATE stream */
    uint32_t size_bytes;
    uint32_t content_offset; /* in the batch's output */
    uint32_t content_bytes;
} bgzf_block;

typedef struct bgzf_batch {
    thread_task task;
    uint64_t file_offset; /* of its input */
    size_t in_bytes;      /* read; of these the blocks are the first */
    size_t blocks_end;
    size_t content_bytes;
    size_t count;
    size_t right; /* blocks before the first that is not */
    bool is_last; /* what comes after its blocks is none */
    inflater inflate;
    bgzf_block blocks[BATCH_BLOCKS];
    uint8_t in[BATCH_INPUT_BYTES + INFLATE_INPUT_PADDING];
    uint8_t out[BATCH_OUTPUT_BYTES + INFLATE_OUTPUT_SLACK];
} bgzf_batch;

struct bgzf_stream {
    ksv_allocator allocator;
    ksv_file *file;
    gzip_points *points;
    thread_pool *pool;
    bgzf_batch **batches; /* a ring, in the order of the file */
    size_t capacity;
    size_t first; /* the next to give out, or the one given out */
    size_t filled;
    bool first_given; /* its content is with the caller */
    bool done;
    bool all_read;
    uint64_t next_offset; /* of the next batch */
    bgzf_stream_place place;
};

/* The block at `offset` of the input; false: there is no whole one. */
static bool find_block(const bgzf_batch *b, size_t offset, bgzf_block *block)
{
    gzip_header header;
    gzip_header_begin(&header);
    const size_t left = b->in_bytes - offset;
    const size_t used = gzip_header_push(&header, b->in + offset, left);
    if (header.state != GZIP_HEADER_COMPLETE ||
        header.bgzf_block_bytes < used + GZIP_TRAILER_BYTES ||
        header.bgzf_block_bytes > left)
        return false;
    block->offset = (uint32_t)offset;
    block->body_offset = (uint32_t)(offset + used);
    block->size_bytes = header.bgzf_block_bytes;
    block->content_bytes =
        load_u32(b->in + offset + header.bgzf_block_bytes - 4);
    return block->content_bytes <= BLOCK_CONTENT_BYTES;
}

static void find_blocks(bgzf_batch *b)
{
    b->count = 0;
    b->blocks_end = 0;
    b->content_bytes = 0;
    b->is_last = false;
    while (b->count < BATCH_BLOCKS &&
           b->content_bytes + BLOCK_CONTENT_BYTES <= BATCH_OUTPUT_BYTES) {
        bgzf_block *block = &b->blocks[b->count];
        if (!find_block(b, b->blocks_end, block)) {
            /* As many bytes hold any block, so there is none. */
            b->is_last = b->count == 0;
            return;
        }
        block->content_offset = (uint32_t)b->content_bytes;
        b->content_bytes += block->content_bytes;
        b->blocks_end += block->size_bytes;
        b->count++;
    }
}

static bool inflate_block(bgzf_batch *b, const bgzf_block *block)
{
    const uint8_t *trailer =
        b->in + block->offset + block->size_bytes - GZIP_TRAILER_BYTES;
    const uint8_t *body = b->in + block->body_offset;
    uint8_t *out = b->out + block->content_offset;
    return inflate_whole(&b->inflate, body, (size_t)(trailer - body), out,
                         block->content_bytes) &&
           crc32_update(0, out, block->content_bytes) == load_u32(trailer);
}

static void inflate_batch(void *ctx)
{
    bgzf_batch *b = ctx;
    for (b->right = 0; b->right < b->count; b->right++)
        if (!inflate_block(b, &b->blocks[b->right]))
            return;
}

ksv_status bgzf_stream_open(ksv_file *file, unsigned threads,
                            gzip_points *points, const ksv_allocator *allocator,
                            bgzf_stream **out, ksv_error *error)
{
    *out = NULL;
    const ksv_allocator a = allocator_or_default(allocator);
    bgzf_stream *s = memory_zalloc(&a, sizeof *s);
    if (s == NULL)
        return error_set_memory(error);
    s->allocator = a;
    s->file = file;
    s->points = points;
    s->capacity = (size_t)threads * BATCHES_PER_THREAD + 1;
    s->batches = memory_zalloc_array(&a, s->capacity, sizeof *s->batches);
    ksv_status status = KSV_OK;
    if (s->batches == NULL)
        status = error_set_memory(error);
    for (size_t i = 0; i < s->capacity && status == KSV_OK; i++) {
        s->batches[i] = memory_alloc(&a, sizeof *s->batches[i]);
        if (s->batches[i] == NULL)
            status = error_set_memory(error);
        else
            inflate_init(&s->batches[i]->inflate);
    }
    if (status == KSV_OK)
        status = thread_pool_open(threads, &a, &s->pool, error);
    if (status != KSV_OK) {
        bgzf_stream_close(s);
        return status;
    }
    *out = s;
    return KSV_OK;
}

void bgzf_stream_close(bgzf_stream *stream)
{
    if (stream == NULL)
        return;
    const ksv_allocator a = stream->allocator;
    thread_pool_close(stream->pool);
    for (size_t i = 0; stream->batches != NULL && i < stream->capacity; i++)
        if (stream->batches[i] != NULL)
            memory_free(&a, stream->batches[i], sizeof *stream->batches[i]);
    if (stream->batches != NULL)
        memory_free(&a, stream->batches,
                    stream->capacity * sizeof *stream->batches);
    memory_free(&a, stream, sizeof *stream);
}

static bgzf_batch *batch_at(bgzf_stream *s, size_t i)
{
    return s->batches[(s->first + i) % s->capacity];
}

/* Reads the next batch: what the one before it has read too much, then on. */
static ksv_status fill_batch(bgzf_stream *s, ksv_error *error)
{
    bgzf_batch *b = batch_at(s, s->filled);
    size_t have = 0;
    if (s->filled > 0) {
        const bgzf_batch *before = batch_at(s, s->filled - 1);
        have = before->in_bytes - before->blocks_end;
        memcpy(b->in, before->in + before->blocks_end, have);
    }
    size_t got;
    KSV_TRY(s->file->ops->read_at(s->file, s->next_offset + have, b->in + have,
                                  BATCH_INPUT_BYTES - have, &got, error));
    b->file_offset = s->next_offset;
    b->in_bytes = have + got;
    memset(b->in + b->in_bytes, 0, INFLATE_INPUT_PADDING);
    find_blocks(b);
    s->next_offset += b->blocks_end;
    s->all_read = b->is_last;
    b->task = (thread_task){inflate_batch, b, false, NULL};
    thread_pool_submit(s->pool, &b->task);
    s->filled++;
    return KSV_OK;
}

static ksv_status give_points(bgzf_stream *s, const bgzf_batch *b,
                              ksv_error *error)
{
    if (s->points == NULL)
        return KSV_OK;
    for (size_t i = 0; i < b->right; i++) {
        const bgzf_block *block = &b->blocks[i];
        const uint8_t *trailer =
            b->in + block->offset + block->size_bytes - GZIP_TRAILER_BYTES;
        KSV_TRY(gzip_points_block(
            s->points, b->file_offset + block->offset,
            b->file_offset + block->body_offset, b->out + block->content_offset,
            block->content_bytes, load_u32(trailer), error));
    }
    return KSV_OK;
}

/* Takes the blocks of the first batch that are right. */
static ksv_status give_batch(bgzf_stream *s, const uint8_t **data,
                             size_t *size_bytes, ksv_error *error)
{
    bgzf_batch *b = batch_at(s, 0);
    thread_pool_wait(s->pool, &b->task);
    s->first_given = true;
    s->done = b->right < b->count || b->is_last;
    KSV_TRY(give_points(s, b, error));
    *data = b->out;
    *size_bytes = 0;
    if (b->right == 0)
        return KSV_OK;
    const bgzf_block *last = &b->blocks[b->right - 1];
    *size_bytes = last->content_offset + last->content_bytes;
    s->place.offset = b->file_offset + last->offset + last->size_bytes;
    s->place.content += *size_bytes;
    s->place.blocks += b->right;
    s->place.ends_with_marker = last->content_bytes == 0;
    return KSV_OK;
}

ksv_status bgzf_stream_next(bgzf_stream *stream, const uint8_t **data,
                            size_t *size_bytes, bool *done, ksv_error *error)
{
    bgzf_stream *s = stream;
    *size_bytes = 0;
    while (*size_bytes == 0 && !s->done) {
        if (s->first_given) {
            s->first = (s->first + 1) % s->capacity;
            s->filled--;
            s->first_given = false;
        }
        while (s->filled < s->capacity && !s->all_read)
            KSV_TRY(fill_batch(s, error));
        KSV_TRY(give_batch(s, data, size_bytes, error));
    }
    *done = *size_bytes == 0;
    return KSV_OK;
}

bgzf_stream_place bgzf_stream_end(const bgzf_stream *stream)
{
    return stream->place;
}
