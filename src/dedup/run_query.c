/* SPDX-License-Identifier: MIT */
/* Asks all runs for keys: filters first, then pages in order, many at once. */
#include "base/error.h"
#include "base/memory.h"
#include "dedup/run_set_private.h"
#include "dedup/state_files.h"
#include "io/file.h"

/* One more is written than counts. */
static size_t candidate_bytes(size_t queries)
{
    return (queries * CANDIDATES_A_QUERY + 1) * sizeof(run_candidate);
}

void run_set_free_queries(run_set *s)
{
    size_t n = s->query_capacity;
    const ksv_allocator *a = &s->allocator;
    memory_free(a, s->hashes, n * sizeof *s->hashes);
    memory_free(a, s->answers, n * sizeof *s->answers);
    memory_free(a, s->numbers, n * sizeof *s->numbers);
    memory_free(a, s->candidates, candidate_bytes(n));
    s->hashes = NULL;
    s->answers = NULL;
    s->numbers = NULL;
    s->candidates = NULL;
    s->query_capacity = 0;
}

static ksv_status make_room(run_set *s, size_t count, ksv_error *error)
{
    if (count <= s->query_capacity)
        return KSV_OK;
    const ksv_allocator *a = &s->allocator;
    run_set_free_queries(s);
    s->query_capacity = count;
    s->hashes = memory_alloc(a, count * sizeof *s->hashes);
    s->answers = memory_alloc(a, count * sizeof *s->answers);
    s->numbers = memory_alloc(a, count * sizeof *s->numbers);
    s->candidates = memory_alloc(a, candidate_bytes(count));
    if (s->hashes != NULL && s->answers != NULL && s->numbers != NULL &&
        s->candidates != NULL)
        return KSV_OK;
    run_set_free_queries(s);
    return error_set_memory(error);
}

/* Buffers for pages of that size. */
static ksv_status make_buffers(run_set *s, uint32_t page_bytes,
                               ksv_error *error)
{
    size_t wave = page_bytes > WAVE_BYTES ? page_bytes : WAVE_BYTES;
    if (s->wave_bytes < wave) {
        memory_free(&s->allocator, s->wave, s->wave_bytes);
        s->wave_bytes = 0;
        s->wave = memory_alloc(&s->allocator, wave);
        if (s->wave == NULL)
            return error_set_memory(error);
        s->wave_bytes = wave;
    }
    if (s->page_bytes < page_bytes) {
        memory_free(&s->allocator, s->page, s->page_bytes);
        s->page_bytes = 0;
        s->page = memory_alloc(&s->allocator, page_bytes);
        if (s->page == NULL)
            return error_set_memory(error);
        s->page_bytes = page_bytes;
    }
    return KSV_OK;
}

/* Shell's sort with gaps that Ciura found. */
static void sort_by_page(run_candidate *candidates, size_t count)
{
    static const size_t gaps[] = {701, 301, 132, 57, 23, 10, 4, 1};
    for (size_t g = 0; g < sizeof gaps / sizeof gaps[0]; g++) {
        size_t gap = gaps[g];
        for (size_t i = gap; i < count; i++) {
            run_candidate moving = candidates[i];
            size_t j = i;
            for (; j >= gap && candidates[j - gap].page > moving.page; j -= gap)
                candidates[j] = candidates[j - gap];
            candidates[j] = moving;
        }
    }
}

static ksv_status name_run(const key_run *run, ksv_status status,
                           ksv_error *error)
{
    char name[STATE_NAME_BYTES];
    if (status == KSV_OK)
        return KSV_OK;
    state_file_name(STATE_RUN, run->number, name);
    error_add_path(error, name);
    return status;
}

static bool is_same_page(const run_candidate *a, const run_candidate *b)
{
    return a->run == b->run && a->page == b->page;
}

/* Plans to read the pages of as many candidates as fit into a wave; returns how
 * many those are. */
static size_t plan_wave(const run_set *s, const run_candidate *candidates,
                        size_t count, ksv_read *reads, size_t *pages)
{
    size_t taken = 0;
    size_t used = 0;
    *pages = 0;
    for (; taken < count; taken++) {
        const run_candidate *c = &candidates[taken];
        uint32_t page_bytes = c->run->info.page_bytes;
        if (taken > 0 && is_same_page(c, c - 1))
            continue;
        if (*pages == WAVE_PAGES || page_bytes > s->wave_bytes - used)
            break;
        reads[(*pages)++] =
            (ksv_read){.file = c->run->file,
                       .offset = run_page_offset(&c->run->info, c->page),
                       .buffer = s->wave + used,
                       .size_bytes = page_bytes};
        used += page_bytes;
    }
    return taken;
}

static ksv_status check_read(const run_candidate *c, const ksv_read *read,
                             run_page_head *head, ksv_error *error)
{
    const run_info *info = &c->run->info;
    if (read->got_bytes < info->page_bytes)
        return error_set_at(error, KSV_ERROR_CORRUPT, NULL,
                            run_page_offset(info, c->page), "ends too early");
    return run_page_check(info, c->page, read->buffer, head, error);
}

/* Searches the pages that were read for the candidates of a wave. */
static ksv_status search_wave(run_set *s, run_query *queries,
                              const run_candidate *candidates, size_t count,
                              const ksv_read *reads, ksv_error *error)
{
    run_page_head head = {.kind = 0};
    for (size_t i = 0; i < count; i++) {
        const run_candidate *c = &candidates[i];
        run_page_reader reader = {.run = c->run, .page = s->page};
        ksv_status status = KSV_OK;
        reads += i > 0 && !is_same_page(c, c - 1);
        if (i == 0 || !is_same_page(c, c - 1))
            status = check_read(c, reads, &head, error);
        if (status == KSV_OK)
            status = key_run_search(&reader, &head, reads->buffer,
                                    &queries[c->query], error);
        KSV_TRY(name_run(c->run, status, error));
        s->cost.pages_read += reader.pages_read;
    }
    return KSV_OK;
}

/* Asks pages for all candidates, those of several runs together. */
static ksv_status ask_pages(run_set *s, run_query *queries, size_t count,
                            ksv_error *error)
{
    ksv_read reads[WAVE_PAGES];
    for (size_t served = 0; served < count;) {
        size_t pages;
        const run_candidate *first = &s->candidates[served];
        size_t taken = plan_wave(s, first, count - served, reads, &pages);
        KSV_TRY(name_run(first->run,
                         file_read_many(s->options.fs, reads, pages, error),
                         error));
        s->cost.pages_read += pages;
        KSV_TRY(search_wave(s, queries, first, taken, reads, error));
        served += taken;
    }
    return KSV_OK;
}

/* The queries that the filter of a run does not answer become candidates: how
 * many. In place of a page they have their number among the open ones. */
static size_t pick_candidates(run_set *s, const key_run *run, size_t open,
                              run_candidate *candidates)
{
    size_t count = 0;
    memory_filter_probe(&run->filter, s->hashes, open, s->answers);
    for (size_t i = 0; i < open; i++) {
        /* Few of them are any: no branch is to be guessed wrong. */
        candidates[count] = (run_candidate){run, i, s->numbers[i]};
        count += s->answers[i];
    }
    return count;
}

/* Adds the pages of a run that may answer a query, in their order, to `count`
 * candidates; returns how many there are then. */
static size_t add_candidates(run_set *s, const key_run *run, size_t open,
                             size_t count)
{
    run_candidate *added = s->candidates + count;
    if (run->info.pages == 0)
        return count;
    size_t more = pick_candidates(s, run, open, added);
    for (size_t i = 0; i < more; i++)
        MEMORY_PREFETCH(
            &run->fences[key_run_guess_page(run, s->hashes[added[i].page])]);
    for (size_t i = 0; i < more; i++)
        added[i].page = key_run_first_page(run, s->hashes[added[i].page]);
    sort_by_page(added, more);
    return count + more;
}

/* Leaves out the queries that were answered. */
static size_t keep_open(run_set *s, const run_query *queries, size_t count)
{
    size_t open = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t number = s->numbers[i];
        s->numbers[open] = number;
        s->hashes[open] = run_hash(queries[number].hash);
        open += !queries[number].found;
    }
    return open;
}

ksv_status run_set_query(run_set *s, run_query *queries, size_t count,
                         ksv_error *error)
{
    if (s->count == 0 || count == 0)
        return KSV_OK;
    KSV_TRY(make_room(s, count, error));
    for (size_t i = 0; i < count; i++)
        s->numbers[i] = (uint32_t)i;
    size_t open = keep_open(s, queries, count);
    size_t candidates = 0;
    for (size_t r = s->count; r-- > 0 && open > 0;) {
        KSV_TRY(make_buffers(s, s->runs[r]->info.page_bytes, error));
        candidates = add_candidates(s, s->runs[r], open, candidates);
        /* Filters leave so few that all runs have room; without them a newer
         * run is asked before an older one. */
        if (r > 0 && candidates + open <= CANDIDATES_A_QUERY * count)
            continue;
        KSV_TRY(ask_pages(s, queries, candidates, error));
        candidates = 0;
        open = keep_open(s, queries, open);
    }
    return KSV_OK;
}
