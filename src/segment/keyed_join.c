/* SPDX-License-Identifier: MIT */
/* Writes the table and the filter of a merge in the order of keys: their hashes
 * are sorted beside, since the filter is written in the order of those. */
#include "segment/keyed_join.h"

#include "base/error.h"
#include "segment/organisation.h"

/* For the hashes. */
#define HASHES_BYTES ((uint64_t)16 << 20)

#define STEP_ENTRIES 1024

typedef struct joined_source {
    segment_merge *merge;
    entry_adder *hashes;
    join_step_fn step;
    void *step_ctx;
    uint64_t last_hash;
    uint64_t entries;
} joined_source;

/* A sorted_source_fn. */
static ksv_status next(void *ctx, sorted_key *key, uint64_t *payload, bool *end,
                       ksv_error *error)
{
    joined_source *s = ctx;
    table_entry entry;
    KSV_TRY(segment_merge_next(s->merge, &entry, end, error));
    if (*end)
        return KSV_OK;
    *key = (sorted_key){entry.key, entry.key_bytes};
    *payload = entry.payload;
    if (s->entries == 0 || entry.hash != s->last_hash)
        KSV_TRY(entry_adder_add(s->hashes, entry.hash, 0, error));
    s->last_hash = entry.hash;
    return ++s->entries % STEP_ENTRIES != 0
               ? KSV_OK
               : s->step(s->step_ctx, STEP_ENTRIES, error);
}

static ksv_status write_with(const segment_place *place, joined_source *joined,
                             entry_sorter *hashes, keyed_table_fn write_table,
                             catalog_segment *out, segment_files *files,
                             ksv_error *error)
{
    const sorted_source source = {next, joined, NULL, 0};
    uint64_t keys;
    KSV_TRY(write_table(place, &source, out, files, &keys, error));
    KSV_TRY(entry_sorter_finish(hashes, place->parameters->hash_bits, NULL, 0,
                                error));
    return segment_write_filter_of(place, hashes, keys, out, files, error);
}

ksv_status keyed_join_write(const segment_place *place, segment_merge *merge,
                            keyed_table_fn write_table, join_step_fn step,
                            void *step_ctx, catalog_segment *out,
                            segment_files *files, ksv_error *error)
{
    collector_options options = {.place = place, .id = out->id, .adders = 1};
    entry_sorter *hashes;
    KSV_TRY(collector_open_sorter(&options, HASHES_BYTES, &hashes, error));
    joined_source joined = {.merge = merge,
                            .hashes = entry_sorter_adder(hashes, 0),
                            .step = step,
                            .step_ctx = step_ctx};
    ksv_status status =
        write_with(place, &joined, hashes, write_table, out, files, error);
    entry_sorter_close(hashes);
    return status;
}
