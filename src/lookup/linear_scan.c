/* SPDX-License-Identifier: MIT */
/* Answers by reading every data file from its start. */
#include "lookup/linear_scan.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "lookup/scanned_files.h"

/* A record that has one of the keys asked for. */
typedef struct scan_match {
    size_t key; /* the first key number that asks for it */
    scanned_record record;
} scan_match;

/* The keys asked for are a hash table with linear probing over key numbers;
 * a key asked again refers to where it was asked first. */
typedef struct key_set {
    const ksv_key *keys;
    const ksv_hasher *hasher;
    size_t *slots; /* key number + 1, or 0 */
    size_t slot_count;
    size_t *first; /* for each key number the first that asks the same */
    size_t key_count;
} key_set;

typedef struct scanner {
    index_snapshot *snapshot;
    key_set set;
    scan_match *matches;
    size_t match_count;
    size_t match_capacity;
    scanned_files files;
    size_t file; /* being read */
} scanner;

/* The slot of a key: where it stands, or the free one where it belongs. */
static size_t find_slot(const key_set *set, const void *key, size_t key_bytes)
{
    uint64_t hash = ksv_hash(set->hasher, key, key_bytes);
    size_t slot = (size_t)(hash >> 7) & (set->slot_count - 1);
    while (set->slots[slot] != 0) {
        const ksv_key *there = &set->keys[set->slots[slot] - 1];
        if (there->bytes == key_bytes &&
            (key_bytes == 0 || memcmp(there->data, key, key_bytes) == 0))
            break;
        slot = (slot + 1) & (set->slot_count - 1);
    }
    return slot;
}

static ksv_status key_set_open(key_set *set, const ksv_allocator *a,
                               const ksv_key *keys, size_t key_count,
                               ksv_error *error)
{
    set->keys = keys;
    set->key_count = key_count;
    set->slot_count = 16;
    while (set->slot_count / 2 < key_count)
        set->slot_count *= 2;
    set->slots = memory_zalloc_array(a, set->slot_count, sizeof *set->slots);
    set->first = memory_zalloc_array(a, key_count, sizeof *set->first);
    if (set->slots == NULL || set->first == NULL)
        return error_set_memory(error);
    for (size_t i = 0; i < key_count; i++) {
        size_t slot = find_slot(set, keys[i].data, keys[i].bytes);
        if (set->slots[slot] == 0)
            set->slots[slot] = i + 1;
        set->first[i] = set->slots[slot] - 1;
    }
    return KSV_OK;
}

static void key_set_close(key_set *set, const ksv_allocator *a)
{
    memory_free(a, set->slots, set->slot_count * sizeof *set->slots);
    memory_free(a, set->first, set->key_count * sizeof *set->first);
}

static ksv_status match_records(void *ctx, const scan_record *records,
                                size_t count, ksv_error *error)
{
    scanner *s = ctx;
    for (size_t i = 0; i < count; i++) {
        if (records[i].kind != SCAN_RECORD_KEYED)
            continue;
        size_t slot = find_slot(&s->set, records[i].key, records[i].key_bytes);
        if (s->set.slots[slot] == 0)
            continue;
        void *items = s->matches;
        KSV_TRY(memory_grow(&s->snapshot->allocator, &items, &s->match_capacity,
                            s->match_count + 1, sizeof *s->matches, error));
        s->matches = items;
        s->matches[s->match_count++] =
            (scan_match){s->set.slots[slot] - 1,
                         {s->file, records[i].offset, records[i].length}};
    }
    return KSV_OK;
}

/* The matches ordered by key and, within a key, as they were found: a counting
 * sort. `starts` gets key_count + 1 positions. */
static void order_matches(const scanner *s, size_t *starts, scan_match *ordered)
{
    size_t keys = s->set.key_count;
    for (size_t i = 0; i < s->match_count; i++)
        starts[s->matches[i].key + 1]++;
    for (size_t k = 0; k < keys; k++)
        starts[k + 1] += starts[k];
    for (size_t i = s->match_count; i-- > 0;)
        ordered[--starts[s->matches[i].key + 1]] = s->matches[i];
    /* The positions have moved one down: each is the start of its key now. */
    memmove(starts, starts + 1, keys * sizeof *starts);
    starts[keys] = s->match_count;
}

static ksv_status answer_all(scanner *s, const size_t *starts,
                             const scan_match *ordered,
                             const ksv_lookup_options *options,
                             ksv_record_fn visit, void *ctx,
                             ksv_receipt *receipt, ksv_error *error)
{
    for (size_t k = 0; k < s->set.key_count; k++) {
        size_t from = starts[s->set.first[k]];
        size_t to = starts[s->set.first[k] + 1];
        receipt->found += to > from;
        if (to > from && options->first_only)
            to = from + 1;
        for (size_t i = from; i < to; i++)
            KSV_TRY(scanned_files_visit(&s->files, &ordered[i].record,
                                        s->set.keys[k], k, options->no_data,
                                        visit, ctx, receipt, error));
        if (to == from && !visit(ctx, k, NULL))
            return error_set(error, KSV_ERROR_CANCELLED, NULL, "stopped");
    }
    return KSV_OK;
}

static ksv_status order_and_answer(scanner *s,
                                   const ksv_lookup_options *options,
                                   ksv_record_fn visit, void *ctx,
                                   ksv_receipt *receipt, ksv_error *error)
{
    const ksv_allocator *a = &s->snapshot->allocator;
    size_t start_count = s->set.key_count + 2;
    size_t *starts = memory_zalloc_array(a, start_count, sizeof *starts);
    scan_match *ordered =
        memory_zalloc_array(a, s->match_count, sizeof *ordered);
    ksv_status status;
    if (starts == NULL || ordered == NULL) {
        status = error_set_memory(error);
    } else {
        order_matches(s, starts, ordered);
        status =
            answer_all(s, starts, ordered, options, visit, ctx, receipt, error);
    }
    memory_free(a, starts, start_count * sizeof *starts);
    memory_free(a, ordered, s->match_count * sizeof *ordered);
    return status;
}

ksv_status linear_scan(index_snapshot *snapshot, const ksv_key *keys,
                       size_t key_count, const ksv_lookup_options *options,
                       ksv_record_fn visit, void *ctx, ksv_receipt *receipt,
                       ksv_error *error)
{
    const ksv_allocator *a = &snapshot->allocator;
    scanner s = {.snapshot = snapshot};
    s.set.hasher = &snapshot->state.parameters.hasher;
    ksv_status status = key_set_open(&s.set, a, keys, key_count, error);
    receipt->keys += key_count;
    ksv_status opened =
        scanned_files_open(&s.files, snapshot, status == KSV_OK ? error : NULL);
    status = status != KSV_OK ? status : opened;
    size_t files = snapshot->state.file_count;
    for (s.file = 0; s.file < files && status == KSV_OK; s.file++)
        status = scanned_files_scan(&s.files, s.file, match_records, &s,
                                    receipt, error);
    if (status == KSV_OK)
        status = order_and_answer(&s, options, visit, ctx, receipt, error);
    scanned_files_close(&s.files);
    memory_free(a, s.matches, s.match_capacity * sizeof *s.matches);
    key_set_close(&s.set, a);
    return status;
}

typedef struct key_visit {
    ksv_record_fn visit;
    void *ctx;
    const char *given_path;
    size_t number;
} key_visit;

static ksv_status walk_records(void *ctx, const scan_record *records,
                               size_t count, ksv_error *error)
{
    key_visit *walk = ctx;
    for (size_t i = 0; i < count; i++) {
        if (records[i].kind != SCAN_RECORD_KEYED)
            continue;
        ksv_record record = {.key = records[i].key,
                             .key_bytes = records[i].key_bytes,
                             .file = walk->given_path,
                             .offset = records[i].offset,
                             .length = records[i].length};
        if (!walk->visit(walk->ctx, walk->number++, &record))
            return error_set(error, KSV_ERROR_CANCELLED, NULL, "stopped");
    }
    return KSV_OK;
}

ksv_status linear_keys(index_snapshot *snapshot, ksv_record_fn visit, void *ctx,
                       ksv_error *error)
{
    key_visit walk = {visit, ctx, NULL, 0};
    scanned_files files;
    ksv_receipt unwanted = {0};
    ksv_status status = scanned_files_open(&files, snapshot, error);
    for (size_t i = 0; i < snapshot->state.file_count && status == KSV_OK;
         i++) {
        walk.given_path = snapshot->files[i].facts->given_path;
        status = scanned_files_scan(&files, i, walk_records, &walk, &unwanted,
                                    error);
    }
    scanned_files_close(&files);
    return status;
}
