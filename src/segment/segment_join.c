/* SPDX-License-Identifier: MIT */
/* Makes one segment of several: their entries in the order of hashes go into a
 * new table, from which the new filter is made. */
#include "segment/segment_join.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "segment/segment_merge.h"

/* Entries that are handed on at once. */
#define JOIN_ENTRIES 1024

typedef struct segment_joiner {
    const segment_place *place;
    segment_merge *merge;
    join_step_fn step;
    void *step_ctx;
    catalog_segment *out;
    segment_files *files;
    hash_entry entries[JOIN_ENTRIES];
} segment_joiner;

static ksv_status take_parts(segment_joiner *j, ksv_error *error)
{
    const merge_space *space = segment_merge_space(j->merge);
    catalog_segment *out = j->out;
    KSV_TRY(catalog_segment_make_parts(j->place->allocator, out,
                                       space->part_count, error));
    if (space->part_count > 0)
        memcpy(out->parts, space->parts,
               space->part_count * sizeof *out->parts);
    out->entries = space->entries;
    out->payload_bits = segment_payload_bits(part_map_span(&space->map));
    return KSV_OK;
}

static ksv_status next_entries(segment_joiner *j, size_t *count,
                               ksv_error *error)
{
    for (*count = 0; *count < JOIN_ENTRIES; ++*count) {
        merge_entry entry;
        bool end;
        KSV_TRY(segment_merge_next(j->merge, &entry, &end, error));
        if (end)
            break;
        j->entries[*count] = (hash_entry){entry.hash, entry.payload};
    }
    return KSV_OK;
}

static ksv_status feed_table(segment_joiner *j, ksv_table_writer *writer,
                             ksv_error *error)
{
    size_t count;
    do {
        KSV_TRY(next_entries(j, &count, error));
        KSV_TRY(table_writer_add_entries(writer, j->entries, count, error));
        KSV_TRY(j->step(j->step_ctx, count, error));
    } while (count > 0);
    return KSV_OK;
}

static ksv_status write_table(segment_joiner *j, ksv_table_info *info,
                              ksv_error *error)
{
    catalog_segment *out = j->out;
    ksv_table_writer *writer;
    KSV_TRY(segment_open_table_writer(j->place, out, j->files, &writer, error));
    ksv_status status = feed_table(j, writer, error);
    if (status == KSV_OK)
        status = ksv_table_writer_finish(writer, info, error);
    ksv_table_writer_close(writer);
    out->table_bytes = info->file_bytes;
    return status;
}

static ksv_status join(segment_joiner *j, ksv_error *error)
{
    ksv_table_info info;
    memset(&info, 0, sizeof info);
    KSV_TRY(take_parts(j, error));
    KSV_TRY(write_table(j, &info, error));
    return segment_write_filter(j->place, info.distinct_hashes, j->out,
                                j->files, error);
}

ksv_status segment_join(const segment_place *place,
                        const catalog_segment *const *segments, size_t count,
                        join_step_fn step, void *step_ctx, catalog_segment *out,
                        segment_files *files, ksv_error *error)
{
    segment_joiner *j = memory_zalloc(place->allocator, sizeof *j);
    if (j == NULL)
        return error_set_memory(error);
    j->place = place;
    j->step = step;
    j->step_ctx = step_ctx;
    j->out = out;
    j->files = files;
    ksv_status status =
        segment_merge_open(place, segments, count, &j->merge, error);
    if (status == KSV_OK)
        status = join(j, error);
    segment_merge_close(j->merge);
    memory_free(place->allocator, j, sizeof *j);
    return status;
}
