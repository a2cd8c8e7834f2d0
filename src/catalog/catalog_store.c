/* SPDX-License-Identifier: MIT */
/* Writes states into LMDB environments. */
#include "catalog/catalog_store.h"

#include <string.h>

#include "base/error.h"
#include "catalog/catalog_records.h"
#include "mdb/lmdb_store.h"

#define MAP_BYTES_LEAST ((uint64_t)16 << 20)
#define MAP_GROWTHS_MOST 12

typedef struct store {
    lmdb_store_options options;
    lmdb_store lmdb;
    const catalog_state *state;
    const catalog_mark *mark;
    uint64_t body_checksum;
} store;

static ksv_status remove_others(store *s, ksv_error *error)
{
    for (;;) {
        lmdb_bytes key = {NULL, 0};
        lmdb_bytes value;
        bool found;
        KSV_TRY(lmdb_store_move(&s->lmdb, LMDB_MOVE_NEXT, &key, &value, &found,
                                error));
        if (!found)
            return KSV_OK;
        if (!records_has(s->state, key.data, key.size_bytes))
            KSV_TRY(lmdb_store_delete(&s->lmdb, error));
    }
}

static ksv_status put_record(store *s, const catalog_record *record,
                             ksv_error *error)
{
    lmdb_bytes key = {record->key, record->key_bytes};
    lmdb_bytes value = {record->value, record->value_bytes};
    lmdb_bytes old;
    bool found;
    KSV_TRY(lmdb_store_get(&s->lmdb, key, &old, &found, error));
    if (found && old.size_bytes == value.size_bytes &&
        memcmp(old.data, value.data, value.size_bytes) == 0)
        return KSV_OK;
    return lmdb_store_put(&s->lmdb, key, value, false, error);
}

static ksv_status put_records(store *s, ksv_error *error)
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
            status = put_record(s, &record, error);
    }
    buffer_release(&buffer);
    return status;
}

static ksv_status run_transaction(store *s, bool any_id, ksv_error *error)
{
    KSV_TRY(lmdb_store_begin(&s->lmdb, error));
    if (!any_id && lmdb_store_txn_id(&s->lmdb) != s->mark->generation) {
        error_set(error, KSV_ERROR_CORRUPT, s->options.path,
                  "was changed by another program");
        error_add_remedy(error, KSV_REMEDY_BUILD);
        return KSV_ERROR_CORRUPT;
    }
    KSV_TRY(remove_others(s, error));
    KSV_TRY(put_records(s, error));
    return lmdb_store_commit(&s->lmdb, error);
}

static ksv_status open_and_run(store *s, bool any_id, ksv_error *error)
{
    ksv_status status = lmdb_store_open(&s->lmdb, &s->options, error);
    if (status == KSV_OK && s->state != NULL)
        status = run_transaction(s, any_id, error);
    lmdb_store_close(&s->lmdb);
    return status;
}

/* A transaction that finds its map full is aborted and run again with a larger
 * one. */
static ksv_status run(store *s, bool any_id, ksv_error *error)
{
    ksv_status status = KSV_OK;
    s->options.doing = "cannot write the catalog";
    for (int i = 0; i < MAP_GROWTHS_MOST; i++) {
        status = open_and_run(s, any_id, error);
        if (!s->lmdb.map_full || s->options.map_bytes > SIZE_MAX / 4)
            break;
        s->options.map_bytes *= 2;
    }
    return status;
}

/* Room for what is there and for all of it written anew. */
static uint64_t choose_map_bytes(uint64_t environment_bytes)
{
    return lmdb_map_bytes(4 * environment_bytes + MAP_BYTES_LEAST - 1);
}

ksv_status store_create(const char *path, ksv_error *error)
{
    store s = {.options = {.path = path,
                           .skips_syncs = true,
                           .map_bytes = MAP_BYTES_LEAST}};
    return run(&s, true, error);
}

ksv_status store_fill(const char *path, const catalog_state *state,
                      const catalog_mark *mark, uint64_t body_checksum,
                      ksv_error *error)
{
    store s = {.options = {.path = path,
                           .skips_syncs = true,
                           .map_bytes = MAP_BYTES_LEAST},
               .state = state,
               .mark = mark,
               .body_checksum = body_checksum};
    return run(&s, true, error);
}

ksv_status store_commit(const char *path, uint64_t environment_bytes,
                        const catalog_state *state, const catalog_mark *mark,
                        uint64_t body_checksum, ksv_error *error)
{
    store s = {.options = {.path = path,
                           .map_bytes = choose_map_bytes(environment_bytes)},
               .state = state,
               .mark = mark,
               .body_checksum = body_checksum};
    return run(&s, false, error);
}
