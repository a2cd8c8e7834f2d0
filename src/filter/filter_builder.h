/* SPDX-License-Identifier: MIT */
/* A filter in memory, as the files that make it up see it. */
#ifndef KSV_FILTER_FILTER_BUILDER_H
#define KSV_FILTER_FILTER_BUILDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <keysieve/filter.h>

#include "filter/bloom_probe.h"
#include "filter/filter_count.h"
#include "filter/filter_memory.h"

/* Keys wait until so many have come after them and their blocks are on the way
 * from memory: one after the other, each would wait for its block alone. */
#define PENDING_HASHES 32

struct ksv_filter_builder {
    ksv_allocator allocator;
    ksv_filter_options options;
    bloom_probe_fn probe;
    uint8_t *data;        /* of the blocks */
    size_t data_bytes;    /* 64 a block */
    filter_memory blocks; /* what holds them, unless the caller does */
    filter_count count;
    uint64_t pending_added;           /* ever: the next place is modulo */
    size_t pending_count;             /* those that are not in `data` yet */
    uint64_t pending[PENDING_HASHES]; /* truncated */
};

/* An empty shell with checked options and no blocks. */
ksv_status filter_builder_make(const ksv_filter_options *options,
                               const ksv_allocator *allocator,
                               ksv_filter_builder **builder, ksv_error *error);

/* Adds what waits. */
void filter_builder_flush(ksv_filter_builder *builder);

#endif
