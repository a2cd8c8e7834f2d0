/* SPDX-License-Identifier: MIT */
/* Opens the sorters of a build. */
#include "build/build_sorter.h"

/* Bytes of a record, as a guess at the number of records. */
#define USUAL_RECORD_BYTES 24

ksv_status build_sorter_open(const segment_place *place, uint64_t id,
                             uint64_t memory_bytes, uint64_t data_bytes,
                             unsigned adders, entry_sorter **out,
                             ksv_error *error)
{
    char name[CATALOG_NAME_BYTES];
    catalog_sidecar_name(id, "", name);
    entry_sorter_options options = {.allocator = place->allocator,
                                    .memory_bytes = memory_bytes,
                                    .expected_entries =
                                        data_bytes / USUAL_RECORD_BYTES + 1,
                                    .adders = adders,
                                    .fs = place->fs,
                                    .directory = place->directory,
                                    .spill_name = name};
    return entry_sorter_open(&options, out, error);
}
