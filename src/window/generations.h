/* SPDX-License-Identifier: MIT */
/* Generations of filters over time: hashes that were passed less than a window
 * ago, in memory that does not grow. */
#ifndef KSV_WINDOW_GENERATIONS_H
#define KSV_WINDOW_GENERATIONS_H

#include "window/memory_filter.h"

/* Slices of a window, and generations that there can be. */
#define GENERATIONS_SLICES_MIN 1
#define GENERATIONS_SLICES_MAX 32
#define GENERATIONS_MAX 64

/* A filter with what was passed from its first time to its newest. All but the
 * last of them are closed. */
typedef struct generation {
    int64_t first_ms;
    int64_t newest_ms;
    uint64_t keys; /* added */
    memory_filter filter;
    /* For those who keep a state: the file that has the first `file_keys` of
     * the keys, 0 for none, and whether those are all. */
    uint64_t file_number;
    uint64_t file_keys;
    bool is_stored;
} generation;

typedef struct generations_options {
    int64_t window_ms;      /* 0: nothing is forgotten, one generation */
    unsigned slices;        /* closed generations that cover a window */
    uint64_t expected_keys; /* in a window, or in all */
    double fpr;             /* of all generations together */
    const ksv_allocator *allocator;
} generations_options;

/* A hash that is offered. */
typedef struct window_item {
    uint64_t hash;
    int64_t time_ms; /* never falls from one to the next */
} window_item;

#define GENERATIONS_BATCH 1024

/* One thread at a time. */
typedef struct generations generations;

ksv_status generations_open(const generations_options *options,
                            generations **out, ksv_error *error);
/* NULL is allowed. */
void generations_close(generations *g);

/* Of up to GENERATIONS_BATCH hashes, in their order, tells which are fresh;
 * those are passed now. A hash that was passed less than a window ago is never
 * fresh; one that was not is, but for the false positives.
 *
 * A generation is closed when a slice of the window has passed since its first
 * time, or when it has as many keys as it is sized for; it is dropped when its
 * newest time is a window ago. A burst of keys hence takes more generations,
 * not less time: up to a quarter more than a window has; then the open one
 * takes more keys than it is sized for, and the rate of false positives rises.
 */
ksv_status generations_decide(generations *g, const window_item *items,
                              size_t count, bool *fresh, ksv_error *error);

/* Adds a hash that was passed to the open generation. */
ksv_status generations_note(generations *g, const window_item *item,
                            ksv_error *error);

/* From the oldest to the open one. */
size_t generations_count(const generations *g);
generation *generations_get(generations *g, size_t index);
/* Adds one as the newest, with an empty filter of the shape that all have. */
ksv_status generations_add(generations *g, generation **added,
                           ksv_error *error);

/* How many generations were begun, and begun or dropped, so far. */
uint64_t generations_begun(const generations *g);
uint64_t generations_changes(const generations *g);

/* Shape of the filters, and the keys that they are sized for. */
void generations_shape(const generations *g, ksv_filter_plan *plan,
                       uint64_t *keys);

/* The highest rate of false positives to expect there was so far. */
double generations_worst_rate(const generations *g);
uint64_t generations_memory_bytes(const generations *g);

#endif
