/* SPDX-License-Identifier: MIT */
/* How many different keys segments hold together. */
#include "segment/distinct_keys.h"

#include "base/error.h"
#include "base/memory.h"
#include "segment/key_ranges.h"
#include "segment/organisation.h"

/* The extents that segments cover. */
typedef struct extent_sums {
    size_t extents;
    uint64_t keys;
    uint64_t hashes;
} extent_sums;

static void add_extents(extent_sums *sums, const catalog_file *file,
                        const catalog_part *part)
{
    for (size_t i = 0; file != NULL && i < file->extent_count; i++) {
        const catalog_extent *extent = &file->extents[i];
        if (extent->first_offset < part->first_offset ||
            extent->first_offset - part->first_offset >= part->length_bytes)
            continue;
        sums->extents++;
        sums->keys += extent->distinct_keys;
        sums->hashes += extent->filter.keys - extent->lost_hashes;
    }
}

static ksv_status count_hashes(const segment_place *place,
                               const catalog_segment *const *segments,
                               size_t count, uint64_t *distinct,
                               ksv_error *error)
{
    segment_merge *merge;
    uint64_t last_hash = 0;
    bool end = false;
    *distinct = 0;
    KSV_TRY(segment_merge_open(place, segments, count, &merge, error));
    ksv_status status = KSV_OK;
    while (status == KSV_OK && !end) {
        table_entry entry;
        status = segment_merge_next(merge, &entry, &end, error);
        if (status != KSV_OK || end)
            break;
        *distinct += *distinct == 0 || entry.hash != last_hash;
        last_hash = entry.hash;
    }
    segment_merge_close(merge);
    return status;
}

static bool has_dead_parts(const catalog_segment *segment)
{
    for (size_t i = 0; i < segment->part_count; i++)
        if (segment->parts[i].is_dead)
            return true;
    return false;
}

static bool is_one_whole(const catalog_segment *const *segments, size_t count)
{
    return count == 1 && !has_dead_parts(segments[0]);
}

static bool count_by_keys(const segment_place *place,
                          const catalog_segment *const *segments, size_t count)
{
    return organisation_of(place)->keeps_keys && !is_one_whole(segments, count);
}

static ksv_status count_in(const segment_place *place,
                           const catalog_state *state,
                           const catalog_segment *const *segments, size_t count,
                           uint64_t *distinct, ksv_error *error)
{
    merge_space space;
    extent_sums sums = {0, 0, 0};
    uint64_t together;
    *distinct = 0;
    ksv_status status =
        merge_space_open(&space, segments, count, place->allocator, error);
    for (size_t i = 0; status == KSV_OK && i < space.part_count; i++)
        add_extents(&sums, catalog_find_file(state, space.parts[i].ordinal),
                    &space.parts[i]);
    merge_space_close(&space);
    KSV_TRY(status);
    *distinct = sums.keys;
    if (sums.extents <= 1)
        return KSV_OK;
    if (is_one_whole(segments, count)) {
        together = segments[0]->filter.keys;
    } else {
        status = count_hashes(place, segments, count, &together, error);
        /* Keys that are in data which has changed cannot be counted. */
        if (status == KSV_ERROR_STALE)
            return KSV_OK;
        KSV_TRY(status);
    }
    /* What several extents have in common was counted in each. In the order of
     * keys these themselves were counted. */
    bool by_keys = count_by_keys(place, segments, count);
    *distinct = by_keys ? together : sums.keys - (sums.hashes - together);
    return KSV_OK;
}

/* The segments of one group after the other. */
static ksv_status count_groups(const segment_place *place,
                               const catalog_state *state,
                               const catalog_segment *const *segments,
                               const catalog_segment **some, size_t *groups,
                               size_t count, uint64_t *distinct,
                               ksv_error *error)
{
    size_t group_count;
    *distinct = 0;
    KSV_TRY(
        key_ranges_group(place, segments, count, groups, &group_count, error));
    for (size_t group = 0; group < group_count; group++) {
        size_t size = 0;
        uint64_t keys;
        for (size_t i = 0; i < count; i++)
            if (groups[i] == group)
                some[size++] = segments[i];
        KSV_TRY(count_in(place, state, some, size, &keys, error));
        *distinct += keys;
    }
    return KSV_OK;
}

ksv_status distinct_keys_count(const segment_place *place,
                               const catalog_state *state, uint64_t first_id,
                               uint64_t *distinct, ksv_error *error)
{
    size_t room = state->segment_count;
    const catalog_segment **segments =
        memory_zalloc_array(place->allocator, room, sizeof *segments);
    const catalog_segment **some =
        memory_zalloc_array(place->allocator, room, sizeof *some);
    size_t *groups =
        memory_zalloc_array(place->allocator, room, sizeof *groups);
    bool has_memory = segments != NULL && some != NULL && groups != NULL;
    size_t count = 0;
    for (size_t i = 0; has_memory && i < room; i++)
        if (state->segments[i].id >= first_id)
            segments[count++] = &state->segments[i];
    ksv_status status = has_memory
                            ? count_groups(place, state, segments, some, groups,
                                           count, distinct, error)
                            : error_set_memory(error);
    memory_free(place->allocator, groups, room * sizeof *groups);
    memory_free(place->allocator, some, room * sizeof *some);
    memory_free(place->allocator, segments, room * sizeof *segments);
    return status;
}
