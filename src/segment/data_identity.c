/* SPDX-License-Identifier: MIT */
/* Whether a data file is still what it was, for certain. */
#include "segment/data_identity.h"

#include <string.h>

#include "base/error.h"
#include "datafile/bgzf_marker.h"
#include "datafile/content_hash.h"
#include "datafile/datafile.h"
#include "hash/hash.h"
#include "io/file.h"

/* What can be wrong with content that is not the one indexed. */
static bool means_changed(ksv_status status)
{
    return status == KSV_ERROR_DATA || status == KSV_ERROR_STALE ||
           status == KSV_ERROR_UNSUPPORTED || status == KSV_ERROR_ARGUMENT;
}

/* It may vanish after it was seen. */
static ksv_status take_missing(ksv_status status, const ksv_error *problem,
                               data_identity *out, ksv_error *error)
{
    if (file_error_is_missing(problem)) {
        memset(&out->info, 0, sizeof out->info);
        out->identity = FILE_IDENTITY_MISSING;
        return KSV_OK;
    }
    if (error != NULL)
        *error = *problem;
    return status;
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
    return take_missing(status, &problem, out, error);
}

ksv_status data_identity_lost_marker(ksv_file *opened, const catalog_file *file,
                                     bool *is_so, ksv_error *error)
{
    *is_so = false;
    if (file->data_kind != DATAFILE_BGZF ||
        file->size_bytes < BGZF_MARKER_BYTES)
        return KSV_OK;
    bgzf_marked_file marked;
    uint8_t fingerprint[HASH_FINGERPRINT_BYTES];
    bgzf_marked_file_init(&marked, opened, file->size_bytes);
    ksv_status status =
        hash_fingerprint(&marked.base, file->size_bytes, fingerprint, error);
    if (status == KSV_ERROR_STALE)
        return KSV_OK; /* it has shrunk meanwhile */
    *is_so = status == KSV_OK &&
             memcmp(fingerprint, file->fingerprint, sizeof fingerprint) == 0;
    return status;
}

static ksv_status look_for_marker(const segment_place *place,
                                  const catalog_file *file, const char *path,
                                  data_identity *out, ksv_error *error)
{
    ksv_file *opened;
    bool is_so;
    ksv_error problem;
    error_clear(&problem);
    ksv_status status =
        place->fs->open_read(place->fs->ctx, path, &opened, &problem);
    if (status != KSV_OK)
        return take_missing(status, &problem, out, error);
    status = data_identity_lost_marker(opened, file, &is_so, error);
    file_close_quietly(opened);
    if (status == KSV_OK && is_so)
        out->identity = FILE_IDENTITY_GROWN;
    return status;
}

ksv_status data_identity_check(const segment_place *place,
                               const catalog_file *file, const char *path,
                               data_identity *out, ksv_error *error)
{
    memset(out, 0, sizeof *out);
    KSV_TRY(file_identity_look(place->fs, path, file, &out->identity,
                               &out->info, error));
    if (out->identity == FILE_IDENTITY_CHANGED &&
        file->data_kind == DATAFILE_BGZF &&
        out->info.kind == KSV_FILE_REGULAR &&
        out->info.size_bytes > file->size_bytes)
        return look_for_marker(place, file, path, out, error);
    if (out->identity != FILE_IDENTITY_TOUCHED)
        return KSV_OK;
    return compare_content(place, file, path, out, error);
}
