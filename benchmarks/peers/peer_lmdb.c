/* SPDX-License-Identifier: MIT */
/* LMDB: a B+ tree in a mapped file, filled in the order of keys. */
#include <stdlib.h>
#include <string.h>

#include <lmdb.h>

#include "harness.h"
#include "peers/peer.h"

#define MAP_BYTES ((size_t)64 << 30)
#define KEYS_A_TRANSACTION 1000000

typedef struct handle {
    MDB_env *env;
    MDB_txn *txn;
    MDB_dbi dbi;
} handle;

static void check(int status)
{
    if (status != 0)
        bench_fail(mdb_strerror(status));
}

static void open_env(handle *h, const char *directory, unsigned flags)
{
    check(mdb_env_create(&h->env));
    check(mdb_env_set_mapsize(h->env, MAP_BYTES));
    check(mdb_env_open(h->env, directory, flags, 0666));
}

static void build(const peer_data *data, const char *directory)
{
    handle h;
    open_env(&h, directory, MDB_NOSYNC);
    for (size_t i = 0; i < data->count; i++) {
        if (i % KEYS_A_TRANSACTION == 0) {
            check(mdb_txn_begin(h.env, NULL, 0, &h.txn));
            check(mdb_dbi_open(h.txn, NULL, 0, &h.dbi));
        }
        uint64_t offset = data->offsets[i];
        MDB_val key = {PEER_KEY_BYTES,
                       (void *)(uintptr_t)(data->bytes + offset)};
        MDB_val value = {8, &offset};
        check(mdb_put(h.txn, h.dbi, &key, &value, MDB_APPEND));
        if ((i + 1) % KEYS_A_TRANSACTION == 0 || i + 1 == data->count)
            check(mdb_txn_commit(h.txn));
    }
    check(mdb_env_sync(h.env, 1));
    mdb_env_close(h.env);
}

static void *open_lmdb(const char *directory)
{
    handle *h = calloc(1, sizeof *h);
    if (h == NULL)
        bench_fail("out of memory");
    open_env(h, directory, MDB_RDONLY | MDB_NORDAHEAD);
    check(mdb_txn_begin(h->env, NULL, MDB_RDONLY, &h->txn));
    check(mdb_dbi_open(h->txn, NULL, 0, &h->dbi));
    return h;
}

static bool find(void *ctx, const char *key, uint64_t *offset)
{
    handle *h = ctx;
    MDB_val k = {PEER_KEY_BYTES, (void *)(uintptr_t)key};
    MDB_val value;
    int status = mdb_get(h->txn, h->dbi, &k, &value);
    if (status == MDB_NOTFOUND)
        return false;
    check(status);
    memcpy(offset, value.mv_data, 8);
    return true;
}

static void close_lmdb(void *ctx)
{
    handle *h = ctx;
    mdb_txn_abort(h->txn);
    mdb_env_close(h->env);
    free(h);
}

const peer peer_lmdb = {"LMDB", true, build, open_lmdb, find, close_lmdb};
