/* SPDX-License-Identifier: MIT */
/* Little-endian numbers appended to byte buffers. */
#include "base/coding.h"

#include "base/error.h"

ksv_status buffer_put_u8(byte_buffer *buffer, uint8_t v, ksv_error *error)
{
    return buffer_append(buffer, &v, 1, error);
}

ksv_status buffer_put_u16(byte_buffer *buffer, uint16_t v, ksv_error *error)
{
    uint8_t bytes[2];
    store_u16(bytes, v);
    return buffer_append(buffer, bytes, sizeof bytes, error);
}

ksv_status buffer_put_u32(byte_buffer *buffer, uint32_t v, ksv_error *error)
{
    uint8_t bytes[4];
    store_u32(bytes, v);
    return buffer_append(buffer, bytes, sizeof bytes, error);
}

ksv_status buffer_put_u64(byte_buffer *buffer, uint64_t v, ksv_error *error)
{
    uint8_t bytes[8];
    store_u64(bytes, v);
    return buffer_append(buffer, bytes, sizeof bytes, error);
}

ksv_status buffer_put_bytes(byte_buffer *buffer, const void *data,
                            size_t size_bytes, ksv_error *error)
{
    if (size_bytes > UINT32_MAX)
        return error_set_memory(error);
    KSV_TRY(buffer_put_u32(buffer, (uint32_t)size_bytes, error));
    return buffer_append(buffer, data, size_bytes, error);
}
