/* SPDX-License-Identifier: MIT */
/* A tree of keys of 36 bytes: loading, finding, changing, bytes a key.
 * bench_btree DIRECTORY [KEYS [FINDS]] */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "btree/tree_cursor.h"
#include "btree/tree_loader.h"
#include "btree/tree_writer.h"
#include "io/file.h"

#define KEY_BYTES 36
#define NAME "bench.tree"

static const uint8_t id[16] = "bench of a tree.";

static void need(ksv_status status, const ksv_error *error)
{
    if (status == KSV_OK)
        return;
    fprintf(stderr, "%s: %s\n", error->path, error->text);
    exit(1);
}

static uint64_t mix(uint64_t z)
{
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* Keys rise with `i`: 16 digits of place, then 20 that look random. */
static tree_key make_key(uint64_t i, uint64_t keys, char text[KEY_BYTES + 1])
{
    uint64_t step = UINT64_MAX / keys;
    uint64_t place = i * step + mix(i) % step;
    snprintf(text, KEY_BYTES + 1, "%016" PRIx64 "%016" PRIx64 "%04x", place,
             mix(i + 1), (unsigned)(mix(i + 2) & 0xffff));
    return (tree_key){(const uint8_t *)text, KEY_BYTES};
}

static double seconds_since(uint64_t start_ns)
{
    return (double)(clock_monotonic_ns() - start_ns) / 1e9;
}

static void load(const char *directory, uint64_t keys)
{
    tree_loader *loader;
    tree_info info;
    ksv_error error;
    char text[KEY_BYTES + 1];
    uint64_t start = clock_monotonic_ns();
    need(tree_loader_open(ksv_posix_file_system(), directory, NAME, id, NULL,
                          &loader, &error),
         &error);
    for (uint64_t i = 0; i < keys; i++)
        need(tree_loader_add(loader, make_key(i, keys, text),
                             (tree_place){1, i * 90}, NULL, &error),
             &error);
    need(tree_loader_finish(loader, &info, &error), &error);
    tree_loader_close(loader);
    printf("load: %.2f s, %.2f bytes a key, inner pages %.2f %%\n",
           seconds_since(start), (double)info.file_bytes / (double)keys,
           100.0 * (double)(info.inner_pages * info.page_bytes) /
               (double)info.file_bytes);
}

static bool count_one(void *ctx, tree_place place)
{
    *(uint64_t *)ctx += place.part == 1;
    return true;
}

static void find(const char *path, uint64_t keys, uint64_t finds)
{
    tree_reader_options options = {.fs = ksv_posix_file_system(), .path = path};
    memcpy(options.id, id, sizeof id);
    tree_reader *reader;
    tree_cursor *cursor;
    ksv_error error;
    char text[KEY_BYTES + 1];
    uint64_t found = 0;
    uint64_t start = clock_monotonic_ns();
    need(tree_reader_open(&options, &reader, &error), &error);
    need(tree_cursor_open(reader, &cursor, &error), &error);
    printf("open: %.1f us\n", seconds_since(start) * 1e6);
    start = clock_monotonic_ns();
    for (uint64_t i = 0; i < finds; i++)
        need(tree_cursor_find(cursor, make_key(mix(i) % keys, keys, text),
                              count_one, &found, &error),
             &error);
    tree_cost cost = tree_cursor_cost(cursor);
    printf("find: %.2f us a key, %.3f blocks, %" PRIu64 " found\n",
           seconds_since(start) * 1e6 / (double)finds,
           (double)cost.blocks / (double)finds, found);
    tree_cursor_close(cursor);
    tree_reader_close(reader);
}

static void insert(const char *path, uint64_t keys, uint64_t count)
{
    tree_writer *writer;
    ksv_error error;
    char text[KEY_BYTES + 1];
    uint64_t start = clock_monotonic_ns();
    need(tree_writer_open(ksv_posix_file_system(), path, id, NULL, &writer,
                          &error),
         &error);
    printf("open for writing: %.1f ms\n", seconds_since(start) * 1e3);
    start = clock_monotonic_ns();
    for (uint64_t i = 0; i < count; i++)
        need(tree_writer_insert(writer,
                                make_key(i * (keys / count), keys, text),
                                (tree_place){2, i}, &error),
             &error);
    need(tree_writer_commit(writer, NULL, &error), &error);
    printf("insert: %.2f us a key\n",
           seconds_since(start) * 1e6 / (double)count);
    tree_writer_close(writer);
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: bench_btree DIRECTORY [KEYS [FINDS]]\n");
        return 2;
    }
    uint64_t keys = argc > 2 ? strtoull(argv[2], NULL, 10) : 1000000;
    uint64_t finds = argc > 3 ? strtoull(argv[3], NULL, 10) : 100000;
    char path[4096];
    if (keys < 100 || finds < 1)
        return 2;
    snprintf(path, sizeof path, "%s/%s", argv[1], NAME);
    load(argv[1], keys);
    find(path, keys, finds);
    insert(path, keys, keys / 100);
    return 0;
}
