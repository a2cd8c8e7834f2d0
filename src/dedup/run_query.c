/* SPDX-License-Identifier: MIT */
/* Asks all runs for keys: filters first, then pages in order, many at once. */
#include "base/error.h"
#include "base/memory.h"
#include "dedup/run_set_private.h"
#include "dedup/state_files.h"
#include "io/file.h"

static ksv_status grow(run_set *s, void *member, size_t count, size_t bytes,
                       ksv_error *error)
{
    void **items = member;
    memory_free(&s->allocator, *items, s->query_capacity * bytes);
    *items = memory_alloc(&s->allocator, count * bytes);
    return *items != NULL ? KSV_OK : error_set_memory(error);
}

static ksv_status make_room(run_set *s, size_t count, ksv_error *error)
{
    if (count <= s->query_capacity)
        return KSV_OK;
    ksv_status status = grow(s, &s->hashes, count, sizeof *s->hashes, error);
    if (status == KSV_OK)
        status = grow(s, &s->answers, count, sizeof *s->answers, error);
    if (status == KSV_OK)
        status = grow(s, &s->numbers, count, sizeof *s->numbers, error);
    if (status == KSV_OK)
        status = grow(s, &s->candidates, count, sizeof *s->candidates, error);
    s->query_capacity = count;
    return status;
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

/* Reads pages of as many candidates as fit into a wave and searches them;
 * `*done` candidates were served. */
static ksv_status run_wave(run_set *s, const key_run *run, run_query *queries,
                           const run_candidate *candidates, size_t count,
                           size_t *done, ksv_error *error)
{
    ksv_read reads[WAVE_PAGES];
    uint32_t page_bytes = run->info.page_bytes;
    size_t most = s->wave_bytes / page_bytes;
    size_t pages = 0;
    size_t taken = 0;
    if (most > WAVE_PAGES)
        most = WAVE_PAGES;
    for (; taken < count; taken++) {
        uint64_t page = candidates[taken].page;
        if (taken > 0 && page == candidates[taken - 1].page)
            continue;
        if (pages == most)
            break;
        reads[pages] = (ksv_read){.file = run->file,
                                  .offset = run_page_offset(&run->info, page),
                                  .buffer = s->wave + pages * page_bytes,
                                  .size_bytes = page_bytes};
        pages++;
    }
    const ksv_file_system *fs = s->options.fs;
    KSV_TRY(file_read_many(fs, reads, pages, error));
    s->cost.pages_read += pages;
    run_page_reader reader = {.run = run, .page = s->page};
    run_page_head head = {.kind = 0};
    const uint8_t *page = NULL;
    for (size_t i = 0, at = 0; i < taken; i++) {
        if (page == NULL || candidates[i].page != head.number) {
            page = reads[at].buffer;
            if (reads[at++].got_bytes < page_bytes)
                return error_set_at(
                    error, KSV_ERROR_CORRUPT, NULL,
                    run_page_offset(&run->info, candidates[i].page),
                    "ends too early");
            KSV_TRY(run_page_check(&run->info, candidates[i].page, page, &head,
                                   error));
        }
        KSV_TRY(key_run_search(&reader, &head, page,
                               &queries[candidates[i].query], error));
    }
    s->cost.pages_read += reader.pages_read;
    *done = taken;
    return KSV_OK;
}

static ksv_status query_run(run_set *s, const key_run *run, run_query *queries,
                            size_t open_count, ksv_error *error)
{
    size_t count = 0;
    for (size_t i = 0; i < open_count; i++) {
        uint64_t hash = s->hashes[i];
        uint64_t page =
            s->answers[i] ? key_run_first_page(run, hash) : run->info.pages;
        if (page < run->info.pages)
            s->candidates[count++] = (run_candidate){page, s->numbers[i]};
    }
    if (count == 0)
        return KSV_OK;
    KSV_TRY(make_buffers(s, run->info.page_bytes, error));
    sort_by_page(s->candidates, count);
    for (size_t served = 0; served < count;) {
        size_t done;
        KSV_TRY(run_wave(s, run, queries, s->candidates + served,
                         count - served, &done, error));
        served += done;
    }
    return KSV_OK;
}

/* Leaves out the queries that were answered. */
static size_t keep_open(run_set *s, const run_query *queries, size_t count)
{
    size_t open = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t number = s->numbers[i];
        s->numbers[open] = number;
        s->hashes[open] = queries[number].hash;
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
    for (size_t i = 0; i < count; i++) {
        s->numbers[i] = (uint32_t)i;
        s->hashes[i] = queries[i].hash;
    }
    size_t open = keep_open(s, queries, count);
    for (size_t r = s->count; r-- > 0 && open > 0;) {
        const key_run *run = s->runs[r];
        memory_filter_probe(&run->filter, s->hashes, open, s->answers);
        ksv_status status = query_run(s, run, queries, open, error);
        if (status != KSV_OK) {
            char name[STATE_NAME_BYTES];
            state_file_name(STATE_RUN, run->number, name);
            error_add_path(error, name);
            return status;
        }
        open = keep_open(s, queries, open);
    }
    return KSV_OK;
}
