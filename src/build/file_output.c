/* SPDX-License-Identifier: MIT */
/* The sidecars of one data file that need no table of their own. */
#include "build/file_output.h"

#include "base/error.h"
#include "io/atomic_file.h"
#include "segment/extent_filter.h"

/* More entries than these are not collected: they have to stay in memory. */
#define COLLECTED_ENTRIES_MOST ((uint64_t)1 << 18)

/* How far apart access points are: a read inflates half of it on average. */
#define POINTS_SPACING_BYTES (1024u * 1024)

void file_output_init(file_output *output, const file_builder *builder,
                      const file_means *means, built_file *out, bool is_small)
{
    *output = (file_output){
        .builder = builder, .means = means, .out = out, .is_small = is_small};
    buffer_file_init(&output->points_bytes, builder->place.allocator);
}

void file_output_close(file_output *output)
{
    points_writer_close(output->points);
    buffer_file_release(&output->points_bytes);
}

static bool writes_points_at_once(const file_output *output)
{
    return output->means->leaves_loose && output->is_small;
}

ksv_status file_output_open_points(file_output *output, datafile_kind kind,
                                   ksv_error *error)
{
    const segment_place *place = &output->builder->place;
    built_file *out = output->out;
    char name[CATALOG_NAME_BYTES];
    uint8_t id[16];
    catalog_sidecar_name(out->id, CATALOG_POINTS_ENDING, name);
    segment_sidecar_id(place->parameters, out->id, CATALOG_POINTS_ENDING, id);
    ksv_file *made = &output->points_bytes.base;
    if (!writes_points_at_once(output)) {
        KSV_TRY(atomic_file_create(place->fs, place->directory, name,
                                   place->allocator, &out->sidecars.points,
                                   error));
        made = atomic_file_handle(out->sidecars.points);
    }
    return points_writer_open(made, kind, id, POINTS_SPACING_BYTES,
                              place->allocator, &output->points, error);
}

/* Small files are written at once, and not synced when there are very many. */
static ksv_status write_at_once(file_output *output, const buffer_file *bytes,
                                const char *ending, atomic_file **file,
                                ksv_error *error)
{
    const segment_place *place = &output->builder->place;
    char name[CATALOG_NAME_BYTES];
    catalog_sidecar_name(output->out->id, ending, name);
    if (output->means->leaves_loose) {
        output->out->is_loose = true;
        return buffer_file_write(bytes, place->fs, place->directory, name,
                                 error);
    }
    KSV_TRY(atomic_file_create(place->fs, place->directory, name,
                               place->allocator, file, error));
    ksv_file *made = atomic_file_handle(*file);
    return made->ops->append(made, bytes->bytes.data, bytes->bytes.size, error);
}

ksv_status file_output_finish_points(file_output *output, ksv_error *error)
{
    built_file *out = output->out;
    if (output->points == NULL)
        return KSV_OK;
    KSV_TRY(points_writer_finish(output->points, out->file.size_bytes,
                                 out->file.fingerprint, error));
    ksv_file_info info = {.size_bytes = output->points_bytes.bytes.size};
    if (writes_points_at_once(output)) {
        KSV_TRY(write_at_once(output, &output->points_bytes,
                              CATALOG_POINTS_ENDING, &out->sidecars.points,
                              error));
    } else {
        ksv_file *file = atomic_file_handle(out->sidecars.points);
        KSV_TRY(file->ops->info(file, &info, error));
    }
    out->file.points_id = out->id;
    out->file.points_bytes = info.size_bytes;
    return KSV_OK;
}

bool file_output_collects(const file_output *output, uint64_t entries)
{
    return output->means->collects && entries <= COLLECTED_ENTRIES_MOST;
}

static ksv_status write_filter(file_output *output, uint64_t distinct,
                               catalog_filter *filter, ksv_error *error)
{
    const segment_place *place = &output->builder->place;
    built_file *out = output->out;
    ksv_filter_plan plan;
    KSV_TRY(plan_memo_make(output->builder->plans, place->parameters, distinct,
                           &plan, error));
    buffer_file bytes;
    buffer_file_init(&bytes, place->allocator);
    ksv_status status =
        extent_filter_write(place, out->kept.entries, out->kept.count, &plan,
                            filter, &bytes.base, error);
    if (status == KSV_OK)
        status = write_at_once(output, &bytes, CATALOG_FILTER_ENDING,
                               &out->sidecars.filter, error);
    buffer_file_release(&bytes);
    return status;
}

ksv_status file_output_keep(file_output *output, segment_collector *collector,
                            uint64_t count, catalog_extent *extent,
                            ksv_error *error)
{
    sorter_distinct distinct;
    KSV_TRY(segment_collector_finish(collector, NULL, 1, error));
    KSV_TRY(segment_collector_keep(collector, &output->out->kept, &distinct,
                                   error));
    extent->entries = count;
    extent->distinct_keys = distinct.whole;
    extent->filter.id = output->out->id;
    return write_filter(output, distinct.truncated, &extent->filter, error);
}
