/* SPDX-License-Identifier: MIT */
/* Sorts the entries of a chunk by (key, payload): by eight bytes of the key at
 * a time as a number, which is read from it once. */
#include "sort/key_sort.h"

#include "base/bytes.h"
#include "sort/key_order.h"

/* Fewer are sorted by insertion. */
#define INSERTION_ITEMS 24
/* Fewer are sorted by halving, more by radix. */
#define RADIX_ITEMS 512
#define RADIX_BITS 8
#define RADIX_BUCKETS (1u << RADIX_BITS)

static void swap_items(key_item *a, key_item *b)
{
    key_item item = *a;
    *a = *b;
    *b = item;
}

static void insert_by_head(key_item *items, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        key_item item = items[i];
        size_t at = i;
        for (; at > 0 && item.head < items[at - 1].head; at--)
            items[at] = items[at - 1];
        items[at] = item;
    }
}

static uint64_t middle_head(const key_item *items, size_t count)
{
    uint64_t a = items[0].head;
    uint64_t b = items[count / 2].head;
    uint64_t c = items[count - 1].head;
    if (a > b) {
        uint64_t head = a;
        a = b;
        b = head;
    }
    return c < a ? a : c > b ? b : c;
}

/* Of few items: no order of them takes long. */
static void halve_by_head(key_item *items, size_t count)
{
    while (count > INSERTION_ITEMS) {
        uint64_t pivot = middle_head(items, count);
        size_t i = 0, j = count - 1;
        for (;; i++, j--) {
            while (items[i].head < pivot)
                i++;
            while (items[j].head > pivot)
                j--;
            if (i >= j)
                break;
            swap_items(&items[i], &items[j]);
        }
        size_t left = j + 1;
        halve_by_head(items, left);
        items += left;
        count -= left;
    }
    insert_by_head(items, count);
}

static unsigned bucket_of(const key_item *item, unsigned shift)
{
    return (unsigned)(item->head >> shift) & (RADIX_BUCKETS - 1);
}

/* Puts items into the order of their buckets, in place; `ends` are those of
 * buckets. */
static void distribute(key_item *items, size_t count, unsigned shift,
                       size_t ends[RADIX_BUCKETS])
{
    size_t next[RADIX_BUCKETS] = {0};
    for (size_t i = 0; i < count; i++)
        next[bucket_of(&items[i], shift)]++;
    size_t sum = 0;
    for (unsigned b = 0; b < RADIX_BUCKETS; b++) {
        size_t here = next[b];
        next[b] = sum;
        sum += here;
        ends[b] = sum;
    }
    for (unsigned b = 0; b < RADIX_BUCKETS; b++)
        while (next[b] < ends[b]) {
            key_item item = items[next[b]];
            for (unsigned to; (to = bucket_of(&item, shift)) != b;)
                swap_items(&item, &items[next[to]++]);
            items[next[b]++] = item;
        }
}

static void sort_by_head(key_item *items, size_t count)
{
    if (count < RADIX_ITEMS) {
        halve_by_head(items, count);
        return;
    }
    uint64_t differing = 0;
    for (size_t i = 1; i < count; i++)
        differing |= items[i].head ^ items[0].head;
    if (differing == 0)
        return;
    unsigned shift = 0;
    while (differing >> shift >= RADIX_BUCKETS)
        shift++;
    size_t ends[RADIX_BUCKETS];
    distribute(items, count, shift, ends);
    if (shift == 0)
        return;
    for (unsigned b = 0; b < RADIX_BUCKETS; b++) {
        size_t start = b > 0 ? ends[b - 1] : 0;
        if (ends[b] - start > 1)
            sort_by_head(items + start, ends[b] - start);
    }
}

/* Whether `a` comes before `b`; both have `depth` bytes, which are equal. */
static bool comes_before(const uint8_t *data, const key_item *a,
                         const key_item *b, size_t depth)
{
    if (a->head != b->head)
        return a->head < b->head;
    int order = bytes_compare(data + a->offset, a->key_bytes, data + b->offset,
                              b->key_bytes, depth);
    return order < 0 || (order == 0 && a->payload < b->payload);
}

static void load_heads(const uint8_t *data, key_item *items, size_t count,
                       size_t depth)
{
    for (size_t i = 0; i < count; i++)
        items[i].head =
            key_head(data + items[i].offset, items[i].key_bytes, depth);
}

static void insert_by_key(const uint8_t *data, key_item *items, size_t count,
                          size_t depth)
{
    load_heads(data, items, count, depth);
    for (size_t i = 1; i < count; i++) {
        key_item item = items[i];
        size_t at = i;
        for (; at > 0 && comes_before(data, &item, &items[at - 1], depth); at--)
            items[at] = items[at - 1];
        items[at] = item;
    }
}

/* What all keys begin with, of which `depth` bytes are known. */
static size_t common_depth(const uint8_t *data, const key_item *items,
                           size_t count, size_t depth)
{
    const uint8_t *first = data + items[0].offset;
    size_t common = items[0].key_bytes;
    for (size_t i = 1; i < count && common > depth; i++) {
        size_t most = items[i].key_bytes < common ? items[i].key_bytes : common;
        common = bytes_common(first, data + items[i].offset, depth, most);
    }
    return common;
}

/* The items whose key ends within its head come first, then the others, whose
 * number is returned. */
static size_t put_ended_first(key_item *items, size_t count, size_t depth)
{
    size_t ended = 0;
    for (size_t i = 0; i < count; i++)
        if (items[i].key_bytes <= depth + KEY_HEAD_BYTES)
            swap_items(&items[ended++], &items[i]);
    return count - ended;
}

/* Items of equal heads whose keys end within these: zeros may be bytes of the
 * key or none, so that the length tells. */
static void sort_ended(key_item *items, size_t count)
{
    for (size_t i = 0; i < count; i++)
        items[i].head = items[i].key_bytes;
    sort_by_head(items, count);
    for (size_t start = 0, end; start < count; start = end) {
        uint32_t key_bytes = items[start].key_bytes;
        for (end = start; end < count && items[end].key_bytes == key_bytes;
             end++)
            items[end].head = items[end].payload;
        sort_by_head(items + start, end - start);
    }
}

/* Items of one head, which go on with bytes that were not compared. */
typedef struct item_group {
    key_item *items;
    size_t count;
} item_group;

static void sort_items(const uint8_t *data, key_item *items, size_t count,
                       size_t depth);

/* Sorts what has equal heads, but for the largest group that goes on. */
static item_group sort_groups(const uint8_t *data, key_item *items,
                              size_t count, size_t depth)
{
    item_group largest = {NULL, 0};
    for (size_t start = 0, end; start < count; start = end) {
        uint64_t head = items[start].head;
        for (end = start + 1; end < count && items[end].head == head;)
            end++;
        if (end - start == 1)
            continue;
        size_t left = put_ended_first(items + start, end - start, depth);
        sort_ended(items + start, end - start - left);
        item_group group = {items + end - left, left};
        if (group.count > largest.count) {
            item_group other = largest;
            largest = group;
            group = other;
        }
        if (group.count > 1)
            sort_items(data, group.items, group.count, depth + KEY_HEAD_BYTES);
    }
    return largest;
}

/* All keys have `depth` bytes at least, which are equal. Calls itself only for
 * halves at most, so that keys of any kind are no danger for the stack. */
static void sort_items(const uint8_t *data, key_item *items, size_t count,
                       size_t depth)
{
    while (count > INSERTION_ITEMS) {
        depth = common_depth(data, items, count, depth);
        load_heads(data, items, count, depth);
        sort_by_head(items, count);
        item_group group = sort_groups(data, items, count, depth);
        items = group.items;
        count = group.count;
        depth += KEY_HEAD_BYTES;
    }
    if (count > 1)
        insert_by_key(data, items, count, depth);
}

void key_sort_chunk(key_chunk *chunk)
{
    sort_items(chunk->data, chunk->items, chunk->count, 0);
}
