/* SPDX-License-Identifier: MIT */
/* SQLite: a table that is its own index, filled in the order of keys. */
#include <stdio.h>
#include <stdlib.h>

#include <sqlite3.h>

#include "harness.h"
#include "peers/peer.h"

typedef struct handle {
    sqlite3 *db;
    sqlite3_stmt *select;
} handle;

static sqlite3 *open_db(const char *directory)
{
    char path[4096];
    sqlite3 *db;
    snprintf(path, sizeof path, "%s/keys.sqlite", directory);
    if (sqlite3_open(path, &db) != SQLITE_OK)
        bench_fail(path);
    return db;
}

static void execute(sqlite3 *db, const char *sql)
{
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
        bench_fail(sqlite3_errmsg(db));
}

static sqlite3_stmt *prepare(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *statement;
    if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK)
        bench_fail(sqlite3_errmsg(db));
    return statement;
}

static void build(const peer_data *data, const char *directory)
{
    sqlite3 *db = open_db(directory);
    execute(db, "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;"
                "CREATE TABLE t(k TEXT PRIMARY KEY, o INTEGER) WITHOUT ROWID;"
                "BEGIN");
    sqlite3_stmt *insert = prepare(db, "INSERT INTO t VALUES(?, ?)");
    for (size_t i = 0; i < data->count; i++) {
        sqlite3_bind_text(insert, 1, data->bytes + data->offsets[i],
                          PEER_KEY_BYTES, SQLITE_STATIC);
        sqlite3_bind_int64(insert, 2, (sqlite3_int64)data->offsets[i]);
        if (sqlite3_step(insert) != SQLITE_DONE)
            bench_fail(sqlite3_errmsg(db));
        sqlite3_reset(insert);
    }
    sqlite3_finalize(insert);
    execute(db, "COMMIT");
    sqlite3_close(db);
}

static void *open_sqlite(const char *directory)
{
    handle *h = calloc(1, sizeof *h);
    if (h == NULL)
        bench_fail("out of memory");
    h->db = open_db(directory);
    /* One transaction, or each lookup takes a lock of the file and lets go. */
    execute(h->db, "PRAGMA mmap_size=68719476736; BEGIN");
    h->select = prepare(h->db, "SELECT o FROM t WHERE k = ?");
    return h;
}

static bool find(void *ctx, const char *key, uint64_t *offset)
{
    handle *h = ctx;
    sqlite3_bind_text(h->select, 1, key, PEER_KEY_BYTES, SQLITE_STATIC);
    bool found = sqlite3_step(h->select) == SQLITE_ROW;
    if (found)
        *offset = (uint64_t)sqlite3_column_int64(h->select, 0);
    sqlite3_reset(h->select);
    return found;
}

static void close_sqlite(void *ctx)
{
    handle *h = ctx;
    sqlite3_finalize(h->select);
    sqlite3_close(h->db);
    free(h);
}

const peer peer_sqlite = {"SQLite",    true, build,
                          open_sqlite, find, close_sqlite};
