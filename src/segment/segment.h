/* SPDX-License-Identifier: MIT */
/* Sidecars: opened, and checked to be the ones expected. */
#ifndef KSV_SEGMENT_SEGMENT_H
#define KSV_SEGMENT_SEGMENT_H

#include <stdbool.h>
#include <stdint.h>

#include <keysieve/filter.h>
#include <keysieve/io.h>
#include <keysieve/memory.h>
#include <keysieve/table.h>

#include "catalog/catalog.h"

/* Where the sidecars of an index lie. Borrowed members. */
typedef struct segment_place {
    const ksv_file_system *fs;
    const char *directory;
    const ksv_allocator *allocator;
    const catalog_parameters *parameters;
    /* Hold no descriptors between reads: for very many segments. */
    bool reopen_files;
    /* Sidecars are for lookups: nothing should be read ahead. */
    bool random_reads;
    /* For tables that need the data that they are of; NULL: they tell what they
     * can without. */
    const struct table_data *data;
} segment_place;

/* An open sidecar; all zero when closed. */
typedef struct segment_filter {
    ksv_file *file; /* NULL once the filter is loaded */
    ksv_filter *filter;
} segment_filter;

typedef struct organisation organisation;

typedef struct segment_table {
    const organisation *organisation; /* NULL: closed */
    const ksv_allocator *allocator;   /* borrowed, as the parameters */
    const catalog_parameters *parameters;
    ksv_file *file;
    /* Where entries lie in pages that a caller may read by itself
     * (table/table_reader.h); else NULL. */
    ksv_table *pages;
    void *own; /* of the organisation */
} segment_table;

/* Filters up to this size are read at once and their file is closed. */
#define SEGMENT_FILTER_LOAD_BYTES (64 * 1024)

/* Open a filter or the table of `segment`. One that is missing, damaged or
 * belongs to something else is KSV_ERROR_CORRUPT, naming the file and the
 * remedy. */
ksv_status segment_open_filter(const segment_place *place,
                               const catalog_filter *filter,
                               segment_filter *out, ksv_error *error);
ksv_status segment_open_table(const segment_place *place,
                              const catalog_segment *segment,
                              segment_table *out, ksv_error *error);
/* The same, and reads all of the filter, which checks every byte. */
ksv_status segment_load_filter(const segment_place *place,
                               const catalog_filter *filter,
                               segment_filter *out, ksv_error *error);
void segment_close_filter(segment_filter *filter);
void segment_close_table(segment_table *table);

/* Opens a sidecar file that has to be there. */
ksv_status segment_open_sidecar(const segment_place *place, uint64_t id,
                                const char *ending, ksv_file **file,
                                ksv_error *error);

/* Whether a table that was opened is that of `segment`, by what it says of
 * itself: KSV_ERROR_CORRUPT otherwise. */
ksv_status segment_check_table_identity(
    const segment_place *place, const catalog_segment *segment,
    const ksv_hasher *hasher, unsigned hash_bits, const uint8_t id[16],
    uint64_t file_bytes, uint64_t entries, ksv_error *error);

/* Names the sidecar with that number and ending in an error that a filter or
 * table gave, and says how to repair it. */
void segment_error(const segment_place *place, uint64_t id, const char *ending,
                   ksv_error *error);
/* The same of a table. */
void segment_table_error(const segment_place *place, uint64_t id,
                         ksv_error *error);

/* How the names of tables end in an index. */
const char *segment_table_ending(const segment_place *place);

/* The id that the sidecar with that number and ending carries: derived from the
 * index and the number, so that foreign ones are told apart. */
void segment_sidecar_id(const catalog_parameters *parameters, uint64_t id,
                        const char *ending, uint8_t out[16]);

/* The bits that a payload below `limit` needs, at least 1. */
unsigned segment_payload_bits(uint64_t limit);

#endif
