/* SPDX-License-Identifier: MIT */
/* Writes states into LMDB environments: the one user of LMDB. */
#include "catalog/catalog_store.h"

#include <errno.h>
#include <string.h>

#include <lmdb.h>

#include "base/error.h"
#include "catalog/catalog_records.h"

/* A map costs address space only, but some systems limit that. */
#define MAP_BYTES_LEAST ((uint64_t)16 << 20)
#define MAP_GROWTHS_MOST 12

typedef struct store {
    const char *path;
    const catalog_state *state;
    const catalog_mark *mark;
    uint64_t body_checksum;
    unsigned flags;
    uint64_t map_bytes;
    bool map_full;
} store;

static ksv_status lmdb_error(ksv_error *error, int code, const char *path)
{
    static const char doing[] = "cannot write the catalog";
    switch (code) {
    case ENOMEM:
        return error_set_memory(error);
    case MDB_VERSION_MISMATCH:
        return error_set(error, KSV_ERROR_VERSION, path,
                         "is an LMDB environment of another version");
    case MDB_CORRUPTED:
    case MDB_PAGE_NOTFOUND:
    case MDB_INVALID:
    case MDB_INCOMPATIBLE:
        error_set(error, KSV_ERROR_CORRUPT, path, "%s", mdb_strerror(code));
        error_add_remedy(error, KSV_REMEDY_BUILD);
        return KSV_ERROR_CORRUPT;
    default:
        if (code > 0)
            return error_set_os(error, code, path, doing);
        return error_set(error, KSV_ERROR_IO, path, "%s: %s", doing,
                         mdb_strerror(code));
    }
}

/* Turns a code of LMDB into a status, and remembers a map that was full. */
static ksv_status check(store *s, int code, ksv_error *error)
{
    if (code == MDB_SUCCESS)
        return KSV_OK;
    s->map_full |= code == MDB_MAP_FULL;
    return lmdb_error(error, code, s->path);
}

static ksv_status remove_others(store *s, MDB_txn *txn, MDB_dbi dbi,
                                ksv_error *error)
{
    MDB_cursor *cursor;
    KSV_TRY(check(s, mdb_cursor_open(txn, dbi, &cursor), error));
    MDB_val key;
    MDB_val value;
    int code;
    while ((code = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)) ==
           MDB_SUCCESS) {
        if (records_has(s->state, key.mv_data, key.mv_size))
            continue;
        code = mdb_cursor_del(cursor, 0);
        if (code != MDB_SUCCESS)
            break;
    }
    mdb_cursor_close(cursor);
    return code == MDB_NOTFOUND ? KSV_OK : check(s, code, error);
}

static ksv_status put_record(store *s, MDB_txn *txn, MDB_dbi dbi,
                             catalog_record *record, ksv_error *error)
{
    MDB_val key = {record->key_bytes, record->key};
    MDB_val value = {record->value_bytes, (void *)record->value};
    MDB_val old;
    int code = mdb_get(txn, dbi, &key, &old);
    if (code == MDB_SUCCESS && old.mv_size == value.mv_size &&
        memcmp(old.mv_data, value.mv_data, value.mv_size) == 0)
        return KSV_OK;
    if (code != MDB_SUCCESS && code != MDB_NOTFOUND)
        return check(s, code, error);
    return check(s, mdb_put(txn, dbi, &key, &value, 0), error);
}

static ksv_status put_records(store *s, MDB_txn *txn, MDB_dbi dbi,
                              ksv_error *error)
{
    byte_buffer buffer;
    buffer_init(&buffer, &s->state->allocator);
    ksv_status status = KSV_OK;
    size_t count = records_count(s->state);
    for (size_t i = 0; i < count && status == KSV_OK; i++) {
        catalog_record record;
        status = records_get(s->state, s->mark, s->body_checksum, i, &buffer,
                             &record, error);
        if (status == KSV_OK)
            status = put_record(s, txn, dbi, &record, error);
    }
    buffer_release(&buffer);
    return status;
}

static ksv_status fill_transaction(store *s, MDB_txn *txn, ksv_error *error)
{
    MDB_dbi dbi;
    KSV_TRY(check(s, mdb_dbi_open(txn, NULL, 0, &dbi), error));
    KSV_TRY(remove_others(s, txn, dbi, error));
    return put_records(s, txn, dbi, error);
}

static ksv_status run_transaction(store *s, MDB_env *env, bool any_id,
                                  ksv_error *error)
{
    MDB_txn *txn;
    KSV_TRY(check(s, mdb_txn_begin(env, NULL, 0, &txn), error));
    ksv_status status = KSV_OK;
    if (!any_id && mdb_txn_id(txn) != s->mark->generation) {
        status = error_set(error, KSV_ERROR_CORRUPT, s->path,
                           "was changed by another program");
        error_add_remedy(error, KSV_REMEDY_BUILD);
    }
    if (status == KSV_OK)
        status = fill_transaction(s, txn, error);
    if (status != KSV_OK) {
        mdb_txn_abort(txn);
        return status;
    }
    return check(s, mdb_txn_commit(txn), error);
}

static ksv_status open_and_run(store *s, bool any_id, ksv_error *error)
{
    MDB_env *env;
    KSV_TRY(check(s, mdb_env_create(&env), error));
    int code = mdb_env_set_mapsize(env, (size_t)s->map_bytes);
    if (code == MDB_SUCCESS)
        code = mdb_env_open(env, s->path, MDB_NOSUBDIR | MDB_NOLOCK | s->flags,
                            0666);
    ksv_status status = check(s, code, error);
    if (status == KSV_OK && s->state != NULL)
        status = run_transaction(s, env, any_id, error);
    mdb_env_close(env);
    return status;
}

/* A transaction that finds its map full is aborted and run again with a larger
 * one. */
static ksv_status run(store *s, bool any_id, ksv_error *error)
{
    ksv_status status = KSV_OK;
    for (int i = 0; i < MAP_GROWTHS_MOST; i++) {
        s->map_full = false;
        status = open_and_run(s, any_id, error);
        if (!s->map_full || s->map_bytes > SIZE_MAX / 4)
            break;
        s->map_bytes *= 2;
    }
    return status;
}

/* Room for what is there and for all of it written anew, rounded up to whole
 * MiB, which every page size divides. */
static uint64_t choose_map_bytes(uint64_t environment_bytes)
{
    uint64_t wanted = 4 * environment_bytes + MAP_BYTES_LEAST;
    return (wanted >> 20) << 20;
}

ksv_status store_create(const char *path, ksv_error *error)
{
    store s = {.path = path, .flags = MDB_NOSYNC, .map_bytes = MAP_BYTES_LEAST};
    return run(&s, true, error);
}

ksv_status store_fill(const char *path, const catalog_state *state,
                      const catalog_mark *mark, uint64_t body_checksum,
                      ksv_error *error)
{
    store s = {.path = path,
               .state = state,
               .mark = mark,
               .body_checksum = body_checksum,
               .flags = MDB_NOSYNC,
               .map_bytes = MAP_BYTES_LEAST};
    return run(&s, true, error);
}

ksv_status store_commit(const char *path, uint64_t environment_bytes,
                        const catalog_state *state, const catalog_mark *mark,
                        uint64_t body_checksum, ksv_error *error)
{
    store s = {.path = path,
               .state = state,
               .mark = mark,
               .body_checksum = body_checksum,
               .map_bytes = choose_map_bytes(environment_bytes)};
    return run(&s, false, error);
}
