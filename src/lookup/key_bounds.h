/* SPDX-License-Identifier: MIT */
/* The two ends of a range of keys. */
#ifndef KSV_LOOKUP_KEY_BOUNDS_H
#define KSV_LOOKUP_KEY_BOUNDS_H

#include <keysieve/range.h>

#include "base/memory.h"

/* Keys from `low` on that come before `high`. */
typedef struct key_bounds {
    byte_buffer low;
    byte_buffer high;
    bool has_high;
} key_bounds;

/* `range` may be NULL. To be released in every case. */
ksv_status key_bounds_init(key_bounds *bounds, const ksv_range *range,
                           const ksv_allocator *allocator, ksv_error *error);
void key_bounds_release(key_bounds *bounds);

/* Negative, 0 or positive: the order of two keys. */
int key_compare(ksv_key a, ksv_key b);

/* Makes `buffer` a copy of `key`; or the first key that comes after it. */
ksv_status key_copy(byte_buffer *buffer, ksv_key key, ksv_error *error);
ksv_status key_copy_next(byte_buffer *buffer, ksv_key key, ksv_error *error);

static inline ksv_key key_of(const byte_buffer *buffer)
{
    return (ksv_key){buffer->data, buffer->size};
}

static inline bool key_is_below_high(const key_bounds *bounds, ksv_key key)
{
    return !bounds->has_high || key_compare(key, key_of(&bounds->high)) < 0;
}

static inline bool key_is_from_low(const key_bounds *bounds, ksv_key key)
{
    return key_compare(key, key_of(&bounds->low)) >= 0;
}

#endif
