/* SPDX-License-Identifier: MIT */
/* Contents, gzip and BGZF files made by zlib, and what reading them gives. */
#include "support/gzip_data.h"

#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "base/coding.h"
#include "datafile/points_writer.h"
#include "io/file.h"

const uint8_t gzip_pass_id[16] = {0, 1, 2,  3,  4,  5,  6,  7,
                                  8, 9, 10, 11, 12, 13, 14, 15};

static void need(bool holds)
{
    if (!holds)
        abort();
}

static uint8_t *grow(gzip_bytes *bytes, size_t more)
{
    if (bytes->size + more > bytes->capacity) {
        bytes->capacity = 2 * bytes->capacity + more;
        bytes->data = realloc(bytes->data, bytes->capacity);
        need(bytes->data != NULL);
    }
    uint8_t *at = bytes->data + bytes->size;
    bytes->size += more;
    return at;
}

void gzip_bytes_add(gzip_bytes *bytes, const void *data, size_t size_bytes)
{
    if (size_bytes != 0)
        memcpy(grow(bytes, size_bytes), data, size_bytes);
}

void gzip_bytes_release(gzip_bytes *bytes)
{
    free(bytes->data);
    memset(bytes, 0, sizeof *bytes);
}

static void add_text(uint8_t *at, size_t size, random_source *random)
{
    for (size_t i = 0; i < size;) {
        const uint64_t word = random_below(random, 500) + 7;
        for (uint64_t w = word; w != 0 && i < size; w /= 7)
            at[i++] = (uint8_t)('a' + w * 31 % 26);
        if (i < size)
            at[i++] = random_below(random, 8) == 0 ? '\n' : ',';
    }
}

static void add_runs(uint8_t *at, size_t size, random_source *random)
{
    for (size_t i = 0; i < size;) {
        size_t period = 1 + (size_t)random_below(random, 40);
        size_t length = (size_t)random_below(random, 3000);
        for (size_t k = 0; k < length && i < size; k++, i++)
            at[i] = k < period || i < period ? (uint8_t)random_next(random)
                                             : at[i - period];
    }
}

void gzip_content_add(gzip_bytes *content, gzip_content_kind kind,
                      size_t size_bytes, random_source *random)
{
    if (kind == GZIP_CONTENT_MIXED) {
        while (size_bytes != 0) {
            size_t part = 1 + (size_t)random_below(random, 60000);
            part = part < size_bytes ? part : size_bytes;
            gzip_content_add(
                content,
                (gzip_content_kind)random_below(random, GZIP_CONTENT_MIXED),
                part, random);
            size_bytes -= part;
        }
        return;
    }
    uint8_t *at = grow(content, size_bytes);
    if (kind == GZIP_CONTENT_TEXT)
        add_text(at, size_bytes, random);
    else if (kind == GZIP_CONTENT_RANDOM)
        random_fill(random, at, size_bytes);
    else
        add_runs(at, size_bytes, random);
}

gzip_how gzip_how_usual(void)
{
    return (gzip_how){.level = 6, .memory_level = 8};
}

gzip_how gzip_how_random(random_source *random)
{
    static const int flushes[] = {Z_PARTIAL_FLUSH, Z_SYNC_FLUSH, Z_FULL_FLUSH,
                                  Z_BLOCK};
    gzip_how how = {0};
    how.level = (int)random_below(random, 10);
    how.strategy = (int)random_below(random, 5);
    how.memory_level = 1 + (int)random_below(random, 9);
    if (random_below(random, 3) == 0) {
        how.flush = flushes[random_below(random, 4)];
        how.flush_each = 100 + (size_t)random_below(random, 20000);
    }
    how.header_flags = (unsigned)random_below(random, 32) & 0x1a;
    return how;
}

/* Raw DEFLATE of `data`, added to `file`. */
static void deflate_add(gzip_bytes *file, const uint8_t *data, size_t size,
                        const gzip_how *how)
{
    z_stream z;
    memset(&z, 0, sizeof z);
    need(deflateInit2(&z, how->level, Z_DEFLATED, -15, how->memory_level,
                      how->strategy) == Z_OK);
    z.next_in = (Bytef *)(uintptr_t)data;
    size_t left = size;
    int result = Z_OK;
    while (result != Z_STREAM_END) {
        const bool part = how->flush_each != 0 && how->flush_each < left;
        const int mode = part ? how->flush : Z_FINISH;
        z.avail_in = (uInt)(part ? how->flush_each : left);
        left -= z.avail_in;
        do {
            uint8_t out[16384];
            z.next_out = out;
            z.avail_out = sizeof out;
            result = deflate(&z, mode);
            need(result != Z_STREAM_ERROR);
            gzip_bytes_add(file, out, sizeof out - z.avail_out);
        } while (z.avail_out == 0);
    }
    deflateEnd(&z);
}

static void trailer_add(gzip_bytes *file, const uint8_t *data, size_t size)
{
    uint8_t trailer[8];
    uLong crc = 0;
    if (size != 0)
        crc = crc32_z(0, data, size);
    store_u32(trailer, (uint32_t)crc);
    store_u32(trailer + 4, (uint32_t)size);
    gzip_bytes_add(file, trailer, sizeof trailer);
}

static void header_add(gzip_bytes *file, const gzip_how *how, const void *extra,
                       size_t extra_bytes)
{
    const size_t begin = file->size;
    const unsigned flags = how->header_flags | (extra != NULL ? 4 : 0);
    const uint8_t fixed[10] = {0x1f,
                               0x8b,
                               how->method != 0 ? how->method : 8,
                               (uint8_t)flags,
                               1,
                               2,
                               3,
                               4,
                               0,
                               255};
    gzip_bytes_add(file, fixed, sizeof fixed);
    uint8_t number[2];
    if (extra != NULL) {
        store_u16(number, (uint16_t)extra_bytes);
        gzip_bytes_add(file, number, 2);
        gzip_bytes_add(file, extra, extra_bytes);
    }
    if ((flags & 8) != 0)
        gzip_bytes_add(file, "name.csv", 9);
    if ((flags & 16) != 0)
        gzip_bytes_add(file, "a comment", 10);
    if ((flags & 2) != 0) {
        store_u16(number,
                  (uint16_t)crc32_z(0, file->data + begin, file->size - begin));
        gzip_bytes_add(file, number, 2);
    }
}

void gzip_member_add(gzip_bytes *file, const void *data, size_t size_bytes,
                     const gzip_how *how, const void *extra, size_t extra_bytes)
{
    header_add(file, how, extra, extra_bytes);
    deflate_add(file, data, size_bytes, how);
    trailer_add(file, data, size_bytes);
}

static void bgzf_block_add(gzip_bytes *file, const uint8_t *data, size_t size,
                           const gzip_how *how)
{
    uint8_t extra[6] = {'B', 'C', 2, 0, 0, 0};
    const size_t begin = file->size;
    gzip_how plain = *how;
    plain.header_flags = 0;
    gzip_member_add(file, data, size, &plain, extra, sizeof extra);
    need(file->size - begin <= 65536);
    store_u16(file->data + begin + 16, (uint16_t)(file->size - begin - 1));
}

void gzip_bgzf_add(gzip_bytes *file, const void *data, size_t size_bytes,
                   size_t block_bytes, const gzip_how *how)
{
    const uint8_t *p = data;
    while (size_bytes != 0) {
        const size_t part = size_bytes < block_bytes ? size_bytes : block_bytes;
        bgzf_block_add(file, p, part, how);
        p += part;
        size_bytes -= part;
    }
}

void gzip_bgzf_marker_add(gzip_bytes *file)
{
    static const uint8_t marker[] = {0x1f, 0x8b, 8,   4,   0, 0, 0,  0, 0, 255,
                                     6,    0,    'B', 'C', 2, 0, 27, 0, 3, 0,
                                     0,    0,    0,   0,   0, 0, 0,  0};
    gzip_bytes_add(file, marker, sizeof marker);
}

void gzip_file_write(const ksv_file_system *fs, const char *path,
                     const uint8_t *data, size_t size_bytes)
{
    ksv_file *file;
    need(fs->create(fs->ctx, path, &file, NULL) == KSV_OK);
    if (size_bytes != 0)
        need(file->ops->append(file, data, size_bytes, NULL) == KSV_OK);
    need(file->ops->close(file, NULL) == KSV_OK);
}

void gzip_file_read(const ksv_file_system *fs, const char *path,
                    gzip_bytes *bytes)
{
    ksv_file *file;
    need(fs->open_read(fs->ctx, path, &file, NULL) == KSV_OK);
    size_t got = 1;
    while (got != 0) {
        uint8_t part[65536];
        need(file->ops->read_at(file, bytes->size, part, sizeof part, &got,
                                NULL) == KSV_OK);
        gzip_bytes_add(bytes, part, got);
    }
    file_close_quietly(file);
}

static ksv_status read_all(gzip_pass *pass, datafile_stream *stream)
{
    bool last = false;
    pass->disk_hash = 0;
    for (size_t piece = 1; !last && piece != pass->stop_after; piece++) {
        const uint8_t *data;
        size_t size;
        ksv_status status =
            datafile_stream_next(stream, &data, &size, &last, &pass->error);
        pass->disk_hash = (pass->disk_hash ^ size) * UINT64_C(0x100000001b3);
        pass->disk_hash =
            (pass->disk_hash ^ datafile_stream_disk_bytes(stream)) *
            UINT64_C(0x100000001b3);
        if (status != KSV_OK)
            return status;
        gzip_bytes_add(&pass->content, data, size);
        need(datafile_stream_content_bytes(stream) ==
             pass->begin + pass->content.size);
    }
    pass->stopped = !last;
    return KSV_OK;
}

/* Closes the stream, which borrows the writer. */
static void read_with_points(gzip_pass *pass, datafile_stream *stream,
                             points_writer *points)
{
    const datafile_stream_options options = {
        pass->threads, pass->ignore_trailing_garbage, points, pass->resume};
    ksv_status status =
        datafile_stream_configure(stream, &options, &pass->error);
    pass->begin = datafile_stream_content_bytes(stream);
    if (status == KSV_OK)
        status = read_all(pass, stream);
    ksv_file_info info;
    if (status == KSV_OK)
        status = datafile_stream_info_now(stream, &info, &pass->error);
    pass->warnings = datafile_stream_warnings(stream);
    if (status == KSV_OK && points != NULL && !pass->stopped)
        status = points_writer_finish(points, info.size_bytes, gzip_pass_id,
                                      &pass->error);
    datafile_stream_close(stream);
    pass->status = status;
}

void gzip_pass_run(gzip_pass *pass, const ksv_file_system *fs, const char *path,
                   const ksv_allocator *allocator)
{
    memset(&pass->error, 0, sizeof pass->error);
    pass->content.size = 0;
    pass->stopped = false;
    datafile_stream *stream;
    pass->status =
        datafile_stream_open(fs, path, allocator, &stream, &pass->error);
    if (pass->status != KSV_OK)
        return;
    pass->kind = datafile_stream_kind(stream);
    ksv_file *out = NULL;
    points_writer *points = NULL;
    if (pass->spacing_bytes != 0 && pass->kind != DATAFILE_PLAIN) {
        need(fs->create(fs->ctx, pass->points_path, &out, NULL) == KSV_OK);
        pass->status = points_writer_open(out, pass->kind, gzip_pass_id,
                                          pass->spacing_bytes, allocator,
                                          &points, &pass->error);
    }
    if (pass->status == KSV_OK)
        read_with_points(pass, stream, points);
    else
        datafile_stream_close(stream);
    points_writer_close(points);
    file_close_quietly(out);
}
