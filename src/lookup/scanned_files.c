/* SPDX-License-Identifier: MIT */
/* Data files that are read from their start, and records of them after that. */
#include "lookup/scanned_files.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "io/file.h"
#include "lookup/record_source.h"
#include "scan/record_fetch.h"
#include "segment/segment_data.h"

ksv_status scanned_files_open(scanned_files *files, index_snapshot *snapshot,
                              ksv_error *error)
{
    memset(files, 0, sizeof *files);
    files->snapshot = snapshot;
    files->infos = memory_zalloc_array(
        &snapshot->allocator, snapshot->state.file_count, sizeof *files->infos);
    return files->infos != NULL ? KSV_OK : error_set_memory(error);
}

void scanned_files_close(scanned_files *files)
{
    const index_snapshot *snapshot = files->snapshot;
    for (size_t i = 0; i < SCANNED_OPEN_FILES; i++)
        datafile_close(files->open[i]);
    memory_free(&snapshot->allocator, files->infos,
                snapshot->state.file_count * sizeof *files->infos);
    files->infos = NULL;
}

static ksv_status scan(index_snapshot *snapshot, size_t file,
                       file_scan_records_fn records, void *ctx,
                       ksv_file_info *info, ksv_error *error)
{
    const catalog_file *facts = snapshot->files[file].facts;
    const char *path;
    KSV_TRY(snapshot_path(snapshot, file, &path, error));
    file_scan job = {.fs = snapshot->fs,
                     .path = path,
                     .given_path = facts->given_path,
                     .spec = snapshot->spec,
                     .skip_bad_records = facts->bad_records > 0,
                     .ignore_trailing_garbage = true,
                     .allocator = &snapshot->allocator,
                     .records = records,
                     .ctx = ctx};
    file_scan_result result;
    ksv_status status = file_scan_run(&job, &result, error);
    buffer_release(&result.layout);
    *info = result.info;
    return status;
}

/* Access points tell where to inflate only in the data that they were made of.
 */
ksv_status scanned_files_scan(scanned_files *files, size_t file,
                              file_scan_records_fn records, void *ctx,
                              ksv_receipt *receipt, ksv_error *error)
{
    index_snapshot *snapshot = files->snapshot;
    if (snapshot->files[file].facts->data_kind != DATAFILE_PLAIN)
        KSV_TRY(
            snapshot_check_fresh(snapshot, file, clock_monotonic_ns(), error));
    ksv_file_info *info = &files->infos[file];
    ksv_status status = scan(snapshot, file, records, ctx, info, error);
    receipt->files_opened++;
    receipt->bytes_read += info->size_bytes;
    return status;
}

/* A slot that holds this file open. */
static ksv_status hold_open(scanned_files *s, size_t file, size_t *slot,
                            ksv_error *error)
{
    index_snapshot *snapshot = s->snapshot;
    const catalog_file *facts = snapshot->files[file].facts;
    const char *path;
    *slot = file % SCANNED_OPEN_FILES;
    if (s->open[*slot] != NULL && s->open_file[*slot] == file)
        return KSV_OK;
    datafile_close(s->open[*slot]);
    s->open[*slot] = NULL;
    KSV_TRY(snapshot_path(snapshot, file, &path, error));
    KSV_TRY(segment_open_data(&snapshot->data_place, facts, path,
                              &s->open[*slot], error));
    s->open_file[*slot] = file;
    return KSV_OK;
}

/* Opens a file that was scanned; it is closed with the others. */
static ksv_status open_again(scanned_files *s, size_t file, datafile **data,
                             ksv_error *error)
{
    const catalog_file *facts = s->snapshot->files[file].facts;
    size_t slot;
    KSV_TRY(hold_open(s, file, &slot, error));
    *data = s->open[slot];
    ksv_file *opened = datafile_file(*data);
    ksv_file_info now;
    ksv_status status = opened->ops->info(opened, &now, error);
    if (status == KSV_OK && !file_info_is_same(&now, &s->infos[file]))
        status = error_set(error, KSV_ERROR_STALE, NULL,
                           "changed while it was read");
    if (status == KSV_OK)
        return KSV_OK;
    error_replace_path(error, facts->given_path);
    return status;
}

ksv_status scanned_files_visit(scanned_files *files,
                               const scanned_record *found, ksv_key key,
                               size_t key_number, bool no_data,
                               ksv_record_fn visit, void *ctx,
                               ksv_receipt *receipt, ksv_error *error)
{
    index_snapshot *snapshot = files->snapshot;
    const ksv_allocator *a = &snapshot->allocator;
    const catalog_file *facts = snapshot->files[found->file].facts;
    datafile *data;
    KSV_TRY(open_again(files, found->file, &data, error));
    lookup_source source = {data, facts->given_path, found->offset,
                            found->length, receipt};
    ksv_record record = {.key = key.data,
                         .key_bytes = key.bytes,
                         .file = facts->given_path,
                         .offset = found->offset,
                         .length = found->length,
                         .source = &source};
    size_t length = 0;
    void *bytes = NULL;
    ksv_status status = KSV_OK;
    if (!no_data && found->length <= RECORD_FETCH_HOLD_BYTES) {
        length = (size_t)found->length;
        bytes = memory_alloc(a, length);
        size_t got = 0;
        status = bytes == NULL
                     ? error_set_memory(error)
                     : ksv_record_read(&record, 0, bytes, length, &got, error);
        record.data = bytes;
    }
    if (status == KSV_OK && !visit(ctx, key_number, &record))
        status = error_set(error, KSV_ERROR_CANCELLED, NULL, "stopped");
    memory_free(a, bytes, length);
    return status;
}
