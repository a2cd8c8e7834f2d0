/* SPDX-License-Identifier: MIT */
/* Whether a data file is still what it was when it was indexed. */
#include "catalog/file_identity.h"

#include <string.h>

#include "base/error.h"
#include "hash/hash.h"
#include "io/file.h"

/* ENOENT and ENOTDIR alike: nothing is there. */
static bool nothing_at(const ksv_file_system *fs, const char *path)
{
    ksv_file_info info;
    ksv_error error;
    error_clear(&error);
    return fs->info(fs->ctx, path, &info, &error) != KSV_OK &&
           file_error_is_missing(&error);
}

ksv_status file_identity_path(const ksv_file_system *fs, const char *directory,
                              const catalog_file *file,
                              const ksv_allocator *allocator, char **out,
                              ksv_error *error)
{
    *out = path_join(allocator, directory, file->relative_path);
    if (*out == NULL)
        return error_set_memory(error);
    if (file->given_path[0] != '/' || !nothing_at(fs, *out))
        return KSV_OK;
    memory_free_string(allocator, *out);
    *out = memory_copy_string(allocator, file->given_path,
                              strlen(file->given_path));
    return *out != NULL ? KSV_OK : error_set_memory(error);
}

/* But for the number of the device. */
static bool facts_match(const catalog_file *file, const ksv_file_info *info)
{
    return info->size_bytes == file->size_bytes &&
           info->mtime_ns == file->mtime_ns &&
           info->ctime_ns == file->ctime_ns && info->inode == file->inode;
}

static ksv_status compare_content(ksv_file *opened, const catalog_file *file,
                                  const ksv_file_info *info,
                                  file_identity *identity, ksv_error *error)
{
    uint8_t fingerprint[HASH_FINGERPRINT_BYTES];
    ksv_status status =
        hash_fingerprint(opened, file->size_bytes, fingerprint, error);
    if (status == KSV_ERROR_STALE)
        return KSV_OK; /* shrank meanwhile: stays "changed" */
    KSV_TRY(status);
    if (memcmp(fingerprint, file->fingerprint, sizeof fingerprint) != 0)
        return KSV_OK;
    *identity = facts_match(file, info)                ? FILE_IDENTITY_SAME
                : info->size_bytes == file->size_bytes ? FILE_IDENTITY_TOUCHED
                                                       : FILE_IDENTITY_GROWN;
    return KSV_OK;
}

ksv_status file_identity_look(const ksv_file_system *fs, const char *path,
                              const catalog_file *file, file_identity *identity,
                              ksv_file_info *info, ksv_error *error)
{
    ksv_error problem;
    error_clear(&problem);
    *identity = FILE_IDENTITY_CHANGED;
    ksv_status status = fs->info(fs->ctx, path, info, &problem);
    if (status != KSV_OK)
        memset(info, 0, sizeof *info);
    if (status != KSV_OK && file_error_is_missing(&problem)) {
        *identity = FILE_IDENTITY_MISSING;
        return KSV_OK;
    }
    if (status != KSV_OK) {
        if (error != NULL)
            *error = problem;
        return status;
    }
    if (info->kind != KSV_FILE_REGULAR || info->size_bytes < file->size_bytes)
        return KSV_OK;
    if (facts_match(file, info) && info->device == file->device) {
        *identity = FILE_IDENTITY_SAME;
        return KSV_OK;
    }
    ksv_file *opened;
    status = fs->open_read(fs->ctx, path, &opened, &problem);
    if (status == KSV_OK) {
        status = compare_content(opened, file, info, identity, &problem);
        file_close_quietly(opened);
    } else if (file_error_is_missing(&problem)) {
        /* It has vanished just now. */
        memset(info, 0, sizeof *info);
        *identity = FILE_IDENTITY_MISSING;
        return KSV_OK;
    }
    if (status != KSV_OK && error != NULL)
        *error = problem;
    return status;
}

void file_identity_record(catalog_file *file, const ksv_file_info *info)
{
    file->size_bytes = info->size_bytes;
    file->mtime_ns = info->mtime_ns;
    file->ctime_ns = info->ctime_ns;
    file->inode = info->inode;
    file->device = info->device;
}

ksv_status file_identity_error(const catalog_file *file, file_identity identity,
                               ksv_error *error)
{
    const char *text =
        identity == FILE_IDENTITY_MISSING
            ? "no such file: it was removed or moved after it was indexed"
        : identity == FILE_IDENTITY_GROWN
            ? "has grown since it was indexed; it must be indexed again"
            : "changed after it was indexed; it must be indexed again";
    error_set(error, KSV_ERROR_STALE, file->given_path, "%s", text);
    error_add_remedy(error, KSV_REMEDY_UPDATE);
    return KSV_ERROR_STALE;
}
