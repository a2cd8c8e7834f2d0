/* SPDX-License-Identifier: MIT */
/* A run that is there: its file, its fences and its filter in memory. */
#ifndef KSV_DEDUP_RUN_H
#define KSV_DEDUP_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <keysieve/io.h>
#include <keysieve/memory.h>

#include "dedup/run_entry.h"
#include "window/memory_filter.h"

typedef struct key_run {
    ksv_allocator allocator;
    run_info info;
    uint64_t number; /* that names its file */
    ksv_file *file;
    uint32_t *fences; /* one a page */
    memory_filter filter;
} key_run;

/* Opens a run; checks all but the pages. `hasher` has to be its own. */
ksv_status key_run_open(const ksv_file_system *fs, const char *path,
                        const ksv_hasher *hasher,
                        const ksv_allocator *allocator, key_run **out,
                        ksv_error *error);
/* NULL is allowed. The file stays. */
void key_run_close(key_run *run);

/* The checksum of the tail: of fences as they are stored, and the filter. */
ksv_status key_run_sum_tail(const ksv_allocator *allocator, const void *fences,
                            size_t fence_bytes, const memory_filter *filter,
                            uint64_t sum[2], ksv_error *error);

size_t key_run_fence_bytes(const run_info *info);
/* Bytes in memory. */
uint64_t key_run_memory_bytes(const key_run *run);

/* About where the search for a hash begins in `fences`; there are pages. */
uint64_t key_run_guess_page(const key_run *run, uint64_t hash);
/* The first page that may have an entry with this hash; of an empty run
 * `info.pages`. */
uint64_t key_run_first_page(const key_run *run, uint64_t hash);

/* What is asked of a run, and its answer. */
typedef struct run_query {
    uint64_t hash;
    const uint8_t *key;
    size_t key_bytes;
    int64_t
        after_ms; /* earlier entries, and those of that time, are forgotten */
    bool found;
    int64_t time_ms; /* of the newest entry of the key that was found */
} run_query;

/* Looks into a page, which was checked, for a query that begins there; `reader`
 * reads the further pages that it takes. */
typedef struct run_page_reader {
    const key_run *run;
    uint8_t *page; /* `info.page_bytes` bytes */
    uint64_t pages_read;
} run_page_reader;

ksv_status key_run_search(run_page_reader *reader, const run_page_head *head,
                          const uint8_t *page, run_query *query,
                          ksv_error *error);

/* All entries in order. */
typedef struct run_cursor run_cursor;

ksv_status run_cursor_open(const key_run *run, size_t buffer_bytes,
                           run_cursor **out, ksv_error *error);
/* NULL is allowed. */
void run_cursor_close(run_cursor *cursor);
/* The next entry with its whole key, valid until the next call; NULL at the
 * end. An order that is broken is KSV_ERROR_CORRUPT. */
ksv_status run_cursor_next(run_cursor *cursor, const run_entry **entry,
                           ksv_error *error);

#endif
