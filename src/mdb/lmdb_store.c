/* SPDX-License-Identifier: MIT */
/* An open LMDB environment and its write transaction: the one user of LMDB. */
#include "mdb/lmdb_store.h"

#include <errno.h>

#include <lmdb.h>

#include "base/error.h"

static ksv_status lmdb_error(ksv_error *error, int code,
                             const lmdb_store_options *options)
{
    switch (code) {
    case ENOMEM:
        return error_set_memory(error);
    case MDB_VERSION_MISMATCH:
        return error_set(error, KSV_ERROR_VERSION, options->path,
                         "is an LMDB environment of another version");
    case MDB_CORRUPTED:
    case MDB_PAGE_NOTFOUND:
    case MDB_INVALID:
    case MDB_INCOMPATIBLE:
        error_set(error, KSV_ERROR_CORRUPT, options->path, "%s",
                  mdb_strerror(code));
        error_add_remedy(error, KSV_REMEDY_BUILD);
        return KSV_ERROR_CORRUPT;
    default:
        if (code > 0)
            return error_set_os(error, code, options->path, options->doing);
        return error_set(error, KSV_ERROR_IO, options->path, "%s: %s",
                         options->doing, mdb_strerror(code));
    }
}

/* Turns a code of LMDB into a status, and remembers a map that was full. */
static ksv_status check(lmdb_store *s, int code, ksv_error *error)
{
    if (code == MDB_SUCCESS)
        return KSV_OK;
    s->map_full |= code == MDB_MAP_FULL;
    return lmdb_error(error, code, &s->options);
}

/* The same where "not found" is an answer. */
static ksv_status check_found(lmdb_store *s, int code, bool *found,
                              ksv_error *error)
{
    *found = code == MDB_SUCCESS;
    return code == MDB_NOTFOUND ? KSV_OK : check(s, code, error);
}

static int compare_tied(const MDB_val *a, const MDB_val *b)
{
    return lmdb_compare(LMDB_ORDER_TIED, a->mv_data, a->mv_size, b->mv_data,
                        b->mv_size);
}

uint64_t lmdb_map_bytes(uint64_t wanted_bytes)
{
    return ((wanted_bytes >> 20) + 1) << 20;
}

ksv_status lmdb_store_open(lmdb_store *store, const lmdb_store_options *options,
                           ksv_error *error)
{
    *store = (lmdb_store){.options = *options};
    KSV_TRY(check(store, mdb_env_create(&store->env), error));
    unsigned flags = MDB_NOSUBDIR | MDB_NOLOCK;
    if (options->skips_syncs)
        flags |= MDB_NOSYNC;
    int code = mdb_env_set_mapsize(store->env, (size_t)options->map_bytes);
    if (code == MDB_SUCCESS)
        code = mdb_env_open(store->env, options->path, flags, 0666);
    ksv_status status = check(store, code, error);
    if (status != KSV_OK)
        lmdb_store_close(store);
    return status;
}

void lmdb_store_close(lmdb_store *store)
{
    if (store->env == NULL)
        return;
    lmdb_store_abort(store);
    mdb_env_close(store->env);
    store->env = NULL;
}

size_t lmdb_store_page_bytes(const lmdb_store *store)
{
    MDB_stat stat;
    return mdb_env_stat(store->env, &stat) == MDB_SUCCESS ? stat.ms_psize : 0;
}

uint64_t lmdb_store_used_bytes(const lmdb_store *store)
{
    MDB_envinfo info;
    if (mdb_env_info(store->env, &info) != MDB_SUCCESS)
        return 0;
    return ((uint64_t)info.me_last_pgno + 1) * lmdb_store_page_bytes(store);
}

/* LMDB counts in size_t. */
static ksv_status check_map(const lmdb_store *store, uint64_t map_bytes,
                            ksv_error *error)
{
    if (map_bytes <= SIZE_MAX)
        return KSV_OK;
    return error_set(error, KSV_ERROR_UNSUPPORTED, store->options.path,
                     "is too large for the addresses of this machine");
}

ksv_status lmdb_store_resize(lmdb_store *store, uint64_t map_bytes,
                             ksv_error *error)
{
    if (map_bytes <= store->options.map_bytes)
        return KSV_OK;
    KSV_TRY(check_map(store, map_bytes, error));
    KSV_TRY(check(store, mdb_env_set_mapsize(store->env, (size_t)map_bytes),
                  error));
    store->options.map_bytes = map_bytes;
    return KSV_OK;
}

ksv_status lmdb_store_sync(lmdb_store *store, ksv_error *error)
{
    return check(store, mdb_env_sync(store->env, 1), error);
}

static int open_database(lmdb_store *store)
{
    int code = mdb_dbi_open(store->txn, NULL, 0, &store->database);
    if (code == MDB_SUCCESS && store->options.order == LMDB_ORDER_TIED)
        code = mdb_set_compare(store->txn, store->database, compare_tied);
    if (code == MDB_SUCCESS)
        code = mdb_cursor_open(store->txn, store->database, &store->cursor);
    return code;
}

ksv_status lmdb_store_begin(lmdb_store *store, ksv_error *error)
{
    KSV_TRY(
        check(store, mdb_txn_begin(store->env, NULL, 0, &store->txn), error));
    ksv_status status = check(store, open_database(store), error);
    if (status != KSV_OK)
        lmdb_store_abort(store);
    return status;
}

static MDB_txn *take_txn(lmdb_store *store)
{
    MDB_txn *txn = store->txn;
    if (store->cursor != NULL)
        mdb_cursor_close(store->cursor);
    store->cursor = NULL;
    store->txn = NULL;
    return txn;
}

ksv_status lmdb_store_commit(lmdb_store *store, ksv_error *error)
{
    return check(store, mdb_txn_commit(take_txn(store)), error);
}

void lmdb_store_abort(lmdb_store *store)
{
    if (store->txn != NULL)
        mdb_txn_abort(take_txn(store));
}

uint64_t lmdb_store_txn_id(const lmdb_store *store)
{
    return mdb_txn_id(store->txn);
}

static MDB_val val_of(lmdb_bytes bytes)
{
    return (MDB_val){bytes.size_bytes, (void *)bytes.data};
}

ksv_status lmdb_store_get(lmdb_store *store, lmdb_bytes key, lmdb_bytes *value,
                          bool *found, ksv_error *error)
{
    MDB_val k = val_of(key);
    MDB_val v = {0, NULL};
    int code = mdb_get(store->txn, store->database, &k, &v);
    *value = (lmdb_bytes){v.mv_data, v.mv_size};
    return check_found(store, code, found, error);
}

ksv_status lmdb_store_put(lmdb_store *store, lmdb_bytes key, lmdb_bytes value,
                          bool append, ksv_error *error)
{
    MDB_val k = val_of(key);
    MDB_val v = val_of(value);
    return check(
        store,
        mdb_put(store->txn, store->database, &k, &v, append ? MDB_APPEND : 0),
        error);
}

static MDB_cursor_op op_of(lmdb_move move)
{
    switch (move) {
    case LMDB_MOVE_AT_LEAST:
        return MDB_SET_RANGE;
    case LMDB_MOVE_PREVIOUS:
        return MDB_PREV;
    case LMDB_MOVE_LAST:
        return MDB_LAST;
    default:
        return MDB_NEXT;
    }
}

ksv_status lmdb_store_move(lmdb_store *store, lmdb_move move, lmdb_bytes *key,
                           lmdb_bytes *value, bool *found, ksv_error *error)
{
    MDB_val k = val_of(*key);
    MDB_val v = {0, NULL};
    int code = mdb_cursor_get(store->cursor, &k, &v, op_of(move));
    ksv_status status = check_found(store, code, found, error);
    if (*found) {
        *key = (lmdb_bytes){k.mv_data, k.mv_size};
        *value = (lmdb_bytes){v.mv_data, v.mv_size};
    }
    return status;
}

ksv_status lmdb_store_delete(lmdb_store *store, ksv_error *error)
{
    return check(store, mdb_cursor_del(store->cursor, 0), error);
}
