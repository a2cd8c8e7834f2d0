/* SPDX-License-Identifier: MIT */
/* A run that is there: its file, its fences and its filter in memory. */
#include "dedup/run.h"

#include <string.h>

#include "base/coding.h"
#include "base/error.h"
#include "hash/hash.h"
#include "io/file.h"

static ksv_status read_ends(key_run *run, ksv_error *error)
{
    uint8_t header[RUN_FIRST_PAGE_OFFSET];
    uint8_t footer[RUN_FOOTER_BYTES];
    ksv_file_info info;
    KSV_TRY(run->file->ops->info(run->file, &info, error));
    if (info.size_bytes < RUN_FIRST_PAGE_OFFSET + RUN_FOOTER_BYTES)
        return error_set_at(error, KSV_ERROR_CORRUPT, NULL, info.size_bytes,
                            "is too short for a run of keys");
    KSV_TRY(file_read_exactly(run->file, 0, header, sizeof header, error));
    KSV_TRY(file_read_exactly(run->file, info.size_bytes - sizeof footer,
                              footer, sizeof footer, error));
    return run_ends_decode(header, footer, info.size_bytes, &run->info, error);
}

size_t key_run_fence_bytes(const run_info *info)
{
    return (size_t)info->pages * RUN_FENCE_BYTES;
}

ksv_status key_run_sum_tail(const ksv_allocator *allocator, const void *fences,
                            size_t fence_bytes, const memory_filter *filter,
                            uint64_t sum[2], ksv_error *error)
{
    hash_wide_state *content;
    uint8_t bytes[HASH_WIDE_BYTES];
    KSV_TRY(hash_wide_open(allocator, &content, error));
    if (fence_bytes > 0)
        hash_wide_add(content, fences, fence_bytes);
    if (filter->memory.size_bytes > 0)
        hash_wide_add(content, filter->memory.data, filter->memory.size_bytes);
    hash_wide_take(content, bytes);
    hash_wide_close(content);
    sum[0] = load_u64(bytes);
    sum[1] = load_u64(bytes + 8);
    return KSV_OK;
}

static ksv_status check_tail(const key_run *run, ksv_error *error)
{
    uint64_t sum[2];
    KSV_TRY(key_run_sum_tail(&run->allocator, run->fences,
                             key_run_fence_bytes(&run->info), &run->filter, sum,
                             error));
    if (sum[0] != run->info.tail_sum[0] || sum[1] != run->info.tail_sum[1])
        return error_set_at(error, KSV_ERROR_CORRUPT, NULL,
                            run_page_offset(&run->info, run->info.pages),
                            "the fences or the filter are damaged");
    return KSV_OK;
}

static ksv_status check_fences(const key_run *run, ksv_error *error)
{
    for (uint64_t i = 1; i < run->info.pages; i++) {
        if (run->fences[i] < run->fences[i - 1])
            return error_set_at(error, KSV_ERROR_CORRUPT, NULL,
                                run_page_offset(&run->info, run->info.pages) +
                                    RUN_FENCE_BYTES * i,
                                "the fences are not in order");
    }
    return KSV_OK;
}

static ksv_status read_tail(key_run *run, ksv_error *error)
{
    const run_info *info = &run->info;
    uint64_t at = run_page_offset(info, info->pages);
    size_t fence_bytes = key_run_fence_bytes(info);
    run->fences = memory_alloc(&run->allocator, fence_bytes);
    if (run->fences == NULL)
        return error_set_memory(error);
    KSV_TRY(file_read_exactly(run->file, at, run->fences, fence_bytes, error));
    if (info->filter_blocks > 0) {
        KSV_TRY(memory_filter_init(&run->filter, info->filter_blocks,
                                   info->filter_functions, &run->allocator,
                                   error));
        KSV_TRY(file_read_exactly(run->file, at + fence_bytes,
                                  run->filter.memory.data,
                                  run->filter.memory.size_bytes, error));
    }
    KSV_TRY(check_tail(run, error));
    for (uint64_t i = 0; i < info->pages; i++)
        run->fences[i] = load_u32((const uint8_t *)&run->fences[i]);
    return check_fences(run, error);
}

static ksv_status open_run(key_run *run, const ksv_file_system *fs,
                           const char *path, const ksv_hasher *hasher,
                           ksv_error *error)
{
    KSV_TRY(fs->open_read(fs->ctx, path, &run->file, error));
    KSV_TRY(read_ends(run, error));
    if (!hash_same_hasher(&run->info.hasher, hasher))
        return error_set(error, KSV_ERROR_CORRUPT, NULL,
                         "belongs to another state");
    return read_tail(run, error);
}

ksv_status key_run_open(const ksv_file_system *fs, const char *path,
                        const ksv_hasher *hasher,
                        const ksv_allocator *allocator, key_run **out,
                        ksv_error *error)
{
    *out = NULL;
    ksv_allocator a = allocator_or_default(allocator);
    key_run *run = memory_zalloc(&a, sizeof *run);
    if (run == NULL)
        return error_set_memory(error);
    run->allocator = a;
    ksv_status status = open_run(run, fs, path, hasher, error);
    if (status != KSV_OK) {
        error_add_path(error, path);
        key_run_close(run);
        return status;
    }
    *out = run;
    return KSV_OK;
}

void key_run_close(key_run *run)
{
    if (run == NULL)
        return;
    ksv_allocator a = run->allocator;
    file_close_quietly(run->file);
    memory_filter_release(&run->filter, &a);
    memory_free(&a, run->fences, key_run_fence_bytes(&run->info));
    memory_free(&a, run, sizeof *run);
}

uint64_t key_run_memory_bytes(const key_run *run)
{
    return sizeof *run + key_run_fence_bytes(&run->info) +
           run->filter.memory.size_bytes;
}

/* Hashes are spread evenly: where `fence` is about, going on from number `at`.
 */
static uint64_t guess_fence(const key_run *run, uint32_t fence, uint64_t at)
{
    uint64_t pages = run->info.pages;
    uint32_t there = run->fences[at];
    uint64_t step =
        (fence >= there ? fence - there : there - fence) * pages >> 32;
    if (fence >= there)
        return step < pages - at ? at + step : pages - 1;
    return step < at ? at - step : 0;
}

/* The bounds, around a guess, of the first fence that is not below `fence`:
 * they get twice as wide until it is between them. */
static void bound_fence(const key_run *run, uint32_t fence, uint64_t guess,
                        uint64_t *low, uint64_t *high)
{
    const uint32_t *fences = run->fences;
    uint64_t pages = run->info.pages;
    uint64_t step = 2;
    *low = guess;
    *high = guess;
    while (*high < pages && fences[*high] < fence) {
        *low = *high + 1;
        *high = step < pages - *high ? *high + step : pages;
        step *= 2;
    }
    while (*low > 0 && fences[*low - 1] >= fence) {
        *high = *low - 1;
        *low = step < *low ? *low - step : 0;
        step *= 2;
    }
}

uint64_t key_run_guess_page(const key_run *run, uint64_t hash)
{
    return run_fence(hash) * run->info.pages >> 32;
}

uint64_t key_run_first_page(const key_run *run, uint64_t hash)
{
    uint32_t fence = run_fence(hash);
    uint64_t low, high;
    if (run->info.pages == 0)
        return 0;
    uint64_t guess = guess_fence(run, fence, key_run_guess_page(run, hash));
    bound_fence(run, fence, guess, &low, &high);
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (run->fences[middle] < fence)
            low = middle + 1;
        else
            high = middle;
    }
    /* Entries with the hash may begin in the page before the one that begins
     * with it or with a higher one. */
    return low > 0 ? low - 1 : 0;
}

static ksv_status read_page(run_page_reader *r, uint64_t number,
                            run_page_head *head, ksv_error *error)
{
    const key_run *run = r->run;
    r->pages_read++;
    KSV_TRY(file_read_exactly(run->file, run_page_offset(&run->info, number),
                              r->page, run->info.page_bytes, error));
    return run_page_check(&run->info, number, r->page, head, error);
}

static ksv_status ends_early(const run_page_reader *r, uint64_t number,
                             ksv_error *error)
{
    return error_set_at(error, KSV_ERROR_CORRUPT, NULL,
                        run_page_offset(&r->run->info, number),
                        "a key ends too early");
}

/* Whether the key of an entry, which begins in page `number`, is `key`: what of
 * it lies in further pages is read. */
static ksv_status compare_key(run_page_reader *r, const run_entry *entry,
                              uint64_t number, const run_key *key,
                              bool *is_equal, ksv_error *error)
{
    *is_equal = entry->key.form == key->form &&
                entry->key.key_bytes == key->key_bytes &&
                memcmp(entry->key.stored, key->stored, entry->here_bytes) == 0;
    uint64_t done = entry->here_bytes;
    while (*is_equal && done < key->stored_bytes) {
        run_page_head head;
        if (++number >= r->run->info.pages)
            return ends_early(r, number, error);
        KSV_TRY(read_page(r, number, &head, error));
        if (head.kind != RUN_PAGE_REST || head.used_bytes == 0 ||
            head.used_bytes > key->stored_bytes - done)
            return ends_early(r, number, error);
        *is_equal = memcmp(r->page + RUN_PAGE_HEAD_BYTES, key->stored + done,
                           head.used_bytes) == 0;
        done += head.used_bytes;
    }
    return KSV_OK;
}

/* `*may_go_on`: the next page may have entries with the hash. */
static ksv_status search_page(run_page_reader *r, const run_page_head *head,
                              const uint8_t *page, const run_key *key,
                              run_query *query, bool *may_go_on,
                              ksv_error *error)
{
    run_page_walk walk;
    uint64_t hash = run_hash(query->hash);
    run_page_walk_begin(&walk, &r->run->info, head, page);
    *may_go_on = true;
    for (;;) {
        run_entry entry;
        bool any;
        KSV_TRY(run_page_walk_find(&walk, hash, &entry, &any, error));
        if (!any)
            return KSV_OK;
        if (entry.hash > hash)
            break;
        bool is_equal;
        KSV_TRY(compare_key(r, &entry, head->number, key, &is_equal, error));
        if (is_equal && entry.time_ms > query->after_ms &&
            (!query->found || entry.time_ms > query->time_ms)) {
            query->found = true;
            query->time_ms = entry.time_ms;
        }
    }
    *may_go_on = false;
    return KSV_OK;
}

ksv_status key_run_search(run_page_reader *r, const run_page_head *head,
                          const uint8_t *page, run_query *query,
                          ksv_error *error)
{
    const key_run *run = r->run;
    run_page_head next = *head;
    run_key key;
    uint8_t packed[RUN_KEY_PACKED_BYTES];
    run_key_pack(query->key, query->key_bytes, packed, &key);
    for (;;) {
        bool may_go_on;
        KSV_TRY(search_page(r, &next, page, &key, query, &may_go_on, error));
        uint64_t number = next.number + 1;
        if (!may_go_on || number >= run->info.pages ||
            run->fences[number] > run_fence(query->hash))
            return KSV_OK;
        KSV_TRY(read_page(r, number, &next, error));
        page = r->page;
    }
}
