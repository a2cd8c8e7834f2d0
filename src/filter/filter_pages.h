/* SPDX-License-Identifier: MIT */
/* The blocks of a filter file in memory, read and checked when first needed. */
#ifndef KSV_FILTER_FILTER_PAGES_H
#define KSV_FILTER_FILTER_PAGES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <keysieve/filter.h>

#include "base/memory.h"
#include "base/mutex.h"
#include "filter/filter_format.h"
#include "filter/filter_memory.h"

/* Shared by threads: a page's bit in `ready` is set after its bytes stand in
 * `blocks` and were checked; from then on nobody writes to them. All else but
 * the constant members belongs to who holds the lock. */
typedef struct filter_pages {
    ksv_file *file; /* borrowed */
    uint8_t id[16];
    filter_layout layout;
    filter_memory blocks;
    bool is_borrowed;        /* those are */
    _Atomic uint64_t *ready; /* a bit a page */
    size_t ready_words;
    mutex lock;
    uint8_t *checksums;       /* the checksum pages as in the file */
    uint8_t *checksums_ready; /* a byte a checksum page */
    uint64_t misses;          /* pages asked for and not there */
    _Atomic bool reads_runs;  /* most of the filter seems to be wanted */
} filter_pages;

/* `file` has the size that `layout` says. Reads nothing. `blocks` is where they
 * go, borrowed, of the size that `layout` says; NULL: memory of their own. On
 * failure nothing is left to be released. */
ksv_status filter_pages_init(filter_pages *pages, ksv_file *file,
                             const uint8_t id[16], const filter_layout *layout,
                             const filter_memory *blocks,
                             const ksv_allocator *a, ksv_error *error);
/* `a` as it was given at first. */
void filter_pages_release(filter_pages *pages, const ksv_allocator *a);

static inline bool filter_page_is_ready(const filter_pages *pages,
                                        uint64_t page)
{
    uint64_t word =
        atomic_load_explicit(&pages->ready[page / 64], memory_order_acquire);
    return (word >> (page % 64) & 1) != 0;
}

/* Reads and checks `page`, and others with it when many were asked for. */
ksv_status filter_pages_read(filter_pages *pages, uint64_t page,
                             ksv_error *error);

/* Tells that `probes` hashes are about to be asked for: whether so many want
 * most of the filter decides how it is read. */
void filter_pages_expect(filter_pages *pages, uint64_t probes);

/* Reads and checks all that is not there yet. */
ksv_status filter_pages_read_all(filter_pages *pages, ksv_error *error);

#endif
