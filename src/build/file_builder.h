/* SPDX-License-Identifier: MIT */
/* One data file -> its sidecars. */
#ifndef KSV_BUILD_FILE_BUILDER_H
#define KSV_BUILD_FILE_BUILDER_H

#include <stdbool.h>
#include <stdint.h>

#include <keysieve/builder.h>

#include "build/build_plan.h"
#include "build/build_progress.h"
#include "build/plan_memo.h"
#include "catalog/catalog.h"
#include "hash/hash_entry.h"
#include "scan/scan_spec.h"
#include "segment/segment_collector.h"

/* Shared by all files of a build, and constant while several are indexed at
 * once. Borrowed members. */
typedef struct file_builder {
    segment_place place;
    const scan_spec *spec;
    const ksv_build_options *options;
    build_progress *progress;
    plan_memo *plans;
    /* Of the index; `hash_bits` 0 is set when the first key is met: no two
     * files may be indexed at once before. */
    catalog_parameters *parameters;
    /* Bytes of all files to be indexed: to guess the number of keys of the
     * whole from the first file. */
    uint64_t total_bytes;
    unsigned threads; /* at least 1 */
    /* Files may get segments that stay their own. */
    bool may_leave_keys;
} file_builder;

/* What is different when only the end of a grown file was indexed. */
typedef struct file_growth {
    bool is_grown; /* else all of the file was, and the rest has no meaning */
    /* Where it begins: the entries that the index has of this file from here on
     * are replaced. */
    uint64_t first_offset;
    size_t kept_extents; /* those before that, at least one */
    /* An entry of an extent that begins before that is among them, with this
     * key. */
    bool loses_entry;
    uint8_t *lost_key; /* owned */
    size_t lost_key_bytes;
    /* Of what was indexed now. */
    uint64_t records;
    uint64_t records_without_key;
    uint64_t read_bytes;
} file_growth;

/* What came of a file. */
typedef struct built_file {
    uint64_t id;             /* of its sidecars */
    catalog_file file;       /* owns its strings; ordinal is not filled */
    catalog_segment segment; /* of no parts: there is none; no ordinals */
    segment_files sidecars;  /* not published yet */
    file_growth growth;
    /* Of a file that is collected: it has no segment. Payloads count from where
     * its part begins. */
    kept_entries kept;
    bool is_loose;              /* has sidecars with their names, not synced */
    uint64_t first_without_key; /* offset, or KSV_NO_OFFSET */
    uint64_t first_bad;
    unsigned warnings; /* DATAFILE_NO_END_MARKER and the like */
    /* The failure is that of the data file: others can go on. */
    bool failed_alone;
} built_file;

/* What a file may use. */
typedef struct file_means {
    uint64_t memory_bytes;
    unsigned threads; /* at least 1 */
    bool collects;    /* a file with few entries gets no table */
    /* Sidecars that fit into memory are written under their own names and left
     * to be synced together. */
    bool leaves_loose;
} file_means;

/* Indexes `planned`, with sidecars of number `id`. On failure nothing stays. */
ksv_status file_builder_run(file_builder *builder, const planned_file *planned,
                            uint64_t id, const file_means *means,
                            built_file *out, ksv_error *error);

/* Gives a built file its paths and a copy of its layout. */
ksv_status built_file_set_names(const file_builder *builder, built_file *built,
                                const planned_file *planned,
                                const uint8_t *layout, size_t layout_bytes,
                                ksv_error *error);

/* Frees the entries of a file that was collected, and what is known of its
 * growth: when the state has taken that up. */
void built_file_forget_entries(const file_builder *builder, built_file *built);

/* Frees what a built file has that was not taken over. */
void built_file_release(const file_builder *builder, built_file *built);

#endif
