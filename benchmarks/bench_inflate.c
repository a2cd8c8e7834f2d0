/* SPDX-License-Identifier: MIT */
/* How fast gzip is inflated, with and without checksums and access points, next
 * to zlib and those of libdeflate and ISA-L that were there at configuration.
 * Arguments: MB of content (64), runs (5), a file, plain or gzip, from which
 * the content is taken (else it is made up). The content is compressed by zlib
 * at level 6. One line each of `name value unit`, the best of all runs, in GB/s
 * of content: of processor time, or of elapsed time for names ending in
 * `elapsed`. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <zlib.h>
#ifdef HAVE_LIBDEFLATE
#include <libdeflate.h>
#endif
#ifdef HAVE_ISAL
#include <isa-l/igzip_lib.h>
#endif

#include "base/coding.h"
#include "base/memory.h"
#include "datafile/gzip_decoder.h"
#include "datafile/gzip_reader.h"
#include "datafile/gzip_stream.h"
#include "datafile/points_writer.h"
#include "io/memory_file_system.h"

#define SPACING_BYTES ((uint64_t)1 << 20)
#define BGZF_CONTENT_BYTES 65280
#define READS 1000
#define READ_BYTES 100
#define POINTS_NAME "/points"

static const uint8_t points_id[POINTS_ID_BYTES];

/* All that is compared. */
typedef struct sample {
    uint8_t *content;
    size_t size;
    uint8_t *gzip;
    size_t gzip_size;
    uint8_t *bgzf;
    size_t bgzf_size;
    uint8_t *out; /* `size` bytes and some more */
    ksv_file_system fs;
    double random_read_ms;
    uint64_t points_size;
} sample;

static void fail(const char *what)
{
    fprintf(stderr, "%s\n", what);
    exit(1);
}

static void must(ksv_status status, const ksv_error *error)
{
    if (status != KSV_OK)
        fail(error->text);
}

static void *need_memory(size_t size)
{
    void *memory = malloc(size);
    if (memory == NULL)
        fail("out of memory");
    memset(memory, 1, size);
    return memory;
}

static uint64_t random_next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state * 0x2545f4914f6cdd1du;
}

static size_t make_up(char *data, size_t size)
{
    uint64_t state = 88172645463325252u;
    size_t at = 0;
    for (unsigned i = 0; at + 200 < size; i++) {
        const uint64_t r = random_next(&state);
        at +=
            (size_t)sprintf(data + at,
                            "%08x-%04x-4%03x-%016" PRIx64
                            ",\"name, %u\",\"street %u, city\",%u.%02u\n",
                            (unsigned)r, (unsigned)(r >> 32) & 0xffff,
                            (unsigned)(r >> 48) & 0xfff, random_next(&state), i,
                            (unsigned)r % 100000, (unsigned)r % 1000, i % 100);
    }
    return at;
}

static size_t read_file(const char *path, uint8_t *data, size_t size)
{
    gzFile file = gzopen(path, "rb");
    if (file == NULL)
        fail("cannot open the file");
    const int got = gzread(file, data, (unsigned)size);
    gzclose(file);
    return got > 0 ? (size_t)got : 0;
}

/* Deflates with a header of gzip (31) or none (-15). */
static size_t deflate_to(uint8_t *to, size_t room, const uint8_t *data,
                         size_t size, int window_bits)
{
    z_stream z;
    memset(&z, 0, sizeof z);
    if (deflateInit2(&z, 6, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY) !=
        Z_OK)
        fail("out of memory");
    z.next_in = (Bytef *)(uintptr_t)data;
    z.avail_in = (uInt)size;
    z.next_out = to;
    z.avail_out = (uInt)room;
    if (deflate(&z, Z_FINISH) != Z_STREAM_END)
        fail("cannot compress");
    deflateEnd(&z);
    return room - z.avail_out;
}

/* The BGZF block of so much content. */
static size_t make_block(uint8_t *to, const uint8_t *data, size_t size)
{
    static const uint8_t head[16] = {31, 139, 8, 4, 0,  0,  0, 0,
                                     0,  255, 6, 0, 66, 67, 2, 0};
    memcpy(to, head, sizeof head);
    const size_t body = deflate_to(to + 18, 65500, data, size, -15);
    store_u16(to + 16, (uint16_t)(body + 25));
    store_u32(to + 18 + body, (uint32_t)crc32(0, data, (uInt)size));
    store_u32(to + 22 + body, (uint32_t)size);
    return body + 26;
}

static void make_sample(sample *s, size_t size, const char *path)
{
    s->content = need_memory(size + 1);
    s->out = need_memory(size + 1);
    s->size = path != NULL ? read_file(path, s->content, size)
                           : make_up((char *)s->content, size);
    if (s->size == 0)
        fail("the file is empty");
    const size_t room = s->size + s->size / 8 + 100000;
    s->gzip = need_memory(room);
    s->gzip_size = deflate_to(s->gzip, room, s->content, s->size, 31);
    s->bgzf = need_memory(room);
    for (size_t at = 0; at < s->size; at += BGZF_CONTENT_BYTES) {
        const size_t left = s->size - at;
        s->bgzf_size +=
            make_block(s->bgzf + s->bgzf_size, s->content + at,
                       left < BGZF_CONTENT_BYTES ? left : BGZF_CONTENT_BYTES);
    }
    s->bgzf_size += make_block(s->bgzf + s->bgzf_size, s->content, 0);
    ksv_error error;
    must(memory_file_system_open(NULL, &s->fs, &error), &error);
}

/* Ways to inflate all of it. */

static void by_decoder(sample *s, bool check)
{
    static gzip_decoder d;
    const ksv_allocator a = allocator_or_default(NULL);
    ksv_error error;
    ksv_file *file;
    must(memory_file_over(s->gzip, s->gzip_size, NULL, &file, &error), &error);
    must(gzip_decoder_open(&d, file, 1 << 18, 1 << 18, &a, &error), &error);
    d.check_members = check;
    gzip_event event = GZIP_BLOCK;
    while (event != GZIP_END) {
        if (event == GZIP_FULL)
            gzip_decoder_make_room(&d);
        must(gzip_decoder_run(&d, UINT64_MAX, &event, &error), &error);
    }
    if (d.content != s->size)
        fail("inflated to something else");
    gzip_decoder_close(&d);
    file->ops->close(file, NULL);
}

static void alone(sample *s)
{
    by_decoder(s, false);
}

static void checked(sample *s)
{
    by_decoder(s, true);
}

/* With access points, by so many threads. */
static void by_stream(sample *s, const uint8_t *data, size_t size,
                      unsigned threads)
{
    ksv_error error;
    ksv_file *file, *to;
    gzip_stream *stream;
    points_writer *writer;
    must(memory_file_over(data, size, NULL, &file, &error), &error);
    must(s->fs.create(s->fs.ctx, POINTS_NAME, &to, &error), &error);
    must(gzip_stream_open(file, NULL, &stream, &error), &error);
    must(points_writer_open(to, gzip_stream_kind(stream), points_id,
                            SPACING_BYTES, NULL, &writer, &error),
         &error);
    const datafile_stream_options options = {.threads = threads,
                                             .points = writer};
    must(gzip_stream_configure(stream, &options, &error), &error);
    uint64_t content = 0;
    bool last = false;
    while (!last) {
        const uint8_t *piece;
        size_t piece_bytes;
        must(gzip_stream_next(stream, &piece, &piece_bytes, &last, &error),
             &error);
        content += piece_bytes;
    }
    if (content != s->size)
        fail("inflated to something else");
    const uint8_t fingerprint[16] = {0};
    must(points_writer_finish(writer, size, fingerprint, &error), &error);
    gzip_stream_close(stream);
    points_writer_close(writer);
    must(to->ops->close(to, &error), &error);
    file->ops->close(file, NULL);
}

static void with_points(sample *s)
{
    by_stream(s, s->gzip, s->gzip_size, 1);
}

static void with_points_ahead(sample *s)
{
    by_stream(s, s->gzip, s->gzip_size, 2);
}

static void bgzf_1(sample *s)
{
    by_stream(s, s->bgzf, s->bgzf_size, 1);
}

static void bgzf_2(sample *s)
{
    by_stream(s, s->bgzf, s->bgzf_size, 2);
}

static void by_zlib(sample *s)
{
    z_stream z;
    memset(&z, 0, sizeof z);
    if (inflateInit2(&z, 31) != Z_OK)
        fail("out of memory");
    z.next_in = s->gzip;
    z.avail_in = (uInt)s->gzip_size;
    int result = Z_OK;
    while (result == Z_OK) {
        z.next_out = s->out;
        z.avail_out = 1 << 18;
        result = inflate(&z, Z_NO_FLUSH);
    }
    inflateEnd(&z);
    if (result != Z_STREAM_END || z.total_out != s->size)
        fail("zlib: inflated to something else");
}

#ifdef HAVE_LIBDEFLATE
static void by_libdeflate(sample *s)
{
    struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
    size_t got;
    if (d == NULL ||
        libdeflate_gzip_decompress(d, s->gzip, s->gzip_size, s->out, s->size,
                                   &got) != LIBDEFLATE_SUCCESS ||
        got != s->size)
        fail("libdeflate: inflated to something else");
    libdeflate_free_decompressor(d);
}
#endif

#ifdef HAVE_ISAL
static void by_isal(sample *s)
{
    static struct inflate_state state;
    isal_inflate_init(&state);
    state.crc_flag = ISAL_GZIP;
    state.next_in = s->gzip;
    state.avail_in = (uint32_t)s->gzip_size;
    while (state.block_state != ISAL_BLOCK_FINISH) {
        state.next_out = s->out;
        state.avail_out = 1 << 18;
        if (isal_inflate(&state) != ISAL_DECOMP_OK)
            fail("ISA-L: damaged");
    }
    if (state.total_out != (uint32_t)s->size)
        fail("ISA-L: inflated to something else");
}
#endif

static double now_s(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Short reads all over the content, against the content. */
static void read_at_random(sample *s)
{
    ksv_error error;
    ksv_file *file;
    points_reader *points;
    gzip_reader *reader;
    must(memory_file_over(s->gzip, s->gzip_size, NULL, &file, &error), &error);
    must(points_reader_open(&s->fs, POINTS_NAME, points_id, NULL, &points,
                            &error),
         &error);
    s->points_size = points_reader_info(points)->file_bytes;
    must(gzip_reader_open(file, points, NULL, &reader, &error), &error);
    uint64_t state = 0x123456789abcdefu;
    const double start = now_s(CLOCK_PROCESS_CPUTIME_ID);
    for (int i = 0; i < READS; i++) {
        uint8_t bytes[READ_BYTES];
        const uint64_t offset = random_next(&state) % s->size;
        size_t got;
        must(gzip_reader_read_at(reader, offset, bytes, sizeof bytes, &got,
                                 NULL, &error),
             &error);
        if (memcmp(bytes, s->content + offset, got) != 0)
            fail("read something else");
    }
    const double ms = (now_s(CLOCK_PROCESS_CPUTIME_ID) - start) * 1000 / READS;
    if (s->random_read_ms == 0 || ms < s->random_read_ms)
        s->random_read_ms = ms;
    gzip_reader_close(reader);
    file->ops->close(file, NULL);
}

typedef struct way {
    const char *name;
    void (*run)(sample *s);
    bool elapsed;
    double best;
} way;

static way ways[] = {
    {"inflate", alone, false, 0},
    {"inflate_checked", checked, false, 0},
    {"inflate_points", with_points, false, 0},
    {"inflate_points_2_threads_elapsed", with_points_ahead, true, 0},
    {"zlib", by_zlib, false, 0},
#ifdef HAVE_LIBDEFLATE
    {"libdeflate", by_libdeflate, false, 0},
#endif
#ifdef HAVE_ISAL
    {"isal", by_isal, false, 0},
#endif
    {"bgzf_points_elapsed", bgzf_1, true, 0},
    {"bgzf_points_2_threads_elapsed", bgzf_2, true, 0},
};

#define WAYS (sizeof ways / sizeof ways[0])

static void measure(sample *s, way *w)
{
    const clockid_t clock =
        w->elapsed ? CLOCK_MONOTONIC : CLOCK_PROCESS_CPUTIME_ID;
    const double start = now_s(clock);
    w->run(s);
    const double took = now_s(clock) - start;
    if (w->best == 0 || took < w->best)
        w->best = took;
}

int main(int argc, char **argv)
{
    static sample s;
    const size_t size = (size_t)(argc > 1 ? atoi(argv[1]) : 64) * 1000000;
    const int runs = argc > 2 ? atoi(argv[2]) : 5;
    if (size == 0 || size > 1000000000 || runs < 1)
        fail("arguments: MB of content (1 to 1000), runs, a file");
    make_sample(&s, size, argc > 3 ? argv[3] : NULL);
    for (int i = 0; i < runs; i++) {
        with_points(&s);
        read_at_random(&s);
        for (size_t w = 0; w < WAYS; w++)
            measure(&s, &ways[w]);
    }
    for (size_t w = 0; w < WAYS; w++)
        printf("%s %.3f GB/s\n", ways[w].name,
               (double)s.size * 1e-9 / ways[w].best);
    printf("random_read %.3f ms\n", s.random_read_ms);
    printf("points %.2f percent\n",
           100.0 * (double)s.points_size / (double)s.gzip_size);
    memory_file_system_close(&s.fs);
    free(s.content);
    free(s.out);
    free(s.gzip);
    free(s.bgzf);
    return 0;
}
