/* SPDX-License-Identifier: MIT */
/* What a build has to do: the files named against what the catalog holds. */
#ifndef KSV_BUILD_BUILD_PLAN_H
#define KSV_BUILD_BUILD_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <keysieve/builder.h>

#include "build/path_table.h"
#include "build/sidecar_health.h"
#include "catalog/catalog.h"
#include "io/file.h"
#include "segment/segment.h"

typedef enum plan_action {
    PLAN_INDEX = 0,   /* new, changed, or its sidecars are damaged */
    PLAN_KEEP = 1,    /* as it was indexed */
    PLAN_REFRESH = 2, /* the same, but its times have to be recorded anew */
    PLAN_DROP = 3,    /* vanished */
    PLAN_FAIL = 4,    /* cannot be indexed: `problem` says why */
    PLAN_EXTEND = 5   /* grown: what was appended is indexed, if that is sure */
} plan_action;

#define PLAN_NOT_KNOWN PATH_TABLE_NONE

typedef struct planned_file {
    plan_action action;
    char *open_path;
    char *given_path;
    char *relative_path;
    /* As seen from the index now, where that alone was moved; else NULL. */
    char *moved_path;
    bool is_missing;
    size_t known;  /* its place in the catalog's files, or PLAN_NOT_KNOWN */
    size_t number; /* in the order in which files were named */
    uint64_t size_bytes;
    ksv_file_info info;
    ksv_error *problem; /* of PLAN_FAIL */
    /* Of PLAN_EXTEND: what the catalog has of it, whose memory stays the
     * catalog's. */
    catalog_file *before;
} planned_file;

typedef struct build_plan {
    const ksv_allocator *allocator;
    planned_file *files;
    size_t count;
    size_t capacity;
    path_table paths; /* of the files above */
    path_table known; /* of the catalog's files */
    sidecar_health health;
    path_memo directory; /* of the file planned last */
    bool is_started;
} build_plan;

/* Whether the data of the file is to be read. */
static inline bool plan_reads_file(const planned_file *file)
{
    return file->action == PLAN_INDEX || file->action == PLAN_EXTEND;
}

/* Bytes on disk that are to be read of it, about. */
static inline uint64_t plan_read_bytes(const planned_file *file)
{
    return file->action == PLAN_EXTEND
               ? file->info.size_bytes - file->before->size_bytes
               : file->size_bytes;
}

/* What a plan is made from. Borrowed members. */
typedef struct plan_request {
    segment_place place;
    const char *real_directory; /* of the index, canonical */
    const catalog_state *state;
    const ksv_build_options *options;
    bool is_update; /* vanished files are dropped, not failures */
} plan_request;

/* One request a plan: what is planned is added to what was planned before. */
void build_plan_init(build_plan *plan, const ksv_allocator *allocator);
void build_plan_release(build_plan *plan);

/* Plans the named files, those that the catalog has in its order first; a file
 * named twice counts once. A directory, pipe or
 * device is an error of the whole plan, other trouble one of the file. */
ksv_status build_plan_named(build_plan *plan, const plan_request *request,
                            const char *const *files, size_t file_count,
                            ksv_error *error);

/* Plans every file that the catalog holds. */
ksv_status build_plan_all(build_plan *plan, const plan_request *request,
                          ksv_error *error);

/* Plans the files that the watched patterns of the index match now. */
ksv_status build_plan_watched(build_plan *plan, const plan_request *request,
                              ksv_error *error);

/* Nothing more is planned: the state may change from now on. */
void build_plan_finish(build_plan *plan);

#endif
