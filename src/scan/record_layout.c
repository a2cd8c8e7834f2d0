/* SPDX-License-Identifier: MIT */
/* The stored layout of a data file. */
#include "scan/record_layout.h"

#include "base/coding.h"
#include "base/error.h"

#define COLUMN_BYTES 8

static ksv_status corrupt(ksv_error *error)
{
    return error_set(error, KSV_ERROR_CORRUPT, NULL,
                     "the stored layout of a data file is damaged");
}

ksv_status record_layout_encode(const record_layout *layout, byte_buffer *out,
                                ksv_error *error)
{
    KSV_TRY(buffer_put_u8(out, RECORD_LAYOUT_VERSION, error));
    KSV_TRY(buffer_put_u64(out, layout->first_offset, error));
    KSV_TRY(buffer_put_u64(out, layout->header_offset, error));
    KSV_TRY(buffer_put_u64(out, layout->header_length, error));
    KSV_TRY(buffer_put_u32(out, (uint32_t)layout->column_count, error));
    for (size_t i = 0; i < layout->column_count; i++)
        KSV_TRY(buffer_put_u64(out, layout->columns[i], error));
    return KSV_OK;
}

/* A header ends before the first record, if there is one, begins. */
static bool header_is_possible(const record_layout *layout)
{
    if (layout->header_length == 0)
        return layout->header_offset == 0;
    if (layout->header_length > UINT64_MAX - layout->header_offset)
        return false;
    return layout->first_offset == 0 ||
           layout->header_offset + layout->header_length < layout->first_offset;
}

ksv_status record_layout_decode(const void *data, size_t size_bytes,
                                size_t column_capacity, record_layout *layout,
                                ksv_error *error)
{
    byte_cursor c = cursor_over(data, size_bytes);
    uint8_t version = cursor_u8(&c);
    if (version > RECORD_LAYOUT_VERSION)
        return error_set(error, KSV_ERROR_VERSION, NULL,
                         "the stored layout of a data file has version %u, "
                         "this program knows versions up to %u",
                         version, RECORD_LAYOUT_VERSION);
    layout->first_offset = cursor_u64(&c);
    layout->header_offset = cursor_u64(&c);
    layout->header_length = cursor_u64(&c);
    size_t count = cursor_u32(&c);
    if (c.failed || version == 0 ||
        (size_t)(c.end - c.next) / COLUMN_BYTES < count ||
        (size_t)(c.end - c.next) != count * COLUMN_BYTES ||
        !header_is_possible(layout) ||
        (column_capacity > 0 && count > column_capacity))
        return corrupt(error);
    layout->column_count = column_capacity > 0 ? count : 0;
    for (size_t i = 0; i < layout->column_count; i++)
        layout->columns[i] = cursor_u64(&c);
    return KSV_OK;
}
