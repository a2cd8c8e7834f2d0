/* SPDX-License-Identifier: MIT */
/* One data file -> the sidecars of its segment. */
#include "build/file_builder.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "catalog/file_identity.h"
#include "datafile/points_writer.h"
#include "io/atomic_file.h"
#include "scan/file_scan.h"
#include "segment/segment_writer.h"
#include "sort/entry_sorter.h"

/* How much larger than its first build an index may become before lookups read
 * more pages than planned, and the bits by which hashes outnumber keys then. */
enum {
    GROWTH_BITS = 6,
    SPARE_BITS = 11,
    HASH_BITS_MIN = 36,
    HASH_BITS_MAX = 48
};

typedef struct file_run {
    file_builder *builder;
    const planned_file *planned;
    built_file *out;
    entry_sorter *sorter;
    atomic_file *points_file; /* when the data file is compressed */
    points_writer *points;
} file_run;

static ksv_status take_record(file_run *run, const scan_record *record,
                              ksv_error *error)
{
    built_file *out = run->out;
    if (record->kind == SCAN_RECORD_BAD) {
        if (out->file.bad_records++ == 0)
            out->first_bad = record->offset;
        return KSV_OK;
    }
    out->file.records++;
    if (record->kind == SCAN_RECORD_KEYED) {
        if (record->length > out->file.longest_record_bytes)
            out->file.longest_record_bytes = record->length;
        uint64_t hash = ksv_hash(&run->builder->parameters->hasher, record->key,
                                 record->key_bytes);
        return entry_sorter_add(run->sorter, hash, record->offset, error);
    }
    if (out->file.records_without_key++ == 0)
        out->first_without_key = record->offset;
    if (run->builder->options->strict)
        return error_set_at(error, KSV_ERROR_DATA, run->planned->given_path,
                            record->offset, "record has no key");
    return KSV_OK;
}

static ksv_status take_records(void *ctx, const scan_record *records,
                               size_t count, ksv_error *error)
{
    file_run *run = ctx;
    for (size_t i = 0; i < count; i++)
        KSV_TRY(take_record(run, &records[i], error));
    run->builder->progress->now.records += count;
    return KSV_OK;
}

static ksv_status take_progress(void *ctx, uint64_t disk_bytes,
                                ksv_error *error)
{
    file_run *run = ctx;
    return build_progress_update(run->builder->progress, disk_bytes, error);
}

/* How far apart access points are: a read inflates half of it on average. */
#define POINTS_SPACING_BYTES (1024u * 1024)

static ksv_status open_points(void *ctx, datafile_kind kind,
                              points_writer **writer, ksv_error *error)
{
    file_run *run = ctx;
    const segment_place *place = &run->builder->place;
    const catalog_segment *segment = &run->out->segment;
    char name[CATALOG_NAME_BYTES];
    catalog_sidecar_name(segment->id, CATALOG_POINTS_ENDING, name);
    KSV_TRY(atomic_file_create(place->fs, place->directory, name,
                               place->allocator, &run->points_file, error));
    KSV_TRY(points_writer_open(atomic_file_handle(run->points_file), kind,
                               segment->points_id, POINTS_SPACING_BYTES,
                               place->allocator, &run->points, error));
    *writer = run->points;
    return KSV_OK;
}

/* Access points are of use only to records with keys. */
static ksv_status publish_points(file_run *run, ksv_error *error)
{
    if (run->points == NULL)
        return KSV_OK;
    KSV_TRY(points_writer_finish(run->points, run->out->file.size_bytes,
                                 run->out->file.fingerprint, error));
    ksv_file *file = atomic_file_handle(run->points_file);
    ksv_file_info info;
    KSV_TRY(file->ops->info(file, &info, error));
    run->out->segment.points_bytes = info.size_bytes;
    points_writer_close(run->points);
    run->points = NULL;
    atomic_file *whole = run->points_file;
    run->points_file = NULL;
    return atomic_file_publish(whole, error);
}

/* Bits to keep of a hash: enough for the index that this first file with keys
 * promises, with room to grow, and for the rate that the filter has to reach.
 */
static unsigned choose_hash_bits(const file_builder *builder,
                                 const built_file *first, uint64_t keys)
{
    double part =
        first->file.size_bytes > 0
            ? (double)builder->total_bytes / (double)first->file.size_bytes
            : 1.0;
    double all_keys = (double)keys * (part > 1.0 ? part : 1.0);
    double spare = ceil(log2(1.0 / builder->parameters->fpr)) + 3;
    if (spare < SPARE_BITS)
        spare = SPARE_BITS;
    double bits = floor(log2(all_keys) + GROWTH_BITS + spare + 0.5);
    if (bits < HASH_BITS_MIN)
        return HASH_BITS_MIN;
    return bits > HASH_BITS_MAX ? HASH_BITS_MAX : (unsigned)bits;
}

static ksv_status fill_file(file_run *run, file_scan_result *scanned,
                            ksv_error *error)
{
    const ksv_allocator *a = run->builder->place.allocator;
    catalog_file *file = &run->out->file;
    const planned_file *planned = run->planned;
    file->given_path =
        memory_copy_string(a, planned->given_path, strlen(planned->given_path));
    file->relative_path = memory_copy_string(a, planned->relative_path,
                                             strlen(planned->relative_path));
    file->layout_bytes = scanned->layout.size;
    file->layout = memory_alloc(a, scanned->layout.size);
    if (file->given_path == NULL || file->relative_path == NULL ||
        file->layout == NULL)
        return error_set_memory(error);
    if (scanned->layout.size > 0)
        memcpy(file->layout, scanned->layout.data, scanned->layout.size);
    file_identity_record(file, &scanned->info);
    memcpy(file->fingerprint, scanned->fingerprint, sizeof file->fingerprint);
    memcpy(file->content_hash, scanned->content_hash,
           sizeof file->content_hash);
    file->data_kind = scanned->kind;
    file->content_bytes = scanned->content_bytes;
    return KSV_OK;
}

static ksv_status write_segment(file_run *run, ksv_error *error)
{
    file_builder *builder = run->builder;
    size_t entries = entry_sorter_count(run->sorter);
    if (entries == 0)
        return KSV_OK;
    if (builder->parameters->hash_bits == 0)
        builder->parameters->hash_bits =
            choose_hash_bits(builder, run->out, entries);
    KSV_TRY(entry_sorter_finish(run->sorter, builder->parameters->hash_bits,
                                error));
    KSV_TRY(segment_write(&builder->place, run->sorter,
                          run->out->file.content_bytes, &run->out->segment,
                          error));
    run->out->file.segment_id = run->out->segment.id;
    ksv_status status = publish_points(run, error);
    if (status != KSV_OK)
        segment_remove(&builder->place, run->out->segment.id);
    return status;
}

static ksv_status scan_and_write(file_run *run, ksv_error *error)
{
    file_builder *builder = run->builder;
    file_scan scan = {.fs = builder->place.fs,
                      .path = run->planned->open_path,
                      .given_path = run->planned->given_path,
                      .spec = builder->spec,
                      .skip_bad_records = builder->options->skip_bad_records,
                      .allocator = builder->place.allocator,
                      .ignore_trailing_garbage =
                          builder->options->ignore_trailing_garbage,
                      .threads = builder->options->threads,
                      .records = take_records,
                      .progress = take_progress,
                      .points = open_points,
                      .ctx = run};
    file_scan_result scanned;
    ksv_status status = file_scan_run(&scan, &scanned, error);
    run->out->failed_alone = status != KSV_OK && status != KSV_ERROR_MEMORY &&
                             status != KSV_ERROR_CANCELLED;
    if (status == KSV_OK)
        status = fill_file(run, &scanned, error);
    run->out->warnings = scanned.warnings;
    buffer_release(&scanned.layout);
    if (status == KSV_OK)
        status = write_segment(run, error);
    return status;
}

ksv_status file_builder_run(file_builder *builder, const planned_file *planned,
                            uint64_t segment_id, built_file *out,
                            ksv_error *error)
{
    memset(out, 0, sizeof *out);
    out->first_without_key = KSV_NO_OFFSET;
    out->first_bad = KSV_NO_OFFSET;
    file_run run = {.builder = builder, .planned = planned, .out = out};
    out->segment.id = segment_id;
    segment_ids(builder->parameters, &out->segment);
    KSV_TRY(entry_sorter_open(builder->place.allocator, &run.sorter, error));
    build_progress_begin_file(builder->progress, planned->given_path);
    ksv_status status = scan_and_write(&run, error);
    points_writer_close(run.points);
    atomic_file_abandon(run.points_file);
    build_progress_end_file(builder->progress, planned->size_bytes);
    entry_sorter_close(run.sorter);
    if (status != KSV_OK)
        catalog_file_release(builder->place.allocator, &out->file);
    return status;
}
