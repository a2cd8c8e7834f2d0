/* SPDX-License-Identifier: MIT */
/* What zlib does for the library: CRC-32 without special instructions, and
 * deflating. */
#include "compress/zlib_bridge.h"

#include <string.h>

#include <zlib.h>

#include "base/error.h"
#include "base/memory.h"

/* Measured on thinned windows, most of whose bytes are zeros: lazy matching
 * takes a tenth off the size and costs little here. Few candidates, but matches
 * as long as they get (a run of zeros is one), are up to a fifth faster than
 * level 5 as it comes, and no larger. */
#define WINDOWS_LEVEL 5
#define WINDOWS_GOOD_LENGTH 4
#define WINDOWS_LAZY_LENGTH 16
#define WINDOWS_NICE_LENGTH 258
#define WINDOWS_CHAIN 8
#define WINDOWS_WINDOW_BITS (-15)
#define WINDOWS_MEMORY_LEVEL 8

/* Measured on blocks of 4 KiB. Short matches are chance in keys that are
 * random, where they cost more than they save; leaving them out takes a
 * twentieth off the size, and lower levels cannot do that. Of keys with words
 * in them level 6 leaves a twentieth less than level 1. A short window and a
 * small table of hashes are soon made ready for the next block. */
#define KEYS_LEVEL 6
#define KEYS_STRATEGY Z_FILTERED
#define KEYS_WINDOW_BITS (-14)
#define KEYS_MEMORY_LEVEL 6

struct zlib_deflater {
    const ksv_allocator *allocator;
    zlib_purpose purpose;
    z_stream stream;
};

/* zlib frees without a size, so the size stands before the memory. */
typedef union block_head {
    size_t size_bytes;
    max_align_t align;
} block_head;

static void *bridge_alloc(void *opaque, unsigned count, unsigned size_bytes)
{
    const size_t total = (size_t)count * size_bytes + sizeof(block_head);
    block_head *head = memory_zalloc(opaque, total);
    if (head == NULL)
        return NULL;
    head->size_bytes = total;
    return head + 1;
}

static void bridge_free(void *opaque, void *memory)
{
    block_head *head = (block_head *)memory - 1;
    memory_free(opaque, head, head->size_bytes);
}

uint32_t zlib_crc32(uint32_t crc, const uint8_t *data, size_t size_bytes)
{
    while (size_bytes != 0) {
        const uInt part =
            size_bytes < 1u << 30 ? (uInt)size_bytes : (uInt)1 << 30;
        crc = (uint32_t)crc32(crc, data, part);
        data += part;
        size_bytes -= part;
    }
    return crc;
}

uint32_t zlib_crc32_shift(uint32_t crc, uint64_t size_bytes)
{
    return crc != 0 ? (uint32_t)crc32_combine(crc, 0, (z_off_t)size_bytes) : 0;
}

static int init_stream(z_stream *z, zlib_purpose purpose)
{
    if (purpose == ZLIB_KEYS)
        return deflateInit2(z, KEYS_LEVEL, Z_DEFLATED, KEYS_WINDOW_BITS,
                            KEYS_MEMORY_LEVEL, KEYS_STRATEGY);
    return deflateInit2(z, WINDOWS_LEVEL, Z_DEFLATED, WINDOWS_WINDOW_BITS,
                        WINDOWS_MEMORY_LEVEL, Z_DEFAULT_STRATEGY);
}

/* Resetting brings the level's own parameters back. */
static int reset_stream(zlib_deflater *d)
{
    int result = deflateReset(&d->stream);
    if (result != Z_OK || d->purpose == ZLIB_KEYS)
        return result;
    return deflateTune(&d->stream, WINDOWS_GOOD_LENGTH, WINDOWS_LAZY_LENGTH,
                       WINDOWS_NICE_LENGTH, WINDOWS_CHAIN);
}

ksv_status zlib_deflater_open(zlib_purpose purpose,
                              const ksv_allocator *allocator,
                              zlib_deflater **out, ksv_error *error)
{
    *out = NULL;
    zlib_deflater *d = memory_zalloc(allocator, sizeof *d);
    if (d == NULL)
        return error_set_memory(error);
    d->allocator = allocator;
    d->purpose = purpose;
    d->stream.zalloc = bridge_alloc;
    d->stream.zfree = bridge_free;
    d->stream.opaque = (void *)(uintptr_t)allocator;
    if (init_stream(&d->stream, purpose) != Z_OK) {
        memory_free(allocator, d, sizeof *d);
        return error_set_memory(error);
    }
    *out = d;
    return KSV_OK;
}

size_t zlib_deflate(zlib_deflater *deflater, const uint8_t *data,
                    size_t size_bytes, uint8_t *to, size_t capacity)
{
    z_stream *z = &deflater->stream;
    if (reset_stream(deflater) != Z_OK)
        return 0;
    z->next_in = (Bytef *)(uintptr_t)data;
    z->avail_in = (uInt)size_bytes;
    z->next_out = to;
    z->avail_out = (uInt)capacity;
    if (deflate(z, Z_FINISH) != Z_STREAM_END)
        return 0;
    return capacity - z->avail_out;
}

void zlib_deflater_close(zlib_deflater *deflater)
{
    if (deflater == NULL)
        return;
    (void)deflateEnd(&deflater->stream);
    memory_free(deflater->allocator, deflater, sizeof *deflater);
}
