/* SPDX-License-Identifier: MIT */
/* The records of a content with their bytes, as they come: of a file or a pipe.
 */
#include "scan/record_stream.h"

#include <string.h>

#include "base/bits.h"
#include "base/error.h"

enum { STREAM_RECORDS = 1024, MARK_BYTES = 3 };

/* A reader, what it gave and how much of that was used. */
typedef struct stream_side {
    record_reader *reader;
    scan_record *records;
    size_t count;
    size_t used;
} stream_side;

struct record_stream {
    ksv_allocator allocator;
    const scan_spec *spec;
    datafile_stream *content;
    char *name;
    stream_side keys;
    stream_side seconds; /* without a reader: there is no second key */
    stream_record *records;
    /* The bytes of the content from `window_offset` on; those before `used`
     * are not needed any more. */
    byte_buffer window;
    uint64_t window_offset;
    size_t used;
    uint64_t lines; /* before the window */
    bool last;      /* the content ends where the window does */
    bool has_head;
    bool has_mark;
    byte_buffer header;
    size_t header_length;
};

static ksv_status open_side(stream_side *side, const scan_spec *spec,
                            const record_stream_options *options,
                            const ksv_allocator *a, ksv_error *error)
{
    side->records = memory_alloc(a, STREAM_RECORDS * sizeof *side->records);
    if (side->records == NULL)
        return error_set_memory(error);
    return record_reader_open(spec, options->skip_bad_records, a, &side->reader,
                              error);
}

static void close_side(stream_side *side, const ksv_allocator *a)
{
    if (side->reader != NULL)
        record_reader_close(side->reader);
    memory_free(a, side->records, STREAM_RECORDS * sizeof *side->records);
}

static ksv_status open_all(record_stream *s,
                           const record_stream_options *options,
                           const char *name, ksv_error *error)
{
    buffer_init(&s->window, &s->allocator);
    buffer_init(&s->header, &s->allocator);
    s->name = memory_copy_string(&s->allocator, name, strlen(name));
    s->records =
        memory_alloc(&s->allocator, STREAM_RECORDS * sizeof *s->records);
    if (s->name == NULL || s->records == NULL)
        return error_set_memory(error);
    KSV_TRY(open_side(&s->keys, options->spec, options, &s->allocator, error));
    if (options->second == NULL)
        return KSV_OK;
    return open_side(&s->seconds, options->second, options, &s->allocator,
                     error);
}

ksv_status record_stream_open(const record_stream_options *options,
                              datafile_stream *content, const char *name,
                              record_stream **out, ksv_error *error)
{
    *out = NULL;
    ksv_allocator a = allocator_or_default(options->allocator);
    record_stream *s = memory_zalloc(&a, sizeof *s);
    if (s == NULL)
        return error_set_memory(error);
    s->allocator = a;
    s->spec = options->spec;
    s->content = content;
    ksv_status status = open_all(s, options, name, error);
    if (status != KSV_OK) {
        record_stream_close(s);
        return status;
    }
    *out = s;
    return KSV_OK;
}

void record_stream_close(record_stream *s)
{
    if (s == NULL)
        return;
    ksv_allocator a = s->allocator;
    close_side(&s->keys, &a);
    close_side(&s->seconds, &a);
    memory_free(&a, s->records, STREAM_RECORDS * sizeof *s->records);
    memory_free_string(&a, s->name);
    buffer_release(&s->window);
    buffer_release(&s->header);
    memory_free(&a, s, sizeof *s);
}

/* Eight at a time: it is done for every byte. */
static uint64_t count_byte(const uint8_t *data, size_t size, uint8_t byte)
{
    const uint64_t sevens = UINT64_C(0x7f7f7f7f7f7f7f7f);
    const uint64_t wanted = UINT64_C(0x0101010101010101) * byte;
    uint64_t count = 0;
    size_t i = 0;
    for (; i + 8 <= size; i += 8) {
        uint64_t x;
        memcpy(&x, data + i, sizeof x);
        x ^= wanted;
        count += bits_count(~(((x & sevens) + sevens) | x | sevens));
    }
    for (; i < size; i++)
        count += data[i] == byte;
    return count;
}

static uint8_t end_byte(const record_stream *s)
{
    return s->spec->record_end_cr ? '\r' : '\n';
}

/* Where what follows a record that ends at `at` begins. */
static size_t skip_terminator(const record_stream *s, size_t at)
{
    const uint8_t *p = s->window.data;
    size_t size = s->window.size;
    if (s->spec->record_size > 0 || at >= size)
        return at;
    if (s->spec->record_end_cr)
        return at + (p[at] == '\r');
    if (p[at] == '\n')
        return at + 1;
    return at + 1 < size && p[at] == '\r' && p[at + 1] == '\n' ? at + 2 : at;
}

/* Blank lines would otherwise pile up before a record that does not come. */
static void skip_blank_lines(record_stream *s)
{
    if (s->spec->record_size > 0 || s->spec->record_end_cr)
        return;
    for (size_t next = s->used;; s->used = next) {
        next = skip_terminator(s, s->used);
        if (next == s->used)
            return;
    }
}

static ksv_status read_piece(record_stream *s, ksv_error *error)
{
    const uint8_t *data;
    size_t size;
    KSV_TRY(datafile_stream_next(s->content, &data, &size, &s->last, error));
    if (size == 0 && !s->last)
        return KSV_OK;
    byte_buffer *w = &s->window;
    if (s->used > 0) {
        s->lines += count_byte(w->data, s->used, end_byte(s));
        w->size -= s->used;
        memmove(w->data, w->data + s->used, w->size);
        s->window_offset += s->used;
        s->used = 0;
    }
    size_t before = w->size;
    KSV_TRY(buffer_reserve(w, size > 0 ? size : 1, error));
    KSV_TRY(buffer_append(w, data, size, error));
    record_reader_feed(s->keys.reader, w->data + before, size, s->last);
    if (s->seconds.reader != NULL)
        record_reader_feed(s->seconds.reader, w->data + before, size, s->last);
    return KSV_OK;
}

static ksv_status fill_side(stream_side *side, ksv_error *error)
{
    if (side->reader == NULL || side->used < side->count)
        return KSV_OK;
    side->used = 0;
    side->count = 0;
    return record_reader_next(side->reader, side->records, STREAM_RECORDS,
                              &side->count, error);
}

static ksv_status learn_head(record_stream *s, ksv_error *error)
{
    static const uint8_t mark[MARK_BYTES] = {0xef, 0xbb, 0xbf};
    byte_buffer layout;
    uint64_t offset = 0;
    uint64_t length = 0;
    const uint8_t *p = s->window.data;
    s->has_mark =
        s->window.size >= MARK_BYTES && memcmp(p, mark, MARK_BYTES) == 0;
    buffer_init(&layout, &s->allocator);
    ksv_status status = record_reader_layout(s->keys.reader, &layout, error);
    if (status == KSV_OK)
        status = record_layout_header(layout.data, layout.size, &offset,
                                      &length, error);
    buffer_release(&layout);
    KSV_TRY(status);
    s->has_head = true;
    s->header_length = (size_t)length;
    if (length == 0)
        return KSV_OK;
    size_t end = skip_terminator(s, (size_t)(offset + length));
    return buffer_append(&s->header, p + offset, end - (size_t)offset, error);
}

static void convert(const record_stream *s, const scan_record *record,
                    const scan_record *second, stream_record *out)
{
    size_t start = (size_t)(record->offset - s->window_offset);
    size_t end = start + (size_t)record->length;
    size_t next = skip_terminator(s, end);
    bool has_second = second != NULL && second->kind == SCAN_RECORD_KEYED;
    *out = (stream_record){
        .kind = record->kind,
        .is_ended = next > end || s->spec->record_size > 0,
        .bytes = s->window.data + start,
        .size_bytes = next - start,
        .offset = record->offset,
        .key = record->key,
        .key_bytes = record->key_bytes,
        .second = has_second ? second->key : NULL,
        .second_bytes = has_second ? second->key_bytes : 0,
    };
}

/* What both readers have given. */
static ksv_status join_sides(record_stream *s, size_t *count, ksv_error *error)
{
    stream_side *a = &s->keys;
    stream_side *b = &s->seconds;
    size_t n = a->count - a->used;
    if (b->reader != NULL && b->count - b->used < n)
        n = b->count - b->used;
    if (b->reader != NULL && n == 0 && a->count - a->used != b->count - b->used)
        return error_set(error, KSV_ERROR_DATA, NULL,
                         "two readings of a record differ");
    for (size_t i = 0; i < n; i++) {
        const scan_record *record = &a->records[a->used + i];
        const scan_record *second =
            b->reader != NULL ? &b->records[b->used + i] : NULL;
        if (second != NULL && second->offset != record->offset)
            return error_set_at(error, KSV_ERROR_DATA, NULL, record->offset,
                                "two readings of a record differ");
        convert(s, record, second, &s->records[i]);
    }
    a->used += n;
    b->used += n;
    *count = n;
    if (n > 0) {
        const stream_record *last = &s->records[n - 1];
        s->used = (size_t)(last->bytes - s->window.data) + last->size_bytes;
        skip_blank_lines(s);
    }
    return KSV_OK;
}

static ksv_status next_records(record_stream *s, size_t *count, bool *at_end,
                               ksv_error *error)
{
    KSV_TRY(fill_side(&s->keys, error));
    KSV_TRY(fill_side(&s->seconds, error));
    bool is_done = s->last;
    if (!s->has_head && (s->keys.count > 0 || s->last))
        KSV_TRY(learn_head(s, error));
    KSV_TRY(join_sides(s, count, error));
    *at_end = *count == 0 && is_done;
    return KSV_OK;
}

/* Adds to an error in the content what is missing in it. */
static void complete_error(const record_stream *s, ksv_error *error)
{
    if (error == NULL)
        return;
    error_add_path(error, s->name);
    if (error->status != KSV_ERROR_DATA || error->line > 0 ||
        error->byte_offset < s->window_offset ||
        error->byte_offset - s->window_offset > s->window.size)
        return;
    size_t before = (size_t)(error->byte_offset - s->window_offset);
    error->line =
        1 + s->lines + count_byte(s->window.data, before, end_byte(s));
}

ksv_status record_stream_next(record_stream *s, const stream_record **records,
                              size_t *count, bool *at_end, ksv_error *error)
{
    *records = s->records;
    *count = 0;
    *at_end = false;
    ksv_status status = next_records(s, count, at_end, error);
    if (status == KSV_OK && *count == 0 && !*at_end) {
        status = read_piece(s, error);
        if (status != KSV_OK) {
            error_add_path(error, s->name);
            return status;
        }
        status = next_records(s, count, at_end, error);
    }
    if (status != KSV_OK)
        complete_error(s, error);
    return status;
}

void record_stream_get_head(const record_stream *s, record_stream_head *head)
{
    *head = (record_stream_head){
        .is_known = s->has_head,
        .has_mark = s->has_mark,
        .header = s->header.data,
        .header_bytes = s->header.size,
        .header_length = s->header_length,
    };
}
