/* SPDX-License-Identifier: MIT */
/* RocksDB with a Bloom filter and without compression: one sorted table file,
 * taken into a database; or filled in the order of the data, then compacted. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rocksdb/c.h>

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

static rocksdb_options_t *make_options(void)
{
    rocksdb_options_t *options = rocksdb_options_create();
    rocksdb_block_based_table_options_t *table =
        rocksdb_block_based_options_create();
    rocksdb_block_based_options_set_filter_policy(
        table, rocksdb_filterpolicy_create_bloom_full(BITS_A_KEY));
    rocksdb_block_based_options_set_block_cache(
        table, rocksdb_cache_create_lru(CACHE_BYTES));
    rocksdb_options_set_block_based_table_factory(options, table);
    rocksdb_options_set_compression(options, rocksdb_no_compression);
    rocksdb_options_set_create_if_missing(options, 1);
    return options;
}

static void write_table(const peer_data *data, const char *path,
                        const rocksdb_options_t *options)
{
    char *error = NULL;
    rocksdb_envoptions_t *env = rocksdb_envoptions_create();
    rocksdb_sstfilewriter_t *writer =
        rocksdb_sstfilewriter_create(env, options);
    rocksdb_sstfilewriter_open(writer, path, &error);
    for (size_t i = 0; i < data->count && error == NULL; i++)
        rocksdb_sstfilewriter_put(writer, data->bytes + data->offsets[i],
                                  PEER_KEY_BYTES,
                                  (const char *)&data->offsets[i], 8, &error);
    check(error);
    rocksdb_sstfilewriter_finish(writer, &error);
    check(error);
    rocksdb_sstfilewriter_destroy(writer);
    rocksdb_envoptions_destroy(env);
}

static void build(const peer_data *data, const char *directory)
{
    char path[4096], *error = NULL;
    const char *paths[] = {path};
    rocksdb_options_t *options = make_options();
    snprintf(path, sizeof path, "%s/keys.sst", directory);
    write_table(data, path, options);
    rocksdb_t *db = rocksdb_open(options, directory, &error);
    check(error);
    rocksdb_ingestexternalfileoptions_t *ingest =
        rocksdb_ingestexternalfileoptions_create();
    rocksdb_ingestexternalfileoptions_set_move_files(ingest, 1);
    rocksdb_ingest_external_file(db, paths, 1, ingest, &error);
    check(error);
    rocksdb_ingestexternalfileoptions_destroy(ingest);
    rocksdb_close(db);
    remove(path);
    rocksdb_options_destroy(options);
}

static void put_all(rocksdb_t *db, const peer_data *data)
{
    char *error = NULL;
    rocksdb_writeoptions_t *write = rocksdb_writeoptions_create();
    rocksdb_writebatch_t *batch = rocksdb_writebatch_create();
    rocksdb_writeoptions_disable_WAL(write, 1);
    for (size_t i = 0; i < data->count; i++) {
        rocksdb_writebatch_put(batch, data->bytes + data->offsets[i],
                               PEER_KEY_BYTES, (const char *)&data->offsets[i],
                               8);
        if ((i + 1) % KEYS_A_BATCH != 0 && i + 1 < data->count)
            continue;
        rocksdb_write(db, write, batch, &error);
        check(error);
        rocksdb_writebatch_clear(batch);
    }
    rocksdb_writebatch_destroy(batch);
    rocksdb_writeoptions_destroy(write);
}

static void build_unsorted(const peer_data *data, const char *directory)
{
    char *error = NULL;
    rocksdb_options_t *options = make_options();
    rocksdb_options_prepare_for_bulk_load(options);
    rocksdb_t *db = rocksdb_open(options, directory, &error);
    check(error);
    put_all(db, data);
    rocksdb_compact_range(db, NULL, 0, NULL, 0);
    rocksdb_close(db);
    rocksdb_options_destroy(options);
}

typedef struct handle {
    rocksdb_t *db;
    rocksdb_readoptions_t *read;
} handle;

static void *open_rocksdb(const char *directory)
{
    char *error = NULL;
    handle *h = calloc(1, sizeof *h);
    if (h == NULL)
        bench_fail("out of memory");
    h->db = rocksdb_open_for_read_only(make_options(), directory, 0, &error);
    check(error);
    h->read = rocksdb_readoptions_create();
    return h;
}

static bool find(void *ctx, const char *key, uint64_t *offset)
{
    handle *h = ctx;
    char *error = NULL;
    rocksdb_pinnableslice_t *slice =
        rocksdb_get_pinned(h->db, h->read, key, PEER_KEY_BYTES, &error);
    check(error);
    if (slice == NULL)
        return false;
    size_t bytes;
    memcpy(offset, rocksdb_pinnableslice_value(slice, &bytes), 8);
    rocksdb_pinnableslice_destroy(slice);
    return true;
}

static void close_rocksdb(void *ctx)
{
    handle *h = ctx;
    rocksdb_readoptions_destroy(h->read);
    rocksdb_close(h->db);
    free(h);
}

const peer peer_rocksdb = {"RocksDB",    true, build,
                           open_rocksdb, find, close_rocksdb};
const peer peer_rocksdb_unsorted = {"RocksDB-unsorted", false, build_unsorted,
                                    open_rocksdb,       find,  close_rocksdb};
