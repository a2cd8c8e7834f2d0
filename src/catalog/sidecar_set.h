/* SPDX-License-Identifier: MIT */
/* Which sidecars a state names. */
#ifndef KSV_CATALOG_SIDECAR_SET_H
#define KSV_CATALOG_SIDECAR_SET_H

#include <stdbool.h>

#include "catalog/catalog.h"

/* Ids of filters and access points in ascending order. */
typedef struct sidecar_set {
    const catalog_state *state; /* borrowed, as the allocator */
    const ksv_allocator *allocator;
    uint64_t *filters;
    size_t filter_count;
    size_t filter_room;
    uint64_t *points;
    size_t point_count;
    size_t point_room;
} sidecar_set;

ksv_status sidecar_set_open(sidecar_set *set, const catalog_state *state,
                            const ksv_allocator *allocator, ksv_error *error);
/* Also after a failure. */
void sidecar_set_close(sidecar_set *set);

/* Whether the state names the sidecar with that number and ending. */
bool sidecar_set_has(const sidecar_set *set, uint64_t id, const char *ending);

#endif
