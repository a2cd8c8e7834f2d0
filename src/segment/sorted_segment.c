/* SPDX-License-Identifier: MIT */
/* Writes the sidecars of a segment from entries in the order of their keys. */
#include "segment/sorted_segment.h"

#include "base/error.h"

static ksv_status feed(sorted_writer *writer, const sorted_source *source,
                       ksv_error *error)
{
    for (;;) {
        sorted_key key;
        uint64_t payload;
        bool end;
        KSV_TRY(source->next(source->ctx, &key, &payload, &end, error));
        if (end)
            return KSV_OK;
        KSV_TRY(sorted_writer_add(writer, key, payload, NULL, error));
    }
}

ksv_status sorted_segment_write(const segment_place *place,
                                const sorted_source *source,
                                catalog_segment *segment, segment_files *files,
                                uint64_t *distinct_keys, ksv_error *error)
{
    sorted_options options = {.payload_bits = segment->payload_bits,
                              .sparse = source->is_sparse};
    sorted_info info = {.entries = 0};
    sorted_writer *writer = NULL;
    segment_sidecar_id(place->parameters, segment->id,
                       segment_table_ending(place), options.id);
    KSV_TRY(segment_create_table(place, segment, files, error));
    KSV_TRY(sorted_writer_open(atomic_file_handle(files->table), &options,
                               source->pool, source->threads, place->allocator,
                               &writer, error));
    ksv_status status = feed(writer, source, error);
    if (status == KSV_OK)
        status = sorted_writer_finish(writer, &info, error);
    sorted_writer_close(writer);
    segment->entries = info.entries;
    segment->table_bytes = info.file_bytes;
    *distinct_keys = info.distinct_keys;
    return status;
}
