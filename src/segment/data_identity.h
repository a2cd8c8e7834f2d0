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
 * all of it is read: FILE_IDENTITY_TOUCHED is certain then. A BGZF file that
 * has grown in place of its last, empty block is FILE_IDENTITY_GROWN as well.
 */
ksv_status data_identity_check(const segment_place *place,
                               const catalog_file *file, const char *path,
                               data_identity *out, ksv_error *error);

/* Whether `opened`, which is larger than `file` was, begins as that did but for
 * the empty block that a BGZF file ends with: programs that append to one put
 * their first block in its place. By samples. */
ksv_status data_identity_lost_marker(ksv_file *opened, const catalog_file *file,
                                     bool *is_so, ksv_error *error);

#endif
