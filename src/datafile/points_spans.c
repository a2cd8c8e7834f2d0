/* SPDX-License-Identifier: MIT */
/* Spans of access points on their way from the thread that inflates to the one
 * that writes them. */
#include "datafile/points_spans.h"

#include <string.h>

#include "base/error.h"
#include "compress/zlib_bridge.h"

/* What stands before the window, the sources and the CRCs of a span. */
typedef struct span_head {
    points_entry entry;
    size_t window_bytes;
    size_t source_count;
    size_t crc_bytes;
    bool whole;
} span_head;

struct points_finisher {
    ksv_allocator allocator;
    points_writer *writer;
    zlib_deflater *deflater;
    byte_buffer blob;
    uint8_t thin[INFLATE_WINDOW_BYTES];
    uint8_t deflated[INFLATE_WINDOW_BYTES];
};

void points_spans_init(points_spans *spans, const ksv_allocator *allocator)
{
    memset(spans, 0, sizeof *spans);
    buffer_init(&spans->bytes, allocator);
}

void points_spans_release(points_spans *spans)
{
    buffer_release(&spans->bytes);
}

ksv_status points_spans_add(points_spans *spans, const points_entry *entry,
                            const points_window *window,
                            const byte_buffer *crcs, ksv_error *error)
{
    span_head head;
    memset(&head, 0, sizeof head);
    head.entry = *entry;
    head.window_bytes = window->size_bytes;
    head.source_count = window->source_count;
    head.crc_bytes = crcs->size;
    head.whole = window->whole;
    byte_buffer *to = &spans->bytes;
    KSV_TRY(buffer_append(to, &head, sizeof head, error));
    KSV_TRY(buffer_append(to, window->data, window->size_bytes, error));
    KSV_TRY(buffer_append(to, window->sources,
                          window->source_count * sizeof *window->sources,
                          error));
    return buffer_append(to, crcs->data, crcs->size, error);
}

ksv_status points_finisher_open(points_writer *writer,
                                const ksv_allocator *allocator,
                                points_finisher **out, ksv_error *error)
{
    *out = NULL;
    const ksv_allocator a = allocator_or_default(allocator);
    points_finisher *f = memory_zalloc(&a, sizeof *f);
    if (f == NULL)
        return error_set_memory(error);
    f->allocator = a;
    f->writer = writer;
    buffer_init(&f->blob, &f->allocator);
    const ksv_status status =
        zlib_deflater_open(ZLIB_WINDOWS, &f->allocator, &f->deflater, error);
    if (status != KSV_OK) {
        points_finisher_close(f);
        return status;
    }
    *out = f;
    return KSV_OK;
}

void points_finisher_close(points_finisher *finisher)
{
    if (finisher == NULL)
        return;
    const ksv_allocator a = finisher->allocator;
    zlib_deflater_close(finisher->deflater);
    buffer_release(&finisher->blob);
    memory_free(&a, finisher, sizeof *finisher);
}

/* Puts what the sources have of the window among zeros, so that both end
 * together; how many bytes are left from the first of them on. */
static size_t thin_window(points_finisher *f, const uint8_t *window,
                          size_t size_bytes, const uint8_t *sources,
                          size_t count)
{
    const size_t missing = INFLATE_WINDOW_BYTES - size_bytes;
    size_t first = INFLATE_WINDOW_BYTES;
    memset(f->thin, 0, sizeof f->thin);
    for (size_t i = 0; i < count; i++) {
        inflate_source source;
        memcpy(&source, sources + i * sizeof source, sizeof source);
        const size_t begin = source.begin;
        const size_t room = INFLATE_WINDOW_BYTES - begin;
        memcpy(f->thin + begin, window + (begin - missing),
               source.size_bytes < room ? source.size_bytes : room);
        first = begin < first ? begin : first;
    }
    return INFLATE_WINDOW_BYTES - first;
}

static ksv_status put_window(points_finisher *f, points_entry *entry,
                             const uint8_t *window, size_t size_bytes,
                             ksv_error *error)
{
    entry->window_bytes = (uint16_t)size_bytes;
    entry->window_stored_bytes = (uint16_t)size_bytes;
    if (size_bytes == 0)
        return KSV_OK;
    const size_t deflated = zlib_deflate(f->deflater, window, size_bytes,
                                         f->deflated, size_bytes - 1);
    if (deflated == 0)
        return buffer_append(&f->blob, window, size_bytes, error);
    entry->window_stored_bytes = (uint16_t)deflated;
    return buffer_append(&f->blob, f->deflated, deflated, error);
}

/* Takes a span from `bytes`; `*size` is how many it was. */
static ksv_status write_span(points_finisher *f, const uint8_t *bytes,
                             size_t *size, ksv_error *error)
{
    span_head head;
    memcpy(&head, bytes, sizeof head);
    const uint8_t *window = bytes + sizeof head;
    const uint8_t *sources = window + head.window_bytes;
    const uint8_t *crcs = sources + head.source_count * sizeof(inflate_source);
    *size = (size_t)(crcs - bytes) + head.crc_bytes;
    size_t kept = head.window_bytes;
    if (!head.whole && kept != 0) {
        kept = thin_window(f, window, kept, sources, head.source_count);
        window = f->thin + INFLATE_WINDOW_BYTES - kept;
    }
    buffer_clear(&f->blob);
    KSV_TRY(put_window(f, &head.entry, window, kept, error));
    KSV_TRY(buffer_append(&f->blob, crcs, head.crc_bytes, error));
    return points_writer_add(f->writer, &head.entry, f->blob.data, error);
}

ksv_status points_finisher_write(points_finisher *finisher, points_spans *spans,
                                 ksv_error *error)
{
    ksv_status status = KSV_OK;
    size_t size;
    for (size_t at = 0; at < spans->bytes.size && status == KSV_OK; at += size)
        status = write_span(finisher, spans->bytes.data + at, &size, error);
    if (status == KSV_OK && spans->complete)
        points_writer_set_totals(finisher->writer, spans->content_bytes,
                                 spans->members);
    buffer_clear(&spans->bytes);
    spans->complete = false;
    return status;
}
