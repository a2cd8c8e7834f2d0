/* SPDX-License-Identifier: MIT */
/* Whether the data files of a snapshot are what was indexed. */
#ifndef KSV_LOOKUP_DATA_FRESHNESS_H
#define KSV_LOOKUP_DATA_FRESHNESS_H

#include "lookup/index_snapshot.h"

/* All with the lock of the snapshot held. */

/* KSV_ERROR_STALE when a data file is not what was indexed, seen no earlier
 * than `since_ns` less the time of trust. */
ksv_status freshness_require(index_snapshot *s, snapshot_file *file,
                             uint64_t since_ns, ksv_error *error);

/* Fills in where a data file lies. */
ksv_status freshness_find_path(index_snapshot *s, snapshot_file *file,
                               ksv_error *error);

/* What a look at a data file has to see for it to be what it was when it was
 * looked at last, or what was indexed when that was never; false when it was
 * not that then. */
bool freshness_expects(const snapshot_file *file, ksv_file_info *info);

/* Whether a look at `looked_ns` will do for a call that began at `since_ns`. */
bool freshness_believes(const index_snapshot *s, uint64_t looked_ns,
                        uint64_t since_ns, uint64_t now_ns);

#endif
