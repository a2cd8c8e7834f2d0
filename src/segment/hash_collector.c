/* SPDX-License-Identifier: MIT */
/* Collects entries in the order of their hashes: an entry sorter, from which
 * table and filter are written at once. */
#include "segment/hash_collector.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "segment/segment_writer.h"

typedef struct hash_collector {
    segment_collector base;
    segment_place place;
    entry_sorter *sorter;
} hash_collector;

static ksv_status add(segment_collector *c, unsigned adder,
                      const collector_batch *batch, ksv_error *error)
{
    hash_collector *h = (hash_collector *)c;
    return entry_adder_add_many(entry_sorter_adder(h->sorter, adder),
                                batch->entries, batch->count, error);
}

static ksv_status add_kept(segment_collector *c, const kept_entries *kept,
                           uint64_t base, ksv_error *error)
{
    hash_collector *h = (hash_collector *)c;
    entry_adder *adder = entry_sorter_adder(h->sorter, 0);
    for (size_t i = 0; i < kept->count; i++) {
        const hash_entry *entry = &kept->entries[i];
        KSV_TRY(
            entry_adder_add(adder, entry->hash, base + entry->payload, error));
    }
    return KSV_OK;
}

static uint64_t count(const segment_collector *c)
{
    return entry_sorter_count(((const hash_collector *)c)->sorter);
}

static ksv_status finish(segment_collector *c, thread_pool *pool,
                         unsigned threads, ksv_error *error)
{
    hash_collector *h = (hash_collector *)c;
    return entry_sorter_finish(h->sorter, h->place.parameters->hash_bits, pool,
                               threads, error);
}

static ksv_status write(segment_collector *c, uint64_t payload_limit,
                        catalog_segment *segment, segment_files *files,
                        uint64_t *distinct_keys, ksv_error *error)
{
    hash_collector *h = (hash_collector *)c;
    return segment_write(&h->place, h->sorter, payload_limit, segment, files,
                         distinct_keys, error);
}

ksv_status hash_collector_keep_entries(entry_sorter *sorter,
                                       const ksv_allocator *allocator,
                                       kept_entries *out,
                                       sorter_distinct *distinct,
                                       ksv_error *error)
{
    out->count = (size_t)entry_sorter_count(sorter);
    out->entries =
        memory_zalloc_array(allocator, out->count, sizeof *out->entries);
    if (out->entries == NULL)
        return error_set_memory(error);
    size_t kept = 0;
    for (;;) {
        const hash_entry *entries;
        size_t some;
        KSV_TRY(entry_sorter_next(sorter, &entries, &some, error));
        if (some == 0)
            break;
        memcpy(out->entries + kept, entries, some * sizeof *entries);
        kept += some;
    }
    entry_sorter_distinct(sorter, distinct);
    return KSV_OK;
}

static ksv_status keep(segment_collector *c, kept_entries *out,
                       sorter_distinct *distinct, ksv_error *error)
{
    hash_collector *h = (hash_collector *)c;
    return hash_collector_keep_entries(h->sorter, h->place.allocator, out,
                                       distinct, error);
}

static void close(segment_collector *c)
{
    hash_collector *h = (hash_collector *)c;
    entry_sorter_close(h->sorter);
    memory_free(h->place.allocator, h, sizeof *h);
}

static const collector_ops ops = {add,   add_kept, count, finish,
                                  write, keep,     close};

ksv_status hash_collector_open(const collector_options *options,
                               segment_collector **out, ksv_error *error)
{
    *out = NULL;
    hash_collector *h = memory_zalloc(options->place->allocator, sizeof *h);
    if (h == NULL)
        return error_set_memory(error);
    h->base.ops = &ops;
    h->place = *options->place;
    ksv_status status = collector_open_sorter(options, options->memory_bytes,
                                              &h->sorter, error);
    if (status != KSV_OK) {
        close(&h->base);
        return status;
    }
    *out = &h->base;
    return KSV_OK;
}
