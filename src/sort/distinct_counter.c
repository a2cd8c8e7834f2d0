/* SPDX-License-Identifier: MIT */
/* Counts different hashes in a stream of sorted entries. */
#include "sort/distinct_counter.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"

#define LEAST_ROOM 32
/* Entries that are likely to be all of different keys. */
#define AT_ONCE 512

void distinct_counter_init(distinct_counter *counter,
                           const ksv_allocator *allocator, unsigned hash_bits)
{
    *counter = (distinct_counter){.allocator = allocator,
                                  .mask = hash_entry_mask(hash_bits)};
}

void distinct_counter_release(distinct_counter *counter)
{
    memory_free(counter->allocator, counter->group,
                counter->group_capacity * sizeof *counter->group);
    counter->group = NULL;
    counter->group_capacity = 0;
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Leaves each hash of the group once. */
static void unite_group(distinct_counter *counter)
{
    uint64_t *group = counter->group;
    size_t kept = 1;
    qsort(group, counter->group_size, sizeof *group, compare);
    for (size_t i = 1; i < counter->group_size; i++)
        if (group[i] != group[kept - 1])
            group[kept++] = group[i];
    counter->group_size = kept;
}

static ksv_status reserve(distinct_counter *counter, size_t wanted,
                          ksv_error *error)
{
    void *group = counter->group;
    ksv_status status =
        memory_grow(counter->allocator, &group, &counter->group_capacity,
                    wanted, sizeof *counter->group, error);
    counter->group = group;
    return status;
}

/* Sorting is put off until the group has doubled, so that its cost is spread
 * over those that came. */
static ksv_status extend_group(distinct_counter *counter, uint64_t hash,
                               ksv_error *error)
{
    if (counter->group_size == counter->group_room) {
        if (counter->group_size > 0)
            unite_group(counter);
        counter->group_room = 2 * counter->group_size;
        if (counter->group_room < LEAST_ROOM)
            counter->group_room = LEAST_ROOM;
        KSV_TRY(reserve(counter, counter->group_room, error));
    }
    counter->group[counter->group_size++] = hash;
    return KSV_OK;
}

static void end_group(distinct_counter *counter)
{
    unite_group(counter);
    counter->counts.whole += counter->group_size - 1;
    counter->group_size = 0;
}

/* `hash` is another one than the last, with which it shares the kept bits. */
static ksv_status add_collision(distinct_counter *counter, uint64_t hash,
                                ksv_error *error)
{
    if (counter->group_size == 0)
        KSV_TRY(extend_group(counter, counter->last, error));
    KSV_TRY(extend_group(counter, hash, error));
    counter->last = hash;
    return KSV_OK;
}

/* Whether each of `count` hashes is another one than that before it, in the
 * bits that are kept. */
static bool all_differ(const hash_entry *entries, size_t count, uint64_t last,
                       uint64_t mask)
{
    size_t equal = 0;
    for (size_t i = 0; i < count; i++) {
        equal += ((entries[i].hash ^ last) & mask) == 0;
        last = entries[i].hash;
    }
    return equal == 0;
}

static ksv_status add_some(distinct_counter *counter, const hash_entry *entries,
                           size_t count, ksv_error *error)
{
    uint64_t mask = counter->mask;
    if (all_differ(entries, count, counter->last, mask)) {
        if (counter->group_size > 0)
            end_group(counter);
        counter->counts.truncated += count;
        counter->counts.whole += count;
        counter->last = entries[count - 1].hash;
        return KSV_OK;
    }
    for (size_t i = 0; i < count; i++) {
        uint64_t hash = entries[i].hash;
        uint64_t difference = hash ^ counter->last;
        if ((difference & mask) != 0) {
            if (counter->group_size > 0)
                end_group(counter);
            counter->counts.truncated++;
            counter->counts.whole++;
            counter->last = hash;
        } else if (difference != 0) {
            KSV_TRY(add_collision(counter, hash, error));
        }
    }
    return KSV_OK;
}

ksv_status distinct_counter_add(distinct_counter *counter,
                                const hash_entry *entries, size_t count,
                                ksv_error *error)
{
    if (count > 0 && !counter->has_last) {
        counter->has_last = true;
        counter->last = ~entries[0].hash;
    }
    for (size_t done = 0; done < count;) {
        size_t some = count - done < AT_ONCE ? count - done : AT_ONCE;
        KSV_TRY(add_some(counter, entries + done, some, error));
        done += some;
    }
    return KSV_OK;
}

sorter_distinct distinct_counter_take(distinct_counter *counter)
{
    if (counter->group_size > 0)
        end_group(counter);
    sorter_distinct counts = counter->counts;
    counter->counts = (sorter_distinct){0, 0};
    counter->has_last = false;
    return counts;
}
