/* SPDX-License-Identifier: MIT */
/* The data behind a segment, for tables that have not an entry a record. */
#ifndef KSV_SEGMENT_TABLE_DATA_H
#define KSV_SEGMENT_TABLE_DATA_H

#include <stdbool.h>

#include "catalog/catalog.h"
#include "datafile/datafile.h"
#include "scan/scan_spec.h"

/* An open data file. */
typedef struct data_source {
    datafile *file;
    const catalog_file *facts;
    char *path;      /* where it lies; the table_data's */
    bool was_opened; /* just now */
} data_source;

/* How tables get at data files. An implementation puts this first in a
 * structure of its own; several threads may use it at once. */
typedef struct table_data table_data;
struct table_data {
    const scan_spec *spec;
    /* Opens the file of a part that lives: what of it has changed since it was
     * indexed is KSV_ERROR_STALE, as far as can be told. Errors name the file.
     */
    ksv_status (*open)(const table_data *data, const catalog_part *part,
                       data_source *out, ksv_error *error);
    void (*close)(const table_data *data, data_source *source);
};

#endif
