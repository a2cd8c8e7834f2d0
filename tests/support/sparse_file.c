/* SPDX-License-Identifier: MIT */
/* A file in memory that keeps only the pages that are not empty. */
#include "support/sparse_file.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* The first page whose number is not smaller. */
static size_t find_place(const sparse_file *f, uint64_t number)
{
    size_t low = 0;
    size_t high = f->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (f->pages[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static sparse_page *find_page(const sparse_file *f, uint64_t number)
{
    size_t at = find_place(f, number);
    bool is_there = at < f->count && f->pages[at].number == number;
    return is_there ? &f->pages[at] : NULL;
}

/* Pages come in ascending order, because bytes are appended. */
static sparse_page *add_page(sparse_file *f, uint64_t number)
{
    if (f->count == f->capacity) {
        f->capacity = 2 * f->capacity + 16;
        f->pages = realloc(f->pages, f->capacity * sizeof *f->pages);
        if (f->pages == NULL)
            abort();
    }
    sparse_page *page = &f->pages[f->count++];
    memset(page, 0, sizeof *page);
    page->number = number;
    return page;
}

static bool is_empty(const uint8_t *data, size_t size_bytes)
{
    return data[0] == 0 && memcmp(data, data + 1, size_bytes - 1) == 0;
}

static ksv_status append(ksv_file *file, const void *data, size_t size_bytes,
                         ksv_error *error)
{
    sparse_file *f = (sparse_file *)file;
    const uint8_t *next = data;
    (void)error;
    while (size_bytes > 0) {
        uint64_t number = f->size_bytes / SPARSE_PAGE_BYTES;
        size_t inside = (size_t)(f->size_bytes % SPARSE_PAGE_BYTES);
        size_t n = SPARSE_PAGE_BYTES - inside;
        n = n < size_bytes ? n : size_bytes;
        if (!is_empty(next, n)) {
            sparse_page *page = find_page(f, number);
            page = page != NULL ? page : add_page(f, number);
            memcpy(page->data + inside, next, n);
        }
        next += n;
        size_bytes -= n;
        f->size_bytes += n;
    }
    return KSV_OK;
}

static ksv_status read_at(ksv_file *file, uint64_t offset, void *buffer,
                          size_t size_bytes, size_t *got_bytes,
                          ksv_error *error)
{
    const sparse_file *f = (const sparse_file *)file;
    uint8_t *next = buffer;
    (void)error;
    *got_bytes = 0;
    while (size_bytes > 0 && offset < f->size_bytes) {
        const sparse_page *page = find_page(f, offset / SPARSE_PAGE_BYTES);
        size_t inside = (size_t)(offset % SPARSE_PAGE_BYTES);
        size_t n = SPARSE_PAGE_BYTES - inside;
        n = n < size_bytes ? n : size_bytes;
        if (n > f->size_bytes - offset)
            n = (size_t)(f->size_bytes - offset);
        if (page != NULL)
            memcpy(next, page->data + inside, n);
        else
            memset(next, 0, n);
        next += n;
        offset += n;
        size_bytes -= n;
        *got_bytes += n;
    }
    return KSV_OK;
}

static ksv_status do_nothing(ksv_file *file, ksv_error *error)
{
    (void)file;
    (void)error;
    return KSV_OK;
}

static ksv_status info(ksv_file *file, ksv_file_info *out, ksv_error *error)
{
    (void)error;
    *out = (ksv_file_info){.size_bytes = ((sparse_file *)file)->size_bytes};
    return KSV_OK;
}

static const ksv_file_ops OPS = {.read_at = read_at,
                                 .append = append,
                                 .sync = do_nothing,
                                 .info = info,
                                 .close = do_nothing};

void sparse_file_init(sparse_file *file)
{
    *file = (sparse_file){.base = {&OPS}};
}

void sparse_file_release(sparse_file *file)
{
    free(file->pages);
    sparse_file_init(file);
}

uint64_t sparse_file_last_page(const sparse_file *file, uint64_t end)
{
    size_t at = find_place(file, end / SPARSE_PAGE_BYTES);
    return at > 0 ? file->pages[at - 1].number * SPARSE_PAGE_BYTES : 0;
}

void sparse_file_flip(sparse_file *file, uint64_t offset)
{
    sparse_page *page = find_page(file, offset / SPARSE_PAGE_BYTES);
    if (page == NULL)
        abort();
    page->data[offset % SPARSE_PAGE_BYTES] ^= 1;
}
