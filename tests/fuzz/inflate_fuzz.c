/* SPDX-License-Identifier: MIT */
/* Any bytes as raw DEFLATE: the verdict, the output and where it ends have to
 * be zlib's, in whatever pieces the bytes come. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "compress/inflate.h"

#define MOST_OUTPUT ((size_t)1 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inflater s;
static uint8_t ours[MOST_OUTPUT + INFLATE_OUTPUT_SLACK + 1];
static uint8_t theirs[MOST_OUTPUT + 1];

static void need(int holds)
{
    if (!holds)
        abort();
}

/* The output in `theirs`; the bytes of input used, or SIZE_MAX for an error. */
static size_t run_zlib(const uint8_t *data, size_t size, size_t *out_bytes)
{
    z_stream z;
    memset(&z, 0, sizeof z);
    need(inflateInit2(&z, -15) == Z_OK);
    z.next_in = (Bytef *)(uintptr_t)data;
    z.avail_in = (uInt)size;
    z.next_out = theirs;
    z.avail_out = MOST_OUTPUT;
    const int result = inflate(&z, Z_FINISH);
    const size_t used = result == Z_STREAM_END ? z.total_in : SIZE_MAX;
    *out_bytes = z.total_out;
    inflateEnd(&z);
    return used;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    /* The first byte says how the rest is cut. */
    const size_t step = data[0] < 128 ? SIZE_MAX : (size_t)data[0] - 127;
    data++;
    size--;
    size_t expected;
    const size_t used = run_zlib(data, size, &expected);
    if (expected == MOST_OUTPUT)
        return 0;
    uint8_t *input = malloc(size + INFLATE_INPUT_PADDING);
    need(input != NULL);
    memset(input + size, 0xff, INFLATE_INPUT_PADDING);
    memcpy(input, data, size);
    inflate_init(&s);
    s.out = ours;
    s.history = ours;
    size_t given = step < size ? step : size;
    inflate_set_input(&s, input, given, given == size, 0);
    uint8_t *limit = ours;
    inflate_stop stop = INFLATE_LIMIT;
    while (stop < INFLATE_END) {
        if (stop == INFLATE_LIMIT)
            limit = s.out + (step < 300 ? step : MOST_OUTPUT);
        if (limit > ours + MOST_OUTPUT)
            limit = ours + MOST_OUTPUT;
        need(s.out < ours + MOST_OUTPUT);
        if (stop == INFLATE_INPUT) {
            need(given < size);
            size_t more = step < size - given ? step : size - given;
            given += more;
            inflate_move_input(&s, s.in_next,
                               (size_t)(s.in_end - s.in_next) + more,
                               given == size);
        }
        stop = inflate_run(&s, limit);
    }
    need((stop == INFLATE_END) == (used != SIZE_MAX));
    if (stop == INFLATE_END) {
        need((size_t)(s.out - ours) == expected);
        need(memcmp(ours, theirs, expected) == 0);
        need((size_t)(s.in_next - input) == used);
    }
    free(input);
    return 0;
}
