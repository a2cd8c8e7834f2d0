/* SPDX-License-Identifier: MIT */
/* Whether a data file is still what it was, for certain. */
#include "segment/data_identity.h"

#include <string.h>

#include "base/error.h"
#include "datafile/content_hash.h"

/* What can be wrong with content that is not the one indexed. */
static bool means_changed(ksv_status status)
{
    return status == KSV_ERROR_DATA || status == KSV_ERROR_STALE ||
           status == KSV_ERROR_UNSUPPORTED || status == KSV_ERROR_ARGUMENT;
}

static ksv_status compare_content(const segment_place *place,
                                  const catalog_file *file, const char *path,
                                  data_identity *out, ksv_error *error)
{
    uint8_t hash[CONTENT_HASH_BYTES];
    ksv_error problem;
    error_clear(&problem);
    ksv_status status = datafile_content_hash(place->fs, path, place->allocator,
                                              &out->info, hash, &problem);
    out->was_read = true;
    bool same =
        status == KSV_OK && out->info.size_bytes == file->size_bytes &&
        memcmp(hash, file->content_hash, sizeof file->content_hash) == 0;
    if (same)
        return KSV_OK;
    out->identity = FILE_IDENTITY_CHANGED;
    if (status == KSV_OK || means_changed(status))
        return KSV_OK;
    if (error != NULL)
        *error = problem;
    return status;
}

ksv_status data_identity_check(const segment_place *place,
                               const catalog_file *file, const char *path,
                               data_identity *out, ksv_error *error)
{
    memset(out, 0, sizeof *out);
    KSV_TRY(file_identity_look(place->fs, path, file, &out->identity,
                               &out->info, error));
    if (out->identity != FILE_IDENTITY_TOUCHED)
        return KSV_OK;
    return compare_content(place, file, path, out, error);
}
