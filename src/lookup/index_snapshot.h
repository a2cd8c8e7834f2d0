/* SPDX-License-Identifier: MIT */
/* A committed state of an index with what lookups open of it on the way. */
#ifndef KSV_LOOKUP_INDEX_SNAPSHOT_H
#define KSV_LOOKUP_INDEX_SNAPSHOT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <keysieve/builder.h>
#include <keysieve/index.h>

#include "base/mutex.h"
#include "catalog/catalog.h"
#include "datafile/datafile.h"
#include "lookup/snapshot_data.h"
#include "scan/record_fetch.h"
#include "scan/scan_spec.h"
#include "segment/data_identity.h"
#include "segment/part_map.h"
#include "segment/segment.h"

/* A data file. What is not `facts` is filled when it is first needed. */
typedef struct snapshot_file {
    const catalog_file *facts;
    char *path;
    datafile *data;
    ksv_file_info data_info; /* of the open file, when asked last */
    data_identity found;
    uint64_t looked_ns; /* when that was so; 0: never looked */
    bool is_told;       /* that it changed, as a warning */
    /* The content in the address space, or NULL: it is read. */
    const uint8_t *mapped;
    uint64_t mapped_bytes;
    _Atomic(datafile *) ready_data; /* published when all of it is there */
} snapshot_file;

/* Where a part of a segment lies. */
typedef struct snapshot_part {
    uint32_t file; /* number of the data file, or SNAPSHOT_DEAD */
    uint64_t first_offset;
} snapshot_part;

#define SNAPSHOT_DEAD UINT32_MAX

/* A segment. Filters that cannot be used answer "maybe" to everything. */
typedef struct snapshot_segment {
    const catalog_segment *facts;
    part_map map; /* filled with the table, as the parts */
    snapshot_part *parts;
    segment_filter filter;
    bool filter_unusable;
    segment_table table;
    /* Published when they can be used. */
    _Atomic(ksv_filter *) ready_filter;
    _Atomic(const segment_table *) ready_table;
} snapshot_segment;

/* So many data files that follow each other are a group, of which is kept when
 * all of them were seen together. */
#define SNAPSHOT_GROUP_FILES 64

/* Safe to share between threads: all that changes is guarded by `lock`, and
 * what was opened stays open and in its place until the snapshot is closed:
 * once it was published, it is found without the lock. */
typedef struct index_snapshot {
    ksv_allocator allocator;
    const ksv_file_system *fs;
    char *directory;
    ksv_problem_fn problem; /* or NULL */
    void *problem_ctx;
    uint64_t trust_ns; /* as in ksv_index_options */
    catalog_state state;
    bool has_state;
    scan_spec *spec;
    snapshot_file *files;
    /* When all files of a group were seen as they were before, or as they were
     * indexed where none was looked at before; 0: not known. */
    uint64_t *looked_ns;
    snapshot_segment *segments;
    size_t segment_count;
    segment_place place;            /* of sidecars */
    snapshot_table_data table_data; /* of those that need data */
    segment_place data_place;
    mutex lock;
    bool has_lock;
    bool is_outdated; /* a file that it holds open lies elsewhere by now */
    bool map_files;
    /* Of a call that has ended, for the next one; or NULL. */
    _Atomic(record_fetch *) spare_fetch;
} index_snapshot;

static inline size_t snapshot_group_count(const index_snapshot *snapshot)
{
    size_t files = snapshot->state.file_count;
    return files / SNAPSHOT_GROUP_FILES + (files % SNAPSHOT_GROUP_FILES != 0);
}

/* Reads the committed state. */
ksv_status index_snapshot_open(const char *directory,
                               const ksv_index_options *options,
                               index_snapshot **out, ksv_error *error);
void index_snapshot_close(index_snapshot *snapshot);

/* The filter of a segment, or NULL when it cannot be used (told once as a
 * warning). A file opened is counted in `receipt`. */
ksv_status snapshot_filter(index_snapshot *snapshot, size_t segment,
                           ksv_filter **filter, ksv_receipt *receipt,
                           ksv_error *error);

/* Gives up a filter that failed while it was probed, unless that is because a
 * build has replaced it: KSV_ERROR_CORRUPT. */
ksv_status snapshot_filter_failed(index_snapshot *snapshot, size_t segment,
                                  const ksv_error *problem, ksv_error *error);

/* Tells the caller of the library of what lookups can go on with. */
void snapshot_tell(const index_snapshot *snapshot, const ksv_error *problem);

ksv_status snapshot_table(index_snapshot *snapshot, size_t segment,
                          const segment_table **table, ksv_receipt *receipt,
                          ksv_error *error);

/* The following look at data files no earlier than `since_ns` (of
 * clock_monotonic_ns(): the start of a call, so that it sees every change made
 * before) less the time of trust, and again when a second has passed. */

/* Opens a data file after checking that it is what was indexed:
 * KSV_ERROR_STALE otherwise. */
ksv_status snapshot_data(index_snapshot *snapshot, size_t file,
                         uint64_t since_ns, datafile **data,
                         ksv_receipt *receipt, ksv_error *error);

/* A data file that snapshot_data() has opened before. Looks at nothing. */
static inline datafile *snapshot_opened_data(index_snapshot *snapshot,
                                             size_t file)
{
    return atomic_load_explicit(&snapshot->files[file].ready_data,
                                memory_order_acquire);
}

/* Looks at all data files, with several threads where there are many, so that
 * asking for each of them finds it done. */
void snapshot_look_at_all(index_snapshot *snapshot, uint64_t since_ns);

/* What became of a data file. */
ksv_status snapshot_identity(index_snapshot *snapshot, size_t file,
                             uint64_t since_ns, file_identity *identity,
                             ksv_error *error);

/* KSV_ERROR_STALE when a data file is not what was indexed. */
ksv_status snapshot_check_fresh(index_snapshot *snapshot, size_t file,
                                uint64_t since_ns, ksv_error *error);

/* As that, of all files, with the first that changed in the error. */
ksv_status snapshot_check_all_fresh(index_snapshot *snapshot, uint64_t since_ns,
                                    ksv_error *error);

/* Tells of each data file that is not what was indexed, once: records that were
 * found elsewhere may not be all. */
void snapshot_warn_of_changes(index_snapshot *snapshot, uint64_t since_ns);

/* Whether what was opened has to be opened anew, in another snapshot. */
bool snapshot_is_outdated(index_snapshot *snapshot);

/* Where a data file lies. Valid as long as the snapshot. */
ksv_status snapshot_path(index_snapshot *snapshot, size_t file,
                         const char **path, ksv_error *error);

#endif
