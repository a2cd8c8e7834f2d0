/* SPDX-License-Identifier: MIT */
/* What zlib does for the library: CRC-32 without special instructions, and
 * deflating. */
#ifndef KSV_COMPRESS_ZLIB_BRIDGE_H
#define KSV_COMPRESS_ZLIB_BRIDGE_H

#include <stddef.h>
#include <stdint.h>

#include <keysieve/memory.h>
#include <keysieve/status.h>

/* The CRC-32 of what `crc` is of (0 for nothing) followed by `data`. */
uint32_t zlib_crc32(uint32_t crc, const uint8_t *data, size_t size_bytes);

/* What `crc` becomes when so many bytes follow, but for what they add to it:
 * the CRC of all is this one exclusive-or that of the bytes alone. */
uint32_t zlib_crc32_shift(uint32_t crc, uint64_t size_bytes);

/* What is deflated: how hard to try, and how far back to look. */
typedef enum zlib_purpose {
    ZLIB_WINDOWS, /* windows of access points, most of whose bytes are zeros */
    ZLIB_KEYS     /* blocks of some KiB of keys */
} zlib_purpose;

/* A deflater of separate small pieces. */
typedef struct zlib_deflater zlib_deflater;

/* `allocator` is borrowed. */
ksv_status zlib_deflater_open(zlib_purpose purpose,
                              const ksv_allocator *allocator,
                              zlib_deflater **out, ksv_error *error);

/* Raw DEFLATE of `data` at `to`; the bytes written, or 0 when they would be
 * more than `capacity`. */
size_t zlib_deflate(zlib_deflater *deflater, const uint8_t *data,
                    size_t size_bytes, uint8_t *to, size_t capacity);

/* NULL is allowed. */
void zlib_deflater_close(zlib_deflater *deflater);

#endif
