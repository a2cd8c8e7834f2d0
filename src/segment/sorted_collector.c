/* SPDX-License-Identifier: MIT */
/* Collects entries in the order of their keys: one sorter of keys for the
 * table, and one of hashes for the filter, which is written in their order.
 * Where the records turn out to be in order themselves, the first keys of spans
 * of them take the place of all keys. */
#include "segment/sorted_collector.h"

#include <string.h>

#include "base/coding.h"
#include "base/error.h"
#include "base/memory.h"
#include "segment/hash_collector.h"
#include "segment/span_starts.h"
#include "sort/key_sorter.h"

/* The parts of the memory that hashes and the starts of spans get. */
#define HASHES_PART 4
#define STARTS_PART 16

/* What stands before a key that is kept: its payload and length. */
#define KEPT_HEAD_BYTES 16

typedef struct sorted_collector {
    segment_collector base;
    segment_place place;
    keyed_table_fn write_table;
    key_sorter *keys;
    entry_sorter *hashes;
    bool may_be_sparse; /* other tables than sorted ones have all keys */
    span_starts starts; /* unless it may not */
    bool is_sparse;     /* the keys are not needed */
    span_starts_sum spans;
    thread_pool *pool; /* or NULL */
    unsigned threads;
} sorted_collector;

static ksv_status add_keys(sorted_collector *s, unsigned adder,
                           const collector_batch *batch, ksv_error *error)
{
    key_adder *keys = key_sorter_adder(s->keys, adder);
    const hash_entry *entry = batch->entries;
    for (size_t i = 0; i < batch->record_count; i++) {
        const scan_record *record = &batch->records[i];
        if (record->kind != SCAN_RECORD_KEYED)
            continue;
        KSV_TRY(key_adder_add(keys, record->key, record->key_bytes,
                              entry->payload, error));
        entry++;
    }
    return KSV_OK;
}

static ksv_status add(segment_collector *c, unsigned adder,
                      const collector_batch *batch, ksv_error *error)
{
    sorted_collector *s = (sorted_collector *)c;
    KSV_TRY(entry_adder_add_many(entry_sorter_adder(s->hashes, adder),
                                 batch->entries, batch->count, error));
    if (s->may_be_sparse)
        KSV_TRY(span_starts_add(&s->starts, adder, batch, error));
    return add_keys(s, adder, batch, error);
}

static ksv_status add_kept(segment_collector *c, const kept_entries *kept,
                           uint64_t base, ksv_error *error)
{
    sorted_collector *s = (sorted_collector *)c;
    key_adder *keys = key_sorter_adder(s->keys, 0);
    KSV_TRY(entry_adder_add_many(entry_sorter_adder(s->hashes, 0),
                                 kept->entries, kept->count, error));
    for (size_t at = 0; at < kept->keys_bytes;) {
        const uint8_t *head = kept->keys + at;
        size_t key_bytes = (size_t)load_u64(head + 8);
        KSV_TRY(key_adder_add(keys, head + KEPT_HEAD_BYTES, key_bytes,
                              base + load_u64(head), error));
        at += KEPT_HEAD_BYTES + key_bytes;
    }
    return KSV_OK;
}

static uint64_t count(const segment_collector *c)
{
    return entry_sorter_count(((const sorted_collector *)c)->hashes);
}

static ksv_status finish(segment_collector *c, thread_pool *pool,
                         unsigned threads, ksv_error *error)
{
    sorted_collector *s = (sorted_collector *)c;
    s->pool = pool;
    s->threads = threads;
    s->is_sparse = s->may_be_sparse &&
                   span_starts_settle(&s->starts, c->data_limit,
                                      entry_sorter_count(s->hashes), &s->spans);
    if (s->is_sparse) {
        key_sorter_close(s->keys);
        s->keys = NULL;
    } else {
        span_starts_release(&s->starts);
        KSV_TRY(key_sorter_finish(s->keys, pool, error));
    }
    return entry_sorter_finish(s->hashes, s->place.parameters->hash_bits, pool,
                               threads, error);
}

static ksv_status next_key(void *ctx, sorted_key *key, uint64_t *payload,
                           bool *end, ksv_error *error)
{
    key_entry entry = {.key = NULL};
    KSV_TRY(key_sorter_next(ctx, &entry, end, error));
    *key = (sorted_key){entry.key, entry.key_bytes};
    *payload = entry.payload;
    return KSV_OK;
}

/* The data is a table itself: it stays as it is, whatever becomes of others. */
static ksv_status write_spans(sorted_collector *s, catalog_segment *segment,
                              segment_files *files, uint64_t *distinct_keys,
                              ksv_error *error)
{
    const sorted_source source = {span_starts_next, &s->starts, NULL, 0, true};
    span_starts_rewind(&s->starts);
    KSV_TRY(sorted_segment_write(&s->place, &source, segment, files,
                                 distinct_keys, error));
    segment->tier = CATALOG_TIER_MOST;
    segment->entries = entry_sorter_count(s->hashes);
    *distinct_keys = s->spans.distinct_keys;
    span_starts_release(&s->starts);
    return KSV_OK;
}

static ksv_status write_keys(sorted_collector *s, catalog_segment *segment,
                             segment_files *files, uint64_t *distinct_keys,
                             ksv_error *error)
{
    const sorted_source source = {next_key, s->keys, s->pool, s->threads,
                                  false};
    KSV_TRY(s->write_table(&s->place, &source, segment, files, distinct_keys,
                           error));
    key_sorter_close(s->keys);
    s->keys = NULL;
    return KSV_OK;
}

static ksv_status write(segment_collector *c, uint64_t payload_limit,
                        catalog_segment *segment, segment_files *files,
                        uint64_t *distinct_keys, ksv_error *error)
{
    sorted_collector *s = (sorted_collector *)c;
    segment->payload_bits = segment_payload_bits(payload_limit);
    KSV_TRY((s->is_sparse ? write_spans : write_keys)(s, segment, files,
                                                      distinct_keys, error));
    return segment_write_filter_of(&s->place, s->hashes, *distinct_keys,
                                   segment, files, error);
}

static ksv_status keep_key(byte_buffer *out, const sorted_key *key,
                           uint64_t payload, ksv_error *error)
{
    uint8_t head[KEPT_HEAD_BYTES];
    store_u64(head, payload);
    store_u64(head + 8, key->size_bytes);
    KSV_TRY(buffer_append(out, head, sizeof head, error));
    return buffer_append(out, key->data, key->size_bytes, error);
}

static ksv_status keep_keys(sorted_collector *s, byte_buffer *out,
                            ksv_error *error)
{
    for (;;) {
        sorted_key key;
        uint64_t payload;
        bool end;
        KSV_TRY(next_key(s->keys, &key, &payload, &end, error));
        if (end)
            return KSV_OK;
        KSV_TRY(keep_key(out, &key, payload, error));
    }
}

static ksv_status keep(segment_collector *c, kept_entries *out,
                       sorter_distinct *distinct, ksv_error *error)
{
    sorted_collector *s = (sorted_collector *)c;
    const ksv_allocator *a = s->place.allocator;
    KSV_TRY(hash_collector_keep_entries(s->hashes, a, out, distinct, error));
    byte_buffer keys;
    buffer_init(&keys, a);
    ksv_status status = keep_keys(s, &keys, error);
    if (status == KSV_OK) {
        out->keys = memory_alloc(a, keys.size);
        if (out->keys == NULL)
            status = error_set_memory(error);
    }
    if (status == KSV_OK) {
        out->keys_bytes = keys.size;
        memcpy(out->keys, keys.data, keys.size);
    }
    buffer_release(&keys);
    return status;
}

static void close(segment_collector *c)
{
    sorted_collector *s = (sorted_collector *)c;
    key_sorter_close(s->keys);
    entry_sorter_close(s->hashes);
    span_starts_release(&s->starts);
    memory_free(s->place.allocator, s, sizeof *s);
}

static ksv_status open_sorters(sorted_collector *s,
                               const collector_options *options,
                               ksv_error *error)
{
    char name[CATALOG_NAME_BYTES];
    catalog_sidecar_name(options->id, "", name);
    uint64_t for_hashes = options->memory_bytes / HASHES_PART;
    uint64_t for_starts =
        s->may_be_sparse ? options->memory_bytes / STARTS_PART : 0;
    if (s->may_be_sparse)
        KSV_TRY(span_starts_init(
            &s->starts, s->place.allocator, options->adders,
            options->memory_bytes > 0 ? for_starts : UINT64_MAX, error));
    key_sorter_options keys = {.allocator = s->place.allocator,
                               .memory_bytes = options->memory_bytes -
                                               for_hashes - for_starts,
                               .adders = options->adders,
                               .fs = s->place.fs,
                               .directory = s->place.directory,
                               .spill_name = name};
    KSV_TRY(key_sorter_open(&keys, &s->keys, error));
    return collector_open_sorter(options, for_hashes, &s->hashes, error);
}

static const collector_ops ops = {add,   add_kept, count, finish,
                                  write, keep,     close};

ksv_status sorted_collector_open_for(const collector_options *options,
                                     keyed_table_fn write_table,
                                     segment_collector **out, ksv_error *error)
{
    *out = NULL;
    sorted_collector *s = memory_zalloc(options->place->allocator, sizeof *s);
    if (s == NULL)
        return error_set_memory(error);
    s->base.ops = &ops;
    s->place = *options->place;
    s->write_table = write_table;
    s->may_be_sparse = write_table == sorted_segment_write;
    ksv_status status = open_sorters(s, options, error);
    if (status != KSV_OK) {
        close(&s->base);
        return status;
    }
    *out = &s->base;
    return KSV_OK;
}

ksv_status sorted_collector_open(const collector_options *options,
                                 segment_collector **out, ksv_error *error)
{
    return sorted_collector_open_for(options, sorted_segment_write, out, error);
}
