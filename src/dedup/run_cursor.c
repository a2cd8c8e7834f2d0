/* SPDX-License-Identifier: MIT */
/* Reads all entries of a run in order. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "dedup/run.h"
#include "io/file.h"

struct run_cursor {
    ksv_allocator allocator;
    const key_run *run;
    uint8_t *buffer; /* of whole pages */
    size_t capacity_pages;
    uint64_t first_page; /* in the buffer */
    size_t page_count;   /* there */
    uint64_t next_page;
    run_page_walk walk;
    run_entry entry;
    byte_buffer long_key;
    uint64_t last_hash;
    uint64_t begun; /* entries of the pages so far */
};

ksv_status run_cursor_open(const key_run *run, size_t buffer_bytes,
                           run_cursor **out, ksv_error *error)
{
    *out = NULL;
    ksv_allocator a = run->allocator;
    run_cursor *c = memory_zalloc(&a, sizeof *c);
    if (c == NULL)
        return error_set_memory(error);
    c->allocator = a;
    c->run = run;
    c->capacity_pages = buffer_bytes / run->info.page_bytes;
    if (c->capacity_pages == 0)
        c->capacity_pages = 1;
    buffer_init(&c->long_key, &c->allocator);
    c->buffer = memory_alloc(&a, c->capacity_pages * run->info.page_bytes);
    if (c->buffer == NULL) {
        run_cursor_close(c);
        return error_set_memory(error);
    }
    *out = c;
    return KSV_OK;
}

void run_cursor_close(run_cursor *c)
{
    if (c == NULL)
        return;
    ksv_allocator a = c->allocator;
    if (c->buffer != NULL)
        memory_free(&a, c->buffer, c->capacity_pages * c->run->info.page_bytes);
    buffer_release(&c->long_key);
    memory_free(&a, c, sizeof *c);
}

/* The next page, checked; there is one. */
static ksv_status take_page(run_cursor *c, run_page_head *head,
                            const uint8_t **page, ksv_error *error)
{
    const run_info *info = &c->run->info;
    if (c->next_page == c->first_page + c->page_count) {
        uint64_t left = info->pages - c->next_page;
        c->page_count =
            left < c->capacity_pages ? (size_t)left : c->capacity_pages;
        c->first_page = c->next_page;
        KSV_TRY(file_read_exactly(
            c->run->file, run_page_offset(info, c->first_page), c->buffer,
            c->page_count * info->page_bytes, error));
    }
    *page = c->buffer + (c->next_page - c->first_page) * info->page_bytes;
    return run_page_check(info, c->next_page++, *page, head, error);
}

static ksv_status wrong(const run_cursor *c, const char *what, ksv_error *error)
{
    return error_set_at(error, KSV_ERROR_CORRUPT, NULL,
                        run_page_offset(&c->run->info, c->next_page - 1), "%s",
                        what);
}

/* Joins a key that goes on in further pages. */
static ksv_status complete_key(run_cursor *c, ksv_error *error)
{
    run_entry *e = &c->entry;
    const run_info *info = &c->run->info;
    if (e->here_bytes == e->key.stored_bytes)
        return KSV_OK;
    if (e->key.stored_bytes >
        (info->pages - c->next_page) * info->page_bytes + info->page_bytes)
        return wrong(c, "a key ends too early", error);
    buffer_clear(&c->long_key);
    KSV_TRY(buffer_append(&c->long_key, e->key.stored, e->here_bytes, error));
    while (c->long_key.size < e->key.stored_bytes) {
        run_page_head head;
        const uint8_t *page;
        if (c->next_page == info->pages)
            return wrong(c, "a key ends too early", error);
        KSV_TRY(take_page(c, &head, &page, error));
        if (head.kind != RUN_PAGE_REST || head.used_bytes == 0 ||
            head.used_bytes > e->key.stored_bytes - c->long_key.size)
            return wrong(c, "a key ends too early", error);
        KSV_TRY(buffer_append(&c->long_key, page + RUN_PAGE_HEAD_BYTES,
                              head.used_bytes, error));
    }
    e->key.stored = c->long_key.data;
    e->here_bytes = c->long_key.size;
    return KSV_OK;
}

static ksv_status at_end(const run_cursor *c, const run_entry **entry,
                         ksv_error *error)
{
    *entry = NULL;
    if (c->begun != c->run->info.entries)
        return wrong(c, "keys are missing", error);
    return KSV_OK;
}

ksv_status run_cursor_next(run_cursor *c, const run_entry **entry,
                           ksv_error *error)
{
    bool any = false;
    if (c->walk.info != NULL)
        KSV_TRY(run_page_walk_next(&c->walk, &c->entry, &any, error));
    while (!any) {
        run_page_head head;
        const uint8_t *page;
        if (c->next_page == c->run->info.pages)
            return at_end(c, entry, error);
        KSV_TRY(take_page(c, &head, &page, error));
        if (head.kind == RUN_PAGE_REST)
            return wrong(c, "a page of keys is out of place", error);
        c->begun += head.count;
        run_page_walk_begin(&c->walk, &c->run->info, &head, page);
        KSV_TRY(run_page_walk_next(&c->walk, &c->entry, &any, error));
    }
    KSV_TRY(complete_key(c, error));
    if (c->entry.hash < c->last_hash)
        return wrong(c, "keys are out of order", error);
    c->last_hash = c->entry.hash;
    *entry = &c->entry;
    return KSV_OK;
}
