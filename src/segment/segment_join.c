/* SPDX-License-Identifier: MIT */
/* Makes one segment of several. */
#include "segment/segment_join.h"

#include <string.h>

#include "base/error.h"
#include "segment/organisation.h"

static ksv_status take_parts(const segment_place *place, segment_merge *merge,
                             catalog_segment *out, ksv_error *error)
{
    const merge_space *space = segment_merge_space(merge);
    KSV_TRY(catalog_segment_make_parts(place->allocator, out, space->part_count,
                                       error));
    if (space->part_count > 0)
        memcpy(out->parts, space->parts,
               space->part_count * sizeof *out->parts);
    out->entries = space->entries;
    out->payload_bits = segment_payload_bits(part_map_span(&space->map));
    return KSV_OK;
}

ksv_status segment_join(const segment_place *place,
                        const catalog_segment *const *segments, size_t count,
                        join_step_fn step, void *step_ctx, catalog_segment *out,
                        segment_files *files, ksv_error *error)
{
    segment_merge *merge;
    KSV_TRY(segment_merge_open(place, segments, count, &merge, error));
    ksv_status status = take_parts(place, merge, out, error);
    if (status == KSV_OK)
        status = organisation_of(place)->write_merged(
            place, merge, step, step_ctx, out, files, error);
    segment_merge_close(merge);
    return status;
}
