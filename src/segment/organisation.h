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
} table_key;

/* What looking has cost; added to. */
typedef struct table_cost {
    uint64_t pages;
    uint64_t bytes;
} table_cost;

/* A walk over all entries in the order of the organisation, which checks
 * everything that the table holds. An implementation puts this first in a
 * structure of its own. One thread at a time. */
typedef struct table_walk table_walk;
struct table_walk {
    /* What the key points to is valid until the next call. */
    ksv_status (*next)(table_walk *walk, table_entry *entry, bool *end,
                       ksv_error *error);
    void (*close)(table_walk *walk);
};

/* Functions of one organisation; errors of tables name no file, the functions
 * of segment.h that call them do that. */
struct organisation {
    ksv_organisation kind;
    const char *name;
    const char *table_ending;
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

#endif
