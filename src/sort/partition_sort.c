/* SPDX-License-Identifier: MIT */
/* Sorts the entries of one partition in memory: hashes are spread evenly, so
 * that one distribution by the next bits leaves a few entries a bucket. */
#include "sort/partition_sort.h"

#include <stdbool.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

/* The starts of as many buckets stay in the second-level cache. */
#define MOST_BUCKET_BITS 14
/* Spans lie scattered in memory: they are asked for before they are read. */
#define SPANS_AHEAD 1
#define LINE_ENTRIES (64 / sizeof(hash_entry))
#if defined(__GNUC__)
#define SORT_PREFETCH(place) __builtin_prefetch(place)
#else
#define SORT_PREFETCH(place) ((void)(place))
#endif

/* Buckets beyond this size come from repeated keys. */
#define SMALL_BUCKET 32

ksv_status partition_sorter_init(partition_sorter *sorter,
                                 const ksv_allocator *allocator,
                                 unsigned top_bits, unsigned hash_bits,
                                 ksv_error *error)
{
    *sorter = (partition_sorter){
        .allocator = allocator, .top_bits = top_bits, .hash_bits = hash_bits};
    sorter->starts = memory_zalloc_array(
        allocator, ((size_t)1 << MOST_BUCKET_BITS) + 1, sizeof(uint32_t));
    return sorter->starts != NULL ? KSV_OK : error_set_memory(error);
}

void partition_sorter_release(partition_sorter *sorter)
{
    memory_free(sorter->allocator, sorter->starts,
                (((size_t)1 << MOST_BUCKET_BITS) + 1) * sizeof(uint32_t));
    sorter->starts = NULL;
}

/* Bits to distribute by: one or two entries a bucket. */
static unsigned bucket_bits(const partition_sorter *sorter, size_t count)
{
    unsigned most = sorter->hash_bits - sorter->top_bits;
    if (most > MOST_BUCKET_BITS)
        most = MOST_BUCKET_BITS;
    unsigned bits = 0;
    while (bits < most && count >> bits > 1)
        bits++;
    return bits;
}

/* A bucket is `hash` << `left` >> `right`. */
typedef struct bucket_shift {
    unsigned left;
    unsigned right;
} bucket_shift;

static size_t bucket_of(uint64_t hash, bucket_shift shift)
{
    return (size_t)(hash << shift.left >> shift.right);
}

/* Counts into `starts`, one place up, and sums up: afterwards starts[b] is
 * where bucket b - 1 begins, and becomes its end as entries are put there.
 * Returns the size of the largest bucket. */
static size_t find_starts(uint32_t *starts, size_t buckets,
                          const entry_span *spans, size_t span_count,
                          bucket_shift shift)
{
    memset(starts, 0, (buckets + 1) * sizeof *starts);
    for (size_t s = 0; s < span_count; s++) {
        const entry_span *ahead =
            &spans[s + SPANS_AHEAD < span_count ? s + SPANS_AHEAD : s];
        for (size_t i = 0; i < spans[s].count; i++) {
            if (i % LINE_ENTRIES == 0 && i < ahead->count)
                SORT_PREFETCH(ahead->entries + i);
            starts[bucket_of(spans[s].entries[i].hash, shift) + 1]++;
        }
    }
    uint32_t sum = 0, largest = 0;
    for (size_t b = 1; b <= buckets; b++) {
        uint32_t size = starts[b];
        if (size > largest)
            largest = size;
        starts[b] = sum;
        sum += size;
    }
    return largest;
}

static void distribute(uint32_t *starts, const entry_span *spans,
                       size_t span_count, bucket_shift shift, hash_entry *out)
{
    for (size_t s = 0; s < span_count; s++)
        for (size_t i = 0; i < spans[s].count; i++) {
            hash_entry entry = spans[s].entries[i];
            out[starts[bucket_of(entry.hash, shift) + 1]++] = entry;
        }
}

/* For entries of which none is far from its place. */
static void insertion_sort(hash_entry *entries, size_t count, uint64_t mask)
{
    for (size_t i = 1; i < count; i++) {
        if (!hash_entry_before(&entries[i], &entries[i - 1], mask))
            continue;
        hash_entry moving = entries[i];
        size_t at = i;
        do {
            entries[at] = entries[at - 1];
            at--;
        } while (at > 0 && hash_entry_before(&moving, &entries[at - 1], mask));
        entries[at] = moving;
    }
}

/* The end of the ascending run that begins at `from`. */
static size_t run_end(const hash_entry *entries, size_t from, size_t count,
                      uint64_t mask)
{
    size_t i = from + 1;
    while (i < count && !hash_entry_before(&entries[i], &entries[i - 1], mask))
        i++;
    return i;
}

static void merge(const hash_entry *from, size_t middle, size_t end,
                  hash_entry *to, uint64_t mask)
{
    size_t i = 0, j = middle;
    while (i < middle && j < end)
        *to++ =
            hash_entry_before(&from[j], &from[i], mask) ? from[j++] : from[i++];
    memcpy(to, from + i, (middle - i) * sizeof *to);
    to += middle - i;
    memcpy(to, from + j, (end - j) * sizeof *to);
}

/* Merges neighbouring runs from `from` into `to`; the number of runs there. */
static size_t merge_runs(const hash_entry *from, hash_entry *to, size_t count,
                         uint64_t mask)
{
    size_t runs = 0;
    for (size_t start = 0; start < count; runs++) {
        size_t middle = run_end(from, start, count, mask);
        size_t end =
            middle < count ? run_end(from, middle, count, mask) : middle;
        merge(from + start, middle - start, end - start, to + start, mask);
        start = end;
    }
    return runs;
}

/* Entries of a repeated key come in a few ascending runs: as many as there were
 * threads that added them. */
static void merge_sort(hash_entry *entries, hash_entry *spare, size_t count,
                       uint64_t mask)
{
    if (run_end(entries, 0, count, mask) == count)
        return;
    for (;;) {
        size_t runs = merge_runs(entries, spare, count, mask);
        if (runs == 1)
            break;
        runs = merge_runs(spare, entries, count, mask);
        if (runs == 1)
            return;
    }
    memcpy(entries, spare, count * sizeof *entries);
}

static void sort_buckets(const uint32_t *ends, size_t buckets, hash_entry *out,
                         hash_entry *spare, uint64_t mask)
{
    size_t start = 0;
    for (size_t b = 0; b < buckets; b++) {
        size_t count = ends[b + 1] - start;
        if (count > SMALL_BUCKET)
            merge_sort(out + start, spare, count, mask);
        else
            insertion_sort(out + start, count, mask);
        start += count;
    }
}

ksv_status partition_sort(const partition_sorter *sorter,
                          const entry_span *spans, size_t span_count,
                          hash_entry *out, hash_entry *spare, ksv_error *error)
{
    size_t count = 0;
    for (size_t s = 0; s < span_count; s++)
        count += spans[s].count;
    unsigned bits = bucket_bits(sorter, count);
    /* Two shifts, none of them by the width of the word. */
    bucket_shift shift = {bits > 0 ? sorter->top_bits : 0,
                          bits > 0 ? 64 - bits : 63};
    size_t buckets = bits > 0 ? (size_t)1 << bits : 2;
    uint64_t mask = hash_entry_mask(sorter->hash_bits);
    size_t largest =
        find_starts(sorter->starts, buckets, spans, span_count, shift);
    distribute(sorter->starts, spans, span_count, shift, out);
    if (largest <= SMALL_BUCKET) {
        insertion_sort(out, count, mask);
        return KSV_OK;
    }
    if (spare != NULL) {
        sort_buckets(sorter->starts, buckets, out, spare, mask);
        return KSV_OK;
    }
    spare = memory_alloc(sorter->allocator, largest * sizeof *spare);
    if (spare == NULL)
        return error_set_memory(error);
    sort_buckets(sorter->starts, buckets, out, spare, mask);
    memory_free(sorter->allocator, spare, largest * sizeof *spare);
    return KSV_OK;
}
