/* SPDX-License-Identifier: MIT */
/* Collects the entries of a segment in bounded memory, and writes it. */
#include "segment/segment_collector.h"

#include "base/error.h"
#include "base/memory.h"
#include "segment/organisation.h"

/* Bytes of a record, as a guess at the number of records. */
#define USUAL_RECORD_BYTES 24

ksv_status segment_collector_open(const collector_options *options,
                                  segment_collector **out, ksv_error *error)
{
    *out = NULL;
    return organisation_of(options->place)->open_collector(options, out, error);
}

void segment_collector_close(segment_collector *c)
{
    if (c != NULL)
        c->ops->close(c);
}

void kept_entries_release(const ksv_allocator *allocator, kept_entries *kept)
{
    memory_free(allocator, kept->entries, kept->count * sizeof *kept->entries);
    memory_free(allocator, kept->keys, kept->keys_bytes);
    *kept = (kept_entries){.entries = NULL};
}

ksv_status collector_open_sorter(const collector_options *options,
                                 uint64_t memory_bytes, entry_sorter **out,
                                 ksv_error *error)
{
    const segment_place *place = options->place;
    char name[CATALOG_NAME_BYTES];
    catalog_sidecar_name(options->id, "", name);
    entry_sorter_options sorter = {
        .allocator = place->allocator,
        .memory_bytes = memory_bytes,
        .expected_entries = options->data_bytes / USUAL_RECORD_BYTES + 1,
        .adders = options->adders,
        .fs = place->fs,
        .directory = place->directory,
        .spill_name = name};
    return entry_sorter_open(&sorter, out, error);
}
