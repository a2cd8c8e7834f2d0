/* SPDX-License-Identifier: MIT */
/* A gzip source that pauses: what a writer has flushed is given before more
 * comes, and all of it comes once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <zlib.h>

#include "datafile/datafile.h"
#include "support/pace.h"
#include "support/random.h"

#define SIZE_MAX_BYTES 400000
#define PARTS_MAX 400

/* Compressed bytes, and how much content is told by the bytes up to each place
 * where they were flushed. */
typedef struct sample {
    uint8_t *content;
    size_t content_bytes;
    uint8_t *packed;
    size_t packed_bytes;
    size_t part_count;
    size_t packed_ends[PARTS_MAX];
    size_t content_ends[PARTS_MAX];
} sample;

static void deflate_part(sample *s, z_stream *z, size_t bytes, int flush)
{
    z->next_in = s->content + s->content_bytes;
    z->avail_in = (uInt)bytes;
    z->next_out = s->packed + s->packed_bytes;
    z->avail_out = (uInt)(2 * SIZE_MAX_BYTES - s->packed_bytes);
    (void)deflate(z, flush);
    assert_int_equal(z->avail_in, 0);
    s->content_bytes += bytes;
    s->packed_bytes = (size_t)(z->next_out - s->packed);
    s->packed_ends[s->part_count] = s->packed_bytes;
    s->content_ends[s->part_count++] = s->content_bytes;
}

/* Parts of random sizes, of bytes that compress more or less; some of them end
 * a member. */
static void make_sample(sample *s, uint64_t seed)
{
    random_source r = {seed};
    memset(s, 0, sizeof *s);
    s->content = malloc(SIZE_MAX_BYTES);
    s->packed = malloc(2 * SIZE_MAX_BYTES);
    unsigned letters = 1 + (unsigned)(random_next(&r) % 200);
    for (size_t i = 0; i < SIZE_MAX_BYTES; i++)
        s->content[i] = (uint8_t)('0' + random_next(&r) % letters);
    size_t most = random_next(&r) % 3 == 0 ? 60000 : 700;
    bool is_open = false;
    z_stream z;
    for (size_t i = 0; i < 300 && s->content_bytes + most < SIZE_MAX_BYTES;
         i++) {
        size_t bytes = 1 + random_next(&r) % most;
        bool ends = random_next(&r) % 5 == 0;
        memset(&z, 0, is_open ? 0 : sizeof z);
        if (!is_open)
            assert_int_equal(deflateInit2(&z, (int)(random_next(&r) % 10),
                                          Z_DEFLATED, 31, 8,
                                          Z_DEFAULT_STRATEGY),
                             Z_OK);
        deflate_part(s, &z, bytes, ends ? Z_FINISH : Z_SYNC_FLUSH);
        is_open = !ends;
        if (ends)
            deflateEnd(&z);
    }
    if (is_open) {
        deflate_part(s, &z, 0, Z_FINISH);
        deflateEnd(&z);
    }
}

static void free_sample(sample *s)
{
    free(s->content);
    free(s->packed);
}

/* A source that has nothing for a while at some places. */
typedef struct slow_source {
    const sample *s;
    size_t next;
    size_t part;       /* how much of it may be read now */
    size_t part_bytes; /* 0: as it was flushed; otherwise so many at a time */
    size_t idle;       /* times that nothing came since something did */
} slow_source;

static ksv_status read_slowly(void *ctx, void *buffer, size_t size_bytes,
                              size_t *got_bytes, bool *at_end, ksv_error *error)
{
    slow_source *slow = ctx;
    const sample *s = slow->s;
    (void)error;
    size_t end = slow->part_bytes == 0 ? s->packed_ends[slow->part]
                                       : slow->part * slow->part_bytes;
    end = end < s->packed_bytes ? end : s->packed_bytes;
    size_t left = end - slow->next;
    *got_bytes = left < size_bytes ? left : size_bytes;
    memcpy(buffer, s->packed + slow->next, *got_bytes);
    slow->next += *got_bytes;
    slow->idle = *got_bytes == 0 ? slow->idle + 1 : 0;
    *at_end = slow->next == s->packed_bytes;
    /* Nobody would ask for ever. */
    assert_true(slow->idle < 100);
    return KSV_OK;
}

/* Reads until nothing comes any more; checks what is given. */
static void read_part(datafile_stream *stream, const sample *s,
                      slow_source *slow, size_t *given, bool *last)
{
    slow->idle = 0;
    while (slow->idle == 0 && !*last) {
        const uint8_t *data;
        size_t size;
        assert_int_equal(datafile_stream_next(stream, &data, &size, last, NULL),
                         KSV_OK);
        assert_true(size <= s->content_bytes - *given);
        if (size > 0)
            assert_memory_equal(data, s->content + *given, size);
        *given += size;
    }
}

static void check(const sample *s, size_t part_bytes)
{
    datafile_stream *stream;
    slow_source slow = {.s = s, .part_bytes = part_bytes, .part = 0};
    size_t given = 0;
    bool last = false;
    if (part_bytes > 0)
        slow.part = 64 / part_bytes + 1;
    assert_int_equal(datafile_stream_open_source(read_slowly, &slow, "slow",
                                                 NULL, &stream, NULL),
                     KSV_OK);
    datafile_stream_options options = {.threads = 0};
    assert_int_equal(datafile_stream_configure(stream, &options, NULL), KSV_OK);
    for (; !last; slow.part++) {
        read_part(stream, s, &slow, &given, &last);
        if (part_bytes == 0 && !last)
            assert_int_equal(given, s->content_ends[slow.part]);
        if (slow.part + 1 == s->part_count && part_bytes == 0)
            break;
    }
    while (!last)
        read_part(stream, s, &slow, &given, &last);
    assert_int_equal(given, s->content_bytes);
    datafile_stream_close(stream);
}

static void test_flushed_parts(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < PACE_ROUNDS(10); seed++) {
        sample s;
        make_sample(&s, seed);
        check(&s, 0);
        free_sample(&s);
    }
}

/* Pauses anywhere: in headers, trailers and symbols. */
static void test_any_pieces(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, 2, 7, 100, 5000};
    for (uint64_t seed = 0; seed < 2; seed++) {
        sample s;
        make_sample(&s, 3 * seed + 1);
        for (size_t i = seed == 0 ? 0 : 1; i < sizeof sizes / sizeof sizes[0];
             i++) {
            if (s.packed_bytes / sizes[i] < 60000)
                check(&s, sizes[i]);
        }
        free_sample(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_flushed_parts),
        cmocka_unit_test(test_any_pieces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
