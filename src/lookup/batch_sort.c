/* SPDX-License-Identifier: MIT */
/* Orders the reads of a batch by where they go: radix sort, lowest digit first.
 */
#include "lookup/batch_sort.h"

#include <string.h>

#define DIGIT_BITS 11
#define DIGITS (1u << DIGIT_BITS)
/* Fewer are sorted by insertion. */
#define RADIX_LEAST 64

static int is_before(const batch_item *a, const batch_item *b)
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
static int place_digits(size_t starts[DIGITS], size_t count)
{
    size_t next = 0;
    for (size_t d = 0; d < DIGITS; d++) {
        size_t here = starts[d];
        if (here == count)
            return 0;
        starts[d] = next;
        next += here;
    }
    return 1;
}

static int pass_by_place(const batch_item *from, batch_item *to, size_t count,
                         unsigned shift)
{
    size_t starts[DIGITS];
    memset(starts, 0, sizeof starts);
    for (size_t i = 0; i < count; i++)
        starts[from[i].place >> shift & (DIGITS - 1)]++;
    if (!place_digits(starts, count))
        return 0;
    for (size_t i = 0; i < count; i++)
        to[starts[from[i].place >> shift & (DIGITS - 1)]++] = from[i];
    return 1;
}

static int pass_by_source(const batch_item *from, batch_item *to, size_t count,
                          unsigned shift)
{
    size_t starts[DIGITS];
    memset(starts, 0, sizeof starts);
    for (size_t i = 0; i < count; i++)
        starts[from[i].source >> shift & (DIGITS - 1)]++;
    if (!place_digits(starts, count))
        return 0;
    for (size_t i = 0; i < count; i++)
        to[starts[from[i].source >> shift & (DIGITS - 1)]++] = from[i];
    return 1;
}

void batch_sort(batch_item *items, batch_item *spare, size_t count)
{
    if (count < RADIX_LEAST) {
        sort_few(items, count);
        return;
    }
    uint64_t places = 0;
    uint32_t sources = 0;
    for (size_t i = 0; i < count; i++) {
        places |= items[i].place;
        sources |= items[i].source;
    }
    batch_item *from = items;
    batch_item *to = spare;
    for (unsigned shift = 0; shift < 64 && places >> shift != 0;
         shift += DIGIT_BITS) {
        if (pass_by_place(from, to, count, shift)) {
            batch_item *done = to;
            to = from;
            from = done;
        }
    }
    for (unsigned shift = 0; shift < 32 && sources >> shift != 0;
         shift += DIGIT_BITS) {
        if (pass_by_source(from, to, count, shift)) {
            batch_item *done = to;
            to = from;
            from = done;
        }
    }
    if (from != items)
        memcpy(items, from, count * sizeof *items);
}
