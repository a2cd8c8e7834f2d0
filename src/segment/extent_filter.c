/* SPDX-License-Identifier: MIT */
/* Writes the filter of an extent by itself. */
#include "segment/extent_filter.h"

#include "base/error.h"
#include "filter/filter_writer.h"

#define HASHES_AT_ONCE 256

static ksv_status add_hashes(ksv_filter_writer *writer,
                             const hash_entry *entries, size_t count,
                             unsigned hash_bits, ksv_error *error)
{
    uint64_t hashes[HASHES_AT_ONCE];
    for (size_t i = 0; i < count;) {
        size_t some = 0;
        for (; some < HASHES_AT_ONCE && i < count; some++, i++)
            hashes[some] = ksv_hash_truncate(entries[i].hash, hash_bits);
        KSV_TRY(filter_writer_add_hashes(writer, hashes, some, error));
    }
    return KSV_OK;
}

ksv_status extent_filter_write(const segment_place *place,
                               const hash_entry *entries, size_t count,
                               const ksv_filter_plan *plan,
                               catalog_filter *filter, ksv_file *file,
                               ksv_error *error)
{
    const catalog_parameters *p = place->parameters;
    ksv_filter_options options = {
        .hash_bits = p->hash_bits, .hasher = p->hasher, .plan = *plan};
    segment_sidecar_id(p, filter->id, CATALOG_FILTER_ENDING, options.id);
    ksv_filter_writer *writer;
    KSV_TRY(ksv_filter_writer_open(file, &options, place->allocator, &writer,
                                   error));
    ksv_status status = add_hashes(writer, entries, count, p->hash_bits, error);
    if (status == KSV_OK)
        status = ksv_filter_writer_finish(writer, &filter->keys, error);
    ksv_filter_writer_close(writer);
    filter->bytes = plan->file_bytes;
    return status;
}
