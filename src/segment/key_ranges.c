/* SPDX-License-Identifier: MIT */
/* Which segments can have keys in common. */
#include "segment/key_ranges.h"

#include "base/error.h"
#include "base/memory.h"
#include "segment/organisation.h"
#include "segment/sparse_span.h"

typedef struct key_range {
    size_t number; /* of the segment */
    byte_buffer low;
    byte_buffer high;
} key_range;

static int compare(const byte_buffer *a, const byte_buffer *b)
{
    return sorted_key_compare((sorted_key){a->data, a->size},
                              (sorted_key){b->data, b->size});
}

static ksv_status find_range(const segment_place *place,
                             const catalog_segment *segment, key_range *range,
                             ksv_error *error)
{
    segment_table table;
    KSV_TRY(segment_open_table(place, segment, &table, error));
    ksv_status status =
        table.organisation->bounds(&table, &range->low, &range->high, error);
    if (status != KSV_OK)
        segment_table_error(place, segment->id, error);
    segment_close_table(&table);
    return status;
}

/* There are few segments, and mostly in order. */
static void sort_by_low(key_range *ranges, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        key_range moving = ranges[i];
        size_t at = i;
        for (; at > 0 && compare(&ranges[at - 1].low, &moving.low) > 0; at--)
            ranges[at] = ranges[at - 1];
        ranges[at] = moving;
    }
}

/* A group ends where no key before reaches. */
static size_t number_groups(const key_range *ranges, size_t count,
                            size_t *groups)
{
    size_t group = 0;
    const byte_buffer *high = NULL;
    for (size_t i = 0; i < count; i++) {
        const key_range *range = &ranges[i];
        group += high != NULL && compare(&range->low, high) > 0;
        if (high == NULL || compare(&range->high, high) > 0)
            high = &range->high;
        groups[range->number] = group;
    }
    return group + 1;
}

static ksv_status group_ranges(const segment_place *place,
                               const catalog_segment *const *segments,
                               size_t count, key_range *ranges, size_t *groups,
                               size_t *group_count, ksv_error *error)
{
    for (size_t i = 0; i < count; i++) {
        ranges[i].number = i;
        buffer_init(&ranges[i].low, place->allocator);
        buffer_init(&ranges[i].high, place->allocator);
    }
    for (size_t i = 0; i < count; i++)
        KSV_TRY(find_range(place, segments[i], &ranges[i], error));
    sort_by_low(ranges, count);
    *group_count = number_groups(ranges, count, groups);
    return KSV_OK;
}

ksv_status key_ranges_group(const segment_place *place,
                            const catalog_segment *const *segments,
                            size_t count, size_t *groups, size_t *group_count,
                            ksv_error *error)
{
    for (size_t i = 0; i < count; i++)
        groups[i] = 0;
    *group_count = 1;
    if (count <= 1 || organisation_of(place)->bounds == NULL)
        return KSV_OK;
    key_range *ranges =
        memory_zalloc_array(place->allocator, count, sizeof *ranges);
    if (ranges == NULL)
        return error_set_memory(error);
    ksv_status status = group_ranges(place, segments, count, ranges, groups,
                                     group_count, error);
    for (size_t i = 0; i < count; i++) {
        buffer_release(&ranges[i].low);
        buffer_release(&ranges[i].high);
    }
    memory_free(place->allocator, ranges, count * sizeof *ranges);
    return status;
}
