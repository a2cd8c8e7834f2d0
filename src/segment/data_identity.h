/* SPDX-License-Identifier: MIT */
/* Whether a data file is still what it was, for certain. */
#ifndef KSV_SEGMENT_DATA_IDENTITY_H
#define KSV_SEGMENT_DATA_IDENTITY_H

#include <stdbool.h>

#include "catalog/file_identity.h"
#include "segment/segment.h"

typedef struct data_identity {
    file_identity identity;
    /* What the file was when that was found out. All zero when missing. */
    ksv_file_info info;
    bool was_read; /* from start to end, to find it out */
} data_identity;

/* As file_identity_look(), but where only a part of the content was compared
 * all of it is read: FILE_IDENTITY_TOUCHED is certain then. */
ksv_status data_identity_check(const segment_place *place,
                               const catalog_file *file, const char *path,
                               data_identity *out, ksv_error *error);

#endif
