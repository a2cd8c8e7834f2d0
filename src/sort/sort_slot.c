/* SPDX-License-Identifier: MIT */
/* A few partitions being sorted, by whatever thread. */
#include "sort/sort_slot.h"

#include "base/error.h"
#include "base/memory.h"

/* Records are read so many at a time. */
#define READ_ENTRIES ((size_t)4096)

static size_t partition_count(const sort_source *source)
{
    return (size_t)1 << source->partition_bits;
}

static uint64_t count_partition(const sort_source *source, size_t partition)
{
    if (source->spill != NULL)
        return spill_file_count(source->spill, partition);
    uint64_t count = 0;
    for (size_t i = 0; i < source->adder_count; i++)
        count += entry_adder_count(&source->adders[i], partition);
    return count;
}

ksv_status sort_source_count(sort_source *source, ksv_error *error)
{
    size_t partitions = partition_count(source);
    source->counts = memory_zalloc_array(source->allocator, partitions,
                                         sizeof *source->counts);
    if (source->counts == NULL)
        return error_set_memory(error);
    for (size_t p = 0; p < partitions; p++)
        source->counts[p] = count_partition(source, p);
    return KSV_OK;
}

void sort_source_release(sort_source *source)
{
    memory_free(source->allocator, source->counts,
                partition_count(source) * sizeof *source->counts);
    source->counts = NULL;
}

uint64_t sort_source_largest(const sort_source *source)
{
    uint64_t largest = 0;
    for (size_t p = 0; p < partition_count(source); p++)
        if (source->counts[p] > largest)
            largest = source->counts[p];
    return largest;
}

static size_t scratch_bytes(void)
{
    return spill_file_scratch_bytes(READ_ENTRIES);
}

size_t sort_slot_bytes(size_t capacity, bool spilled)
{
    size_t entries = capacity * sizeof(hash_entry);
    return spilled ? 2 * entries + scratch_bytes() : entries;
}

static ksv_status allocate(sort_slot *slot, ksv_error *error)
{
    const ksv_allocator *a = slot->source->allocator;
    size_t bytes = slot->capacity * sizeof(hash_entry);
    slot->sorted = memory_alloc(a, bytes);
    if (slot->sorted == NULL)
        return error_set_memory(error);
    if (slot->source->spill == NULL)
        return KSV_OK;
    slot->loaded = memory_alloc(a, bytes);
    slot->scratch = memory_alloc(a, scratch_bytes());
    if (slot->loaded == NULL || slot->scratch == NULL)
        return error_set_memory(error);
    return KSV_OK;
}

ksv_status sort_slot_init(sort_slot *slot, const sort_source *source,
                          size_t capacity, ksv_error *error)
{
    *slot = (sort_slot){.source = source, .capacity = capacity};
    slot->task = (thread_task){.run = sort_slot_run, .ctx = slot};
    distinct_counter_init(&slot->counter, source->allocator, source->hash_bits);
    KSV_TRY(allocate(slot, error));
    return partition_sorter_init(&slot->sorter, source->allocator,
                                 source->partition_bits, source->hash_bits,
                                 error);
}

void sort_slot_release(sort_slot *slot)
{
    if (slot->source == NULL)
        return;
    const ksv_allocator *a = slot->source->allocator;
    size_t bytes = slot->capacity * sizeof(hash_entry);
    memory_free(a, slot->sorted, bytes);
    memory_free(a, slot->loaded, bytes);
    memory_free(a, slot->scratch, scratch_bytes());
    memory_free(a, slot->spans, slot->span_capacity * sizeof *slot->spans);
    if (slot->sorter.allocator != NULL)
        partition_sorter_release(&slot->sorter);
    distinct_counter_release(&slot->counter);
    *slot = (sort_slot){0};
}

/* `count` entries from number `first` on of a partition in one run. */
static ksv_status load_run(sort_slot *slot, const spill_run *run,
                           size_t partition, size_t first, size_t count,
                           hash_entry *out, ksv_error *error)
{
    for (size_t done = 0; done < count;) {
        size_t left = count - done;
        size_t take = left < READ_ENTRIES ? left : READ_ENTRIES;
        KSV_TRY(spill_file_read(slot->source->spill, run, partition,
                                first + done, take, slot->scratch, out + done,
                                error));
        done += take;
    }
    return KSV_OK;
}

ksv_status sort_slot_load(sort_slot *slot, size_t partition, uint64_t first,
                          size_t count, ksv_error *error)
{
    const spill_file *spill = slot->source->spill;
    size_t done = 0;
    for (size_t i = 0; i < spill->run_count && done < count; i++) {
        const spill_run *run = &spill->runs[i];
        size_t here = spill_file_run_count(run, partition);
        if (first >= here) {
            first -= here;
            continue;
        }
        size_t take = here - (size_t)first;
        if (take > count - done)
            take = count - done;
        KSV_TRY(load_run(slot, run, partition, (size_t)first, take,
                         slot->loaded + done, error));
        done += take;
        first = 0;
    }
    return KSV_OK;
}

static ksv_status add_span(sort_slot *slot, size_t *count,
                           const hash_entry *entries, size_t entry_count,
                           ksv_error *error)
{
    void *spans = slot->spans;
    ksv_status status =
        memory_grow(slot->source->allocator, &spans, &slot->span_capacity,
                    *count + 1, sizeof *slot->spans, error);
    slot->spans = spans;
    KSV_TRY(status);
    slot->spans[(*count)++] = (entry_span){entries, entry_count};
    return KSV_OK;
}

static ksv_status collect_spans(sort_slot *slot, size_t partition,
                                size_t *count, ksv_error *error)
{
    *count = 0;
    for (size_t i = 0; i < slot->source->adder_count; i++) {
        const entry_adder *adder = &slot->source->adders[i];
        const entry_chunk *chunk = adder->firsts[partition];
        for (; chunk != NULL; chunk = chunk->next)
            KSV_TRY(add_span(slot, count, chunk->entries + chunk->first,
                             entry_adder_chunk_count(adder, partition, chunk),
                             error));
    }
    return KSV_OK;
}

static ksv_status sort_one(sort_slot *slot, size_t partition, ksv_error *error)
{
    size_t count = (size_t)slot->source->counts[partition];
    hash_entry *out = slot->sorted + slot->count;
    if (count == 0)
        return KSV_OK;
    if (slot->source->spill != NULL) {
        entry_span span = {slot->loaded, count};
        KSV_TRY(sort_slot_load(slot, partition, 0, count, error));
        KSV_TRY(
            partition_sort(&slot->sorter, &span, 1, out, slot->loaded, error));
    } else {
        size_t spans;
        KSV_TRY(collect_spans(slot, partition, &spans, error));
        KSV_TRY(partition_sort(&slot->sorter, slot->spans, spans, out, NULL,
                               error));
    }
    KSV_TRY(distinct_counter_add(&slot->counter, out, count, error));
    slot->count += count;
    return KSV_OK;
}

void sort_slot_run(void *ctx)
{
    sort_slot *slot = ctx;
    slot->count = 0;
    slot->status = KSV_OK;
    error_clear(&slot->error);
    for (size_t p = slot->first; p < slot->end && slot->status == KSV_OK; p++)
        slot->status = sort_one(slot, p, &slot->error);
    slot->distinct = distinct_counter_take(&slot->counter);
}
