/* SPDX-License-Identifier: MIT */
/* What zlib does for the library: CRC-32 without special instructions, and
 * deflating. */
#include "datafile/zlib_bridge.h"

#include <string.h>

#include <zlib.h>

#include "base/error.h"
#include "base/memory.h"

/* Measured on thinned windows, most of whose bytes are zeros: lazy matching
 * takes a tenth off the size and costs little here. Few candidates, but matches
 * as long as they get (a run of zeros is one), are up to a fifth faster than
 * level 5 as it comes, and no larger. */
#define DEFLATE_LEVEL 5
#define DEFLATE_GOOD_LENGTH 4
#define DEFLATE_LAZY_LENGTH 16
#define DEFLATE_NICE_LENGTH 258
#define DEFLATE_CHAIN 8
#define DEFLATE_RAW_WINDOW_BITS (-15)
#define DEFLATE_MEMORY_LEVEL 8

struct zlib_deflater {
    const ksv_allocator *allocator;
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

ksv_status zlib_deflater_open(const ksv_allocator *allocator,
                              zlib_deflater **out, ksv_error *error)
{
    *out = NULL;
    zlib_deflater *d = memory_zalloc(allocator, sizeof *d);
    if (d == NULL)
        return error_set_memory(error);
    d->allocator = allocator;
    d->stream.zalloc = bridge_alloc;
    d->stream.zfree = bridge_free;
    d->stream.opaque = (void *)(uintptr_t)allocator;
    if (deflateInit2(&d->stream, DEFLATE_LEVEL, Z_DEFLATED,
                     DEFLATE_RAW_WINDOW_BITS, DEFLATE_MEMORY_LEVEL,
                     Z_DEFAULT_STRATEGY) != Z_OK) {
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
    /* Resetting brings the level's own parameters back. */
    if (deflateReset(z) != Z_OK ||
        deflateTune(z, DEFLATE_GOOD_LENGTH, DEFLATE_LAZY_LENGTH,
                    DEFLATE_NICE_LENGTH, DEFLATE_CHAIN) != Z_OK)
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
