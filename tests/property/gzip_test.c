/* SPDX-License-Identifier: MIT */
/* Random gzip and BGZF files: a pass gives the content, random reads give the
 * same, zlib can restart at every access point, threads change nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <pthread.h>
#include <zlib.h>

#include "compress/inflate.h"
#include "datafile/points_reader.h"
#include "io/memory_file_system.h"
#include "support/fault_allocator.h"
#include "support/gzip_data.h"

#define FILES 32
#define MOST_BYTES 400000

typedef struct sample {
    ksv_file_system fs;
    fault_allocator allocator;
    gzip_bytes content;
    gzip_bytes file;
    bool is_bgzf;
    uint64_t spacing_bytes;
    random_source random;
} sample;

static void add_part(sample *s)
{
    random_source *r = &s->random;
    const size_t begin = s->content.size;
    const size_t size = random_below(r, 6) == 0
                            ? (size_t)random_below(r, 3)
                            : (size_t)random_below(r, MOST_BYTES / 2);
    gzip_content_add(&s->content,
                     (gzip_content_kind)random_below(r, GZIP_CONTENT_KINDS),
                     size, r);
    const gzip_how how = gzip_how_random(r);
    if (s->is_bgzf && random_below(r, 10) != 0)
        gzip_bgzf_add(&s->file, s->content.data + begin, size,
                      1 + (size_t)random_below(r, 60000), &how);
    else
        gzip_member_add(&s->file, s->content.data + begin, size, &how, NULL, 0);
    if (!s->is_bgzf && random_below(r, 4) == 0) {
        static const uint8_t zeros[700];
        gzip_bytes_add(&s->file, zeros, (size_t)random_below(r, 700));
    }
}

static void sample_make(sample *s, uint64_t seed)
{
    memset(s, 0, sizeof *s);
    s->random.state = seed;
    fault_allocator_init(&s->allocator, 0);
    assert_int_equal(memory_file_system_open(NULL, &s->fs, NULL), KSV_OK);
    s->is_bgzf = random_below(&s->random, 3) == 0;
    s->spacing_bytes = 1024 << random_below(&s->random, 9);
    const gzip_how how = gzip_how_usual();
    if (s->is_bgzf) {
        gzip_content_add(&s->content, GZIP_CONTENT_TEXT, 100, &s->random);
        gzip_bgzf_add(&s->file, s->content.data, 100, 100, &how);
    }
    const uint64_t parts = 1 + random_below(&s->random, 5);
    for (uint64_t i = 0; i < parts; i++)
        add_part(s);
    if (s->is_bgzf)
        gzip_bgzf_marker_add(&s->file);
    gzip_file_write(&s->fs, "data.gz", s->file.data, s->file.size);
}

static void sample_release(sample *s)
{
    assert_true(fault_allocator_is_clean(&s->allocator));
    memory_file_system_close(&s->fs);
    gzip_bytes_release(&s->content);
    gzip_bytes_release(&s->file);
}

static void run_pass(sample *s, unsigned threads, const char *points_path)
{
    gzip_pass pass = {.threads = threads,
                      .spacing_bytes = s->spacing_bytes,
                      .points_path = points_path};
    gzip_pass_run(&pass, &s->fs, "data.gz", &s->allocator.allocator);
    if (pass.status != KSV_OK)
        print_error("%s\n", pass.error.text);
    assert_int_equal(pass.status, KSV_OK);
    assert_int_equal(pass.kind, s->is_bgzf ? DATAFILE_BGZF : DATAFILE_GZIP);
    assert_int_equal(pass.warnings, 0);
    assert_int_equal(pass.content.size, s->content.size);
    if (s->content.size != 0)
        assert_memory_equal(pass.content.data, s->content.data,
                            s->content.size);
    gzip_bytes_release(&pass.content);
}

static void check_reads(sample *s, datafile *file, random_source *random,
                        int reads)
{
    static _Thread_local uint8_t got_bytes[200000];
    uint64_t offset = 0;
    for (int i = 0; i < reads; i++) {
        const uint64_t size = s->content.size;
        offset = random_below(random, 4) == 0
                     ? offset + random_below(random, 3000)
                     : random_below(random, size + 20);
        const size_t wanted = (size_t)random_below(
            random, random_below(random, 20) == 0 ? sizeof got_bytes : 300);
        size_t expected = 0;
        if (offset < size)
            expected =
                size - offset < wanted ? (size_t)(size - offset) : wanted;
        size_t got;
        datafile_cost cost = {0, 0, 0};
        ksv_error error;
        const ksv_status status = datafile_read_at(file, offset, got_bytes,
                                                   wanted, &got, &cost, &error);
        if (status != KSV_OK)
            print_error("%s\n", error.text);
        assert_int_equal(status, KSV_OK);
        assert_int_equal(got, expected);
        if (got != 0)
            assert_memory_equal(got_bytes, s->content.data + offset, got);
    }
}

static datafile *open_by_points(sample *s)
{
    datafile *file;
    assert_int_equal(
        datafile_open_compressed(&s->fs, "data.gz", "data.ksz", gzip_pass_id,
                                 &s->allocator.allocator, &file, NULL),
        KSV_OK);
    return file;
}

/* The window of an entry, by zlib. */
static void load_window(points_reader *points, const points_entry *entry,
                        uint8_t *window)
{
    ksv_allocator a = allocator_or_default(NULL);
    byte_buffer blob;
    buffer_init(&blob, &a);
    assert_int_equal(points_reader_blob(points, entry, &blob, NULL, NULL),
                     KSV_OK);
    if (entry->window_stored_bytes == entry->window_bytes) {
        if (entry->window_bytes != 0)
            memcpy(window, blob.data, entry->window_bytes);
        buffer_release(&blob);
        return;
    }
    z_stream z;
    memset(&z, 0, sizeof z);
    assert_int_equal(inflateInit2(&z, -15), Z_OK);
    z.next_in = blob.data;
    z.avail_in = entry->window_stored_bytes;
    z.next_out = window;
    z.avail_out = entry->window_bytes;
    assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
    assert_int_equal(z.total_out, entry->window_bytes);
    inflateEnd(&z);
    buffer_release(&blob);
}

static void seek_zlib(z_stream *z, const sample *s, uint64_t bit)
{
    z->next_in = s->file.data + bit / 8;
    z->avail_in = (uInt)(s->file.size - bit / 8);
    if (bit % 8 != 0) {
        const int skip = (int)(bit % 8);
        assert_int_equal(inflatePrime(z, 8 - skip, *z->next_in >> skip), Z_OK);
        z->next_in++;
        z->avail_in--;
    }
}

/* From an access point zlib gives the content that follows. */
static void check_point(sample *s, points_reader *points,
                        const points_entry *entry)
{
    static uint8_t window[INFLATE_WINDOW_BYTES];
    static uint8_t out[70000];
    load_window(points, entry, window);
    z_stream z;
    memset(&z, 0, sizeof z);
    assert_int_equal(inflateInit2(&z, -15), Z_OK);
    seek_zlib(&z, s, entry->header_bit);
    if (entry->symbol_bit != entry->header_bit) {
        z.next_out = out;
        z.avail_out = 1;
        /* A header whose bits were all given before is no progress. */
        const int header = inflate(&z, Z_TREES);
        assert_true(header == Z_OK || header == Z_BUF_ERROR);
        assert_true((z.data_type & 256) != 0);
        assert_int_equal(inflatePrime(&z, -1, 0), Z_OK);
        seek_zlib(&z, s, entry->symbol_bit);
    }
    if (entry->window_bytes != 0)
        assert_int_equal(inflateSetDictionary(&z, window, entry->window_bytes),
                         Z_OK);
    z.next_out = out;
    z.avail_out = sizeof out;
    const int result = inflate(&z, Z_SYNC_FLUSH);
    assert_true(result == Z_OK || result == Z_STREAM_END);
    const size_t got = sizeof out - z.avail_out;
    assert_true(result == Z_STREAM_END || got == sizeof out);
    assert_true(entry->content + got <= s->content.size);
    if (got != 0)
        assert_memory_equal(out, s->content.data + entry->content, got);
    inflateEnd(&z);
}

static void check_points(sample *s)
{
    points_reader *points;
    assert_int_equal(points_reader_open(&s->fs, "data.ksz", gzip_pass_id,
                                        &s->allocator.allocator, &points, NULL),
                     KSV_OK);
    const points_info *info = points_reader_info(points);
    assert_int_equal(info->content_bytes, s->content.size);
    assert_int_equal(info->data_bytes, s->file.size);
    points_page *page = calloc(1, sizeof *page);
    assert_non_null(page);
    uint64_t end = 0;
    uint64_t spacing = s->spacing_bytes;
    if (s->is_bgzf && spacing < 131072)
        spacing = 131072;
    for (uint64_t i = 0; i < info->points; i++) {
        points_entry entry;
        assert_int_equal(
            points_reader_entry(points, page, i, &entry, NULL, NULL), KSV_OK);
        assert_int_equal(entry.content, end);
        end = entry.content + entry.span_bytes;
        /* A stored block holds up to 64 KiB, a copy up to 258 bytes. */
        assert_true(entry.span_bytes <= spacing + spacing / 4 + 65536 + 258);
        check_point(s, points, &entry);
    }
    assert_int_equal(end, s->content.size);
    assert_int_equal(points_reader_verify(points, NULL), KSV_OK);
    points_reader_close(points);
    free(page);
}

static void check_same_files(sample *s, const char *a, const char *b)
{
    gzip_bytes first = {0}, second = {0};
    gzip_file_read(&s->fs, a, &first);
    gzip_file_read(&s->fs, b, &second);
    assert_int_equal(first.size, second.size);
    assert_memory_equal(first.data, second.data, first.size);
    gzip_bytes_release(&first);
    gzip_bytes_release(&second);
}

static void test_random_files(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= FILES; seed++) {
        sample s;
        sample_make(&s, seed);
        run_pass(&s, 1, "data.ksz");
        run_pass(&s, 2 + (unsigned)(seed % 2), "threads.ksz");
        check_same_files(&s, "data.ksz", "threads.ksz");
        check_points(&s);
        datafile *file = open_by_points(&s);
        check_reads(&s, file, &s.random, 150);
        datafile_close(file);
        sample_release(&s);
    }
}

typedef struct reader_thread {
    sample *sample;
    datafile *file;
    uint64_t seed;
} reader_thread;

static void *read_in_thread(void *ctx)
{
    reader_thread *t = ctx;
    random_source random = {t->seed};
    check_reads(t->sample, t->file, &random, 150);
    return NULL;
}

static void test_threads_share_a_file(void **state)
{
    (void)state;
    sample s;
    sample_make(&s, 12345);
    s.spacing_bytes = 40000;
    run_pass(&s, 2, "data.ksz");
    datafile *file = open_by_points(&s);
    reader_thread readers[6];
    pthread_t threads[6];
    for (unsigned i = 0; i < 6; i++) {
        readers[i] = (reader_thread){&s, file, i + 1};
        assert_int_equal(
            pthread_create(&threads[i], NULL, read_in_thread, &readers[i]), 0);
    }
    for (unsigned i = 0; i < 6; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    datafile_close(file);
    sample_release(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_files),
        cmocka_unit_test(test_threads_share_a_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
