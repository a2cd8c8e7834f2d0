/* SPDX-License-Identifier: MIT */
/* A data file that has grown -> sidecars of what was appended. */
#include "build/file_extender.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "build/file_collector.h"
#include "build/file_output.h"
#include "build/grown_content.h"
#include "build/grown_file.h"
#include "build/record_taker.h"
#include "datafile/datafile.h"

typedef struct extension {
    file_builder *builder;
    const planned_file *planned;
    const catalog_file *before;
    const file_means *means;
    built_file *out;
    grown_file grown;
    file_output output;
    last_record last;
    uint64_t end_offset;   /* of the content, about: what it is not before */
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
    bool is_plain = known->data_kind == DATAFILE_PLAIN;
    bool has_place = is_plain ? known->content_bytes == known->size_bytes
                              : known->points_id != 0;
    return has_place && known->records > 0 && known->bad_records == 0 &&
           known->complete_bytes > 0 &&
           known->chain_blocks <= known->content_bytes / CONTENT_BLOCK_BYTES;
}

static ksv_status open_file(extension *x, ksv_error *error)
{
    const file_builder *builder = x->builder;
    x->grown = (grown_file){.place = &builder->place,
                            .open_path = x->planned->open_path,
                            .given_path = x->planned->given_path,
                            .before = x->before,
                            .spec = builder->spec,
                            .progress = builder->progress};
    return grown_file_open(&x->grown, error);
}

/* How much a compressed file holds is known when all is read: as if what is new
 * were compressed as well as what was there. */
static uint64_t guess_end(const extension *x)
{
    const catalog_file *before = x->before;
    uint64_t more_bytes = x->grown.info.size_bytes - before->size_bytes;
    double ratio = (double)before->content_bytes / (double)before->size_bytes;
    return before->data_kind == DATAFILE_PLAIN
               ? x->grown.info.size_bytes
               : before->content_bytes + (uint64_t)((double)more_bytes * ratio);
}

/* Extents that are no larger than what is indexed behind them are indexed anew
 * with it: so each is larger than all that follow it together. */
static void choose_start(extension *x)
{
    const catalog_file *before = x->before;
    size_t count = before->extent_count;
    x->end_offset = guess_end(x);
    x->first_offset =
        x->last.is_complete ? x->last.end_offset : before->complete_bytes;
    x->kept_extents = count;
    uint64_t next = x->first_offset;
    bool loses_entry = x->last.has_key && next == before->complete_bytes;
    for (size_t i = count; i-- > 0;) {
        const catalog_extent *e = &before->extents[i];
        bool would_be_empty = i + 1 == count && e->entries == 1 && loses_entry;
        if (e->length_bytes <= x->end_offset - next || would_be_empty)
            x->kept_extents = i;
        next = e->first_offset;
    }
    if (x->kept_extents < count)
        x->first_offset = before->extents[x->kept_extents].first_offset;
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
    uint64_t bytes = x->end_offset - x->first_offset;
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
    growth->kept_extents = x->kept_extents;
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

/* The extents of the file: those that stay, and room for one that is new. */
static ksv_status describe_extents(extension *x, bool has_new, ksv_error *error)
{
    catalog_file *file = &x->out->file;
    KSV_TRY(catalog_file_make_extents(x->builder->place.allocator, file,
                                      x->kept_extents + has_new, error));
    for (size_t i = 0; i < x->kept_extents; i++)
        file->extents[i] = x->before->extents[i];
    KSV_TRY(cut_last_extent(x, error));
    if (has_new)
        file->extents[x->kept_extents] = (catalog_extent){
            .first_offset = x->first_offset,
            .length_bytes = file->content_bytes - x->first_offset};
    return KSV_OK;
}

static ksv_status write_table(extension *x, catalog_extent *extent,
                              ksv_error *error)
{
    const file_builder *builder = x->builder;
    catalog_segment *segment = &x->out->segment;
    segment->id = x->out->id;
    if (builder->may_leave_keys && x->before->data_kind == DATAFILE_PLAIN)
        x->collector->data_limit = extent->length_bytes;
    KSV_TRY(segment_collector_finish(x->collector, NULL, 0, error));
    KSV_TRY(segment_collector_write(x->collector, extent->length_bytes, segment,
                                    &x->out->sidecars, &extent->distinct_keys,
                                    error));
    extent->entries = segment->entries;
    extent->filter = segment->filter;
    KSV_TRY(catalog_segment_make_parts(builder->place.allocator, segment, 1,
                                       error));
    segment->parts[0] = (catalog_part){.first_offset = extent->first_offset,
                                       .length_bytes = extent->length_bytes,
                                       .entries = segment->entries};
    return KSV_OK;
}

static ksv_status write_segment(extension *x, ksv_error *error)
{
    uint64_t entries = segment_collector_count(x->collector);
    KSV_TRY(describe_extents(x, entries > 0, error));
    catalog_extent *extent = &x->out->file.extents[x->kept_extents];
    if (entries > 0 && file_output_collects(&x->output, entries))
        KSV_TRY(
            file_output_keep(&x->output, x->collector, entries, extent, error));
    else if (entries > 0)
        KSV_TRY(write_table(x, extent, error));
    return file_output_finish_points(&x->output, error);
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

/* Reads what is new; `*is_same` false: what was there before has changed. */
static ksv_status read_new(extension *x, bool *is_same, ksv_error *error)
{
    const file_builder *builder = x->builder;
    if (x->before->data_kind != DATAFILE_PLAIN)
        KSV_TRY(file_output_open_points(
            &x->output, (datafile_kind)x->before->data_kind, error));
    grown_content content = {.grown = &x->grown,
                             .offset = x->first_offset,
                             .take = take_records,
                             .ctx = x,
                             .points = x->output.points,
                             .ignore_trailing_garbage =
                                 builder->options->ignore_trailing_garbage};
    ksv_status status = grown_content_read(&content, &x->out->file, error);
    x->out->warnings = content.warnings;
    *is_same = content.is_same;
    return status;
}

/* What is wrong is found again when all is read: it is told with its line then,
 * or passed over, or it is mended. */
static bool can_read_all_instead(ksv_status status)
{
    return status == KSV_ERROR_DATA || status == KSV_ERROR_CORRUPT ||
           status == KSV_ERROR_VERSION;
}

static ksv_status extend(extension *x, bool *is_done, ksv_error *error)
{
    ksv_status found = find_out(x, is_done, error);
    if (can_read_all_instead(found))
        *is_done = false;
    else
        KSV_TRY(found);
    if (!*is_done)
        return KSV_OK;
    KSV_TRY(open_collector(x, error));
    bool is_same;
    ksv_status status = read_new(x, &is_same, error);
    *is_done = !can_read_all_instead(status) && (status != KSV_OK || is_same);
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
    file_output_init(&x.output, builder, means, out,
                     planned->info.size_bytes <= COLLECTOR_FILE_BYTES);
    ksv_status status = extend(&x, is_done, error);
    bool in_writing = x.out->growth.is_grown || x.adding_failed;
    out->failed_alone = status != KSV_OK && status != KSV_ERROR_MEMORY &&
                        status != KSV_ERROR_CANCELLED && !in_writing;
    segment_collector_close(x.collector);
    buffer_release(&x.last.key);
    file_output_close(&x.output);
    grown_file_close(&x.grown);
    if (out->failed_alone)
        error_replace_path(error, planned->given_path);
    if (status != KSV_OK || !*is_done)
        built_file_release(builder, out);
    if (status != KSV_OK || *is_done)
        build_progress_end_file(builder->progress, planned->size_bytes);
    return status;
}
