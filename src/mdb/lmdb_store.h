/* SPDX-License-Identifier: MIT */
/* An open LMDB environment and its write transaction: the one user of LMDB. */
#ifndef KSV_MDB_LMDB_STORE_H
#define KSV_MDB_LMDB_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <keysieve/status.h>

#include "mdb/lmdb_order.h"

/* LMDB opens paths by itself, so that an environment has to lie in the file
 * system of the operating system. No two stores may be open for one path, in
 * any process, which is up to the caller: there is no lock file. What is there
 * has to be checked before (lmdb_walk()): LMDB trusts its pages. */
typedef struct lmdb_store_options {
    const char *path;  /* borrowed while the store is open, as is `doing` */
    const char *doing; /* for errors: "cannot write the catalog" */
    uint64_t map_bytes;
    bool skips_syncs; /* of commits, which may then be lost or torn */
    lmdb_order order;
} lmdb_store_options;

typedef struct lmdb_store {
    lmdb_store_options options;
    bool map_full; /* an operation failed because the map was too small */
    struct MDB_env *env;
    struct MDB_txn *txn;
    struct MDB_cursor *cursor;
    unsigned database;
} lmdb_store;

typedef struct lmdb_bytes {
    const void *data;
    size_t size_bytes;
} lmdb_bytes;

/* A size of a map, which costs address space only but is limited by some
 * systems, in whole MiB, which every page size divides. */
uint64_t lmdb_map_bytes(uint64_t wanted_bytes);

/* Opens the environment at the path, which is made without a commit when there
 * is none. After failure there is nothing to close. */
ksv_status lmdb_store_open(lmdb_store *store, const lmdb_store_options *options,
                           ksv_error *error);
/* An open transaction is given up. A store that is all zero is not open. */
void lmdb_store_close(lmdb_store *store);

size_t lmdb_store_page_bytes(const lmdb_store *store);
/* Of the file, as far as pages were ever used. */
uint64_t lmdb_store_used_bytes(const lmdb_store *store);

/* Outside of transactions. */
ksv_status lmdb_store_resize(lmdb_store *store, uint64_t map_bytes,
                             ksv_error *error);
ksv_status lmdb_store_sync(lmdb_store *store, ksv_error *error);

/* A write transaction; after any failure within it, it can only be given up.
 * lmdb_store_commit() ends it in every case. */
ksv_status lmdb_store_begin(lmdb_store *store, ksv_error *error);
ksv_status lmdb_store_commit(lmdb_store *store, ksv_error *error);
void lmdb_store_abort(lmdb_store *store);
uint64_t lmdb_store_txn_id(const lmdb_store *store);

/* What values point to is valid until the next change or the end of the
 * transaction. */
ksv_status lmdb_store_get(lmdb_store *store, lmdb_bytes key, lmdb_bytes *value,
                          bool *found, ksv_error *error);
/* `append`: the key is known to come after all others. */
ksv_status lmdb_store_put(lmdb_store *store, lmdb_bytes key, lmdb_bytes value,
                          bool append, ksv_error *error);

typedef enum lmdb_move {
    LMDB_MOVE_AT_LEAST, /* to the first key that is not before `*key` */
    LMDB_MOVE_NEXT,     /* at first: to the first key */
    LMDB_MOVE_PREVIOUS, /* at first: to the last key */
    LMDB_MOVE_LAST
} lmdb_move;

/* Moves the cursor of the transaction; `*found` false: there is no such key. */
ksv_status lmdb_store_move(lmdb_store *store, lmdb_move move, lmdb_bytes *key,
                           lmdb_bytes *value, bool *found, ksv_error *error);
/* Removes what the cursor is at; LMDB_MOVE_NEXT goes on behind it. */
ksv_status lmdb_store_delete(lmdb_store *store, ksv_error *error);

#endif
