/* SPDX-License-Identifier: MIT */
/* Lines of JSON of one shape, many at once, by masks of their structure. */
#include "scan/json_lines.h"

#include "base/error.h"
#include "base/memory.h"
#include "scan/json_bytes.h"
#include "scan/json_shape_private.h"
#include "scan/json_state.h"
#include "scan/record_span.h"

/* Looked at together. */
#define MARK_BLOCKS 128
#define MARK_BYTES ((size_t)MARK_BLOCKS * STRUCTURE_BLOCK_BYTES)
/* Bytes behind a line that may be read. */
#define SLACK_BYTES 32

/* A stretch of the window that begins with a line; positions count from its
 * first byte. Masks have one word more than blocks, which is 0. */
struct json_lines {
    ksv_allocator allocator;
    const structure_kernels *kernels;
    uint8_t end_byte;
    bool drops_cr; /* one CR before the end byte belongs to the terminator */
    const uint8_t *data; /* NULL: nothing was looked at */
    uint64_t offset;     /* of the content */
    size_t size;
    size_t start; /* of the next line */
    uint64_t ends[MARK_BLOCKS + 1];
    uint64_t quotes[MARK_BLOCKS + 1]; /* without those behind a backslash */
    uint64_t backslashes[MARK_BLOCKS + 1];
    /* Bytes behind a backslash that are neither quote nor backslash. */
    uint64_t escaped[MARK_BLOCKS + 1];
    bool any_escaped;
};

ksv_status json_lines_open(const scan_spec *spec,
                           const ksv_allocator *allocator, json_lines **out,
                           ksv_error *error)
{
    *out = memory_alloc(allocator, sizeof **out);
    if (*out == NULL)
        return error_set_memory(error);
    (*out)->allocator = *allocator;
    (*out)->kernels = structure_choose();
    (*out)->end_byte = spec->record_end_cr ? '\r' : '\n';
    (*out)->drops_cr = !spec->record_end_cr;
    json_lines_begin(*out);
    return KSV_OK;
}

void json_lines_close(json_lines *lines)
{
    if (lines == NULL)
        return;
    ksv_allocator a = lines->allocator;
    memory_free(&a, lines, sizeof *lines);
}

void json_lines_begin(json_lines *lines)
{
    lines->data = NULL;
}

/* What stands behind backslashes. A line never begins behind one that counts:
 * a line with a backslash before its end matches no shape. */
static void sort_out_escapes(json_lines *m, size_t blocks)
{
    uint64_t behind = 0;
    uint64_t any = 0;
    for (size_t b = 0; b < blocks; b++) {
        if ((m->backslashes[b] | behind) == 0) {
            m->escaped[b] = 0;
            continue;
        }
        uint64_t left = m->backslashes[b] & ~behind;
        uint64_t escaped = behind;
        behind = 0;
        while (left != 0) {
            uint64_t first = left & (0 - left);
            escaped |= first << 1;
            behind = first >> 63;
            left &= ~(first | first << 1);
        }
        m->escaped[b] = escaped & ~(m->quotes[b] | m->backslashes[b]);
        m->quotes[b] &= ~escaped;
        any |= m->escaped[b];
    }
    m->any_escaped = any != 0;
}

static void look(json_lines *m, const record_reader *r)
{
    const uint8_t wanted[] = {m->end_byte, '"', '\\'};
    uint64_t *const masks[] = {m->ends, m->quotes, m->backslashes};
    size_t left = r->size - r->position;
    m->data = r->data + r->position;
    m->offset = reader_offset(r);
    m->size = left < MARK_BYTES ? left : MARK_BYTES;
    m->start = 0;
    size_t blocks = STRUCTURE_BLOCKS(m->size);
    m->kernels->find(m->data, m->size, wanted, 3, masks);
    sort_out_escapes(m, blocks);
    m->ends[blocks] = 0;
    m->quotes[blocks] = 0;
    m->backslashes[blocks] = 0;
    m->escaped[blocks] = 0;
}

/* The end of the next line, after looking on where needed; m->size: it takes
 * more care. */
static size_t next_end(json_lines *m, const record_reader *r)
{
    const uint8_t *next = r->data + r->position;
    if (m->data != NULL && m->data + m->start == next &&
        m->offset + m->start == reader_offset(r)) {
        size_t end = record_span_next_bit(m->ends, m->start, m->size);
        if (end < m->size)
            return end;
    }
    if (r->position == r->size)
        return m->size;
    look(m, r);
    return record_span_next_bit(m->ends, 0, m->size);
}

#if !defined(KSV_SCALAR) && defined(__SSE2__)

#define NUMBER_BYTES 16

/* A bit for each of the bytes at `p` that is no digit, and one behind them. */
static inline unsigned no_digits(const uint8_t *p)
{
    __m128i bytes = _mm_loadu_si128((const void *)p);
    __m128i values = _mm_sub_epi8(bytes, _mm_set1_epi8('0'));
    __m128i digits =
        _mm_cmpeq_epi8(_mm_min_epu8(values, _mm_set1_epi8(9)), values);
    return ~(unsigned)_mm_movemask_epi8(digits) & ((2u << NUMBER_BYTES) - 1);
}

/* Behind a number without sign and exponent of less than NUMBER_BYTES bytes;
 * NULL: it is none, or takes more care. */
static inline const uint8_t *short_number_end(const uint8_t *p)
{
    unsigned others = no_digits(p);
    unsigned length = (unsigned)__builtin_ctz(others);
    if (length == 0 || length == NUMBER_BYTES || (*p == '0' && length > 1))
        return NULL;
    if (p[length] == '.') {
        unsigned point = length;
        others &= others - 1;
        length = (unsigned)__builtin_ctz(others);
        if (length == point + 1 || length == NUMBER_BYTES)
            return NULL;
    }
    uint8_t next = p[length];
    return next == '.' || (next | 0x20) == 'e' ? NULL : p + length;
}

#else

static inline const uint8_t *short_number_end(const uint8_t *p)
{
    (void)p;
    return NULL;
}

#endif

/* Behind the scalar at `p`, which is no string; NULL: it takes more care. */
static inline const uint8_t *bare_scalar_end(const uint8_t *p,
                                             const uint8_t *line_end)
{
    const uint8_t *end = short_number_end(p + (*p == '-'));
    return end != NULL ? end : json_easy_scalar_end(p, line_end, true);
}

/* Whether all escapes of a line are right. */
static bool check_escapes(const json_lines *m, size_t start, size_t end)
{
    for (size_t at = record_span_next_bit(m->escaped, start, end); at < end;
         at = record_span_next_bit(m->escaped, at + 1, end))
        if (!json_escape_is_right(m->data + at, m->data + end))
            return false;
    return true;
}

/* As json_shape_match(), for a line behind which SLACK_BYTES may be read. */
static inline bool match(const json_lines *m, json_shape *shape, size_t start,
                         size_t end)
{
    const uint8_t *const data = m->data;
    const json_piece *piece = shape->pieces;
    const json_piece *const last = piece + shape->scalar_count;
    size_t at = start;
    for (; piece < last; piece++) {
        if (!json_piece_is_at(piece, data + at))
            return false;
        at += piece->length;
        size_t from = at;
        if (data[at] == '"') {
            at = record_span_next_bit(m->quotes, at + 1, end) + 1;
            if (at > end)
                return false;
        } else {
            const uint8_t *stop = bare_scalar_end(data + at, data + end);
            if (stop == NULL)
                return false;
            at = (size_t)(stop - data);
        }
        if (!piece->wanted)
            continue;
        if (record_span_next_bit(m->backslashes, from, at) < at)
            return false;
        shape->starts[piece - shape->pieces] = data + from;
        shape->ends[piece - shape->pieces] = data + at;
    }
    return json_piece_is_at(piece, data + at) &&
           json_skip_space(data + at + piece->length, data + end) ==
               data + end &&
           (!m->any_escaped || check_escapes(m, start, end));
}

static inline ksv_status set_key(const json_shape *shape, record_reader *r,
                                 scan_record *record, ksv_error *error)
{
    if (r->spec->part_count == 1) {
        json_text text = json_shape_text_of(shape, 0);
        record->key = text.data;
        record->key_bytes = text.size_bytes;
        record->kind =
            text.size_bytes > 0 ? SCAN_RECORD_KEYED : SCAN_RECORD_WITHOUT_KEY;
        return KSV_OK;
    }
    for (size_t i = 0; i < r->spec->part_count; i++) {
        json_text text = json_shape_text_of(shape, i);
        r->parts[i].data = text.data;
        r->parts[i].size = text.size_bytes;
    }
    return reader_finish_key(r, record, error);
}

ksv_status json_lines_take(json_lines *m, json_shape *shape, record_reader *r,
                           scan_record *records, size_t capacity, size_t *count,
                           ksv_error *error)
{
    while (shape->known && *count < capacity && !reader_batch_is_full(r)) {
        size_t end = next_end(m, r);
        size_t window_end = r->size - r->position + m->start;
        if (end == m->size || window_end - end < SLACK_BYTES)
            return KSV_OK;
        size_t start = m->start;
        size_t line_end = end;
        line_end -= m->drops_cr && end > start && m->data[end - 1] == '\r';
        /* If it does not match, the line will be taken whole all the same. */
        m->start = end + 1;
        if (!match(m, shape, start, line_end))
            return KSV_OK;
        json_shape_note_match(shape);
        scan_record *record = &records[*count];
        record->offset = m->offset + start;
        record->length = line_end - start;
        r->position += end + 1 - start;
        KSV_TRY(set_key(shape, r, record, error));
        ++*count;
    }
    return KSV_OK;
}
