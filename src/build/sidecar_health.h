/* SPDX-License-Identifier: MIT */
/* Whether the sidecars that a data file needs are whole. */
#ifndef KSV_BUILD_SIDECAR_HEALTH_H
#define KSV_BUILD_SIDECAR_HEALTH_H

#include <stdbool.h>

#include "segment/segment.h"

/* Each segment is read once, when it is first asked about. All zero is a closed
 * one. */
typedef struct sidecar_health {
    segment_place place;
    const catalog_state *state; /* borrowed, and not changed meanwhile */
    uint8_t *segments;          /* what is known of each */
    size_t *starts; /* where the segments of a file begin in `covering` */
    size_t *covering;
    size_t covering_count;
    bool is_ready;
    bool only_presence;
} sidecar_health;

/* Reads nothing yet. With `only_presence` it never does: sidecars that are
 * there with the right sizes are taken for whole. */
void sidecar_health_open(sidecar_health *health, const segment_place *place,
                         const catalog_state *state, bool only_presence);
void sidecar_health_close(sidecar_health *health);

/* Whether the tables, filters and access points of file number `index` are all
 * there and undamaged. */
ksv_status sidecar_health_ask(sidecar_health *health, size_t index,
                              bool *is_whole, ksv_error *error);

#endif
