/* SPDX-License-Identifier: MIT */
/* Answers for a range of keys by reading every data file from its start. */
#include "lookup/linear_range.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "lookup/key_bounds.h"
#include "lookup/scanned_files.h"

/* A record with a key of the range. */
typedef struct range_match {
    const uint8_t *key; /* NULL while keys are still added */
    size_t key_bytes;
    scanned_record record;
} range_match;

typedef struct range_scanner {
    const ksv_allocator *allocator;
    key_bounds bounds;
    scanned_files files;
    size_t file;      /* being read */
    byte_buffer keys; /* of the matches, one after the other */
    range_match *matches;
    size_t count;
    size_t capacity;
} range_scanner;

static ksv_status add_match(range_scanner *s, const scan_record *record,
                            ksv_error *error)
{
    void *items = s->matches;
    ksv_status status = memory_grow(s->allocator, &items, &s->capacity,
                                    s->count + 1, sizeof *s->matches, error);
    s->matches = items;
    KSV_TRY(status);
    s->matches[s->count++] = (range_match){
        NULL, record->key_bytes, {s->file, record->offset, record->length}};
    return buffer_append(&s->keys, record->key, record->key_bytes, error);
}

static ksv_status match_records(void *ctx, const scan_record *records,
                                size_t count, ksv_error *error)
{
    range_scanner *s = ctx;
    for (size_t i = 0; i < count; i++) {
        const scan_record *record = &records[i];
        ksv_key key = {record->key, record->key_bytes};
        if (record->kind == SCAN_RECORD_KEYED &&
            key_is_from_low(&s->bounds, key) &&
            key_is_below_high(&s->bounds, key))
            KSV_TRY(add_match(s, record, error));
    }
    return KSV_OK;
}

static ksv_key key_of_match(const range_match *match)
{
    return (ksv_key){match->key, match->key_bytes};
}

static int compare(const void *left, const void *right)
{
    const range_match *a = left;
    const range_match *b = right;
    int order = key_compare(key_of_match(a), key_of_match(b));
    if (order != 0)
        return order;
    const scanned_record *x = &a->record;
    const scanned_record *y = &b->record;
    if (x->file != y->file)
        return x->file < y->file ? -1 : 1;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

static void sort_matches(range_scanner *s)
{
    size_t at = 0;
    for (size_t i = 0; i < s->count; i++) {
        s->matches[i].key = s->keys.data + at;
        at += s->matches[i].key_bytes;
    }
    if (s->count > 1)
        qsort(s->matches, s->count, sizeof *s->matches, compare);
}

static ksv_status visit_key(range_scanner *s, const range_match *first,
                            size_t count, range_visit *v, ksv_receipt *receipt,
                            ksv_error *error)
{
    size_t number = 0;
    receipt->found++;
    for (size_t turn = 0; range_visit_choose(v, count, turn, &number); turn++) {
        const range_match *match = &first[number];
        bool no_data = v->options.no_data || v->options.index_only;
        v->records++;
        KSV_TRY(scanned_files_visit(&s->files, &match->record,
                                    key_of_match(match), v->keys, no_data,
                                    v->visit, v->ctx, receipt, error));
    }
    v->keys++;
    return KSV_OK;
}

/* The end of the matches with the key of match `from`. */
static size_t end_of_key(const range_scanner *s, size_t from)
{
    size_t i = from + 1;
    while (i < s->count && key_compare(key_of_match(&s->matches[i]),
                                       key_of_match(&s->matches[from])) == 0)
        i++;
    return i;
}

/* Where those begin that end at `from`. */
static size_t start_of_key(const range_scanner *s, size_t from)
{
    size_t i = from - 1;
    while (i > 0 && key_compare(key_of_match(&s->matches[i - 1]),
                                key_of_match(&s->matches[from - 1])) == 0)
        i--;
    return i;
}

static ksv_status visit_all(range_scanner *s, range_visit *v,
                            ksv_receipt *receipt, ksv_error *error)
{
    size_t at = v->options.reverse ? s->count : 0;
    size_t end = s->count - at;
    while (at != end && !range_visit_is_full(v)) {
        size_t to =
            v->options.reverse ? start_of_key(s, at) : end_of_key(s, at);
        size_t first = v->options.reverse ? to : at;
        size_t count = v->options.reverse ? at - to : to - at;
        KSV_TRY(visit_key(s, &s->matches[first], count, v, receipt, error));
        at = to;
    }
    return KSV_OK;
}

static ksv_status scan_and_visit(range_scanner *s, index_snapshot *snapshot,
                                 const ksv_range *range, range_visit *v,
                                 ksv_receipt *receipt, ksv_error *error)
{
    KSV_TRY(scanned_files_open(&s->files, snapshot, error));
    KSV_TRY(key_bounds_init(&s->bounds, range, s->allocator, error));
    for (; s->file < snapshot->state.file_count; s->file++)
        KSV_TRY(scanned_files_scan(&s->files, s->file, match_records, s,
                                   receipt, error));
    sort_matches(s);
    return visit_all(s, v, receipt, error);
}

ksv_status linear_range(index_snapshot *snapshot, const ksv_range *range,
                        range_visit *visit, ksv_receipt *receipt,
                        ksv_error *error)
{
    const ksv_allocator *a = &snapshot->allocator;
    range_scanner s = {.allocator = a};
    buffer_init(&s.keys, a);
    buffer_init(&s.bounds.low, a);
    buffer_init(&s.bounds.high, a);
    ksv_status status =
        scan_and_visit(&s, snapshot, range, visit, receipt, error);
    scanned_files_close(&s.files);
    key_bounds_release(&s.bounds);
    buffer_release(&s.keys);
    memory_free(a, s.matches, s.capacity * sizeof *s.matches);
    return status;
}
