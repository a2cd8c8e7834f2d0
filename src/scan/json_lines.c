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
/* Bytes of the window behind a stretch, which may be read. */
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
    /* Where a string ends, or else its line: a quote that is not behind a
     * backslash, or an end. */
    uint64_t stops[MARK_BLOCKS + 1];
    /* All quotes, ends and backslashes: where a string ends without any. */
    uint64_t marks[MARK_BLOCKS + 1];
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

/* Sorts out what stands behind backslashes; `stops` has all quotes before. A
 * line never begins behind one that counts: a line with a backslash before its
 * end matches no shape. */
static void finish_masks(json_lines *m, size_t blocks)
{
    uint64_t behind = 0;
    uint64_t any = 0;
    for (size_t b = 0; b < blocks; b++) {
        uint64_t quotes = m->stops[b];
        uint64_t backslashes = m->backslashes[b];
        uint64_t escaped = behind;
        uint64_t left = backslashes & ~behind;
        behind = 0;
        while (left != 0) {
            uint64_t first = left & (0 - left);
            escaped |= first << 1;
            behind = first >> 63;
            left &= ~(first | first << 1);
        }
        m->escaped[b] = escaped & ~(quotes | backslashes);
        m->stops[b] = (quotes & ~escaped) | m->ends[b];
        m->marks[b] = quotes | backslashes | m->ends[b];
        any |= m->escaped[b];
    }
    m->any_escaped = any != 0;
}

static void look(json_lines *m, const record_reader *r)
{
    const uint8_t wanted[] = {m->end_byte, '"', '\\'};
    uint64_t *const masks[] = {m->ends, m->stops, m->backslashes};
    size_t left = r->size - r->position;
    m->data = r->data + r->position;
    m->offset = reader_offset(r);
    m->size = left < SLACK_BYTES ? 0 : left - SLACK_BYTES;
    if (m->size > MARK_BYTES)
        m->size = MARK_BYTES;
    m->start = 0;
    size_t blocks = STRUCTURE_BLOCKS(m->size);
    m->kernels->find(m->data, m->size, wanted, 3, masks);
    finish_masks(m, blocks);
    m->ends[blocks] = 0;
    m->stops[blocks] = 0;
    m->marks[blocks] = 0;
    m->escaped[blocks] = 0;
}

/* Whether the next line begins at the reader's position. */
static inline bool is_at(const json_lines *m, const record_reader *r)
{
    return m->data != NULL && m->data + m->start == r->data + r->position &&
           m->offset + m->start == reader_offset(r);
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

/* The end of the line whose value ends at `at`; 0: there is more to it, or it
 * is not in the stretch. */
static inline size_t line_end_at(const json_lines *m, size_t at)
{
    if (m->drops_cr && m->data[at] == '\r')
        at++;
    return at < m->size && m->data[at] == m->end_byte ? at : 0;
}

/* Whether the next line matches the shape; if it does, `*value_end` is where
 * its value ends, and `*end` where it does itself. */
static inline bool match(const json_lines *m, json_shape *shape,
                         size_t *value_end, size_t *end)
{
    const uint8_t *const data = m->data;
    const size_t size = m->size;
    const json_piece *piece = shape->pieces;
    const json_piece *const last = piece + shape->scalar_count;
    size_t at = m->start;
    for (;; piece++) {
        if (piece->length > size - at || !json_piece_is_at(piece, data + at))
            return false;
        at += piece->length;
        if (piece == last)
            break;
        size_t from = at;
        if (data[at] == '"') {
            const uint64_t *mask = piece->wanted ? m->marks : m->stops;
            at = record_span_next_bit(mask, at + 1, size);
            if (at == size || data[at] != '"')
                return false;
            at++;
        } else {
            const uint8_t *stop = bare_scalar_end(data + at, data + size);
            if (stop == NULL || stop > data + size)
                return false;
            at = (size_t)(stop - data);
        }
        if (piece->wanted) {
            shape->starts[piece - shape->pieces] = data + from;
            shape->ends[piece - shape->pieces] = data + at;
        }
    }
    *value_end = at;
    *end = line_end_at(m, at);
    return *end > 0 && (!m->any_escaped || check_escapes(m, m->start, at));
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

/* Passes a line that is to be taken in another way. */
static void pass_line(json_lines *m)
{
    m->start = record_span_next_bit(m->ends, m->start, m->size);
    m->start += m->start < m->size;
}

ksv_status json_lines_take(json_lines *m, json_shape *shape, record_reader *r,
                           scan_record *records, size_t capacity, size_t *count,
                           ksv_error *error)
{
    while (shape->known && *count < capacity && !reader_batch_is_full(r)) {
        size_t value_end;
        size_t end;
        if (!is_at(m, r) || m->start == m->size)
            look(m, r);
        if (m->size == 0)
            return KSV_OK;
        if (!match(m, shape, &value_end, &end)) {
            /* Perhaps it only goes on beyond the stretch. */
            bool is_whole =
                record_span_next_bit(m->ends, m->start, m->size) < m->size;
            if (is_whole || m->start == 0) {
                pass_line(m);
                return KSV_OK;
            }
            look(m, r);
            continue;
        }
        scan_record *record = &records[*count];
        record->offset = m->offset + m->start;
        record->length = value_end - m->start;
        r->position += end + 1 - m->start;
        m->start = end + 1;
        json_shape_note_match(shape);
        KSV_TRY(set_key(shape, r, record, error));
        ++*count;
    }
    return KSV_OK;
}
