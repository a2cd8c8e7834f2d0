/* SPDX-License-Identifier: MIT */
/* Compares the tables of a data file with what the file holds. */
#include "verify/data_check.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "scan/file_scan.h"
#include "segment/segment_check.h"

/* A filter that belongs to an extent alone; that of a segment was compared with
 * its table already. */
typedef struct extent_filter {
    const catalog_extent *extent;
    segment_filter opened;
} extent_filter;

typedef struct data_walk {
    const data_check *check;
    extent_filter *filters; /* as many as extents, closed ones for those shared
                             */
    entry_sum entries;
    uint64_t records;
    uint64_t records_without_key;
    uint64_t bad_records;
} data_walk;

static ksv_status differs(const data_check *check, uint64_t offset,
                          const char *text, ksv_error *error)
{
    error_set_at(error, KSV_ERROR_STALE, check->file->given_path, offset,
                 "the index does not fit the data: %s", text);
    error_add_remedy(error, KSV_REMEDY_UPDATE);
    return KSV_ERROR_STALE;
}

static ksv_status ask_filters(const data_walk *walk, uint64_t hash,
                              uint64_t offset, ksv_error *error)
{
    for (size_t i = 0; i < walk->check->file->extent_count; i++) {
        const extent_filter *filter = &walk->filters[i];
        bool is_there = true;
        if (filter->opened.filter == NULL ||
            offset - filter->extent->first_offset >=
                filter->extent->length_bytes)
            continue;
        KSV_TRY(ksv_filter_may_contain(filter->opened.filter, hash, &is_there,
                                       error));
        if (!is_there)
            return differs(walk->check, offset, "a key is not in the filter",
                           error);
    }
    return KSV_OK;
}

static ksv_status walk_records(void *ctx, const scan_record *records,
                               size_t count, ksv_error *error)
{
    data_walk *walk = ctx;
    const catalog_parameters *p = walk->check->place->parameters;
    for (size_t i = 0; i < count; i++) {
        const scan_record *r = &records[i];
        walk->bad_records += r->kind == SCAN_RECORD_BAD;
        walk->records += r->kind != SCAN_RECORD_BAD;
        walk->records_without_key += r->kind == SCAN_RECORD_WITHOUT_KEY;
        if (r->kind != SCAN_RECORD_KEYED)
            continue;
        uint64_t hash = ksv_hash_truncate(
            ksv_hash(&p->hasher, r->key, r->key_bytes), p->hash_bits);
        entry_sum_add(&walk->entries, hash, r->offset);
        KSV_TRY(ask_filters(walk, hash, r->offset, error));
    }
    return KSV_OK;
}

static ksv_status compare_facts(const data_check *check, const data_walk *walk,
                                const file_scan_result *scanned,
                                ksv_error *error)
{
    const catalog_file *file = check->file;
    if (walk->records != file->records ||
        walk->records_without_key != file->records_without_key ||
        walk->bad_records != file->bad_records)
        return differs(check, KSV_NO_OFFSET, "another number of records",
                       error);
    if (scanned->content_bytes != file->content_bytes ||
        memcmp(scanned->content_hash, file->content_hash,
               sizeof file->content_hash) != 0)
        return differs(check, KSV_NO_OFFSET, "other content", error);
    if (scanned->layout.size != file->layout_bytes ||
        memcmp(scanned->layout.data, file->layout, file->layout_bytes) != 0)
        return differs(check, KSV_NO_OFFSET, "another header", error);
    if (check->entries != NULL &&
        !entry_sum_equal(&walk->entries, check->entries))
        return differs(check, KSV_NO_OFFSET, "other keys, or in other places",
                       error);
    return KSV_OK;
}

static ksv_status open_filters(data_walk *walk, ksv_error *error)
{
    const data_check *check = walk->check;
    size_t count = check->file->extent_count;
    walk->filters = memory_zalloc_array(check->place->allocator, count,
                                        sizeof *walk->filters);
    if (walk->filters == NULL)
        return error_set_memory(error);
    for (size_t i = 0; i < count; i++) {
        extent_filter *filter = &walk->filters[i];
        filter->extent = &check->file->extents[i];
        if (segment_has_filter(check->state, filter->extent->filter.id))
            continue;
        KSV_TRY(segment_load_filter(check->place, &filter->extent->filter,
                                    &filter->opened, error));
    }
    return KSV_OK;
}

static void close_filters(data_walk *walk)
{
    size_t count = walk->check->file->extent_count;
    for (size_t i = 0; walk->filters != NULL && i < count; i++)
        segment_close_filter(&walk->filters[i].opened);
    memory_free(walk->check->place->allocator, walk->filters,
                count * sizeof *walk->filters);
}

static ksv_status scan_again(const data_check *check, data_walk *walk,
                             ksv_error *error)
{
    file_scan scan = {.fs = check->place->fs,
                      .path = check->path,
                      .given_path = check->file->given_path,
                      .spec = check->spec,
                      .skip_bad_records = check->file->bad_records > 0,
                      .ignore_trailing_garbage = true,
                      .allocator = check->place->allocator,
                      .records = walk_records,
                      .ctx = walk};
    file_scan_result scanned;
    ksv_status status = file_scan_run(&scan, &scanned, error);
    if (status == KSV_OK)
        status = compare_facts(check, walk, &scanned, error);
    buffer_release(&scanned.layout);
    return status;
}

ksv_status data_check_run(const data_check *check, uint64_t *records,
                          ksv_error *error)
{
    data_walk walk = {.check = check};
    ksv_status status = open_filters(&walk, error);
    if (status == KSV_OK)
        status = scan_again(check, &walk, error);
    close_filters(&walk);
    *records += walk.records;
    return status;
}
