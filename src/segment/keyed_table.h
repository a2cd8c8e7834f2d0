/* SPDX-License-Identifier: MIT */
/* What tables of whole keys in their order have in common: a search leaves its
 * cursor to the next one, and cursors of any kind go over them alike. */
#ifndef KSV_SEGMENT_KEYED_TABLE_H
#define KSV_SEGMENT_KEYED_TABLE_H

#include "segment/organisation.h"

/* How a kind of table goes over its entries. */
typedef struct keyed_ops {
    ksv_status (*open)(const segment_table *table, void **cursor,
                       ksv_error *error);
    void (*close)(void *cursor); /* NULL is allowed */
    ksv_status (*move)(void *cursor, table_move where, const table_key *key,
                       bool *found, ksv_error *error);
    /* Visits the entries with the key. */
    ksv_status (*find)(void *cursor, const table_key *key, ksv_payload_fn visit,
                       void *ctx, ksv_error *error);
    /* Lets go of what it has read. */
    void (*forget)(void *cursor);
    table_cost (*cost)(const void *cursor);   /* of all that it has done */
    table_entry (*entry)(const void *cursor); /* that it is at, but its hash */
} keyed_ops;

/* An implementation puts this first in what `own` of a table points to. */
typedef struct keyed_table {
    const keyed_ops *ops;
    /* Of a search that has ended, with what it read last; or NULL. */
    _Atomic(void *) spare;
} keyed_table;

void keyed_table_release(keyed_table *table);

/* `find` and `open_cursor` of an organisation. */
ksv_status keyed_table_find(const segment_table *table, const table_key *key,
                            ksv_payload_fn visit, void *ctx, table_cost *cost,
                            ksv_error *error);
ksv_status keyed_table_open_cursor(const segment_table *table,
                                   table_cursor **out, ksv_error *error);

/* The hash of a key as entries have it. */
uint64_t keyed_table_hash(const catalog_parameters *parameters,
                          const uint8_t *key, size_t key_bytes);

#endif
