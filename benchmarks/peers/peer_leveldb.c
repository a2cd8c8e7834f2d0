/* SPDX-License-Identifier: MIT */
/* LevelDB: filled in the order of keys, with a Bloom filter; no compression. */
#include <stdlib.h>
#include <string.h>

#include <leveldb/c.h>

#include "harness.h"
#include "peers/peer.h"

#define BITS_A_KEY 10
#define CACHE_BYTES ((size_t)1 << 30)
#define KEYS_A_BATCH 1000

static void check(char *error)
{
    if (error != NULL)
        bench_fail(error);
}

static leveldb_options_t *make_options(void)
{
    leveldb_options_t *options = leveldb_options_create();
    leveldb_options_set_create_if_missing(options, 1);
    leveldb_options_set_compression(options, leveldb_no_compression);
    leveldb_options_set_write_buffer_size(options, (size_t)64 << 20);
    leveldb_options_set_filter_policy(
        options, leveldb_filterpolicy_create_bloom(BITS_A_KEY));
    leveldb_options_set_cache(options, leveldb_cache_create_lru(CACHE_BYTES));
    return options;
}

static void build(const peer_data *data, const char *directory)
{
    char *error = NULL;
    leveldb_t *db = leveldb_open(make_options(), directory, &error);
    check(error);
    leveldb_writeoptions_t *write = leveldb_writeoptions_create();
    leveldb_writebatch_t *batch = leveldb_writebatch_create();
    for (size_t i = 0; i < data->count; i++) {
        leveldb_writebatch_put(batch, data->bytes + data->offsets[i],
                               PEER_KEY_BYTES, (const char *)&data->offsets[i],
                               8);
        if ((i + 1) % KEYS_A_BATCH != 0 && i + 1 < data->count)
            continue;
        leveldb_write(db, write, batch, &error);
        check(error);
        leveldb_writebatch_clear(batch);
    }
    leveldb_compact_range(db, NULL, 0, NULL, 0);
    leveldb_writebatch_destroy(batch);
    leveldb_writeoptions_destroy(write);
    leveldb_close(db);
}

typedef struct handle {
    leveldb_t *db;
    leveldb_readoptions_t *read;
} handle;

static void *open_leveldb(const char *directory)
{
    char *error = NULL;
    handle *h = calloc(1, sizeof *h);
    if (h == NULL)
        bench_fail("out of memory");
    h->db = leveldb_open(make_options(), directory, &error);
    check(error);
    h->read = leveldb_readoptions_create();
    return h;
}

static bool find(void *ctx, const char *key, uint64_t *offset)
{
    handle *h = ctx;
    char *error = NULL;
    size_t bytes;
    char *value =
        leveldb_get(h->db, h->read, key, PEER_KEY_BYTES, &bytes, &error);
    check(error);
    if (value == NULL)
        return false;
    memcpy(offset, value, 8);
    leveldb_free(value);
    return true;
}

static void close_leveldb(void *ctx)
{
    handle *h = ctx;
    leveldb_readoptions_destroy(h->read);
    leveldb_close(h->db);
    free(h);
}

const peer peer_leveldb = {"LevelDB",    true, build,
                           open_leveldb, find, close_leveldb};
