/* SPDX-License-Identifier: MIT */
/* What an index holds and what it costs. */
#include <keysieve/index.h>

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "catalog/directory_size.h"
#include "io/file.h"
#include "lookup/index_handle.h"
#include "scan/record_reader.h"
#include "segment/distinct_keys.h"
#include "segment/segment_check.h"

static ksv_file_state state_of(file_identity identity)
{
    switch (identity) {
    case FILE_IDENTITY_SAME:
    case FILE_IDENTITY_TOUCHED:
        return KSV_STATE_OK;
    case FILE_IDENTITY_MISSING:
        return KSV_STATE_MISSING;
    default:
        return KSV_STATE_STALE;
    }
}

static ksv_status fill_files(index_snapshot *s, ksv_index_file *files,
                             ksv_index_info *info)
{
    uint64_t start_ns = clock_monotonic_ns();
    snapshot_look_at_all(s, start_ns);
    for (size_t i = 0; i < s->state.file_count; i++) {
        const catalog_file *facts = s->files[i].facts;
        /* A file that may not even be looked at cannot be relied on. */
        file_identity identity = FILE_IDENTITY_CHANGED;
        if (snapshot_identity(s, i, start_ns, &identity, NULL) != KSV_OK)
            identity = FILE_IDENTITY_CHANGED;
        files[i] =
            (ksv_index_file){.file = facts->given_path,
                             .bytes = facts->size_bytes,
                             .records = facts->records,
                             .records_without_key = facts->records_without_key,
                             .bad_records = facts->bad_records,
                             .state = state_of(identity)};
        info->records += facts->records;
        info->records_without_key += facts->records_without_key;
        info->bad_records += facts->bad_records;
        info->data_bytes += facts->size_bytes;
    }
    return KSV_OK;
}

static void add_segment(ksv_index_info *info, const catalog_segment *segment)
{
    unsigned tier =
        segment->tier < KSV_INFO_TIERS ? segment->tier : KSV_INFO_TIERS - 1;
    info->tier_segments[tier]++;
    info->table_bytes += segment->table_bytes;
    info->filter_bytes += segment->filter.bytes;
    info->filter_bits += 8 * segment->filter.bytes;
    info->filter_keys += segment->filter.keys;
    for (size_t i = 0; i < segment->part_count; i++)
        if (segment->parts[i].is_dead)
            info->dead_records += segment->parts[i].entries;
}

static void add_file_filters(ksv_index_info *info, const catalog_state *state,
                             const catalog_file *file)
{
    for (size_t i = 0; i < file->extent_count; i++) {
        const catalog_filter *filter = &file->extents[i].filter;
        if (!segment_has_filter(state, filter->id))
            info->file_filter_bytes += filter->bytes;
    }
}

static ksv_status sum_segments(index_snapshot *s, ksv_index_info *info,
                               ksv_error *error)
{
    info->segments = s->segment_count;
    for (size_t i = 0; i < s->segment_count; i++)
        add_segment(info, s->segments[i].facts);
    for (size_t i = 0; i < s->state.file_count; i++)
        add_file_filters(info, &s->state, &s->state.files[i]);
    return distinct_keys_count(&s->place, &s->state, 0, &info->distinct_keys,
                               error);
}

static ksv_status fill_info(index_snapshot *s, ksv_index_file *files,
                            ksv_index_info *info, ksv_error *error)
{
    const catalog_parameters *p = &s->state.parameters;
    info->generation = s->state.generation;
    info->format = s->spec->format;
    info->key = s->spec->key_text;
    info->organisation = p->organisation;
    info->hash = p->hasher.kind;
    info->hash_bits = p->hash_bits;
    info->fpr = p->fpr;
    info->files = files;
    info->file_count = s->state.file_count;
    KSV_TRY(fill_files(s, files, info));
    KSV_TRY(sum_segments(s, info, error));
    return directory_size(s->fs, s->directory, &s->allocator,
                          &info->index_bytes, error);
}

/* Hands what the last call gave out back and keeps this one's. */
static void keep_info(ksv_index *index, shared_snapshot *shared,
                      ksv_index_file *files)
{
    memory_free(&index->allocator, index->info_files,
                index->info_file_count * sizeof *index->info_files);
    index_release(index, index->info_snapshot);
    index->info_files = files;
    index->info_file_count = shared->snapshot->state.file_count;
    index->info_snapshot = shared;
}

ksv_status ksv_index_get_info(ksv_index *index, ksv_index_info *info,
                              ksv_error *error)
{
    memset(info, 0, sizeof *info);
    shared_snapshot *shared = index_acquire(index);
    ksv_index_file *files = memory_zalloc_array(
        &index->allocator, shared->snapshot->state.file_count, sizeof *files);
    if (files == NULL) {
        index_release(index, shared);
        return error_set_memory(error);
    }
    keep_info(index, shared, files);
    return fill_info(shared->snapshot, files, info, error);
}

ksv_format ksv_index_format(ksv_index *index)
{
    shared_snapshot *shared = index_acquire(index);
    ksv_format format = shared->snapshot->spec->format;
    index_release(index, shared);
    return format;
}

ksv_organisation ksv_index_organisation(ksv_index *index)
{
    shared_snapshot *shared = index_acquire(index);
    ksv_organisation kind = shared->snapshot->state.parameters.organisation;
    index_release(index, shared);
    return kind;
}

/* The header line lies in the first file that has one. */
static ksv_status read_header(index_snapshot *s, void *buffer,
                              size_t capacity_bytes, uint64_t *length,
                              ksv_error *error)
{
    for (size_t i = 0; i < s->state.file_count; i++) {
        const catalog_file *facts = s->files[i].facts;
        uint64_t offset;
        KSV_TRY(record_layout_header(facts->layout, facts->layout_bytes,
                                     &offset, length, error));
        bool readable =
            facts->data_kind == DATAFILE_PLAIN || facts->points_id != 0;
        if (*length == 0 || !readable)
            continue;
        ksv_receipt receipt;
        memset(&receipt, 0, sizeof receipt);
        datafile *data;
        KSV_TRY(
            snapshot_data(s, i, clock_monotonic_ns(), &data, &receipt, error));
        size_t wanted =
            *length < capacity_bytes ? (size_t)*length : capacity_bytes;
        size_t got;
        return datafile_read_at(data, offset, buffer, wanted, &got, NULL,
                                error);
    }
    return KSV_OK;
}

ksv_status ksv_index_header(ksv_index *index, void *buffer,
                            size_t capacity_bytes, uint64_t *length,
                            ksv_error *error)
{
    *length = 0;
    shared_snapshot *shared = index_acquire(index);
    unsigned renewals = 0;
    ksv_status status;
    do
        status = read_header(shared->snapshot, buffer, capacity_bytes, length,
                             error);
    while (status != KSV_OK && index_renew(index, &shared, status, &renewals));
    index_release(index, shared);
    return status;
}
