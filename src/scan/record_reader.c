/* SPDX-License-Identifier: MIT */
/* The frame around the readers of all formats: windows, head, hand-over. */
#include "scan/record_reader.h"

#include <string.h>

#include "base/error.h"
#include "scan/record_reader_private.h"

static const uint8_t BYTE_ORDER_MARK[READER_HEAD_BYTES] = {0xef, 0xbb, 0xbf};

/* NULL: a format that cannot be read. */
static const reader_ops *ops_of_format(ksv_format format)
{
    switch (format) {
    case KSV_FORMAT_CSV:
    case KSV_FORMAT_TSV:
        return &delimited_reader_ops;
    case KSV_FORMAT_FIXED:
        return &fixed_reader_ops;
    case KSV_FORMAT_LINES:
        return &line_reader_ops;
    case KSV_FORMAT_JSONL:
        return &jsonl_reader_ops;
    case KSV_FORMAT_FASTA:
        return &fasta_reader_ops;
    case KSV_FORMAT_FASTQ:
        return &fastq_reader_ops;
    default:
        return NULL;
    }
}

static ksv_status allocate_parts(record_reader *r, ksv_error *error)
{
    size_t count = r->spec->part_count;
    r->parts = memory_zalloc_array(&r->allocator, count, sizeof *r->parts);
    r->layout.columns =
        memory_zalloc_array(&r->allocator, count, sizeof *r->layout.columns);
    if (r->parts == NULL || r->layout.columns == NULL)
        return error_set_memory(error);
    for (size_t i = 0; i < count; i++)
        buffer_init(&r->parts[i].copy, &r->allocator);
    return KSV_OK;
}

ksv_status record_reader_open(const scan_spec *spec, bool skip_bad_records,
                              const ksv_allocator *allocator,
                              record_reader **out, ksv_error *error)
{
    *out = NULL;
    const reader_ops *ops = ops_of_format(spec->format);
    if (ops == NULL)
        return error_set(error, KSV_ERROR_UNSUPPORTED, NULL,
                         "this version cannot read %s files",
                         ksv_format_name(spec->format));
    ksv_allocator a = allocator_or_default(allocator);
    record_reader *r = memory_zalloc(&a, ops->reader_bytes);
    if (r == NULL)
        return error_set_memory(error);
    r->ops = ops;
    r->spec = spec;
    r->allocator = a;
    r->skip_bad_records = skip_bad_records;
    buffer_init(&r->keys, &r->allocator);
    ksv_status status = allocate_parts(r, error);
    if (status == KSV_OK && ops->open != NULL)
        status = ops->open(r, error);
    if (status != KSV_OK) {
        record_reader_close(r);
        return status;
    }
    record_reader_begin(r);
    *out = r;
    return KSV_OK;
}

void record_reader_close(record_reader *r)
{
    if (r == NULL)
        return;
    if (r->ops->close != NULL)
        r->ops->close(r);
    size_t count = r->spec->part_count;
    for (size_t i = 0; r->parts != NULL && i < count; i++)
        part_release(&r->parts[i]);
    memory_free(&r->allocator, r->parts, count * sizeof *r->parts);
    memory_free(&r->allocator, r->layout.columns,
                count * sizeof *r->layout.columns);
    buffer_release(&r->keys);
    ksv_allocator a = r->allocator;
    memory_free(&a, r->span, sizeof *r->span);
    memory_free(&a, r, r->ops->reader_bytes);
}

static void use_window(record_reader *r, const uint8_t *data, size_t size,
                       size_t position, bool last)
{
    r->data = data;
    r->size = size;
    r->position = position;
    r->last = last;
    r->marks = NULL;
    if (r->span != NULL)
        record_span_forget(r->span);
}

static ksv_status open_span(record_reader *r, reader_span_fn set_up,
                            ksv_error *error)
{
    r->span = memory_alloc(&r->allocator, sizeof *r->span);
    if (r->span == NULL)
        return error_set_memory(error);
    record_span_init(r->span, r->spec);
    set_up(r, r->span);
    return KSV_OK;
}

ksv_status reader_cut_span(record_reader *r, reader_span_fn set_up, bool *any,
                           ksv_error *error)
{
    *any = false;
    if (r->position == r->size)
        return KSV_OK;
    if (r->span == NULL)
        KSV_TRY(open_span(r, set_up, error));
    const uint8_t *next = r->data + r->position;
    if (record_span_is_at(r->span, next)) {
        *any = true;
        return KSV_OK;
    }
    if (r->marks != NULL)
        record_span_cut_marked(r->span, r->marks,
                               (size_t)(next - r->marks->data));
    else
        record_span_cut(r->span, next, r->size - r->position);
    *any = r->span->end_count > 0;
    return KSV_OK;
}

static void forget(record_reader *r, uint64_t offset)
{
    use_window(r, NULL, 0, 0, false);
    r->window_offset = offset;
    r->layout.first_offset = 0;
    r->layout.header_offset = 0;
    r->layout.header_length = 0;
    r->layout.column_count = 0;
    r->gave_record = false;
    r->fed_offset = offset;
    r->has_fed = false;
    r->head_bytes = 0;
    r->failed = false;
    buffer_clear(&r->keys);
    for (size_t i = 0; i < r->spec->part_count; i++)
        part_reset(&r->parts[i]);
}

void record_reader_begin(record_reader *r)
{
    forget(r, 0);
    r->stage = READER_AT_HEAD;
}

ksv_status record_reader_begin_at(record_reader *r, const void *layout,
                                  size_t layout_bytes, uint64_t offset,
                                  ksv_error *error)
{
    forget(r, offset);
    r->stage = READER_AT_END; /* unless all of the below succeeds */
    KSV_TRY(record_layout_decode(layout, layout_bytes, r->spec->part_count,
                                 &r->layout, error));
    if (offset < r->layout.first_offset)
        return error_set(error, KSV_ERROR_CORRUPT, NULL,
                         "no record can begin where the index says");
    KSV_TRY(r->ops->begin(r, true, error));
    r->gave_record = true; /* the layout knows the first one */
    r->stage = READER_IN_CONTENT;
    return KSV_OK;
}

void record_reader_feed(record_reader *r, const uint8_t *data,
                        size_t size_bytes, bool last)
{
    static const uint8_t NOTHING[1];
    r->fed = size_bytes > 0 ? data : NOTHING; /* never NULL */
    r->fed_bytes = size_bytes;
    r->fed_last = last;
    r->fed_marks = NULL;
    r->has_fed = true;
}

void record_reader_feed_marked(record_reader *r, const record_marks *marks,
                               size_t position, bool last)
{
    record_reader_feed(r, marks->data + position, marks->size - position, last);
    r->fed_marks = marks;
}

/* Makes what was fed the window; false when nothing was. */
static bool take_fed(record_reader *r)
{
    if (!r->has_fed)
        return false;
    r->window_offset = r->fed_offset;
    use_window(r, r->fed, r->fed_bytes, 0, r->fed_last);
    r->marks = r->fed_marks;
    r->fed_offset += r->fed_bytes;
    r->has_fed = false;
    return true;
}

static ksv_status refuse_utf16(const record_reader *r, ksv_error *error)
{
    const uint8_t *h = r->head;
    /* Records of a fixed size need not be text. */
    if (r->spec->record_size > 0 || r->head_bytes < 2 ||
        !((h[0] == 0xff && h[1] == 0xfe) || (h[0] == 0xfe && h[1] == 0xff)))
        return KSV_OK;
    return error_set_at(error, KSV_ERROR_DATA, NULL, 0,
                        "the file looks like UTF-16 (it begins with %02X "
                        "%02X); convert it to UTF-8 first",
                        h[0], h[1]);
}

/* Whether a byte order mark may begin so: a short record of a slow pipe must
 * not wait for the next one. */
static bool may_be_mark(uint8_t first)
{
    return first == BYTE_ORDER_MARK[0] || first == 0xff || first == 0xfe;
}

/* Looks at the first bytes of the content; `*ready` when there are enough of
 * them, and the window then begins behind a byte order mark. */
static ksv_status read_head(record_reader *r, bool *ready, ksv_error *error)
{
    *ready = false;
    if (!r->has_fed)
        return KSV_OK;
    size_t before = r->head_bytes;
    size_t taken = READER_HEAD_BYTES - before;
    if (taken > r->fed_bytes)
        taken = r->fed_bytes;
    if (taken > 0)
        memcpy(r->head + before, r->fed, taken);
    r->head_bytes += taken;
    *ready = r->head_bytes == READER_HEAD_BYTES || r->fed_last ||
             (r->head_bytes > 0 && !may_be_mark(r->head[0]));
    KSV_TRY(refuse_utf16(r, error));
    if (!*ready) {
        r->fed_offset += taken;
        r->has_fed = false;
        return KSV_OK;
    }
    bool marked = r->head_bytes == READER_HEAD_BYTES &&
                  memcmp(r->head, BYTE_ORDER_MARK, READER_HEAD_BYTES) == 0;
    if (before == 0) {
        take_fed(r);
        r->position = marked ? taken : 0;
    } else {
        /* The head came in pieces: it is a window of its own. */
        r->fed += taken;
        r->fed_bytes -= taken;
        r->fed_offset += taken;
        r->window_offset = 0;
        use_window(r, r->head, r->head_bytes, marked ? r->head_bytes : 0,
                   false);
    }
    r->stage = READER_IN_CONTENT;
    return r->ops->begin(r, false, error);
}

static ksv_status hold_parts(record_reader *r, ksv_error *error)
{
    for (size_t i = 0; i < r->spec->part_count; i++)
        KSV_TRY(part_hold(&r->parts[i], error));
    return r->ops->hold != NULL ? r->ops->hold(r, error) : KSV_OK;
}

/* Reads windows until there are records or nothing is left that was fed. */
static ksv_status read_windows(record_reader *r, scan_record *records,
                               size_t capacity, size_t *count, ksv_error *error)
{
    if (r->stage == READER_AT_HEAD) {
        bool ready;
        KSV_TRY(read_head(r, &ready, error));
        if (!ready)
            return KSV_OK;
    }
    if (r->data == NULL)
        (void)take_fed(r);
    while (r->stage == READER_IN_CONTENT) {
        KSV_TRY(r->ops->next(r, records, capacity, count, error));
        if (*count > 0)
            return KSV_OK;
        if (r->last)
            r->stage = READER_AT_END;
        KSV_TRY(hold_parts(r, error));
        use_window(r, NULL, 0, 0, r->last);
        r->window_offset = r->fed_offset;
        if (!take_fed(r))
            return KSV_OK;
    }
    return KSV_OK;
}

/* Copied keys lie one behind the other, in the order of their records; only now
 * does the buffer not move any more. */
static void point_to_copied_keys(const record_reader *r, scan_record *records,
                                 size_t count)
{
    const uint8_t *next = r->keys.data;
    for (size_t i = 0; i < count; i++) {
        scan_record *record = &records[i];
        if (record->kind == SCAN_RECORD_KEYED && record->key == NULL) {
            record->key = next;
            next += record->key_bytes;
        }
    }
}

ksv_status record_reader_next(record_reader *r, scan_record *records,
                              size_t capacity, size_t *count, ksv_error *error)
{
    *count = 0;
    buffer_clear(&r->keys);
    if (!r->failed && capacity > 0) {
        ksv_status status =
            read_windows(r, records, capacity, count, &r->failure);
        r->failed = status != KSV_OK;
    }
    if (r->failed && *count == 0) {
        r->stage = READER_AT_END;
        if (error != NULL)
            *error = r->failure;
        return r->failure.status;
    }
    if (r->keys.size > 0)
        point_to_copied_keys(r, records, *count);
    if (*count > 0 && !r->gave_record) {
        r->gave_record = true;
        r->layout.first_offset = records[0].offset;
    }
    return KSV_OK;
}

bool record_reader_has_first(const record_reader *r)
{
    return r->gave_record;
}

ksv_status record_reader_layout(const record_reader *r, byte_buffer *out,
                                ksv_error *error)
{
    return record_layout_encode(&r->layout, out, error);
}

ksv_status record_layout_header(const void *layout, size_t layout_bytes,
                                uint64_t *offset, uint64_t *length,
                                ksv_error *error)
{
    record_layout l = {0};
    *offset = 0;
    *length = 0;
    KSV_TRY(record_layout_decode(layout, layout_bytes, 0, &l, error));
    *offset = l.header_offset;
    *length = l.header_length;
    return KSV_OK;
}

bool record_may_start_at(const scan_spec *spec, uint64_t offset,
                         uint8_t byte_before)
{
    if (offset == 0)
        return true;
    if (offset == READER_HEAD_BYTES &&
        byte_before == BYTE_ORDER_MARK[READER_HEAD_BYTES - 1])
        return true;
    if (spec->record_size > 0)
        return offset % spec->record_size == 0 ||
               (offset >= READER_HEAD_BYTES &&
                (offset - READER_HEAD_BYTES) % spec->record_size == 0);
    return byte_before == (spec->record_end_cr ? '\r' : '\n');
}
