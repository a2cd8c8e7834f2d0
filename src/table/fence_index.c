/* SPDX-License-Identifier: MIT */
/* Search over fences that are read page by page when they are needed. */
#include "table/fence_index.h"

#include <stdbool.h>

#include "base/error.h"
#include "base/memory.h"
#include "io/file.h"

#define FENCES_BYTES (TABLE_FENCES_PER_PAGE * sizeof(uint32_t))

ksv_status fence_index_init(fence_index *index, ksv_file *file,
                            const table_meta *meta,
                            const ksv_allocator *allocator, ksv_error *error)
{
    *index = (fence_index){.file = file,
                           .allocator = allocator,
                           .pages = meta->info.pages,
                           .fence_pages = meta->fence_pages,
                           .tag = meta->tag};
    index->loaded = memory_zalloc_array(allocator, (size_t)index->fence_pages,
                                        sizeof *index->loaded);
    if (index->loaded == NULL && index->fence_pages > 0)
        return error_set_memory(error);
    for (uint64_t i = 0; i < index->fence_pages; i++)
        atomic_init(&index->loaded[i], NULL);
    return KSV_OK;
}

void fence_index_release(fence_index *index)
{
    for (uint64_t i = 0; index->loaded != NULL && i < index->fence_pages; i++)
        memory_free(index->allocator, atomic_load(&index->loaded[i]),
                    FENCES_BYTES);
    memory_free(index->allocator, index->loaded,
                (size_t)index->fence_pages * sizeof *index->loaded);
    index->loaded = NULL;
}

/* The number of fences in a fence page. */
static size_t fence_count(const fence_index *index, uint64_t number)
{
    uint64_t left = index->pages - number * TABLE_FENCES_PER_PAGE;
    return left < TABLE_FENCES_PER_PAGE ? (size_t)left : TABLE_FENCES_PER_PAGE;
}

static ksv_status read_fence_page(const fence_index *index, uint64_t number,
                                  uint32_t *fences, ksv_error *error)
{
    uint8_t page[TABLE_PAGE_BYTES];
    uint64_t offset = table_page_offset(index->pages + number);
    KSV_TRY(file_read_exactly(index->file, offset, page, sizeof page, error));
    return table_decode_fence_page(page, (uint32_t)number, index->tag, offset,
                                   fences, fence_count(index, number), error);
}

/* Two threads may read the same fence page; the first to be done wins, so that
 * none waits for another's read. */
static ksv_status load_fence_page(fence_index *index, uint64_t number,
                                  const uint32_t **out, ksv_error *error)
{
    uint32_t *fences = memory_alloc(index->allocator, FENCES_BYTES);
    if (fences == NULL)
        return error_set_memory(error);
    ksv_status status = read_fence_page(index, number, fences, error);
    uint32_t *other = NULL;
    if (status == KSV_OK && atomic_compare_exchange_strong(
                                &index->loaded[number], &other, fences)) {
        *out = fences;
        return KSV_OK;
    }
    memory_free(index->allocator, fences, FENCES_BYTES);
    *out = other;
    return status;
}

static ksv_status fence_page(fence_index *index, uint64_t number,
                             const uint32_t **out, ksv_error *error)
{
    *out = atomic_load_explicit(&index->loaded[number], memory_order_acquire);
    if (*out != NULL)
        return KSV_OK;
    return load_fence_page(index, number, out, error);
}

ksv_status fence_index_get(fence_index *index, uint64_t page, uint32_t *fence,
                           ksv_error *error)
{
    const uint32_t *fences;
    KSV_TRY(fence_page(index, page / TABLE_FENCES_PER_PAGE, &fences, error));
    *fence = fences[page % TABLE_FENCES_PER_PAGE];
    return KSV_OK;
}

/* The number of fences below `bound`: it is one of `low`..`high`. */
static size_t halve(const uint32_t *fences, size_t low, size_t high,
                    uint64_t bound)
{
    for (size_t count = high - low; count > 0;) {
        size_t half = count / 2;
        bool below = fences[low + half] < bound;
        low += below ? count - half : 0;
        count = half;
    }
    return low;
}

/* The same when the one at `guess` is below, in growing steps from there. */
static size_t step_up(const uint32_t *fences, size_t guess, size_t last,
                      uint64_t bound)
{
    size_t low = guess + 1;
    for (size_t step = 1; low + step <= last; step *= 2) {
        size_t probe = low + step - 1;
        if (fences[probe] >= bound)
            return halve(fences, low, probe, bound);
        low = probe + 1;
    }
    return halve(fences, low, last, bound);
}

/* And when it is not. */
static size_t step_down(const uint32_t *fences, size_t guess, uint64_t bound)
{
    size_t high = guess;
    for (size_t step = 1; high > step; step *= 2) {
        size_t probe = high - step;
        if (fences[probe] < bound)
            return halve(fences, probe + 1, high, bound);
        high = probe;
    }
    return halve(fences, 1, high, bound);
}

/* The number of fences below `bound`, which is above the first and not above
 * the last one. Hashes are spread evenly, so that the first guess is close. */
static size_t count_below(const uint32_t *fences, size_t count, uint64_t bound)
{
    size_t last = count - 1;
    uint64_t first = fences[0];
    size_t guess = (size_t)((bound - first) * last / (fences[last] - first));
    return fences[guess] < bound ? step_up(fences, guess, last, bound)
                                 : step_down(fences, guess, bound);
}

/* A search for the first fence page that begins at or above `bound`: it is one
 * of `low`..`high`, where `high` may be behind the last one. */
typedef struct fence_search {
    uint64_t low;
    uint64_t high;
    uint64_t probe;
    uint64_t step;
} fence_search;

/* The next place to look at: in growing steps from the first guess, because
 * hashes are spread evenly and the guess is close; by halves once both sides
 * are known, so that no set of hashes takes more than the logarithm. */
static void choose_probe(fence_search *s, uint64_t fence_pages)
{
    if (s->low > 0 && s->high < fence_pages)
        s->probe = s->low + (s->high - s->low) / 2;
    else if (s->low > 0)
        s->probe =
            s->high - s->low > s->step ? s->low + s->step - 1 : s->high - 1;
    else
        s->probe = s->high > s->step ? s->high - s->step : 0;
    s->step *= 2;
}

/* The number of all fences below `bound` (0..2^32). */
static ksv_status rank_of(fence_index *index, uint64_t bound, uint64_t *rank,
                          ksv_error *error)
{
    uint64_t count = index->fence_pages;
    fence_search s = {0, count, (bound * count) >> 32, 1};
    if (s.probe >= count && count > 0)
        s.probe = count - 1;
    while (s.low < s.high) {
        const uint32_t *fences;
        KSV_TRY(fence_page(index, s.probe, &fences, error));
        size_t n = fence_count(index, s.probe);
        if (fences[0] >= bound) {
            s.high = s.probe;
        } else if (fences[n - 1] < bound) {
            s.low = s.probe + 1;
        } else {
            *rank =
                s.probe * TABLE_FENCES_PER_PAGE + count_below(fences, n, bound);
            return KSV_OK;
        }
        choose_probe(&s, count);
    }
    /* Between two fence pages, or before or behind all. */
    *rank = s.low * TABLE_FENCES_PER_PAGE;
    if (*rank > index->pages)
        *rank = index->pages;
    return KSV_OK;
}

ksv_status fence_index_find(fence_index *index, uint32_t fence, uint64_t *begin,
                            uint64_t *end, ksv_error *error)
{
    KSV_TRY(rank_of(index, fence, begin, error));
    *end = *begin;
    if (*begin == index->pages)
        return KSV_OK;
    uint32_t found;
    KSV_TRY(fence_index_get(index, *begin, &found, error));
    if (found != fence)
        return KSV_OK;
    /* Seldom more than one. */
    *end = *begin + 1;
    if (*end == index->pages)
        return KSV_OK;
    KSV_TRY(fence_index_get(index, *end, &found, error));
    if (found != fence)
        return KSV_OK;
    return rank_of(index, (uint64_t)fence + 1, end, error);
}
