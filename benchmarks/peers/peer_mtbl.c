/* SPDX-License-Identifier: MIT */
/* mtbl: an immutable sorted file, without compression. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mtbl.h>

#include "harness.h"
#include "peers/peer.h"

static void path_of(char *path, size_t size, const char *directory)
{
    snprintf(path, size, "%s/keys.mtbl", directory);
}

static void build(const peer_data *data, const char *directory)
{
    char path[4096];
    path_of(path, sizeof path, directory);
    struct mtbl_writer_options *options = mtbl_writer_options_init();
    mtbl_writer_options_set_compression(options, MTBL_COMPRESSION_NONE);
    struct mtbl_writer *writer = mtbl_writer_init(path, options);
    if (writer == NULL)
        bench_fail(path);
    for (size_t i = 0; i < data->count; i++) {
        const char *key = data->bytes + data->offsets[i];
        if (mtbl_writer_add(writer, (const uint8_t *)key, PEER_KEY_BYTES,
                            (const uint8_t *)&data->offsets[i],
                            8) != mtbl_res_success)
            bench_fail("mtbl_writer_add");
    }
    mtbl_writer_destroy(&writer);
    mtbl_writer_options_destroy(&options);
}

static void *open_mtbl(const char *directory)
{
    char path[4096];
    path_of(path, sizeof path, directory);
    struct mtbl_reader_options *options = mtbl_reader_options_init();
    mtbl_reader_options_set_madvise_random(options, true);
    struct mtbl_reader *reader = mtbl_reader_init(path, options);
    mtbl_reader_options_destroy(&options);
    if (reader == NULL)
        bench_fail(path);
    return reader;
}

static bool find(void *handle, const char *key, uint64_t *offset)
{
    const uint8_t *k, *value;
    size_t key_bytes, value_bytes;
    struct mtbl_iter *iter = mtbl_source_get(
        mtbl_reader_source(handle), (const uint8_t *)key, PEER_KEY_BYTES);
    bool found = iter != NULL &&
                 mtbl_iter_next(iter, &k, &key_bytes, &value, &value_bytes) ==
                     mtbl_res_success;
    if (found)
        memcpy(offset, value, 8);
    mtbl_iter_destroy(&iter);
    return found;
}

static void close_mtbl(void *handle)
{
    struct mtbl_reader *reader = handle;
    mtbl_reader_destroy(&reader);
}

const peer peer_mtbl = {"mtbl", true, build, open_mtbl, find, close_mtbl};
