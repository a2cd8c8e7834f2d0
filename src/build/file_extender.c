/* SPDX-License-Identifier: MIT */
/* A data file that has grown -> sidecars of what was appended. */
#include "build/file_extender.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "build/grown_file.h"
#include "build/record_taker.h"
#include "datafile/datafile.h"
#include "io/file.h"

typedef struct extension {
    file_builder *builder;
    const planned_file *planned;
    const catalog_file *before;
    const file_means *means;
    built_file *out;
    grown_file grown;
    last_record last;
    uint64_t first_offset; /* of what is indexed now */
    size_t kept_extents;   /* those before that */
    segment_collector *collector;
    record_counts counts; /* from first_offset on */
    /* Of them, those that were there before the last record was. */
    uint64_t again;
    uint64_t again_without_key;
    bool adding_failed;
} extension;

bool file_extender_can(const catalog_file *known)
{
    return known->data_kind == DATAFILE_PLAIN && known->records > 0 &&
           known->bad_records == 0 && known->complete_bytes > 0 &&
           known->content_bytes == known->size_bytes &&
           known->chain_blocks <= known->content_bytes / CONTENT_BLOCK_BYTES;
}

static ksv_status open_file(extension *x, ksv_error *error)
{
    const file_builder *builder = x->builder;
    const ksv_file_system *fs = builder->place.fs;
    x->grown = (grown_file){.given_path = x->planned->given_path,
                            .before = x->before,
                            .spec = builder->spec,
                            .progress = builder->progress,
                            .allocator = builder->place.allocator};
    KSV_TRY(
        fs->open_read(fs->ctx, x->planned->open_path, &x->grown.file, error));
    KSV_TRY(x->grown.file->ops->info(x->grown.file, &x->grown.info, error));
    file_wait_for_tick(&x->grown.info);
    return KSV_OK;
}

/* Extents that are no larger than what is indexed behind them are indexed anew
 * with it: so each is larger than all that follow it together. */
static void choose_start(extension *x)
{
    const catalog_file *before = x->before;
    uint64_t end = x->grown.info.size_bytes;
    x->first_offset =
        x->last.is_complete ? x->last.end_offset : before->complete_bytes;
    x->kept_extents = before->extent_count;
    while (x->kept_extents > 0) {
        const catalog_extent *e = &before->extents[x->kept_extents - 1];
        bool would_be_empty = e->entries == 1 && x->last.has_key &&
                              x->first_offset == before->complete_bytes;
        if (e->length_bytes > end - x->first_offset && !would_be_empty)
            return;
        x->first_offset = e->first_offset;
        x->kept_extents--;
    }
}

static ksv_status take_without_key(extension *x, const scan_record *record,
                                   ksv_error *error)
{
    x->counts.records_without_key++;
    if (record->offset < x->before->complete_bytes)
        x->again_without_key++;
    if (x->counts.first_without_key == KSV_NO_OFFSET)
        x->counts.first_without_key = record->offset;
    if (x->builder->options->strict)
        return error_set_at(error, KSV_ERROR_DATA, x->planned->given_path,
                            record->offset, "record has no key");
    return KSV_OK;
}

#define TAKEN_AT_ONCE 256

static ksv_status take_some(extension *x, const scan_record *records,
                            size_t count, ksv_error *error)
{
    const ksv_hasher *hasher = &x->builder->parameters->hasher;
    hash_entry entries[TAKEN_AT_ONCE];
    size_t keyed = 0;
    for (size_t i = 0; i < count; i++) {
        const scan_record *record = &records[i];
        x->counts.records++;
        x->counts.last_offset = record->offset;
        x->again += record->offset < x->before->complete_bytes;
        if (record->kind != SCAN_RECORD_KEYED) {
            KSV_TRY(take_without_key(x, record, error));
            continue;
        }
        if (record->length > x->counts.longest_record_bytes)
            x->counts.longest_record_bytes = record->length;
        entries[keyed++] =
            (hash_entry){ksv_hash(hasher, record->key, record->key_bytes),
                         record->offset - x->first_offset};
    }
    collector_batch batch = {entries, keyed, records, count};
    ksv_status status = segment_collector_add(x->collector, 0, &batch, error);
    x->adding_failed = status != KSV_OK;
    return status;
}

static ksv_status take_records(void *ctx, const scan_record *records,
                               size_t count, ksv_error *error)
{
    for (size_t done = 0; done < count;) {
        size_t some =
            count - done < TAKEN_AT_ONCE ? count - done : TAKEN_AT_ONCE;
        KSV_TRY(take_some(ctx, records + done, some, error));
        done += some;
    }
    return KSV_OK;
}

static ksv_status open_collector(extension *x, ksv_error *error)
{
    uint64_t bytes = x->grown.info.size_bytes - x->first_offset;
    collector_options options = {.place = &x->builder->place,
                                 .id = x->out->id,
                                 .memory_bytes = x->means->memory_bytes,
                                 .data_bytes = bytes,
                                 .adders = 1};
    return segment_collector_open(&options, &x->collector, error);
}

/* The records of the file as a whole: those that were there before, without
 * those that were read again, and with those that were read. */
static void count_records(extension *x)
{
    const catalog_file *before = x->before;
    catalog_file *file = &x->out->file;
    file_growth *growth = &x->out->growth;
    bool last_again = x->first_offset <= before->complete_bytes;
    bool last_without_key = last_again && !x->last.has_key;
    growth->is_grown = true;
    growth->first_offset = x->first_offset;
    growth->records = x->counts.records;
    growth->records_without_key = x->counts.records_without_key;
    growth->read_bytes = x->grown.read_bytes;
    file->records = before->records - x->again - last_again + x->counts.records;
    file->records_without_key = before->records_without_key -
                                x->again_without_key - last_without_key +
                                x->counts.records_without_key;
    file->longest_record_bytes = x->counts.longest_record_bytes;
    if (file->longest_record_bytes < before->longest_record_bytes)
        file->longest_record_bytes = before->longest_record_bytes;
    file->complete_bytes = x->counts.last_offset != KSV_NO_OFFSET
                               ? x->counts.last_offset
                               : before->complete_bytes;
    x->out->first_without_key = x->counts.first_without_key;
}

/* The last extent that stays may reach beyond the new beginning: what was its
 * last record is of the next extent then. */
static ksv_status cut_last_extent(extension *x, ksv_error *error)
{
    catalog_file *file = &x->out->file;
    file_growth *growth = &x->out->growth;
    if (x->kept_extents == 0)
        return KSV_OK;
    catalog_extent *e = &file->extents[x->kept_extents - 1];
    if (e->first_offset + e->length_bytes <= x->first_offset)
        return KSV_OK;
    e->length_bytes = x->first_offset - e->first_offset;
    growth->loses_entry = x->last.has_key && !x->last.is_complete;
    if (!growth->loses_entry)
        return KSV_OK;
    const byte_buffer *key = &x->last.key;
    e->entries--;
    growth->lost_key = memory_alloc(x->builder->place.allocator, key->size);
    if (growth->lost_key == NULL)
        return error_set_memory(error);
    growth->lost_key_bytes = key->size;
    memcpy(growth->lost_key, key->data, key->size);
    return KSV_OK;
}

static ksv_status describe(extension *x, uint64_t distinct_keys,
                           ksv_error *error)
{
    const ksv_allocator *a = x->builder->place.allocator;
    catalog_file *file = &x->out->file;
    catalog_segment *segment = &x->out->segment;
    bool has_new = segment->entries > 0;
    size_t count = x->kept_extents + has_new;
    if (count > 0)
        KSV_TRY(catalog_file_make_extents(a, file, count, error));
    for (size_t i = 0; i < x->kept_extents; i++)
        file->extents[i] = x->before->extents[i];
    KSV_TRY(cut_last_extent(x, error));
    if (!has_new)
        return KSV_OK;
    uint64_t length = file->content_bytes - x->first_offset;
    KSV_TRY(catalog_segment_make_parts(a, segment, 1, error));
    file->extents[x->kept_extents] =
        (catalog_extent){.first_offset = x->first_offset,
                         .length_bytes = length,
                         .entries = segment->entries,
                         .distinct_keys = distinct_keys,
                         .filter = segment->filter};
    segment->parts[0] = (catalog_part){.first_offset = x->first_offset,
                                       .length_bytes = length,
                                       .entries = segment->entries};
    return KSV_OK;
}

static ksv_status write_segment(extension *x, ksv_error *error)
{
    uint64_t distinct_keys = 0;
    if (segment_collector_count(x->collector) > 0) {
        x->out->segment.id = x->out->id;
        KSV_TRY(segment_collector_finish(x->collector, NULL, 0, error));
        KSV_TRY(segment_collector_write(
            x->collector, x->out->file.content_bytes - x->first_offset,
            &x->out->segment, &x->out->sidecars, &distinct_keys, error));
    }
    return describe(x, distinct_keys, error);
}

/* Whether the beginning is as it was, what was the last record is known, and a
 * part of the file can be left alone. */
static ksv_status find_out(extension *x, bool *is_possible, ksv_error *error)
{
    const catalog_file *before = x->before;
    *is_possible = false;
    KSV_TRY(open_file(x, error));
    if (x->grown.info.kind != KSV_FILE_REGULAR ||
        x->grown.info.size_bytes <= before->size_bytes)
        return KSV_OK;
    bool is_same;
    KSV_TRY(grown_file_is_same(&x->grown, !x->builder->options->compare_grown,
                               &is_same, error));
    if (!is_same)
        return KSV_OK;
    KSV_TRY(grown_file_last_record(&x->grown, &x->last, error));
    if (!x->last.is_known)
        return KSV_OK;
    choose_start(x);
    *is_possible = x->kept_extents > 0;
    return KSV_OK;
}

static ksv_status extend(extension *x, bool *is_done, ksv_error *error)
{
    KSV_TRY(find_out(x, is_done, error));
    if (!*is_done)
        return KSV_OK;
    KSV_TRY(open_collector(x, error));
    bool is_same;
    ksv_status status =
        grown_file_read(&x->grown, x->first_offset, take_records, x,
                        &x->out->file, &is_same, error);
    /* When all is read, the error is told with its line, or passed over. */
    *is_done = status != KSV_ERROR_DATA && (status != KSV_OK || is_same);
    if (!*is_done)
        return KSV_OK;
    KSV_TRY(status);
    count_records(x);
    KSV_TRY(built_file_set_names(x->builder, x->out, x->planned,
                                 x->before->layout, x->before->layout_bytes,
                                 error));
    return write_segment(x, error);
}

ksv_status file_extender_run(file_builder *builder, const planned_file *planned,
                             uint64_t id, const file_means *means,
                             built_file *out, bool *is_done, ksv_error *error)
{
    memset(out, 0, sizeof *out);
    out->id = id;
    out->first_without_key = KSV_NO_OFFSET;
    out->first_bad = KSV_NO_OFFSET;
    extension x = {.builder = builder,
                   .planned = planned,
                   .before = planned->before,
                   .means = means,
                   .out = out};
    record_counts_init(&x.counts);
    buffer_init(&x.last.key, builder->place.allocator);
    ksv_status status = extend(&x, is_done, error);
    bool in_writing = x.out->growth.is_grown || x.adding_failed;
    out->failed_alone = status != KSV_OK && status != KSV_ERROR_MEMORY &&
                        status != KSV_ERROR_CANCELLED && !in_writing;
    segment_collector_close(x.collector);
    buffer_release(&x.last.key);
    file_close_quietly(x.grown.file);
    if (out->failed_alone)
        error_replace_path(error, planned->given_path);
    if (status != KSV_OK || !*is_done)
        built_file_release(builder, out);
    if (status != KSV_OK || *is_done)
        build_progress_end_file(builder->progress, planned->size_bytes);
    return status;
}
