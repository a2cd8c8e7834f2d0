/* SPDX-License-Identifier: MIT */
/* The inflater against zlib: outputs, block borders, verdicts on damage. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <zlib.h>

#include "compress/inflate.h"
#include "support/gzip_data.h"

#define CONTENT_BYTES 300000
#define FILE_HEADER_BYTES 10
#define FILE_TRAILER_BYTES 8

/* What a decoder makes of a raw stream. */
typedef struct outcome {
    bool right;
    gzip_bytes content;
    size_t blocks;
    uint64_t borders[20000]; /* the bit where a block begins */
    uint64_t used_bytes;
} outcome;

static outcome by_zlib, by_us;

/* In pieces of `piece` bytes of input and output of random sizes. */
static void run_ours(const uint8_t *in, size_t size, size_t piece,
                     random_source *random, outcome *o)
{
    static inflater s;
    static uint8_t out[INFLATE_WINDOW_BYTES + 70000 + INFLATE_OUTPUT_SLACK];
    uint8_t *input =
        malloc(piece + INFLATE_INPUT_WANTED + INFLATE_INPUT_PADDING);
    assert_non_null(input);
    memset(input, 0xa5, piece + INFLATE_INPUT_WANTED + INFLATE_INPUT_PADDING);
    inflate_init(&s);
    s.out = out;
    s.history = out;
    size_t read = 0;
    o->content.size = 0;
    o->blocks = 0;
    inflate_stop stop = INFLATE_INPUT;
    uint8_t *from = out;
    inflate_set_input(&s, input, 0, size == 0, 0);
    while (stop != INFLATE_END && stop < INFLATE_TRUNCATED) {
        if (stop == INFLATE_INPUT) {
            const size_t left = (size_t)(s.in_end - s.in_next);
            assert_true(left < INFLATE_INPUT_WANTED);
            memmove(input, s.in_next, left);
            size_t more = size - read < piece ? size - read : piece;
            memcpy(input + left, in + read, more);
            read += more;
            inflate_move_input(&s, input, left + more, read == size);
        }
        const size_t held = (size_t)(s.out - out);
        if (held > INFLATE_WINDOW_BYTES) {
            memmove(out, s.out - INFLATE_WINDOW_BYTES, INFLATE_WINDOW_BYTES);
            s.out = out + INFLATE_WINDOW_BYTES;
            s.history = out;
        }
        from = s.out;
        stop = inflate_run(&s, s.out + 1 + random_below(random, 69999));
        gzip_bytes_add(&o->content, from, (size_t)(s.out - from));
        if (stop == INFLATE_BLOCK && o->blocks < 20000)
            o->borders[o->blocks++] =
                (uint64_t)read * 8 - inflate_bits_left(&s);
    }
    o->right = stop == INFLATE_END;
    o->used_bytes = read - (size_t)(s.in_end - s.in_next);
    free(input);
}

static void run_zlib(const uint8_t *in, size_t size, outcome *o)
{
    z_stream z;
    memset(&z, 0, sizeof z);
    assert_int_equal(inflateInit2(&z, -15), Z_OK);
    z.next_in = (Bytef *)(uintptr_t)in;
    z.avail_in = (uInt)size;
    o->content.size = 0;
    o->blocks = 0;
    int result = Z_OK;
    while (result == Z_OK) {
        uint8_t out[60000];
        z.next_out = out;
        z.avail_out = sizeof out;
        result = inflate(&z, Z_BLOCK);
        gzip_bytes_add(&o->content, out, sizeof out - z.avail_out);
        if (result == Z_OK && (z.data_type & 128) != 0 &&
            (z.data_type & 64) == 0 && z.total_in != 0 && o->blocks < 20000)
            o->borders[o->blocks++] =
                (uint64_t)z.total_in * 8 - (z.data_type & 7);
    }
    o->right = result == Z_STREAM_END;
    o->used_bytes = z.total_in;
    inflateEnd(&z);
}

static void compare(const uint8_t *in, size_t size, random_source *random)
{
    const size_t piece = 1 + (size_t)random_below(random, 100000);
    run_zlib(in, size, &by_zlib);
    run_ours(in, size, piece, random, &by_us);
    assert_int_equal(by_us.right, by_zlib.right);
    if (!by_us.right)
        return;
    assert_int_equal(by_us.content.size, by_zlib.content.size);
    if (by_us.content.size != 0)
        assert_memory_equal(by_us.content.data, by_zlib.content.data,
                            by_us.content.size);
    assert_int_equal(by_us.used_bytes, by_zlib.used_bytes);
    assert_int_equal(by_us.blocks, by_zlib.blocks);
    for (size_t i = 0; i < by_us.blocks; i++)
        assert_true(by_us.borders[i] == by_zlib.borders[i]);
}

/* A raw stream and its content. */
static void make_stream(random_source *random, size_t most, gzip_bytes *file,
                        const uint8_t **raw, size_t *raw_bytes)
{
    gzip_bytes content = {0};
    gzip_content_add(
        &content, (gzip_content_kind)random_below(random, GZIP_CONTENT_KINDS),
        (size_t)random_below(random, most), random);
    gzip_how how = gzip_how_random(random);
    how.header_flags = 0;
    file->size = 0;
    gzip_member_add(file, content.data, content.size, &how, NULL, 0);
    *raw = file->data + FILE_HEADER_BYTES;
    *raw_bytes = file->size - FILE_HEADER_BYTES - FILE_TRAILER_BYTES;
    gzip_bytes_release(&content);
}

static void test_streams_equal_zlib(void **state)
{
    (void)state;
    gzip_bytes file = {0};
    for (uint64_t seed = 1; seed <= 120; seed++) {
        random_source random = {seed};
        const uint8_t *raw;
        size_t size;
        make_stream(&random, CONTENT_BYTES, &file, &raw, &size);
        compare(raw, size, &random);
        assert_true(by_us.right);
    }
    gzip_bytes_release(&file);
}

static void test_verdicts_equal_zlib(void **state)
{
    (void)state;
    gzip_bytes file = {0};
    gzip_bytes broken = {0};
    size_t accepted = 0, refused = 0;
    for (uint64_t seed = 1; seed <= 250; seed++) {
        random_source random = {seed * 977};
        const uint8_t *raw;
        size_t size;
        make_stream(&random, 5000, &file, &raw, &size);
        for (int i = 0; i < 40; i++) {
            broken.size = 0;
            gzip_bytes_add(&broken, raw, size);
            for (uint64_t n = random_below(&random, 3); n < 3; n++)
                broken.data[random_below(&random, size)] ^=
                    (uint8_t)(1 << random_below(&random, 8));
            if (random_below(&random, 3) == 0)
                broken.size = (size_t)random_below(&random, size + 1);
            compare(broken.data, broken.size, &random);
            accepted += by_us.right;
            refused += !by_us.right;
        }
    }
    assert_true(accepted > 500);
    assert_true(refused > 3000);
    gzip_bytes_release(&file);
    gzip_bytes_release(&broken);
}

/* Random bytes as dynamic headers: most are refused, for many reasons. */
static void test_random_bytes_equal_zlib(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20000; seed++) {
        random_source random = {seed};
        uint8_t bytes[120];
        random_fill(&random, bytes, sizeof bytes);
        bytes[0] = (uint8_t)((bytes[0] & 0xf8) | 5);
        if (seed % 8 == 0)
            bytes[0] = (uint8_t)((bytes[0] & 0xf8) | 3);
        compare(bytes, sizeof bytes, &random);
    }
}

static void test_whole(void **state)
{
    (void)state;
    static inflater s;
    gzip_bytes content = {0}, file = {0};
    random_source random = {5};
    gzip_content_add(&content, GZIP_CONTENT_TEXT, 5000, &random);
    const gzip_how how = gzip_how_usual();
    gzip_member_add(&file, content.data, content.size, &how, NULL, 0);
    const uint8_t *raw = file.data + FILE_HEADER_BYTES;
    const size_t size = file.size - FILE_HEADER_BYTES - FILE_TRAILER_BYTES;
    gzip_bytes_add(&file, content.data, INFLATE_INPUT_PADDING);
    raw = file.data + FILE_HEADER_BYTES;
    uint8_t *out = malloc(5001 + INFLATE_OUTPUT_SLACK);
    assert_non_null(out);
    inflate_init(&s);
    assert_true(inflate_whole(&s, raw, size, out, 5000));
    assert_memory_equal(out, content.data, 5000);
    assert_false(inflate_whole(&s, raw, size, out, 4999));
    assert_false(inflate_whole(&s, raw, size, out, 5001));
    assert_false(inflate_whole(&s, raw, size - 1, out, 5000));
    assert_false(inflate_whole(&s, raw, size + 1, out, 5000));
    assert_true(inflate_whole(&s, raw, size, out, 5000));
    free(out);
    gzip_bytes_release(&content);
    gzip_bytes_release(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_streams_equal_zlib),
        cmocka_unit_test(test_verdicts_equal_zlib),
        cmocka_unit_test(test_random_bytes_equal_zlib),
        cmocka_unit_test(test_whole),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    gzip_bytes_release(&by_zlib.content);
    gzip_bytes_release(&by_us.content);
    return failed;
}
