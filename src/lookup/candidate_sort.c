/* SPDX-License-Identifier: MIT */
/* Candidates of one key in the order of the answer. */
#include "lookup/lookup_session.h"

/* More than this many are not sorted by insertion. */
#define INSERTION_MOST 32

static bool comes_before(const lookup_candidate *a, const lookup_candidate *b)
{
    return a->file != b->file ? a->file < b->file : a->offset < b->offset;
}

static bool is_sorted(const lookup_candidate *candidates, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (comes_before(&candidates[i], &candidates[i - 1]))
            return false;
    return true;
}

static void sort_by_insertion(lookup_candidate *candidates, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        lookup_candidate moving = candidates[i];
        size_t to = i;
        for (; to > 0 && comes_before(&moving, &candidates[to - 1]); to--)
            candidates[to] = candidates[to - 1];
        candidates[to] = moving;
    }
}

/* Lets the candidate at `at` sink in a heap with the last one on top. */
static void sift_down(lookup_candidate *heap, size_t at, size_t count)
{
    lookup_candidate moving = heap[at];
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= count)
            break;
        if (child + 1 < count && comes_before(&heap[child], &heap[child + 1]))
            child++;
        if (!comes_before(&moving, &heap[child]))
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = moving;
}

/* In place, and never slow: a key may have millions of records. */
static void sort_by_heap(lookup_candidate *candidates, size_t count)
{
    for (size_t i = count / 2; i-- > 0;)
        sift_down(candidates, i, count);
    for (size_t left = count - 1; left > 0; left--) {
        lookup_candidate last = candidates[0];
        candidates[0] = candidates[left];
        candidates[left] = last;
        sift_down(candidates, 0, left);
    }
}

void lookup_sort_candidates(lookup_candidate *candidates, size_t count)
{
    /* Those of each segment are in order already. */
    if (is_sorted(candidates, count))
        return;
    if (count <= INSERTION_MOST)
        sort_by_insertion(candidates, count);
    else
        sort_by_heap(candidates, count);
}
