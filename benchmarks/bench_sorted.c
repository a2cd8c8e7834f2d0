/* SPDX-License-Identifier: MIT */
/* Sorting whole keys, writing a sorted table of them, finding keys in it, and
 * what of that is reading blocks: bench_sorted [ENTRIES [BLOCK_BYTES [FILE]]]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/thread_pool.h"
#include "harness.h"
#include "io/file.h"
#include "io/processors.h"
#include "sort/key_sorter.h"
#include "sorted/sorted_cursor.h"
#include "sorted/sorted_iterator.h"
#include "sorted/sorted_writer.h"

#define MOST_ASKED ((uint64_t)1 << 16)
#define KEY_BYTES 36
#define PAYLOAD_BITS 30

typedef struct subject {
    uint64_t entries;
    size_t block_bytes;
    const char *path;
    unsigned threads;
    thread_pool *pool;
    ksv_file *file;
    sorted_reader *reader;
    sorted_cursor *cursor;
    uint64_t asked; /* keys a round */
    uint64_t found;
} subject;

/* As of a random UUID. */
static void make_key(uint64_t number, uint8_t key[KEY_BYTES])
{
    static const char digits[] = "0123456789abcdef";
    for (size_t word = 0, at = 0; word < 2; word++) {
        uint64_t bits = bench_random(number * 2 + word);
        for (size_t i = 0; i < 16; i++, bits >>= 4) {
            if (at == 8 || at == 13 || at == 18 || at == 23)
                key[at++] = '-';
            key[at++] = (uint8_t)digits[bits & 15];
        }
    }
}

static double seconds_since(double start_ns)
{
    return (bench_now_ns() - start_ns) / 1e9;
}

static key_sorter *sort_keys(const subject *s)
{
    key_sorter_options options = {.adders = 1};
    key_sorter *sorter;
    bench_check(key_sorter_open(&options, &sorter, NULL), NULL);
    key_adder *adder = key_sorter_adder(sorter, 0);
    double start = bench_now_ns();
    for (uint64_t i = 0; i < s->entries; i++) {
        uint8_t key[KEY_BYTES];
        make_key(i, key);
        bench_check(key_adder_add(adder, key, sizeof key, i * 90, NULL), NULL);
    }
    bench_check(key_sorter_finish(sorter, s->pool, NULL), NULL);
    bench_print("add", seconds_since(start) * 1e9 / (double)s->entries, "ns");
    return sorter;
}

static void write_sorted(const subject *s, key_sorter *sorter, ksv_file *file)
{
    sorted_options options = {.payload_bits = PAYLOAD_BITS,
                              .block_bytes = s->block_bytes};
    sorted_writer *writer;
    sorted_info info;
    bench_check(sorted_writer_open(file, &options, s->pool, s->threads, NULL,
                                   &writer, NULL),
                NULL);
    double start = bench_now_ns();
    for (;;) {
        key_entry entry;
        bool end;
        bench_check(key_sorter_next(sorter, &entry, &end, NULL), NULL);
        if (end)
            break;
        sorted_key key = {entry.key, entry.key_bytes};
        bench_check(sorted_writer_add(writer, key, entry.payload, NULL, NULL),
                    NULL);
    }
    bench_check(sorted_writer_finish(writer, &info, NULL), NULL);
    double entries = (double)info.entries;
    bench_print("write", seconds_since(start) * 1e9 / entries, "ns");
    bench_print("bytes_per_key", (double)info.file_bytes / entries, "B");
    bench_print("raw_bytes_per_key", (double)info.raw_bytes / entries, "B");
    bench_print("index_blocks", (double)(info.blocks - info.data_blocks), "");
    sorted_writer_close(writer);
}

static bool count_payload(void *ctx, uint64_t payload)
{
    (void)payload;
    ++*(uint64_t *)ctx;
    return true;
}

static void find_all(void *ctx)
{
    subject *s = ctx;
    for (uint64_t i = 0; i < s->asked; i++) {
        uint8_t bytes[KEY_BYTES];
        make_key(bench_random(i) % s->entries, bytes);
        sorted_key key = {bytes, sizeof bytes};
        bench_check(
            sorted_cursor_find(s->cursor, key, count_payload, &s->found, NULL),
            NULL);
    }
}

/* Blocks of the same sizes, read and not looked at. */
static void read_all(void *ctx)
{
    subject *s = ctx;
    static uint8_t block[1 << 20];
    for (uint64_t i = 0; i < s->asked; i++) {
        uint8_t bytes[KEY_BYTES];
        sorted_place place;
        bool found;
        make_key(bench_random(i) % s->entries, bytes);
        bench_check(sorted_cursor_locate(s->cursor,
                                         (sorted_key){bytes, sizeof bytes},
                                         &place, &found, NULL),
                    NULL);
        bench_check(file_read_exactly(s->file, place.offset, block,
                                      place.size_bytes, NULL),
                    NULL);
    }
}

static void iterate(void *ctx)
{
    subject *s = ctx;
    sorted_iterator *it;
    sorted_key key;
    uint64_t payload;
    bool end = false;
    bench_check(sorted_iterator_open(s->reader, 0, &it, NULL), NULL);
    while (!end)
        bench_check(sorted_iterator_next(it, &key, &payload, &end, NULL), NULL);
    sorted_iterator_close(it);
}

static void walk(void *ctx)
{
    subject *s = ctx;
    bool found;
    bench_check(sorted_cursor_first(s->cursor, &found, NULL), NULL);
    while (found)
        bench_check(sorted_cursor_next(s->cursor, &found, NULL), NULL);
}

static void measure_reading(subject *s)
{
    const ksv_file_system *fs = ksv_posix_file_system();
    bench_check(fs->open_read(fs->ctx, s->path, &s->file, NULL), NULL);
    bench_check(sorted_reader_open(s->file, NULL, &s->reader, NULL), NULL);
    bench_check(sorted_cursor_open(s->reader, &s->cursor, NULL), NULL);
    bench_run("find", find_all, s, (double)s->asked, 3);
    bench_run("read_blocks", read_all, s, (double)s->asked, 3);
    bench_run("iterate", iterate, s, (double)s->entries, 1);
    bench_run("walk", walk, s, (double)s->entries, 1);
    sorted_cursor_close(s->cursor);
    sorted_reader_close(s->reader);
    file_close_quietly(s->file);
    if (s->found != 4 * s->asked)
        bench_fail("keys were not found");
}

int main(int argc, char **argv)
{
    subject s = {.entries = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000000,
                 .block_bytes = argc > 2 ? strtoull(argv[2], NULL, 10) : 0,
                 .path = argc > 3 ? argv[3] : "bench_sorted.kss"};
    const ksv_file_system *fs = ksv_posix_file_system();
    ksv_file *file;
    s.asked = s.entries < MOST_ASKED ? s.entries : MOST_ASKED;
    s.threads = processor_count();
    bench_check(thread_pool_open(s.threads, NULL, &s.pool, NULL), NULL);
    key_sorter *sorter = sort_keys(&s);
    bench_check(fs->create(fs->ctx, s.path, &file, NULL), NULL);
    write_sorted(&s, sorter, file);
    bench_check(file->ops->close(file, NULL), NULL);
    key_sorter_close(sorter);
    measure_reading(&s);
    thread_pool_close(s.pool);
    bench_check(fs->remove(fs->ctx, s.path, NULL), NULL);
    return 0;
}
