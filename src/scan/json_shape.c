/* SPDX-License-Identifier: MIT */
/* Lines of JSON that differ from an earlier one in their scalars only. */
#include "scan/json_shape.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "scan/json_bytes.h"
#include "scan/json_shape_private.h"
#include "scan/json_state.h"

enum { PATIENCE_MAX = 1024 };

ksv_status json_shape_open(size_t part_count, const ksv_allocator *allocator,
                           json_shape **out, ksv_error *error)
{
    *out = NULL;
    json_shape *shape = memory_alloc(allocator, sizeof *shape);
    if (shape == NULL)
        return error_set_memory(error);
    shape->allocator = *allocator;
    shape->part_count = part_count;
    shape->known = false;
    shape->misses = 0;
    shape->patience = 1;
    shape->matches = 0;
    shape->part_scalars =
        memory_zalloc_array(allocator, part_count, sizeof *shape->part_scalars);
    if (shape->part_scalars == NULL) {
        json_shape_close(shape);
        return error_set_memory(error);
    }
    *out = shape;
    return KSV_OK;
}

void json_shape_close(json_shape *shape)
{
    if (shape == NULL)
        return;
    ksv_allocator a = shape->allocator;
    memory_free(&a, shape->part_scalars,
                shape->part_count * sizeof *shape->part_scalars);
    memory_free(&a, shape, sizeof *shape);
}

/* The same where less may be readable. */
static inline bool piece_is_at(const json_piece *piece, const uint8_t *p,
                               size_t room)
{
    if (room >= piece->length + JSON_SHAPE_HEAD_BYTES)
        return json_piece_is_at(piece, p);
    return room >= piece->length && memcmp(p, piece->bytes, piece->length) == 0;
}

/* Behind the scalar at `p`; NULL: it takes more care. */
static inline const uint8_t *scalar_end(const uint8_t *p, const uint8_t *end,
                                        bool wanted)
{
    if (*p == '"') {
        const uint8_t *stop = json_string_stop(p + 1, end);
        if (stop < end && *stop == '"')
            return stop + 1;
    }
    return json_easy_scalar_end(p, end, !wanted);
}

bool json_shape_match(json_shape *shape, const uint8_t *line, size_t size)
{
    if (!shape->known || size < shape->fixed_bytes)
        return false;
    const uint8_t *p = line;
    const uint8_t *end = line + size;
    const json_piece *piece = shape->pieces;
    for (size_t i = 0; i < shape->scalar_count; i++, piece++) {
        if (!piece_is_at(piece, p, (size_t)(end - p)))
            return false;
        p += piece->length;
        if (p == end)
            return false;
        shape->starts[i] = p;
        p = scalar_end(p, end, piece->wanted);
        if (p == NULL)
            return false;
        shape->ends[i] = p;
    }
    if (!piece_is_at(piece, p, (size_t)(end - p)) ||
        json_skip_space(p + piece->length, end) != end)
        return false;
    json_shape_note_match(shape);
    return true;
}

json_text json_shape_text(const json_shape *shape, size_t part)
{
    return json_shape_text_of(shape, part);
}

/* Behind the string at `p` of a valid line. */
static const uint8_t *valid_string_end(const uint8_t *p)
{
    for (p++; *p != '"'; p++)
        p += *p == '\\';
    return p + 1;
}

static bool is_between_scalars(uint8_t c)
{
    return c == '{' || c == '}' || c == '[' || c == ']' || c == ',' ||
           c == ':' || json_is_space(c);
}

/* Adds what stands from `from` to the next scalar as the next piece; false: it
 * is too much. */
static bool add_piece(json_shape *shape, const uint8_t *from,
                      const uint8_t *until)
{
    size_t size = (size_t)(until - from);
    if (size > JSON_SHAPE_BYTES_MAX - shape->fixed_bytes)
        return false;
    uint8_t *bytes = shape->fixed + shape->fixed_bytes;
    memcpy(bytes, from, size);
    shape->fixed_bytes += size;
    json_piece *piece = &shape->pieces[shape->scalar_count];
    *piece = (json_piece){.length = size, .bytes = bytes};
    for (size_t i = 0; i < size && i < JSON_SHAPE_HEAD_BYTES; i++) {
        piece->head[i] = bytes[i];
        piece->masks[i] = 0xff;
    }
    return true;
}

static bool add_scalar(json_shape *shape, const uint8_t *from,
                       const uint8_t *start, const uint8_t *end)
{
    if (shape->scalar_count == JSON_SHAPE_SCALARS_MAX ||
        !add_piece(shape, from, start))
        return false;
    size_t i = shape->scalar_count++;
    shape->starts[i] = start;
    shape->ends[i] = end;
    return true;
}

/* Takes a valid line apart. */
static bool learn_line(json_shape *shape, const uint8_t *line, size_t size)
{
    const uint8_t *end = line + size;
    while (end > line && json_is_space(end[-1]))
        end--;
    const uint8_t *from = line;
    const uint8_t *p = line;
    shape->scalar_count = 0;
    shape->fixed_bytes = 0;
    while (p < end) {
        const uint8_t *start = p;
        if (is_between_scalars(*p)) {
            p++;
            continue;
        }
        if (*p == '"') {
            p = valid_string_end(p);
            const uint8_t *next = json_skip_space(p, end);
            if (next < end && *next == ':')
                continue; /* a name */
        } else {
            while (p < end && !is_between_scalars(*p))
                p++;
        }
        if (!add_scalar(shape, from, start, p))
            return false;
        from = p;
    }
    return add_piece(shape, from, end);
}

/* Which scalar of the line just learnt a part of the key is. A part without a
 * text might be in no place of its own, so such lines are not learnt. */
static bool learn_part(json_shape *shape, size_t part, json_text text)
{
    if (text.size_bytes == 0 || !text.is_borrowed)
        return false;
    for (size_t i = 0; i < shape->scalar_count; i++) {
        const uint8_t *start = shape->starts[i];
        if (text.data != start + (*start == '"'))
            continue;
        shape->pieces[i].wanted = true;
        shape->part_scalars[part] = (uint16_t)i;
        return true;
    }
    return false;
}

void json_shape_note(json_shape *shape, const json_scanner *scanner,
                     const uint8_t *line, size_t size)
{
    if (++shape->misses < shape->patience)
        return;
    /* The less a shape was good for, the longer the next one has to wait. */
    if (shape->matches >= shape->patience)
        shape->patience = 1;
    else if (shape->patience < PATIENCE_MAX)
        shape->patience *= 2;
    shape->misses = 0;
    shape->matches = 0;
    shape->known = learn_line(shape, line, size);
    for (size_t i = 0; i < shape->part_count && shape->known; i++)
        shape->known = learn_part(shape, i, json_scanner_text(scanner, i));
}
