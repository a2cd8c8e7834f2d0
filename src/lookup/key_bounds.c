/* SPDX-License-Identifier: MIT */
/* The two ends of a range of keys. */
#include "lookup/key_bounds.h"

#include <string.h>

#include "base/bytes.h"
#include "base/error.h"

int key_compare(ksv_key a, ksv_key b)
{
    return bytes_compare(a.data, a.bytes, b.data, b.bytes, 0);
}

ksv_status key_copy(byte_buffer *buffer, ksv_key key, ksv_error *error)
{
    buffer_clear(buffer);
    return key.bytes > 0 ? buffer_append(buffer, key.data, key.bytes, error)
                         : KSV_OK;
}

ksv_status key_copy_next(byte_buffer *buffer, ksv_key key, ksv_error *error)
{
    KSV_TRY(key_copy(buffer, key, error));
    return buffer_append(buffer, "", 1, error);
}

/* The first key behind all that begin with `prefix`; of bytes 0xff alone there
 * is none. */
static ksv_status end_of_prefix(key_bounds *bounds, ksv_key prefix,
                                ksv_error *error)
{
    const uint8_t *bytes = prefix.data;
    while (prefix.bytes > 0 && bytes[prefix.bytes - 1] == UINT8_MAX)
        prefix.bytes--;
    if (prefix.bytes == 0)
        return KSV_OK;
    KSV_TRY(key_copy(&bounds->high, prefix, error));
    bounds->high.data[prefix.bytes - 1]++;
    bounds->has_high = true;
    return KSV_OK;
}

static ksv_status set_bounds(key_bounds *bounds, const ksv_range *range,
                             ksv_error *error)
{
    KSV_TRY(key_copy(&bounds->low, range->prefix, error));
    KSV_TRY(end_of_prefix(bounds, range->prefix, error));
    if (range->from.data != NULL && key_is_from_low(bounds, range->from))
        KSV_TRY(key_copy(&bounds->low, range->from, error));
    if (range->to.data == NULL || !key_is_below_high(bounds, range->to))
        return KSV_OK;
    bounds->has_high = true;
    return key_copy_next(&bounds->high, range->to, error);
}

ksv_status key_bounds_init(key_bounds *bounds, const ksv_range *range,
                           const ksv_allocator *allocator, ksv_error *error)
{
    buffer_init(&bounds->low, allocator);
    buffer_init(&bounds->high, allocator);
    bounds->has_high = false;
    return range != NULL ? set_bounds(bounds, range, error) : KSV_OK;
}

void key_bounds_release(key_bounds *bounds)
{
    buffer_release(&bounds->low);
    buffer_release(&bounds->high);
}
