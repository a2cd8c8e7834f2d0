/* SPDX-License-Identifier: MIT */
/* How the entries of a segment are kept: what build, lookup, merge and check
 * ask of an organisation. */
#ifndef KSV_SEGMENT_ORGANISATION_H
#define KSV_SEGMENT_ORGANISATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <keysieve/table.h>

#include "segment/segment.h"
#include "segment/segment_collector.h"
#include "segment/segment_join.h"
#include "segment/segment_merge.h"

/* An entry as it is walked over. */
typedef struct table_entry {
    uint64_t hash; /* truncated */
    uint64_t payload;
    const uint8_t *key; /* NULL where the organisation keeps no keys */
    size_t key_bytes;
} table_entry;

/* A key that is looked for. */
typedef struct table_key {
    const void *data;
    size_t bytes;
    uint64_t hash;
    bool may_share; /* what was read for another key */
} table_key;

/* What looking has cost; added to. */
typedef struct table_cost {
    uint64_t pages;
    uint64_t bytes; /* of pages and data */
    /* Of a table that has not an entry for each record. */
    uint64_t data_reads;
    uint64_t files_opened;
} table_cost;

/* Adds what has come to a cost since it was `before`. */
static inline void table_cost_add(table_cost *sum, const table_cost *now,
                                  const table_cost *before)
{
    sum->pages += now->pages - before->pages;
    sum->bytes += now->bytes - before->bytes;
    sum->data_reads += now->data_reads - before->data_reads;
    sum->files_opened += now->files_opened - before->files_opened;
}

/* A walk over all entries in the order of the organisation, which checks
 * everything that they depend on. An implementation puts this first in a
 * structure of its own. One thread at a time. */
typedef struct table_walk table_walk;
struct table_walk {
    /* What the key points to is valid until the next call. */
    ksv_status (*next)(table_walk *walk, table_entry *entry, bool *end,
                       ksv_error *error);
    void (*close)(table_walk *walk);
    /* There are more entries than it gives: the rest is in data that the place
     * of the table does not lead to. */
    bool is_partial;
    bool leaves_dead; /* gives no entries of dead parts */
};

/* Where a cursor goes. */
typedef enum table_move {
    TABLE_FIRST,
    TABLE_LAST,
    TABLE_SEEK,        /* to the first entry with the key or one behind it */
    TABLE_SEEK_BEFORE, /* to the last entry with a key before it */
    TABLE_NEXT,        /* neighbours of the entry that it is at */
    TABLE_PREVIOUS
} table_move;

/* A place in a table whose entries are in the order of their keys. An
 * implementation puts this first in a structure of its own. One thread at a
 * time. */
typedef struct table_cursor table_cursor;
struct table_cursor {
    /* `key` is for the two that seek. `*found` false: there is no such entry,
     * and the cursor is at none, as after a failure. */
    ksv_status (*move)(table_cursor *cursor, table_move where,
                       const table_key *key, bool *found, ksv_error *error);
    void (*close)(table_cursor *cursor);
    /* Of the entry that it is at; the hash has no meaning, the key is valid
     * until it moves. */
    table_entry entry;
    table_cost cost; /* of all moves */
};

/* Functions of one organisation; errors of tables name no file, the functions
 * of segment.h that call them do that; errors of data name its file. */
struct organisation {
    ksv_organisation kind;
    const char *name;
    /* Entries have their keys and are in the order of those, so that prefixes
     * and ranges can be asked for; otherwise they are in the order of hashes.
     */
    bool keeps_keys;
    /* Opens `out->file`, which is open, as the table of `segment`. */
    ksv_status (*open_table)(const segment_place *place,
                             const catalog_segment *segment, segment_table *out,
                             ksv_error *error);
    void (*close_table)(segment_table *table);
    ksv_status (*find)(const segment_table *table, const table_key *key,
                       ksv_payload_fn visit, void *ctx, table_cost *cost,
                       ksv_error *error);
    /* `pages`: how many may be in memory. */
    ksv_status (*walk)(const segment_table *table, size_t pages,
                       table_walk **out, ksv_error *error);
    /* Checks what a walk over all entries does not see; NULL: it sees
     * everything. */
    ksv_status (*check)(const segment_table *table, ksv_error *error);
    /* NULL unless `keeps_keys`. */
    ksv_status (*open_cursor)(const segment_table *table, table_cursor **out,
                              ksv_error *error);
    /* Appends the first key and the last one; there may be less between them by
     * now, but not more. NULL where nothing is known of that. */
    ksv_status (*bounds)(const segment_table *table, byte_buffer *low,
                         byte_buffer *high, ksv_error *error);
    ksv_status (*open_collector)(const collector_options *options,
                                 segment_collector **out, ksv_error *error);
    /* Writes table and filter of what a merge gives: as segment_join(), with
     * `out` filled in but for sizes and filter. */
    ksv_status (*write_merged)(const segment_place *place, segment_merge *merge,
                               join_step_fn step, void *step_ctx,
                               catalog_segment *out, segment_files *files,
                               ksv_error *error);
};

/* NULL: this version has no such organisation. */
const organisation *organisation_find(ksv_organisation kind);

/* That of an index, whose catalog was accepted by organisation_require(). */
const organisation *organisation_of(const segment_place *place);

/* Lets an open table be found in the address space, where that is possible. */
ksv_status segment_map_table(segment_table *table, ksv_error *error);

/* KSV_ERROR_UNSUPPORTED unless this version can work with it. */
ksv_status organisation_require(const catalog_parameters *parameters,
                                const char *directory, ksv_error *error);

extern const organisation organisation_hash;
extern const organisation organisation_sorted;
extern const organisation organisation_btree;

#endif
