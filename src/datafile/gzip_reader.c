/* SPDX-License-Identifier: MIT */
/* Random access to the content of gzip and BGZF files by access points. */
#include "datafile/gzip_reader.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <string.h>

#include "base/coding.h"
#include "base/error.h"
#include "datafile/crc32.h"
#include "datafile/gzip_decoder.h"
#include "datafile/points_window.h"

#define INPUT_BYTES ((size_t)128 << 10)
/* A chunk and the rest of the copy that crosses its end. */
#define PIECE_BYTES ((size_t)POINTS_CHUNK_BYTES + 1024)

/* Readers that are kept for the next call. */
#define IDLE_CURSORS 4

/* A place in the content, for one thread at a time. */
typedef struct gzip_cursor {
    gzip_decoder decoder;
    points_page page;
    byte_buffer blob; /* of `entry` */
    bool valid;       /* what follows has a meaning */
    uint64_t number;  /* of the point whose span it is in */
    points_entry entry;
    /* Content in the decoder's buffer that is as it was when indexed. */
    uint64_t checked_begin;
    uint64_t checked_end;
} gzip_cursor;

struct gzip_reader {
    ksv_allocator allocator;
    ksv_file *file;
    points_reader *points;
    const points_info *info;
    _Atomic(gzip_cursor *) idle[IDLE_CURSORS];
};

ksv_status gzip_reader_open(ksv_file *file, points_reader *points,
                            const ksv_allocator *allocator, gzip_reader **out,
                            ksv_error *error)
{
    *out = NULL;
    ksv_allocator a = allocator_or_default(allocator);
    gzip_reader *r = memory_zalloc(&a, sizeof *r);
    if (r == NULL) {
        points_reader_close(points);
        return error_set_memory(error);
    }
    r->allocator = a;
    r->file = file;
    r->points = points;
    r->info = points_reader_info(points);
    *out = r;
    return KSV_OK;
}

static void cursor_close(gzip_cursor *c, const ksv_allocator *allocator)
{
    gzip_decoder_close(&c->decoder);
    buffer_release(&c->blob);
    memory_free(allocator, c, sizeof *c);
}

static ksv_status cursor_open(gzip_reader *r, gzip_cursor **out,
                              ksv_error *error)
{
    *out = NULL;
    gzip_cursor *c = memory_zalloc(&r->allocator, sizeof *c);
    if (c == NULL)
        return error_set_memory(error);
    buffer_init(&c->blob, &r->allocator);
    ksv_status status = gzip_decoder_open(&c->decoder, r->file, INPUT_BYTES,
                                          PIECE_BYTES, &r->allocator, error);
    if (status != KSV_OK) {
        cursor_close(c, &r->allocator);
        return status;
    }
    c->decoder.is_bgzf = r->info->kind == DATAFILE_BGZF;
    c->decoder.check_members = false;
    c->decoder.ignore_trailing_garbage = true;
    *out = c;
    return KSV_OK;
}

void gzip_reader_close(gzip_reader *reader)
{
    if (reader == NULL)
        return;
    ksv_allocator a = reader->allocator;
    for (int i = 0; i < IDLE_CURSORS; i++) {
        gzip_cursor *c = atomic_load(&reader->idle[i]);
        if (c != NULL)
            cursor_close(c, &a);
    }
    points_reader_close(reader->points);
    memory_free(&a, reader, sizeof *reader);
}

static ksv_status take_cursor(gzip_reader *r, gzip_cursor **out,
                              ksv_error *error)
{
    for (int i = 0; i < IDLE_CURSORS; i++) {
        *out = atomic_exchange(&r->idle[i], NULL);
        if (*out != NULL)
            return KSV_OK;
    }
    return cursor_open(r, out, error);
}

static void give_back(gzip_reader *r, gzip_cursor *c)
{
    for (int i = 0; i < IDLE_CURSORS; i++) {
        gzip_cursor *none = NULL;
        if (atomic_compare_exchange_strong(&r->idle[i], &none, c))
            return;
    }
    cursor_close(c, &r->allocator);
}

static uint64_t span_end(const points_entry *entry)
{
    return entry->content + entry->span_bytes;
}

static ksv_status changed(const gzip_decoder *d, const char *how,
                          ksv_error *error)
{
    return error_set_at(error, KSV_ERROR_DATA, NULL, d->member_offset,
                        "the %s at compressed byte %" PRIu64
                        " is not as it was when it was indexed: %s",
                        d->is_bgzf ? "BGZF block" : "gzip member",
                        d->member_offset, how);
}

static ksv_status load_entry(gzip_reader *r, gzip_cursor *c, uint64_t number,
                             datafile_cost *cost, ksv_error *error)
{
    KSV_TRY(points_reader_entry(r->points, &c->page, number, &c->entry, cost,
                                error));
    c->number = number;
    return points_reader_blob(r->points, &c->entry, &c->blob, cost, error);
}

static ksv_status restart(gzip_reader *r, gzip_cursor *c, uint64_t number,
                          datafile_cost *cost, ksv_error *error)
{
    c->valid = false;
    KSV_TRY(load_entry(r, c, number, cost, error));
    if (!points_window_unpack(&c->entry, &c->blob, &c->decoder.inflate,
                              gzip_decoder_window(&c->decoder)))
        return error_set(error, KSV_ERROR_CORRUPT, NULL,
                         "the window of an access point is damaged");
    const gzip_place place = {c->entry.content, c->entry.header_bit,
                              c->entry.symbol_bit, c->entry.member_offset,
                              c->entry.data_end};
    KSV_TRY(
        gzip_decoder_seek(&c->decoder, &place, c->entry.window_bytes, error));
    c->checked_begin = c->checked_end = c->entry.content;
    c->valid = true;
    return KSV_OK;
}

static uint32_t chunk_crc(const gzip_cursor *c, uint64_t begin)
{
    const uint64_t i = (begin - c->entry.content) / POINTS_CHUNK_BYTES;
    if (i == 0)
        return c->entry.first_crc;
    return load_u32(c->blob.data + c->entry.window_stored_bytes + 4 * (i - 1));
}

/* Inflates and checks the chunk after the checked one. */
static ksv_status next_chunk(gzip_reader *r, gzip_cursor *c,
                             datafile_cost *cost, ksv_error *error)
{
    gzip_decoder *d = &c->decoder;
    const uint64_t begin = c->checked_end;
    c->valid = false;
    if (begin == span_end(&c->entry)) {
        KSV_TRY(load_entry(r, c, c->number + 1, cost, error));
        d->input.wanted_end = c->entry.data_end;
    }
    const uint64_t left = span_end(&c->entry) - begin;
    const size_t size =
        left < POINTS_CHUNK_BYTES ? (size_t)left : POINTS_CHUNK_BYTES;
    gzip_decoder_make_room(d);
    while (d->content < begin + size) {
        gzip_event event;
        KSV_TRY(gzip_decoder_run(d, begin + size, &event, error));
        if (event == GZIP_END || event == GZIP_FULL)
            break;
    }
    if (d->content < begin + size)
        return changed(d, "it ends too early", error);
    const uint8_t *data = gzip_decoder_content(d, begin);
    if (crc32_update(0, data, size) != chunk_crc(c, begin))
        return changed(d, "the checksum of its content is wrong", error);
    c->checked_begin = begin;
    c->checked_end = begin + size;
    c->valid = true;
    return KSV_OK;
}

/* Makes the byte at `offset` be among the checked ones. */
static ksv_status load_chunk(gzip_reader *r, gzip_cursor *c, uint64_t offset,
                             datafile_cost *cost, ksv_error *error)
{
    bool go_on = c->valid && offset >= c->checked_begin;
    if (go_on && offset >= span_end(&c->entry) && offset != c->checked_end)
        go_on = false;
    if (!go_on) {
        uint64_t number;
        KSV_TRY(points_reader_find(r->points, &c->page, offset, &number, cost,
                                   error));
        KSV_TRY(restart(r, c, number, cost, error));
    }
    while (offset >= c->checked_end)
        KSV_TRY(next_chunk(r, c, cost, error));
    return KSV_OK;
}

static ksv_status cursor_read(gzip_reader *r, gzip_cursor *c, uint64_t offset,
                              uint8_t *buffer, size_t size_bytes,
                              datafile_cost *cost, ksv_error *error)
{
    while (size_bytes != 0) {
        KSV_TRY(load_chunk(r, c, offset, cost, error));
        const uint64_t there = c->checked_end - offset;
        const size_t part = size_bytes < there ? size_bytes : (size_t)there;
        memcpy(buffer, gzip_decoder_content(&c->decoder, offset), part);
        buffer += part;
        offset += part;
        size_bytes -= part;
    }
    return KSV_OK;
}

ksv_status gzip_reader_read_at(gzip_reader *reader, uint64_t offset,
                               void *buffer, size_t size_bytes,
                               size_t *got_bytes, datafile_cost *cost,
                               ksv_error *error)
{
    *got_bytes = 0;
    if (offset >= reader->info->content_bytes || size_bytes == 0)
        return KSV_OK;
    const uint64_t left = reader->info->content_bytes - offset;
    if (size_bytes > left)
        size_bytes = (size_t)left;
    gzip_cursor *c;
    KSV_TRY(take_cursor(reader, &c, error));
    memset(&c->decoder.input.cost, 0, sizeof c->decoder.input.cost);
    ksv_status status =
        cursor_read(reader, c, offset, buffer, size_bytes, cost, error);
    if (cost != NULL) {
        cost->reads += c->decoder.input.cost.reads;
        cost->bytes_read += c->decoder.input.cost.bytes_read;
        cost->bytes_inflated += c->decoder.input.cost.bytes_inflated;
    }
    give_back(reader, c);
    if (status == KSV_OK)
        *got_bytes = size_bytes;
    return status;
}
