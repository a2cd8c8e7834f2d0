/* SPDX-License-Identifier: MIT */
/* The data files of a snapshot, for its tables. */
#ifndef KSV_LOOKUP_SNAPSHOT_DATA_H
#define KSV_LOOKUP_SNAPSHOT_DATA_H

#include "segment/table_data.h"

struct index_snapshot;

/* Looks at a data file whenever it is asked for, and keeps it open. */
typedef struct snapshot_table_data {
    table_data base;
    struct index_snapshot *snapshot; /* borrowed */
} snapshot_table_data;

/* After the specification and the files of the snapshot are known. */
void snapshot_table_data_init(snapshot_table_data *data,
                              struct index_snapshot *snapshot);

#endif
