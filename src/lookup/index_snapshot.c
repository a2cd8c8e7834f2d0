/* SPDX-License-Identifier: MIT */
/* A committed state of an index with what lookups open of it on the way. */
#include "lookup/index_snapshot.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "io/file.h"
#include "lookup/data_freshness.h"
#include "segment/organisation.h"
#include "segment/segment_data.h"

/* Up to this many data files, and as many segments, keep their descriptors: up
 * to two each, of the 256 that a process can count on everywhere. */
#define OPEN_FILES_MAX 60

static ksv_status make_places(index_snapshot *s, ksv_error *error)
{
    const catalog_state *state = &s->state;
    /* Beside the state, whose memory is cheap to touch. */
    s->files = memory_zalloc_array(&state->allocator, state->file_count,
                                   sizeof *s->files);
    s->segments = memory_zalloc_array(&s->allocator, state->segment_count,
                                      sizeof *s->segments);
    s->looked_ns = memory_zalloc_array(&s->allocator, snapshot_group_count(s),
                                       sizeof *s->looked_ns);
    if (s->files == NULL || s->segments == NULL || s->looked_ns == NULL)
        return error_set_memory(error);
    if (state->file_count >= SNAPSHOT_DEAD)
        return error_set(error, KSV_ERROR_UNSUPPORTED, s->directory,
                         "has more data files than can be looked up in");
    for (size_t i = 0; i < state->file_count; i++)
        s->files[i].facts = &state->files[i];
    for (size_t i = 0; i < state->segment_count; i++)
        s->segments[i].facts = &state->segments[i];
    s->segment_count = state->segment_count;
    s->place =
        (segment_place){.fs = s->fs,
                        .directory = s->directory,
                        .allocator = &s->allocator,
                        .parameters = &state->parameters,
                        .reopen_files = state->segment_count > OPEN_FILES_MAX,
                        .random_reads = true};
    snapshot_table_data_init(&s->table_data, s);
    s->place.data = &s->table_data.base;
    s->data_place = s->place;
    s->data_place.reopen_files = state->file_count > OPEN_FILES_MAX;
    return KSV_OK;
}

static ksv_status load(index_snapshot *s, const char *directory,
                       ksv_error *error)
{
    KSV_TRY(mutex_init(&s->lock, error));
    s->has_lock = true;
    s->directory =
        memory_copy_string(&s->allocator, directory, strlen(directory));
    if (s->directory == NULL)
        return error_set_memory(error);
    KSV_TRY(catalog_read(s->fs, directory, &s->allocator, &s->state, error));
    s->has_state = true;
    const catalog_parameters *p = &s->state.parameters;
    KSV_TRY(organisation_require(p, directory, error));
    KSV_TRY(scan_spec_decode(p->format, p->format_bytes, &s->allocator,
                             &s->spec, error));
    return make_places(s, error);
}

ksv_status index_snapshot_open(const char *directory,
                               const ksv_index_options *options,
                               index_snapshot **out, ksv_error *error)
{
    *out = NULL;
    ksv_allocator a = allocator_or_default(options->allocator);
    index_snapshot *s = memory_zalloc(&a, sizeof *s);
    if (s == NULL)
        return error_set_memory(error);
    s->allocator = a;
    s->fs = options->file_system != NULL ? options->file_system
                                         : ksv_posix_file_system();
    s->problem = options->problem;
    s->problem_ctx = options->problem_ctx;
    s->map_files = options->map_files;
    s->trust_ns = options->trust_ns;
    ksv_status status = load(s, directory, error);
    if (status != KSV_OK) {
        index_snapshot_close(s);
        return status;
    }
    *out = s;
    return KSV_OK;
}

static void release_table(index_snapshot *s, snapshot_segment *segment)
{
    segment_close_table(&segment->table);
    part_map_close(&segment->map, &s->allocator);
    memory_free(&s->allocator, segment->parts,
                segment->facts->part_count * sizeof *segment->parts);
    segment->parts = NULL;
}

static void release_places(index_snapshot *s)
{
    for (size_t i = 0; s->files != NULL && i < s->state.file_count; i++) {
        datafile_close(s->files[i].data);
        memory_free_string(&s->allocator, s->files[i].path);
    }
    for (size_t i = 0; i < s->segment_count; i++) {
        segment_close_filter(&s->segments[i].filter);
        release_table(s, &s->segments[i]);
    }
    if (!s->has_state)
        return;
    memory_free(&s->state.allocator, s->files,
                s->state.file_count * sizeof *s->files);
    memory_free(&s->allocator, s->segments,
                s->state.segment_count * sizeof *s->segments);
    memory_free(&s->allocator, s->looked_ns,
                snapshot_group_count(s) * sizeof *s->looked_ns);
}

void index_snapshot_close(index_snapshot *snapshot)
{
    if (snapshot == NULL)
        return;
    ksv_allocator a = snapshot->allocator;
    release_places(snapshot);
    record_fetch_close(atomic_load(&snapshot->spare_fetch));
    scan_spec_destroy(snapshot->spec);
    if (snapshot->has_state)
        catalog_state_release(&snapshot->state);
    memory_free_string(&a, snapshot->directory);
    if (snapshot->has_lock)
        mutex_release(&snapshot->lock);
    memory_free(&a, snapshot, sizeof *snapshot);
}

void snapshot_tell(const index_snapshot *snapshot, const ksv_error *problem)
{
    if (snapshot->problem != NULL)
        snapshot->problem(snapshot->problem_ctx, problem, true);
}

/* Whether lookups can go on without this filter: they can for whatever is
 * wrong with it alone. */
static bool can_do_without(ksv_status status)
{
    return status == KSV_ERROR_CORRUPT || status == KSV_ERROR_VERSION ||
           status == KSV_ERROR_IO;
}

/* When the index has got another state, a sidecar of this one that is not there
 * is no damage. */
static ksv_status check_not_replaced(const index_snapshot *s, ksv_error *error)
{
    catalog_state now;
    if (catalog_read(s->fs, s->directory, &s->allocator, &now, NULL) != KSV_OK)
        return KSV_OK;
    const catalog_parameters *p = &s->state.parameters;
    bool replaced =
        now.generation != s->state.generation ||
        memcmp(now.parameters.index_id, p->index_id, sizeof p->index_id) != 0;
    catalog_state_release(&now);
    if (!replaced)
        return KSV_OK;
    return error_set(error, KSV_ERROR_CORRUPT, s->directory,
                     "was built anew while it was read");
}

static ksv_status open_filter(index_snapshot *s, snapshot_segment *segment,
                              ksv_receipt *receipt, ksv_error *error)
{
    if (segment->filter.filter != NULL || segment->filter_unusable)
        return KSV_OK;
    ksv_error problem;
    error_clear(&problem);
    ksv_status status = segment_open_filter(&s->place, &segment->facts->filter,
                                            &segment->filter, &problem);
    receipt->files_opened++;
    if (status != KSV_OK)
        KSV_TRY(check_not_replaced(s, error));
    if (status != KSV_OK && can_do_without(status)) {
        segment->filter_unusable = true;
        snapshot_tell(s, &problem);
        return KSV_OK;
    }
    if (status != KSV_OK && error != NULL)
        *error = problem;
    return status;
}

ksv_status snapshot_filter(index_snapshot *snapshot, size_t segment,
                           ksv_filter **filter, ksv_receipt *receipt,
                           ksv_error *error)
{
    snapshot_segment *seg = &snapshot->segments[segment];
    *filter = atomic_load_explicit(&seg->ready_filter, memory_order_acquire);
    if (*filter != NULL)
        return KSV_OK;
    mutex_lock(&snapshot->lock);
    ksv_status status = open_filter(snapshot, seg, receipt, error);
    *filter = seg->filter_unusable ? NULL : seg->filter.filter;
    atomic_store_explicit(&seg->ready_filter, *filter, memory_order_release);
    mutex_unlock(&snapshot->lock);
    return status;
}

ksv_status snapshot_filter_failed(index_snapshot *snapshot, size_t segment,
                                  const ksv_error *problem, ksv_error *error)
{
    KSV_TRY(check_not_replaced(snapshot, error));
    snapshot_segment *seg = &snapshot->segments[segment];
    mutex_lock(&snapshot->lock);
    bool first = !seg->filter_unusable;
    seg->filter_unusable = true;
    atomic_store_explicit(&seg->ready_filter, NULL, memory_order_release);
    mutex_unlock(&snapshot->lock);
    if (!first)
        return KSV_OK;
    ksv_error named = *problem;
    segment_error(&snapshot->place, seg->facts->filter.id,
                  CATALOG_FILTER_ENDING, &named);
    snapshot_tell(snapshot, &named);
    return KSV_OK;
}

/* Finds the files of the parts of a segment. */
static ksv_status place_parts(index_snapshot *s, snapshot_segment *segment,
                              ksv_error *error)
{
    const catalog_segment *facts = segment->facts;
    const catalog_state *state = &s->state;
    KSV_TRY(part_map_open(&segment->map, facts->parts, facts->part_count,
                          &s->allocator, error));
    segment->parts = memory_zalloc_array(&s->allocator, facts->part_count,
                                         sizeof *segment->parts);
    if (segment->parts == NULL)
        return error_set_memory(error);
    size_t next = 0;
    for (size_t i = 0; i < facts->part_count; i++) {
        const catalog_part *part = &facts->parts[i];
        const catalog_file *file =
            part->is_dead ? NULL
                          : catalog_find_file_near(state, part->ordinal, &next);
        segment->parts[i] = (snapshot_part){
            file != NULL ? (uint32_t)(file - state->files) : SNAPSHOT_DEAD,
            part->first_offset};
    }
    return KSV_OK;
}

static ksv_status open_table(index_snapshot *s, snapshot_segment *segment,
                             ksv_error *error)
{
    KSV_TRY(
        segment_open_table(&s->place, segment->facts, &segment->table, error));
    ksv_status status = place_parts(s, segment, error);
    /* What cannot be mapped is read. */
    if (status == KSV_OK && s->map_files &&
        segment_map_table(&segment->table, error) == KSV_ERROR_MEMORY)
        status = KSV_ERROR_MEMORY;
    if (status != KSV_OK)
        release_table(s, segment);
    return status;
}

ksv_status snapshot_table(index_snapshot *snapshot, size_t segment,
                          const segment_table **table, ksv_receipt *receipt,
                          ksv_error *error)
{
    snapshot_segment *seg = &snapshot->segments[segment];
    ksv_status status = KSV_OK;
    *table = atomic_load_explicit(&seg->ready_table, memory_order_acquire);
    if (*table != NULL)
        return KSV_OK;
    mutex_lock(&snapshot->lock);
    if (seg->table.organisation == NULL) {
        status = open_table(snapshot, seg, error);
        receipt->files_opened++;
    }
    *table = seg->table.organisation != NULL ? &seg->table : NULL;
    atomic_store_explicit(&seg->ready_table, *table, memory_order_release);
    mutex_unlock(&snapshot->lock);
    return status;
}

/* Compressed data is read in long pieces, whatever a lookup needs of them. */
static void use_at_random(const index_snapshot *s, snapshot_file *file)
{
    if (file->facts->data_kind != DATAFILE_PLAIN)
        return;
    ksv_file *opened = datafile_file(file->data);
    file_expect_random(opened);
    const void *data;
    uint64_t size_bytes;
    if (!s->map_files || opened->ops->map == NULL ||
        opened->ops->map(opened, &data, &size_bytes, NULL) != KSV_OK)
        return;
    file->mapped = data;
    file->mapped_bytes = size_bytes;
}

/* Whether the file that is open is the one that was looked at, and not one that
 * has taken its place or has left it. */
static bool is_the_one_looked_at(snapshot_file *file)
{
    if (file_info_is_same(&file->data_info, &file->found.info))
        return true;
    ksv_file *opened = datafile_file(file->data);
    return opened->ops->info(opened, &file->data_info, NULL) == KSV_OK &&
           file_info_is_same(&file->data_info, &file->found.info);
}

/* Others may use the file that is open, so it stays so until all of them have
 * done with the snapshot. */
static ksv_status open_data(index_snapshot *s, snapshot_file *file,
                            uint64_t since_ns, ksv_receipt *receipt,
                            ksv_error *error)
{
    KSV_TRY(freshness_require(s, file, since_ns, error));
    if (file->data == NULL) {
        receipt->files_opened++;
        KSV_TRY(freshness_find_path(s, file, error));
        KSV_TRY(segment_open_data(&s->data_place, file->facts, file->path,
                                  &file->data, error));
        use_at_random(s, file);
        atomic_store_explicit(&file->ready_data, file->data,
                              memory_order_release);
    }
    if (is_the_one_looked_at(file))
        return KSV_OK;
    s->is_outdated = true;
    return file_identity_error(file->facts, FILE_IDENTITY_CHANGED, error);
}

ksv_status snapshot_data(index_snapshot *snapshot, size_t file,
                         uint64_t since_ns, datafile **data,
                         ksv_receipt *receipt, ksv_error *error)
{
    mutex_lock(&snapshot->lock);
    ksv_status status =
        open_data(snapshot, &snapshot->files[file], since_ns, receipt, error);
    *data = snapshot->files[file].data;
    mutex_unlock(&snapshot->lock);
    return status;
}

bool snapshot_is_outdated(index_snapshot *snapshot)
{
    mutex_lock(&snapshot->lock);
    bool outdated = snapshot->is_outdated;
    mutex_unlock(&snapshot->lock);
    return outdated;
}
