/* SPDX-License-Identifier: MIT */
/* Lines of JSON that differ from an earlier one in their scalars only. */
#include "scan/json_shape.h"

#include <string.h>

#include "base/coding.h"
#include "base/error.h"
#include "base/memory.h"
#include "scan/json_bytes.h"
#include "scan/json_state.h"

enum { SCALARS_MAX = 64, FIXED_BYTES_MAX = 4096, PATIENCE_MAX = 1024 };

/* A scalar, and the bytes that stand before it. */
typedef struct shape_scalar {
    uint16_t fixed_end; /* in `fixed`; they begin where the last ones end */
    bool wanted;        /* it is a part of a key */
} shape_scalar;

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
    size_t fixed_bytes; /* with those behind the last scalar */
    shape_scalar scalars[SCALARS_MAX];
    uint8_t fixed[FIXED_BYTES_MAX + 8];
    /* Of the line that matched last. */
    const uint8_t *starts[SCALARS_MAX];
    const uint8_t *ends[SCALARS_MAX];
};

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

/* As memcmp() == 0; most are short. From `a` on there are `room` bytes, from
 * `b` on at least 8. */
static inline bool same_bytes(const uint8_t *a, size_t room, const uint8_t *b,
                              size_t size)
{
    if (size < 8 && room >= 8) {
        uint64_t different = load_u64(a) ^ load_u64(b);
        return (different & ((UINT64_C(1) << (8 * size)) - 1)) == 0;
    }
    if (size < 8) {
        uint8_t different = 0;
        for (size_t i = 0; i < size; i++)
            different |= a[i] ^ b[i];
        return different == 0;
    }
    uint64_t different = load_u64(a + size - 8) ^ load_u64(b + size - 8);
    for (size_t i = 0; i + 8 < size; i += 8)
        different |= load_u64(a + i) ^ load_u64(b + i);
    return different == 0;
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
    size_t fixed = 0;
    for (size_t i = 0; i < shape->scalar_count; i++) {
        size_t length = shape->scalars[i].fixed_end - fixed;
        if ((size_t)(end - p) <= length ||
            !same_bytes(p, (size_t)(end - p), shape->fixed + fixed, length))
            return false;
        p += length;
        fixed += length;
        shape->starts[i] = p;
        p = scalar_end(p, end, shape->scalars[i].wanted);
        if (p == NULL)
            return false;
        shape->ends[i] = p;
    }
    size_t length = shape->fixed_bytes - fixed;
    if ((size_t)(end - p) < length ||
        !same_bytes(p, (size_t)(end - p), shape->fixed + fixed, length) ||
        json_skip_space(p + length, end) != end)
        return false;
    shape->matches++;
    shape->misses = 0;
    return true;
}

json_text json_shape_text(const json_shape *shape, size_t part)
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

/* Adds what stands from `from` to the next scalar; false: it is too much. */
static bool add_fixed(json_shape *shape, const uint8_t *from,
                      const uint8_t *until)
{
    size_t size = (size_t)(until - from);
    if (size > FIXED_BYTES_MAX - shape->fixed_bytes)
        return false;
    memcpy(shape->fixed + shape->fixed_bytes, from, size);
    shape->fixed_bytes += size;
    return true;
}

static bool add_scalar(json_shape *shape, const uint8_t *from,
                       const uint8_t *start, const uint8_t *end)
{
    if (shape->scalar_count == SCALARS_MAX || !add_fixed(shape, from, start))
        return false;
    size_t i = shape->scalar_count++;
    shape->scalars[i] = (shape_scalar){(uint16_t)shape->fixed_bytes, false};
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
    return add_fixed(shape, from, end);
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
        shape->scalars[i].wanted = true;
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
