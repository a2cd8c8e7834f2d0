/* SPDX-License-Identifier: MIT */
/* A committed state of an index with what lookups open of it on the way. */
#include "lookup/index_snapshot.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "io/file.h"
#include "segment/segment_data.h"
#include "table/table_reader.h"

/* Up to this many segments keep the descriptors of their sidecars. */
#define OPEN_SEGMENTS_MAX 128

/* How long the state of a data file is believed. */
#define IDENTITY_AGE_NS 1000000000u

static ksv_status make_places(index_snapshot *s, ksv_error *error)
{
    const catalog_state *state = &s->state;
    s->files =
        memory_zalloc_array(&s->allocator, state->file_count, sizeof *s->files);
    s->segments = memory_zalloc_array(&s->allocator, state->file_count,
                                      sizeof *s->segments);
    if (s->files == NULL || s->segments == NULL)
        return error_set_memory(error);
    for (size_t i = 0; i < state->file_count; i++) {
        s->files[i].facts = &state->files[i];
        const catalog_segment *segment =
            catalog_find_segment(state, state->files[i].segment_id);
        if (segment == NULL)
            continue;
        s->segments[s->segment_count].facts = segment;
        s->segments[s->segment_count++].file = i;
    }
    s->place =
        (segment_place){.fs = s->fs,
                        .directory = s->directory,
                        .allocator = &s->allocator,
                        .parameters = &state->parameters,
                        .reopen_files = s->segment_count > OPEN_SEGMENTS_MAX,
                        .random_reads = true};
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
    ksv_status status = load(s, directory, error);
    if (status != KSV_OK) {
        index_snapshot_close(s);
        return status;
    }
    *out = s;
    return KSV_OK;
}

static void release_places(index_snapshot *s)
{
    for (size_t i = 0; s->files != NULL && i < s->state.file_count; i++) {
        datafile_close(s->files[i].data);
        memory_free_string(&s->allocator, s->files[i].path);
    }
    for (size_t i = 0; i < s->segment_count; i++) {
        segment_close_filter(&s->segments[i].filter);
        segment_close_table(&s->segments[i].table);
    }
    size_t count = s->has_state ? s->state.file_count : 0;
    memory_free(&s->allocator, s->files, count * sizeof *s->files);
    memory_free(&s->allocator, s->segments, count * sizeof *s->segments);
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

static void warn(index_snapshot *s, const ksv_error *problem)
{
    if (s->problem != NULL)
        s->problem(s->problem_ctx, problem, true);
}

/* Whether lookups can go on without this filter: they can for whatever is
 * wrong with it alone. */
static bool can_do_without(ksv_status status)
{
    return status == KSV_ERROR_CORRUPT || status == KSV_ERROR_VERSION ||
           status == KSV_ERROR_IO;
}

static ksv_status open_filter(index_snapshot *s, snapshot_segment *segment,
                              ksv_receipt *receipt, ksv_error *error)
{
    if (segment->filter.filter != NULL || segment->filter_unusable)
        return KSV_OK;
    ksv_error problem;
    error_clear(&problem);
    ksv_status status = segment_open_filter(&s->place, segment->facts,
                                            &segment->filter, &problem);
    receipt->files_opened++;
    if (status != KSV_OK && can_do_without(status)) {
        segment->filter_unusable = true;
        warn(s, &problem);
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

void snapshot_filter_failed(index_snapshot *snapshot, size_t segment,
                            const ksv_error *problem)
{
    snapshot_segment *seg = &snapshot->segments[segment];
    mutex_lock(&snapshot->lock);
    bool first = !seg->filter_unusable;
    seg->filter_unusable = true;
    atomic_store_explicit(&seg->ready_filter, NULL, memory_order_release);
    mutex_unlock(&snapshot->lock);
    if (!first)
        return;
    ksv_error named = *problem;
    segment_error(&snapshot->place, seg->facts, CATALOG_FILTER_ENDING, &named);
    warn(snapshot, &named);
}

static ksv_status open_table(index_snapshot *s, snapshot_segment *segment,
                             ksv_error *error)
{
    KSV_TRY(
        segment_open_table(&s->place, segment->facts, &segment->table, error));
    if (!s->map_files)
        return KSV_OK;
    /* What cannot be mapped is read. */
    ksv_status status = table_map(segment->table.table, error);
    if (status != KSV_ERROR_MEMORY)
        return KSV_OK;
    segment_close_table(&segment->table);
    return status;
}

ksv_status snapshot_table(index_snapshot *snapshot, size_t segment,
                          ksv_table **table, ksv_receipt *receipt,
                          ksv_error *error)
{
    snapshot_segment *seg = &snapshot->segments[segment];
    ksv_status status = KSV_OK;
    *table = atomic_load_explicit(&seg->ready_table, memory_order_acquire);
    if (*table != NULL)
        return KSV_OK;
    mutex_lock(&snapshot->lock);
    if (seg->table.table == NULL) {
        status = open_table(snapshot, seg, error);
        receipt->files_opened++;
    }
    *table = seg->table.table;
    atomic_store_explicit(&seg->ready_table, *table, memory_order_release);
    mutex_unlock(&snapshot->lock);
    return status;
}

/* With the lock held. */
static ksv_status find_path(index_snapshot *s, snapshot_file *file,
                            ksv_error *error)
{
    if (file->path != NULL)
        return KSV_OK;
    return file_identity_path(s->fs, s->directory, file->facts, &s->allocator,
                              &file->path, error);
}

static ksv_status check_identity(index_snapshot *s, snapshot_file *file,
                                 file_identity *identity, ksv_error *error)
{
    KSV_TRY(find_path(s, file, error));
    uint64_t now_ns = clock_monotonic_ns();
    if (now_ns >= file->identity_until_ns) {
        ksv_status status = file_identity_check(s->fs, file->path, file->facts,
                                                &file->identity, error);
        if (status != KSV_OK) {
            error_replace_path(error, file->facts->given_path);
            return status;
        }
        file->identity_until_ns = now_ns + IDENTITY_AGE_NS;
    }
    *identity = file->identity;
    return KSV_OK;
}

ksv_status snapshot_identity(index_snapshot *snapshot, size_t file,
                             file_identity *identity, ksv_error *error)
{
    mutex_lock(&snapshot->lock);
    ksv_status status =
        check_identity(snapshot, &snapshot->files[file], identity, error);
    mutex_unlock(&snapshot->lock);
    return status;
}

static ksv_status require_fresh(index_snapshot *s, snapshot_file *file,
                                ksv_error *error)
{
    file_identity identity;
    KSV_TRY(check_identity(s, file, &identity, error));
    if (identity == FILE_IDENTITY_SAME || identity == FILE_IDENTITY_TOUCHED)
        return KSV_OK;
    return file_identity_error(file->facts, identity, error);
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

static ksv_status open_data(index_snapshot *s, snapshot_file *file,
                            ksv_receipt *receipt, ksv_error *error)
{
    KSV_TRY(require_fresh(s, file, error));
    if (file->data != NULL)
        return KSV_OK;
    receipt->files_opened++;
    KSV_TRY(segment_open_data(
        &s->place, catalog_find_segment(&s->state, file->facts->segment_id),
        file->facts, file->path, &file->data, error));
    use_at_random(s, file);
    atomic_store_explicit(&file->ready_data, file->data, memory_order_release);
    return KSV_OK;
}

ksv_status snapshot_data(index_snapshot *snapshot, size_t file, datafile **data,
                         ksv_receipt *receipt, ksv_error *error)
{
    mutex_lock(&snapshot->lock);
    ksv_status status =
        open_data(snapshot, &snapshot->files[file], receipt, error);
    *data = snapshot->files[file].data;
    mutex_unlock(&snapshot->lock);
    return status;
}

ksv_status snapshot_check_all_fresh(index_snapshot *snapshot, ksv_error *error)
{
    ksv_status status = KSV_OK;
    mutex_lock(&snapshot->lock);
    for (size_t i = 0; i < snapshot->state.file_count && status == KSV_OK; i++)
        status = require_fresh(snapshot, &snapshot->files[i], error);
    mutex_unlock(&snapshot->lock);
    return status;
}

ksv_status snapshot_path(index_snapshot *snapshot, size_t file,
                         const char **path, ksv_error *error)
{
    mutex_lock(&snapshot->lock);
    ksv_status status = find_path(snapshot, &snapshot->files[file], error);
    *path = snapshot->files[file].path;
    mutex_unlock(&snapshot->lock);
    return status;
}
