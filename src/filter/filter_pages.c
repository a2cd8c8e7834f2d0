/* SPDX-License-Identifier: MIT */
/* The blocks of a filter file in memory, read and checked when first needed. */
#include "filter/filter_pages.h"

#include <string.h>

#include "base/coding.h"
#include "base/error.h"
#include "io/file.h"
#include "io/large_pages.h"

/* Pages read at once when the whole filter seems to be wanted: 1 MiB. */
#define RUN_PAGES 256

/* Single pages are read until this part of all pages was asked for, but this
 * often at least: then reading them in runs costs less than going on. */
#define MISSES_SHARE 16
#define LEAST_MISSES 32

static size_t checksums_bytes(const filter_layout *layout)
{
    return (size_t)(layout->footer_offset - layout->checksums_offset);
}

static ksv_status allocate(filter_pages *p, const ksv_allocator *a,
                           ksv_error *error)
{
    if (!p->is_borrowed)
        KSV_TRY(filter_memory_init(&p->blocks, a, p->layout.body_bytes, error));
    p->ready_words = (size_t)(p->layout.pages / 64 + 1);
    p->ready = memory_zalloc_array(a, p->ready_words, sizeof *p->ready);
    p->checksums = memory_alloc(a, checksums_bytes(&p->layout));
    p->checksums_ready = memory_zalloc(a, (size_t)p->layout.checksum_pages);
    if (p->ready == NULL || p->checksums == NULL || p->checksums_ready == NULL)
        return error_set_memory(error);
    return KSV_OK;
}

static void release_memory(filter_pages *p, const ksv_allocator *a)
{
    if (!p->is_borrowed)
        filter_memory_release(&p->blocks, a);
    memory_free(a, (void *)p->ready, p->ready_words * sizeof *p->ready);
    memory_free(a, p->checksums, checksums_bytes(&p->layout));
    memory_free(a, p->checksums_ready, (size_t)p->layout.checksum_pages);
}

ksv_status filter_pages_init(filter_pages *pages, ksv_file *file,
                             const uint8_t id[16], const filter_layout *layout,
                             const filter_memory *blocks,
                             const ksv_allocator *a, ksv_error *error)
{
    *pages = (filter_pages){
        .file = file, .layout = *layout, .is_borrowed = blocks != NULL};
    if (blocks != NULL)
        pages->blocks = *blocks;
    memcpy(pages->id, id, sizeof pages->id);
    ksv_status status = allocate(pages, a, error);
    if (status == KSV_OK)
        status = mutex_init(&pages->lock, error);
    if (status != KSV_OK)
        release_memory(pages, a);
    return status;
}

void filter_pages_release(filter_pages *pages, const ksv_allocator *a)
{
    mutex_release(&pages->lock);
    release_memory(pages, a);
}

static void set_ready(filter_pages *p, uint64_t page)
{
    atomic_fetch_or_explicit(&p->ready[page / 64], UINT64_C(1) << (page % 64),
                             memory_order_release);
}

/* Makes the checksum page `number` ready. */
static ksv_status need_checksums(filter_pages *p, uint64_t number,
                                 ksv_error *error)
{
    if (p->checksums_ready[number])
        return KSV_OK;
    uint64_t start = number * FILTER_PAGE_BYTES;
    uint64_t offset = p->layout.checksums_offset + start;
    size_t size_bytes = filter_checksum_page_bytes(&p->layout, number);
    uint8_t *page = p->checksums + start;
    KSV_TRY(file_read_exactly(p->file, offset, page, size_bytes, error));
    KSV_TRY(filter_checksum_page_check(p->id, number, page, size_bytes, offset,
                                       error));
    p->checksums_ready[number] = 1;
    return KSV_OK;
}

/* Compares a page that was read with its checksum, and makes it ready. */
static ksv_status accept_page(filter_pages *p, uint64_t page, ksv_error *error)
{
    uint64_t number = page / FILTER_CHECKSUMS_PER_PAGE;
    KSV_TRY(need_checksums(p, number, error));
    const uint8_t *wanted = p->checksums + number * FILTER_PAGE_BYTES +
                            FILTER_CHECKSUM_HEAD_BYTES +
                            page % FILTER_CHECKSUMS_PER_PAGE * sizeof(uint32_t);
    uint64_t start = page * FILTER_PAGE_BYTES;
    uint32_t checksum =
        filter_page_checksum(p->id, page, p->blocks.data + start,
                             filter_page_bytes(&p->layout, page));
    if (checksum != load_u32(wanted))
        return error_set_at(error, KSV_ERROR_CORRUPT, NULL,
                            p->layout.body_offset + start,
                            "a page of the filter has a bad checksum");
    set_ready(p, page);
    return KSV_OK;
}

/* Reads the pages `first` to `end` - 1, none of which is ready. Of an error in
 * some, the others become ready all the same. */
static ksv_status read_run(filter_pages *p, uint64_t first, uint64_t end,
                           ksv_error *error)
{
    uint64_t start = first * FILTER_PAGE_BYTES;
    size_t size_bytes = (size_t)(end - 1 - first) * FILTER_PAGE_BYTES +
                        filter_page_bytes(&p->layout, end - 1);
    KSV_TRY(file_read_exactly(p->file, p->layout.body_offset + start,
                              p->blocks.data + start, size_bytes, error));
    ksv_status worst = KSV_OK;
    for (uint64_t page = first; page < end; page++) {
        ksv_status status =
            accept_page(p, page, worst == KSV_OK ? error : NULL);
        if (worst == KSV_OK)
            worst = status;
    }
    return worst;
}

/* The end of the run of pages from `first` that are `ready` or are not. */
static uint64_t run_end(const filter_pages *p, uint64_t first, uint64_t end)
{
    bool ready = filter_page_is_ready(p, first);
    uint64_t page = first + 1;
    while (page < end && filter_page_is_ready(p, page) == ready)
        page++;
    return page;
}

/* Reads what is not there of the pages `first` to `end` - 1. Pages that are
 * there may be in use, so that nothing may be read over them. */
static ksv_status read_missing(filter_pages *p, uint64_t first, uint64_t end,
                               ksv_error *error)
{
    ksv_status worst = KSV_OK;
    while (first < end) {
        uint64_t next = run_end(p, first, end);
        if (!filter_page_is_ready(p, first)) {
            ksv_status status =
                read_run(p, first, next, worst == KSV_OK ? error : NULL);
            if (worst == KSV_OK)
                worst = status;
        }
        first = next;
    }
    return worst;
}

static uint64_t group_end(const filter_pages *p, uint64_t first)
{
    uint64_t left = p->layout.pages - first;
    return first + (left < RUN_PAGES ? left : RUN_PAGES);
}

/* Pages that are read from now on come in runs, to where memory comes in large
 * pages: probes all over a filter need the translation of each small one. */
static void begin_runs(filter_pages *p)
{
    if (atomic_load_explicit(&p->reads_runs, memory_order_relaxed))
        return;
    large_pages_ask(p->blocks.data, p->blocks.size_bytes);
    atomic_store_explicit(&p->reads_runs, true, memory_order_relaxed);
}

static bool are_many(const filter_pages *p, uint64_t misses)
{
    return misses > LEAST_MISSES && misses > p->layout.pages / MISSES_SHARE;
}

void filter_pages_expect(filter_pages *pages, uint64_t probes)
{
    if (!are_many(pages, probes) ||
        atomic_load_explicit(&pages->reads_runs, memory_order_relaxed))
        return;
    mutex_lock(&pages->lock);
    begin_runs(pages);
    mutex_unlock(&pages->lock);
}

static bool wants_runs(filter_pages *p)
{
    if (p->layout.body_bytes <= FILTER_SMALL_BODY_BYTES)
        return true;
    if (are_many(p, p->misses))
        begin_runs(p);
    return atomic_load_explicit(&p->reads_runs, memory_order_relaxed);
}

static ksv_status read_locked(filter_pages *p, uint64_t page, ksv_error *error)
{
    if (filter_page_is_ready(p, page))
        return KSV_OK;
    p->misses++;
    if (wants_runs(p)) {
        uint64_t first = page - page % RUN_PAGES;
        /* Trouble with the others is for those who ask for them. */
        (void)read_missing(p, first, group_end(p, first), NULL);
        if (filter_page_is_ready(p, page))
            return KSV_OK;
    }
    return read_run(p, page, page + 1, error);
}

ksv_status filter_pages_read(filter_pages *pages, uint64_t page,
                             ksv_error *error)
{
    mutex_lock(&pages->lock);
    ksv_status status = read_locked(pages, page, error);
    mutex_unlock(&pages->lock);
    return status;
}

ksv_status filter_pages_read_all(filter_pages *pages, ksv_error *error)
{
    ksv_status status = KSV_OK;
    uint64_t first = 0;
    mutex_lock(&pages->lock);
    begin_runs(pages);
    while (first < pages->layout.pages && status == KSV_OK) {
        uint64_t end = group_end(pages, first);
        status = read_missing(pages, first, end, error);
        first = end;
    }
    mutex_unlock(&pages->lock);
    return status;
}
