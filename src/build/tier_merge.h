/* SPDX-License-Identifier: MIT */
/* Merges the segments of an index in tiers, so that lookups ask few of them. */
#ifndef KSV_BUILD_TIER_MERGE_H
#define KSV_BUILD_TIER_MERGE_H

#include "build/build_run.h"

/* A tier that holds as many segments becomes one of the next tier. */
#define TIER_SEGMENTS 16

/* The tier of a new segment that covers that many data files: as if they had
 * been merged. */
unsigned tier_of_new(size_t files);

/* Merges as long as there is a full tier, and rewrites segments that are dead
 * to a quarter. Each merge is a commit of its own: what was done before a
 * failure stays. The state of the run has to be the committed one. */
ksv_status tier_merge_all(build_run *run, ksv_error *error);

#endif
