/* SPDX-License-Identifier: MIT */
/* Runs a record reader over a content, cut into windows as a test likes. */
#include "support/scan_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

uint64_t test_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static void *grown(void *memory, size_t size)
{
    void *moved = realloc(memory, size);
    if (moved == NULL)
        abort();
    return moved;
}

void scan_result_init(scan_result *result)
{
    static ksv_allocator allocator;
    memset(result, 0, sizeof *result);
    allocator = allocator_or_default(NULL);
    buffer_init(&result->layout, &allocator);
}

void scan_result_release(scan_result *result)
{
    free(result->records);
    free(result->keys);
    buffer_release(&result->layout);
}

void scan_result_add(scan_result *result, uint64_t offset, uint64_t length,
                     scan_record_kind kind, const void *key, size_t key_bytes)
{
    if (result->count == result->capacity) {
        result->capacity = result->capacity * 2 + 16;
        result->records =
            grown(result->records, result->capacity * sizeof(scan_found));
    }
    if (result->keys_bytes + key_bytes > result->keys_capacity) {
        result->keys_capacity = (result->keys_bytes + key_bytes) * 2;
        result->keys = grown(result->keys, result->keys_capacity);
    }
    if (key_bytes > 0)
        memcpy(result->keys + result->keys_bytes, key, key_bytes);
    result->records[result->count++] =
        (scan_found){offset, length, kind, result->keys_bytes, key_bytes};
    result->keys_bytes += key_bytes;
}

const uint8_t *scan_result_key(const scan_result *result, size_t i)
{
    return result->keys != NULL ? result->keys + result->records[i].key_at
                                : (const uint8_t *)"";
}

static size_t window_size(scan_windows *w, uint64_t *state, size_t left)
{
    size_t size = left;
    if (w->seed == 1)
        size = 1;
    else if (w->seed != 0)
        size = (size_t)(test_random(state) % (w->largest + 1));
    return size < left ? size : left;
}

#define BATCH_RECORDS 600

/* Takes all records of what was fed, up to `batch` (0: any number) at once;
 * false: no more of them are wanted. */
static bool drain(record_reader *r, size_t wanted, size_t batch,
                  uint64_t *state, scan_result *result)
{
    for (;;) {
        scan_record records[BATCH_RECORDS];
        size_t capacity = 1 + test_random(state) % 7;
        if (batch > 0)
            capacity = batch < BATCH_RECORDS ? batch : BATCH_RECORDS;
        size_t count;
        result->status =
            record_reader_next(r, records, capacity, &count, &result->error);
        if (result->status != KSV_OK)
            return false;
        if (count == 0)
            return true;
        for (size_t i = 0; i < count; i++) {
            const scan_record *f = &records[i];
            bool keyed = f->kind == SCAN_RECORD_KEYED;
            scan_result_add(result, f->offset, f->length, f->kind, f->key,
                            keyed ? f->key_bytes : 0);
            if (result->count == wanted)
                return false;
        }
    }
}

static void feed_all(record_reader *r, const uint8_t *data, size_t size,
                     scan_windows windows, size_t wanted, size_t batch,
                     scan_result *result)
{
    uint64_t state = windows.seed * 0x9e3779b97f4a7c15u + 88172645463325252u;
    size_t at = 0;
    bool more = true;
    bool last = false;
    while (more && !last) {
        size_t window_bytes = window_size(&windows, &state, size - at);
        uint8_t *window = malloc(window_bytes > 0 ? window_bytes : 1);
        if (window == NULL)
            abort();
        if (window_bytes > 0)
            memcpy(window, data + at, window_bytes);
        at += window_bytes;
        last = at == size && (windows.seed < 2 || test_random(&state) % 2 == 0);
        record_reader_feed(r, window, window_bytes, last);
        more = drain(r, wanted, batch, &state, result);
        free(window);
    }
}

void scan_run(const scan_spec *spec, bool skip_bad, const void *data,
              size_t size, scan_windows windows, scan_result *result)
{
    scan_run_batches(spec, skip_bad, data, size, windows, 0, result);
}

void scan_run_batches(const scan_spec *spec, bool skip_bad, const void *data,
                      size_t size, scan_windows windows, size_t batch,
                      scan_result *result)
{
    record_reader *r;
    scan_result_init(result);
    result->status =
        record_reader_open(spec, skip_bad, NULL, &r, &result->error);
    if (result->status != KSV_OK)
        return;
    feed_all(r, data, size, windows, 0, batch, result);
    if (record_reader_layout(r, &result->layout, NULL) != KSV_OK)
        abort();
    record_reader_close(r);
}

void scan_run_at(const scan_spec *spec, const byte_buffer *layout,
                 uint64_t offset, const void *data, size_t size,
                 scan_windows windows, scan_result *result)
{
    record_reader *r;
    scan_result_init(result);
    result->status = record_reader_open(spec, true, NULL, &r, &result->error);
    if (result->status != KSV_OK)
        return;
    result->status = record_reader_begin_at(r, layout->data, layout->size,
                                            offset, &result->error);
    if (result->status == KSV_OK)
        feed_all(r, data, size, windows, 1, 0, result);
    record_reader_close(r);
}

static bool same_record(const scan_result *a, const scan_result *b, size_t i)
{
    const scan_found *x = &a->records[i];
    const scan_found *y = &b->records[i];
    return x->offset == y->offset && x->length == y->length &&
           x->kind == y->kind && x->key_bytes == y->key_bytes &&
           memcmp(scan_result_key(a, i), scan_result_key(b, i), x->key_bytes) ==
               0;
}

static void tell(const scan_result *a, size_t i, char *text, size_t size)
{
    if (i >= a->count) {
        snprintf(text, size, "none");
        return;
    }
    const scan_found *f = &a->records[i];
    snprintf(text, size, "%lu+%lu kind %d key '%.*s'", (unsigned long)f->offset,
             (unsigned long)f->length, (int)f->kind,
             (int)(f->key_bytes < 40 ? f->key_bytes : 40),
             (const char *)scan_result_key(a, i));
}

bool scan_results_agree(const scan_result *a, const scan_result *b,
                        char why[256])
{
    size_t count = a->count > b->count ? a->count : b->count;
    for (size_t i = 0; i < count; i++) {
        if (i < a->count && i < b->count && same_record(a, b, i))
            continue;
        char x[100];
        char y[100];
        tell(a, i, x, sizeof x);
        tell(b, i, y, sizeof y);
        snprintf(why, 256, "record %zu: %s | %s", i, x, y);
        return false;
    }
    if (a->status != b->status) {
        snprintf(why, 256, "status %d | %d", (int)a->status, (int)b->status);
        return false;
    }
    if (a->status != KSV_OK && a->error.byte_offset != b->error.byte_offset) {
        snprintf(why, 256, "error at %lu | %lu",
                 (unsigned long)a->error.byte_offset,
                 (unsigned long)b->error.byte_offset);
        return false;
    }
    return true;
}
