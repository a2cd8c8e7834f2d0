/* SPDX-License-Identifier: MIT */
/* Orders the reads of a batch by where they go: radix sort, lowest digit first.
 */
#include "lookup/batch_sort.h"

#include <stdbool.h>
#include <string.h>

#define DIGIT_BITS 11
#define DIGITS (1u << DIGIT_BITS)
/* Fewer are sorted by insertion. */
#define RADIX_LEAST 64

static bool is_before(const batch_item *a, const batch_item *b)
{
    return a->source != b->source ? a->source < b->source : a->place < b->place;
}

static void sort_few(batch_item *items, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        batch_item item = items[i];
        size_t at = i;
        for (; at > 0 && is_before(&item, &items[at - 1]); at--)
            items[at] = items[at - 1];
        items[at] = item;
    }
}

/* Turns counts into the places where each digit's items begin; false when all
 * have the same digit. */
static bool place_digits(size_t starts[DIGITS], size_t count)
{
    size_t next = 0;
    for (size_t d = 0; d < DIGITS; d++) {
        size_t here = starts[d];
        if (here == count)
            return false;
        starts[d] = next;
        next += here;
    }
    return true;
}

static inline size_t digit_of(const batch_item *item, bool of_source,
                              unsigned shift)
{
    uint64_t number = of_source ? item->source : item->place;
    return number >> shift & (DIGITS - 1);
}

/* Sorts by one digit of the source or the place; false when nothing was moved,
 * since all have the same. */
static inline bool pass(const batch_item *from, batch_item *to, size_t count,
                        bool by_source, unsigned shift)
{
    size_t starts[DIGITS];
    memset(starts, 0, sizeof starts);
    for (size_t i = 0; i < count; i++)
        starts[digit_of(&from[i], by_source, shift)]++;
    if (!place_digits(starts, count))
        return false;
    for (size_t i = 0; i < count; i++)
        to[starts[digit_of(&from[i], by_source, shift)]++] = from[i];
    return true;
}

/* Sorts by all digits of the numbers that `all` has every bit of; where the
 * items are then is `*from`, where room is `*to`. */
static inline void sort_by(batch_item **from, batch_item **to, size_t count,
                           bool by_source, uint64_t all)
{
    for (unsigned shift = 0; shift < 64 && all >> shift != 0;
         shift += DIGIT_BITS) {
        if (pass(*from, *to, count, by_source, shift)) {
            batch_item *done = *to;
            *to = *from;
            *from = done;
        }
    }
}

void batch_sort(batch_item *items, batch_item *spare, size_t count)
{
    if (count < RADIX_LEAST) {
        sort_few(items, count);
        return;
    }
    uint64_t places = 0;
    uint64_t sources = 0;
    for (size_t i = 0; i < count; i++) {
        places |= items[i].place;
        sources |= items[i].source;
    }
    batch_item *from = items;
    batch_item *to = spare;
    sort_by(&from, &to, count, false, places);
    sort_by(&from, &to, count, true, sources);
    if (from != items)
        memcpy(items, from, count * sizeof *items);
}
