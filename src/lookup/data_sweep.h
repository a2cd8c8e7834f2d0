/* SPDX-License-Identifier: MIT */
/* Looks at all data files of a snapshot at once. */
#ifndef KSV_LOOKUP_DATA_SWEEP_H
#define KSV_LOOKUP_DATA_SWEEP_H

#include "lookup/index_snapshot.h"

/* Looks once at each file of those groups whose last look will not do for a
 * call that began at `since_ns`, and notes of each group in which every file
 * was as expected that it was so. The others are left to those who ask about a
 * file by itself. Returns when the looks began; the lock of the snapshot is
 * held. */
uint64_t data_sweep(index_snapshot *s, uint64_t since_ns);

#endif
