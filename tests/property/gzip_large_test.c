/* SPDX-License-Identifier: MIT */
/* Content beyond 4 GiB in one gzip member: lengths modulo 2^32, offsets of 64
 * bits. Takes half a minute, so only with KSV_LARGE_TESTS in the environment.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <zlib.h>

#include "base/coding.h"
#include "datafile/crc32.h"
#include "datafile/points_writer.h"
#include "io/memory_file_system.h"
#include "support/gzip_data.h"

/* The content is a piece again and again. */
#define PIECE_BYTES 1000003
#define PIECES ((uint64_t)5400)

/* One DEFLATE segment that depends on nothing before it. */
static void segment_add(gzip_bytes *out, const gzip_bytes *piece, int flush)
{
    z_stream z;
    memset(&z, 0, sizeof z);
    assert_int_equal(
        deflateInit2(&z, 6, Z_DEFLATED, -15, 9, Z_DEFAULT_STRATEGY), Z_OK);
    static uint8_t buffer[PIECE_BYTES];
    z.next_in = piece->data;
    z.avail_in = (uInt)piece->size;
    z.next_out = buffer;
    z.avail_out = sizeof buffer;
    (void)deflate(&z, flush);
    assert_true(z.avail_in == 0 && z.avail_out != 0);
    gzip_bytes_add(out, buffer, sizeof buffer - z.avail_out);
    deflateEnd(&z);
}

static void make_file(gzip_bytes *file, gzip_bytes *piece)
{
    random_source random = {1};
    gzip_content_add(piece, GZIP_CONTENT_TEXT, 5003, &random);
    while (piece->size < PIECE_BYTES) {
        const size_t left = PIECE_BYTES - piece->size;
        uint8_t part[5003];
        memcpy(part, piece->data, sizeof part);
        gzip_bytes_add(piece, part, left < 5003 ? left : 5003);
    }
    gzip_bytes segment = {0};
    segment_add(&segment, piece, Z_FULL_FLUSH);
    gzip_bytes_add(file, "\x1f\x8b\x08\0\0\0\0\0\0\xff", 10);
    uint32_t crc = 0;
    for (uint64_t i = 0; i < PIECES; i++) {
        gzip_bytes_add(file, segment.data, segment.size);
        crc = crc32_update(crc, piece->data, piece->size);
    }
    const gzip_bytes nothing = {0};
    segment_add(file, &nothing, Z_FINISH);
    uint8_t trailer[8];
    store_u32(trailer, crc);
    store_u32(trailer + 4, (uint32_t)(PIECES * PIECE_BYTES));
    gzip_bytes_add(file, trailer, sizeof trailer);
    gzip_bytes_release(&segment);
}

static void run_pass(const ksv_file_system *fs, uint64_t file_bytes)
{
    datafile_stream *stream;
    assert_int_equal(datafile_stream_open(fs, "data", NULL, &stream, NULL),
                     KSV_OK);
    ksv_file *out;
    points_writer *points;
    assert_int_equal(fs->create(fs->ctx, "data.ksz", &out, NULL), KSV_OK);
    assert_int_equal(points_writer_open(out, DATAFILE_GZIP, gzip_pass_id,
                                        1 << 20, NULL, &points, NULL),
                     KSV_OK);
    const datafile_stream_options options = {1, false, points};
    assert_int_equal(datafile_stream_configure(stream, &options, NULL), KSV_OK);
    bool last = false;
    while (!last) {
        const uint8_t *data;
        size_t size;
        assert_int_equal(
            datafile_stream_next(stream, &data, &size, &last, NULL), KSV_OK);
    }
    assert_int_equal(datafile_stream_content_bytes(stream),
                     PIECES * PIECE_BYTES);
    assert_int_equal(
        points_writer_finish(points, file_bytes, gzip_pass_id, NULL), KSV_OK);
    points_writer_close(points);
    assert_int_equal(out->ops->close(out, NULL), KSV_OK);
    datafile_stream_close(stream);
}

static void check_read(datafile *file, const gzip_bytes *piece, uint64_t offset)
{
    uint8_t buffer[5000];
    size_t got;
    assert_int_equal(
        datafile_read_at(file, offset, buffer, sizeof buffer, &got, NULL, NULL),
        KSV_OK);
    const uint64_t left = PIECES * PIECE_BYTES - offset;
    assert_int_equal(got, left < sizeof buffer ? left : sizeof buffer);
    for (size_t i = 0; i < got; i++)
        assert_int_equal(buffer[i], piece->data[(offset + i) % PIECE_BYTES]);
}

static void test_beyond_4_gib(void **state)
{
    (void)state;
    if (getenv("KSV_LARGE_TESTS") == NULL)
        skip();
    ksv_file_system fs;
    gzip_bytes file = {0}, piece = {0};
    assert_int_equal(memory_file_system_open(NULL, &fs, NULL), KSV_OK);
    make_file(&file, &piece);
    gzip_file_write(&fs, "data", file.data, file.size);
    run_pass(&fs, file.size);
    datafile *opened;
    assert_int_equal(datafile_open_compressed(&fs, "data", "data.ksz",
                                              gzip_pass_id, NULL, &opened,
                                              NULL),
                     KSV_OK);
    random_source random = {2};
    for (int i = 0; i < 300; i++)
        check_read(opened, &piece, random_below(&random, PIECES * PIECE_BYTES));
    const uint64_t border = (uint64_t)1 << 32;
    for (uint64_t offset = border - 6000; offset < border + 2000; offset += 999)
        check_read(opened, &piece, offset);
    check_read(opened, &piece, PIECES * PIECE_BYTES - 1);
    datafile_close(opened);
    memory_file_system_close(&fs);
    gzip_bytes_release(&file);
    gzip_bytes_release(&piece);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_beyond_4_gib)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
