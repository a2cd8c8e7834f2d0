/* SPDX-License-Identifier: MIT */
/* Does what the plan of a build says, file by file. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "build/build_run.h"
#include "build/file_builder.h"
#include "build/file_collector.h"
#include "build/file_window.h"
#include "build/state_edit.h"
#include "build/state_growth.h"
#include "datafile/datafile.h"
#include "io/processors.h"
#include "io/publish_queue.h"
#include "segment/distinct_keys.h"

#define LEAST_MEMORY_BYTES ((uint64_t)32 << 20)
#define DEFAULT_MEMORY_BYTES ((uint64_t)1 << 30)
/* The sidecars of so many small files are synced together, which waits for what
 * others have written as well. Fewer are done as soon by threads. */
#define LOOSE_LEAST_FILES 256
/* What a build takes beside what its files do. */
#define BUILD_BYTES ((uint64_t)8 << 20)

void build_run_tell(build_run *run, const ksv_error *problem, bool is_warning)
{
    if (run->options.problem != NULL)
        run->options.problem(run->options.problem_ctx, problem, is_warning);
}

segment_place build_run_place(build_run *run)
{
    segment_place place = {.fs = run->fs,
                           .directory = run->directory,
                           .allocator = &run->allocator,
                           .parameters = &run->state.parameters,
                           .data = &run->data.base};
    state_data_init(&run->data, &place, run->real_directory, &run->state,
                    run->spec);
    return place;
}

static void keep_failure(build_run *run, const ksv_error *problem)
{
    if (run->report->files_failed++ == 0)
        run->first_failure = *problem;
    build_run_tell(run, problem, false);
}

static void remember_place(ksv_place *place, const char *path, uint64_t offset)
{
    if (offset == KSV_NO_OFFSET || place->path[0] != '\0')
        return;
    strncpy(place->path, path, sizeof place->path - 1);
    place->offset = offset;
}

static void count_file(build_run *run, const built_file *built)
{
    ksv_build_report *report = run->report;
    const catalog_file *file = &built->file;
    const file_growth *growth = &built->growth;
    report->files_indexed++;
    report->records += growth->is_grown ? growth->records : file->records;
    report->records_without_key += growth->is_grown
                                       ? growth->records_without_key
                                       : file->records_without_key;
    report->bad_records += file->bad_records;
    report->data_bytes +=
        growth->is_grown ? growth->read_bytes : file->size_bytes;
    remember_place(&report->first_without_key, file->given_path,
                   built->first_without_key);
    remember_place(&report->first_bad, file->given_path, built->first_bad);
}

static void warn(build_run *run, const built_file *built, bool applies,
                 const char *text)
{
    if (!applies)
        return;
    ksv_error warning;
    error_set(&warning, KSV_OK, built->file.given_path, "%s", text);
    build_run_tell(run, &warning, true);
}

static void warn_of_oddities(build_run *run, const built_file *built)
{
    warn(run, built, built->file.content_bytes == 0, "data file is empty");
    warn(run, built, (built->warnings & DATAFILE_NO_END_MARKER) != 0,
         "BGZF end marker is missing: the file may be truncated");
    warn(run, built, (built->warnings & DATAFILE_GARBAGE_IGNORED) != 0,
         "bytes after the last gzip member were ignored");
}

static ksv_status remember_id(build_run *run, uint64_t id, ksv_error *error)
{
    void *items = run->new_ids;
    KSV_TRY(memory_grow(&run->allocator, &items, &run->new_id_capacity,
                        run->new_id_count + 1, sizeof *run->new_ids, error));
    run->new_ids = items;
    run->new_ids[run->new_id_count++] = id;
    return KSV_OK;
}

/* What the files of a run go through. */
typedef struct files_run {
    build_run *run;
    state_edit edit;
    state_growth growth;
    file_builder builder;
    plan_memo plans;
    file_window *window;
    file_collector *collector; /* NULL: every file gets a segment */
    publish_queue *queue;
    bool leaves_loose; /* sidecars are to be synced together */
} files_run;

/* Takes over what was built, also on failure. */
static ksv_status put_file(files_run *f, const planned_file *planned,
                           built_file *built, ksv_error *error)
{
    build_run *run = f->run;
    count_file(run, built);
    warn_of_oddities(run, built);
    run->dirty = true;
    ksv_status status = KSV_OK;
    if (built->file.extent_count > 0)
        status = remember_id(run, built->id, error);
    if (status == KSV_OK && built->growth.is_grown)
        status = state_growth_add(&f->growth, planned->known, built, error);
    if (status == KSV_OK && built->kept.count > 0)
        status = file_collector_add(
            f->collector, built, state_edit_ordinal(&f->edit, planned), error);
    built_file_forget_entries(&f->builder, built);
    if (status == KSV_OK)
        status = segment_files_publish(&built->sidecars, f->queue, error);
    if (status != KSV_OK) {
        built_file_release(&f->builder, built);
        return status;
    }
    return state_edit_put(&f->edit, planned, built, error);
}

static ksv_status index_file(files_run *f, const planned_file *planned,
                             ksv_error *error)
{
    built_file built;
    ksv_error problem;
    error_clear(&problem);
    ksv_status status = file_window_take(f->window, &built, &problem);
    if (status == KSV_OK)
        return put_file(f, planned, &built, error);
    if (built.failed_alone) {
        keep_failure(f->run, &problem);
        return KSV_OK;
    }
    if (error != NULL)
        *error = problem;
    return status;
}

static void drop_file(files_run *f, const planned_file *planned)
{
    state_edit_drop(&f->edit, planned->known);
    f->run->report->files_dropped++;
    f->run->dirty = true;
}

static ksv_status do_planned(files_run *f, const planned_file *planned,
                             ksv_error *error)
{
    build_run *run = f->run;
    switch (planned->action) {
    case PLAN_INDEX:
    case PLAN_EXTEND:
        return index_file(f, planned, error);
    case PLAN_KEEP:
    case PLAN_REFRESH:
        run->report->files_unchanged++;
        return state_edit_refresh(&f->edit, planned, &run->dirty, error);
    case PLAN_DROP:
        drop_file(f, planned);
        return KSV_OK;
    case PLAN_FAIL:
        keep_failure(run, planned->problem);
        return KSV_OK;
    }
    return KSV_OK;
}

/* Publishes the segment of what was collected. */
static ksv_status finish_collector(files_run *f, ksv_error *error)
{
    catalog_segment segment;
    segment_files files = {NULL, NULL, NULL};
    if (f->collector == NULL)
        return KSV_OK;
    ksv_status status =
        file_collector_finish(f->collector, &segment, &files, error);
    if (status == KSV_OK && segment.id != 0)
        status = remember_id(f->run, segment.id, error);
    if (status == KSV_OK && segment.id != 0)
        status = segment_files_publish(&files, f->queue, error);
    segment_files_abandon(&files);
    if (status == KSV_OK && segment.id != 0)
        return state_edit_add_segment(&f->edit, &segment, error);
    catalog_segment_release(&f->run->allocator, &segment);
    return status;
}

/* What is to be indexed. */
typedef struct files_total {
    size_t files;
    uint64_t bytes;
    size_t small_files;
    uint64_t small_bytes;
} files_total;

static files_total sum_files(const build_plan *plan)
{
    files_total total = {0, 0, 0, 0};
    for (size_t i = 0; i < plan->count; i++) {
        const planned_file *file = &plan->files[i];
        if (!plan_reads_file(file))
            continue;
        total.files++;
        total.bytes += file->size_bytes;
        if (plan_read_bytes(file) > COLLECTOR_FILE_BYTES)
            continue;
        total.small_files++;
        total.small_bytes += plan_read_bytes(file);
    }
    return total;
}

/* Numbers depend on the plan alone: that of the collected segment comes last.
 */
static ksv_status open_steps(files_run *f, const files_total *total,
                             ksv_error *error)
{
    build_run *run = f->run;
    uint64_t first_id = run->state.next_segment_id;
    bool collects = total->small_files >= COLLECTOR_LEAST_FILES;
    uint64_t memory_bytes = run->options.memory_bytes;
    if (memory_bytes == 0)
        memory_bytes = DEFAULT_MEMORY_BYTES;
    if (memory_bytes < LEAST_MEMORY_BYTES)
        memory_bytes = LEAST_MEMORY_BYTES;
    memory_bytes -= BUILD_BYTES;
    uint64_t for_collector = collects ? memory_bytes / 2 : 0;
    f->leaves_loose =
        total->small_files >= LOOSE_LEAST_FILES && run->fs->sync_files != NULL;
    KSV_TRY(state_edit_open(&f->edit, &run->state, error));
    f->growth = (state_growth){.state = &run->state,
                               .place = &f->builder.place,
                               .first_new_id = run->first_new_id};
    KSV_TRY(publish_queue_open(2 * total->files, &run->allocator, &f->queue,
                               error));
    if (collects)
        KSV_TRY(file_collector_open(&f->builder, first_id + total->files,
                                    for_collector, total->small_bytes,
                                    &f->collector, error));
    return file_window_open(&f->builder, &run->plan,
                            memory_bytes - for_collector, first_id, collects,
                            f->leaves_loose, &f->window, error);
}

static ksv_status do_all(files_run *f, const files_total *total,
                         ksv_error *error)
{
    build_run *run = f->run;
    KSV_TRY(open_steps(f, total, error));
    for (size_t i = 0; i < run->plan.count; i++)
        KSV_TRY(do_planned(f, &run->plan.files[i], error));
    KSV_TRY(finish_collector(f, error));
    KSV_TRY(state_growth_finish(&f->growth, error));
    state_edit_finish(&f->edit);
    KSV_TRY(publish_queue_finish(f->queue, error));
    return f->leaves_loose
               ? run->fs->sync_files(run->fs->ctx, run->directory, error)
               : KSV_OK;
}

/* Each lookup asks all segments that are never merged. */
#define LONE_SEGMENTS_MOST 64

static bool may_leave_keys(const build_run *run, const files_total *total)
{
    size_t lone = total->files;
    for (size_t i = 0; i < run->state.segment_count; i++)
        lone += run->state.segments[i].tier == CATALOG_TIER_MOST;
    return lone <= LONE_SEGMENTS_MOST;
}

ksv_status build_run_files(build_run *run, ksv_error *error)
{
    unsigned threads = run->options.threads;
    files_total total = sum_files(&run->plan);
    files_run f = {
        .run = run,
        .builder = {.place = build_run_place(run),
                    .spec = run->spec,
                    .options = &run->options,
                    .progress = &run->progress,
                    .parameters = &run->state.parameters,
                    .total_bytes = total.bytes,
                    .threads = threads > 0 ? threads : processor_count(),
                    .may_leave_keys = may_leave_keys(run, &total)}};
    build_progress_expect(&run->progress, total.files, total.bytes);
    f.builder.plans = &f.plans;
    ksv_status status = plan_memo_init(&f.plans, error);
    if (status == KSV_OK)
        status = do_all(&f, &total, error);
    file_window_close(f.window);
    file_collector_close(f.collector);
    publish_queue_close(f.queue);
    state_growth_close(&f.growth);
    state_edit_close(&f.edit);
    plan_memo_release(&f.plans);
    return status;
}

ksv_status build_run_sum_up(build_run *run, ksv_error *error)
{
    ksv_build_report *report = run->report;
    for (size_t i = 0; i < run->state.file_count; i++) {
        const catalog_file *file = &run->state.files[i];
        report->index_records += file->records;
        report->index_keyed_records +=
            file->records - file->records_without_key;
    }
    segment_place place = build_run_place(run);
    return distinct_keys_count(&place, &run->state, run->first_new_id,
                               &report->distinct_keys, error);
}

void build_run_sum_segments(build_run *run)
{
    ksv_build_report *report = run->report;
    report->segments = run->state.segment_count;
    for (size_t i = 0; i < run->state.segment_count; i++) {
        const catalog_segment *segment = &run->state.segments[i];
        report->table_bytes += segment->table_bytes;
        report->filter_bytes += segment->filter.bytes;
        report->filter_keys += segment->filter.keys;
    }
}
