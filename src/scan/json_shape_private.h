/* SPDX-License-Identifier: MIT */
/* What those who match lines with a shape know of it. */
#ifndef KSV_SCAN_JSON_SHAPE_PRIVATE_H
#define KSV_SCAN_JSON_SHAPE_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <keysieve/memory.h>

#include "base/coding.h"
#include "scan/json_bytes.h"
#include "scan/json_shape.h"

enum {
    JSON_SHAPE_SCALARS_MAX = 64,
    JSON_SHAPE_BYTES_MAX = 4096,
    JSON_SHAPE_HEAD_BYTES = 16
};

/* The bytes before a scalar, or behind the last one. */
typedef struct json_piece {
    size_t length;
    const uint8_t *bytes;
    /* Its first bytes, filled up with zeros, and which bits of these count. */
    uint8_t head[JSON_SHAPE_HEAD_BYTES];
    uint8_t masks[JSON_SHAPE_HEAD_BYTES];
    bool wanted; /* the scalar behind it is a part of a key */
} json_piece;

struct json_shape {
    ksv_allocator allocator;
    size_t part_count;
    uint16_t *part_scalars; /* of each part, which scalar it is */
    bool known;
    /* Lines in a row that did not match, since one did or it was learnt, and
     * how many are taken before another shape is tried. */
    unsigned misses;
    unsigned patience;
    uint64_t matches; /* since it was learnt */
    size_t scalar_count;
    size_t fixed_bytes; /* of all pieces */
    json_piece pieces[JSON_SHAPE_SCALARS_MAX + 1];
    uint8_t fixed[JSON_SHAPE_BYTES_MAX + JSON_SHAPE_HEAD_BYTES];
    /* Of the line that matched last. */
    const uint8_t *starts[JSON_SHAPE_SCALARS_MAX];
    const uint8_t *ends[JSON_SHAPE_SCALARS_MAX];
};

static inline void json_shape_note_match(json_shape *shape)
{
    shape->matches++;
    shape->misses = 0;
}

/* As json_shape_text(). */
static inline json_text json_shape_text_of(const json_shape *shape, size_t part)
{
    size_t i = shape->part_scalars[part];
    const uint8_t *start = shape->starts[i];
    const uint8_t *end = shape->ends[i];
    if (*start == 'n')
        return (json_text){NULL, 0, true};
    if (*start == '"') {
        start++;
        end--;
    }
    return (json_text){start, (size_t)(end - start), true};
}

#if !defined(KSV_SCALAR) && defined(__SSE2__)

static inline bool json_head_is_at(const json_piece *piece, const uint8_t *p)
{
    __m128i bytes = _mm_loadu_si128((const void *)p);
    __m128i masks = _mm_loadu_si128((const void *)piece->masks);
    __m128i head = _mm_loadu_si128((const void *)piece->head);
    __m128i same = _mm_cmpeq_epi8(_mm_and_si128(bytes, masks), head);
    return _mm_movemask_epi8(same) == 0xffff;
}

#else

static inline bool json_head_is_at(const json_piece *piece, const uint8_t *p)
{
    uint64_t low = load_u64(p) & load_u64(piece->masks);
    uint64_t high = load_u64(p + 8) & load_u64(piece->masks + 8);
    return low == load_u64(piece->head) && high == load_u64(piece->head + 8);
}

#endif

/* Whether the piece is at `p`. No line end is in a piece: when one is in the
 * bytes at `p`, no more than JSON_SHAPE_HEAD_BYTES are read behind it. */
static inline bool json_piece_is_at(const json_piece *piece, const uint8_t *p)
{
    if (!json_head_is_at(piece, p))
        return false;
    if (piece->length <= JSON_SHAPE_HEAD_BYTES)
        return true;
    size_t last = piece->length - 8;
    for (size_t at = JSON_SHAPE_HEAD_BYTES; at < last; at += 8)
        if (load_u64(p + at) != load_u64(piece->bytes + at))
            return false;
    return load_u64(p + last) == load_u64(piece->bytes + last);
}

#endif
