/* SPDX-License-Identifier: MIT */
/* Sorted partitions one after the other, some of them sorted ahead by other
 * threads. */
#include "sort/sorter_output.h"

#include "base/error.h"
#include "base/memory.h"
#include "sort/run_merger.h"

/* Partitions are sorted together up to so many entries: a thread's share is
 * worth its messages, and the sorted entries stay in the cache. */
#define ALONE_ENTRIES ((size_t)8192)
#define TOGETHER_ENTRIES ((size_t)65536)
#define MOST_SLOTS 64
/* What sorting may take beside the entries in memory. */
#define SORTING_BYTES_PER_ENTRY 3
#define SORTING_BYTES ((size_t)16 << 20)

struct sorter_output {
    output_options options;
    sort_slot *slots; /* a ring */
    size_t slot_count;
    size_t head;  /* number of the slot that is to be given out next */
    size_t busy;  /* slots from `head` on that have partitions */
    size_t given; /* of these, from the head on, were given out */
    size_t next_partition;
    size_t partitions;
    size_t group_entries;
    run_merger *merger; /* of the head, when it does not fit */
    sorter_distinct distinct;
};

bool sorter_output_fits(const output_options *options, uint64_t total)
{
    uint64_t share = total * SORTING_BYTES_PER_ENTRY + SORTING_BYTES;
    size_t memory = options->memory_bytes;
    if (share < memory)
        memory = (size_t)share;
    /* A slot of its size, and as much again to merge repeated keys. */
    return sort_source_largest(&options->source) <=
           memory / (2 * sizeof(hash_entry));
}

/* Entries that a slot needs, if memory allows, and how many slots. */
static size_t plan_slots(sorter_output *o, size_t *capacity)
{
    const output_options *options = &o->options;
    bool spilled = options->source.spill != NULL;
    uint64_t largest = sort_source_largest(&options->source);
    o->group_entries = options->pool != NULL ? TOGETHER_ENTRIES : ALONE_ENTRIES;
    uint64_t wanted = largest > o->group_entries ? largest : o->group_entries;
    size_t slots = options->pool != NULL ? 2u * options->threads + 2u : 1;
    if (slots > MOST_SLOTS)
        slots = MOST_SLOTS;
    /* In memory there may be as much again to merge repeated keys. */
    uint64_t each = 2 * sizeof(hash_entry);
    uint64_t room = options->memory_bytes / each;
    if (spilled && room > sort_slot_bytes(0, true) / each)
        room -= sort_slot_bytes(0, true) / each;
    if (wanted > room)
        wanted = room > 0 ? room : 1;
    while (slots > 1 && wanted > room / slots)
        slots--;
    *capacity = (size_t)wanted;
    return slots;
}

ksv_status sorter_output_open(const output_options *options,
                              sorter_output **out, ksv_error *error)
{
    const ksv_allocator *a = options->source.allocator;
    *out = NULL;
    sorter_output *o = memory_zalloc(a, sizeof *o);
    if (o == NULL) {
        sort_source counted = options->source;
        sort_source_release(&counted);
        return error_set_memory(error);
    }
    *out = o;
    o->options = *options;
    o->partitions = (size_t)1 << options->source.partition_bits;
    size_t capacity;
    o->slot_count = plan_slots(o, &capacity);
    o->slots = memory_zalloc_array(a, o->slot_count, sizeof *o->slots);
    if (o->slots == NULL)
        return error_set_memory(error);
    for (size_t i = 0; i < o->slot_count; i++)
        KSV_TRY(
            sort_slot_init(&o->slots[i], &o->options.source, capacity, error));
    return KSV_OK;
}

void sorter_output_close(sorter_output *output)
{
    if (output == NULL)
        return;
    const ksv_allocator *a = output->options.source.allocator;
    run_merger_close(output->merger);
    for (size_t i = 0; output->slots != NULL && i < output->slot_count; i++) {
        sort_slot *slot = &output->slots[i];
        if (slot->submitted)
            thread_pool_wait(output->options.pool, &slot->task);
        sort_slot_release(slot);
    }
    sort_source_release(&output->options.source);
    memory_free(a, output->slots, output->slot_count * sizeof *output->slots);
    memory_free(a, output, sizeof *output);
}

/* Whether there is a partition with entries that no slot has. */
static bool find_partition(sorter_output *o)
{
    while (o->next_partition < o->partitions &&
           o->options.source.counts[o->next_partition] == 0)
        o->next_partition++;
    return o->next_partition < o->partitions;
}

/* Gives the slot the next partitions: as many as make up a group, or one. */
static void assign(sorter_output *o, sort_slot *slot)
{
    uint64_t sum = 0;
    slot->first = o->next_partition;
    while (o->next_partition < o->partitions) {
        sum += o->options.source.counts[o->next_partition];
        bool alone = o->next_partition == slot->first;
        if (!alone && (sum > o->group_entries || sum > slot->capacity))
            break;
        o->next_partition++;
        if (sum > slot->capacity)
            break; /* for the merger */
    }
    slot->end = o->next_partition;
}

static bool is_too_large(const sorter_output *o, const sort_slot *slot)
{
    return slot->end == slot->first + 1 &&
           o->options.source.counts[slot->first] > slot->capacity;
}

/* Sets the other threads to work on all slots that are free. */
static void fill_slots(sorter_output *o)
{
    while (o->busy < o->slot_count && find_partition(o)) {
        sort_slot *slot = &o->slots[(o->head + o->busy) % o->slot_count];
        assign(o, slot);
        o->busy++;
        if (o->options.pool == NULL || is_too_large(o, slot))
            continue;
        slot->submitted = true;
        thread_pool_submit(o->options.pool, &slot->task);
    }
}

static void count_distinct(sorter_output *o, sorter_distinct distinct)
{
    o->distinct.truncated += distinct.truncated;
    o->distinct.whole += distinct.whole;
}

static ksv_status next_of_merger(sorter_output *o, const hash_entry **entries,
                                 size_t *count, ksv_error *error)
{
    KSV_TRY(run_merger_next(o->merger, entries, count, error));
    if (*count > 0)
        return KSV_OK;
    run_merger_close(o->merger);
    o->merger = NULL;
    count_distinct(
        o, distinct_counter_take(&o->slots[o->head % o->slot_count].counter));
    o->given = 1;
    sorter_output_give_back(o);
    return KSV_OK;
}

/* Makes the first slot ready that was not given out, if need be here and now.
 */
static ksv_status next_of_slot(sorter_output *o, const hash_entry **entries,
                               size_t *count, ksv_error *error)
{
    sort_slot *slot = &o->slots[(o->head + o->given) % o->slot_count];
    if (is_too_large(o, slot)) {
        const output_options *options = &o->options;
        KSV_TRY(run_merger_open(slot, slot->first, options->fs,
                                options->directory, options->merge_name,
                                &o->merger, error));
        return next_of_merger(o, entries, count, error);
    }
    if (slot->submitted)
        thread_pool_wait(o->options.pool, &slot->task);
    else
        sort_slot_run(slot);
    slot->submitted = false;
    if (slot->status != KSV_OK) {
        if (error != NULL)
            *error = slot->error;
        return slot->status;
    }
    count_distinct(o, slot->distinct);
    o->given++;
    *entries = slot->sorted;
    *count = slot->count;
    return KSV_OK;
}

void sorter_output_give_back(sorter_output *output)
{
    output->head++;
    output->busy--;
    output->given--;
}

size_t sorter_output_most_kept(const sorter_output *output)
{
    size_t sorting = output->options.threads + 1u;
    return output->slot_count > sorting ? output->slot_count - sorting
                                        : output->slot_count - 1;
}

ksv_status sorter_output_next_kept(sorter_output *output,
                                   const hash_entry **entries, size_t *count,
                                   bool *kept, ksv_error *error)
{
    sorter_output *o = output;
    for (;;) {
        *count = 0;
        *kept = o->merger == NULL;
        if (o->merger != NULL) {
            KSV_TRY(next_of_merger(o, entries, count, error));
        } else {
            fill_slots(o);
            if (o->busy == o->given)
                return KSV_OK;
            KSV_TRY(next_of_slot(o, entries, count, error));
            *kept = o->merger == NULL;
        }
        if (*count > 0)
            return KSV_OK;
    }
}

ksv_status sorter_output_next(sorter_output *output, const hash_entry **entries,
                              size_t *count, ksv_error *error)
{
    bool kept;
    while (output->given > 0)
        sorter_output_give_back(output);
    return sorter_output_next_kept(output, entries, count, &kept, error);
}

sorter_distinct sorter_output_distinct(const sorter_output *output)
{
    return output->distinct;
}
