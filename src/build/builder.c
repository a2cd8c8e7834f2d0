/* SPDX-License-Identifier: MIT */
/* The public builder: plan, index, one catalog commit. */
#include <keysieve/builder.h>

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "build/build_run.h"
#include "build/tier_merge.h"
#include "build/unique_check.h"
#include "catalog/directory_size.h"
#include "catalog/watch_list.h"
#include "io/file.h"
#include "segment/segment_writer.h"

/* Kept of a hash when no key was met yet that would tell more. */
#define UNKNOWN_HASH_BITS 44

/* Between two looks whether another build has ended. */
#define WAIT_STEP_NS 20000000u

void ksv_build_options_init(ksv_build_options *options)
{
    memset(options, 0, sizeof *options);
}

static ksv_status start_run(build_run *run, const char *directory,
                            const ksv_build_options *options,
                            ksv_build_report *report, ksv_error *error)
{
    memset(run, 0, sizeof *run);
    run->options = *options;
    run->allocator = allocator_or_default(options->allocator);
    run->fs = options->file_system != NULL ? options->file_system
                                           : ksv_posix_file_system();
    run->directory = directory;
    run->report = report;
    error_clear(&run->first_failure);
    build_plan_init(&run->plan, &run->allocator);
    return build_progress_init(&run->progress, options->progress,
                               options->progress_ctx, error);
}

static void end_run(build_run *run)
{
    build_progress_release(&run->progress);
    build_plan_release(&run->plan);
    scan_spec_destroy(run->spec);
    if (run->has_state)
        catalog_state_release(&run->state);
    catalog_close(run->catalog);
    memory_free_string(&run->allocator, run->real_directory);
    memory_free(&run->allocator, run->new_ids,
                run->new_id_capacity * sizeof *run->new_ids);
}

/* Opens the catalog, when another builder has it as soon as it is free. */
static ksv_status open_catalog(build_run *run, bool *repaired,
                               ksv_error *damage, ksv_error *error)
{
    uint64_t start_ns = clock_monotonic_ns();
    for (;;) {
        ksv_status status =
            catalog_open(run->fs, run->directory, &run->allocator,
                         &run->catalog, &run->state, repaired, damage, error);
        if (status != KSV_ERROR_BUSY ||
            clock_monotonic_ns() - start_ns >= run->options.wait_ns)
            return status;
        KSV_TRY(build_progress_add(&run->progress, "", 0, 0, error));
        clock_sleep_ns(WAIT_STEP_NS);
    }
}

static ksv_status open_index(build_run *run, ksv_error *error)
{
    bool repaired;
    ksv_error damage;
    error_clear(&damage);
    KSV_TRY(open_catalog(run, &repaired, &damage, error));
    run->has_state = true;
    run->first_new_id = run->state.next_segment_id;
    if (repaired && damage.status != KSV_OK)
        build_run_tell(run, &damage, true);
    return path_real_directory(run->directory, &run->allocator,
                               &run->real_directory, error);
}

/* An update needs an index; a damaged one may be repaired. */
static ksv_status require_index(build_run *run, ksv_error *error)
{
    catalog_state state;
    ksv_status status =
        catalog_read(run->fs, run->directory, &run->allocator, &state, error);
    if (status == KSV_OK)
        catalog_state_release(&state);
    return status == KSV_ERROR_CORRUPT ? KSV_OK : status;
}

/* Brings the patterns of the index up to date with the options. */
static ksv_status settle_patterns(build_run *run, ksv_error *error)
{
    const ksv_build_options *options = &run->options;
    catalog_parameters *parameters = &run->state.parameters;
    if (options->forget_watch_patterns)
        watch_list_clear(parameters, &run->allocator, &run->dirty);
    for (size_t i = 0; i < options->watch_pattern_count; i++)
        KSV_TRY(watch_list_add(parameters, run->real_directory,
                               options->watch_patterns[i], &run->allocator,
                               &run->dirty, error));
    return KSV_OK;
}

static ksv_status plan_patterns(build_run *run, const plan_request *request,
                                ksv_error *error)
{
    KSV_TRY(build_plan_watched(&run->plan, request, error));
    if (run->plan.count > 0 || run->state.generation > 0 ||
        run->options.watch_pattern_count == 0)
        return KSV_OK;
    return error_set(error, KSV_ERROR_ARGUMENT, run->options.watch_patterns[0],
                     "no file matches the pattern");
}

static ksv_status make_plan(build_run *run, const char *const *files,
                            size_t file_count, bool is_update, ksv_error *error)
{
    plan_request request = {.place = build_run_place(run),
                            .real_directory = run->real_directory,
                            .state = &run->state,
                            .options = &run->options,
                            .is_update = is_update};
    bool all = is_update && file_count == 0;
    if (all)
        KSV_TRY(build_plan_all(&run->plan, &request, error));
    else
        KSV_TRY(
            build_plan_named(&run->plan, &request, files, file_count, error));
    if (all || run->options.watch_pattern_count > 0)
        KSV_TRY(plan_patterns(run, &request, error));
    build_plan_finish(&run->plan);
    return KSV_OK;
}

static ksv_status commit(build_run *run, ksv_error *error)
{
    if (run->options.unique && run->new_id_count > 0) {
        segment_place place = build_run_place(run);
        KSV_TRY(unique_check(&place, run->real_directory, run->spec,
                             &run->state, error));
    }
    bool nothing_indexed =
        run->report->files_indexed == 0 && run->state.generation == 0;
    if (nothing_indexed)
        return KSV_OK;
    if (run->dirty) {
        if (run->state.parameters.hash_bits == 0)
            run->state.parameters.hash_bits = UNKNOWN_HASH_BITS;
        KSV_TRY(run->fs->sync_directory(run->fs->ctx, run->directory, error));
        KSV_TRY(catalog_commit(run->catalog, &run->state, error));
        /* What was written belongs to the index from now on. */
        run->new_id_count = 0;
    }
    run->report->committed = true;
    return catalog_clean(run->catalog, &run->state, error);
}

/* What is made better after the commit; it stands, whatever becomes of this. */
static ksv_status finish(build_run *run, ksv_error *error)
{
    ksv_status status = KSV_OK;
    if (!run->report->committed)
        return KSV_OK;
    if (!run->options.no_merge)
        status = tier_merge_all(run, error);
    build_run_sum_segments(run);
    ksv_status measured = directory_size(
        run->fs, run->directory, &run->allocator, &run->report->index_bytes,
        status == KSV_OK ? error : NULL);
    return status != KSV_OK ? status : measured;
}

/* A commit that failed may have taken place all the same. */
bool build_run_is_at(const build_run *run, uint64_t generation)
{
    catalog_state state;
    ksv_status status =
        catalog_read(run->fs, run->directory, &run->allocator, &state, NULL);
    if (status != KSV_OK)
        return status == KSV_ERROR_NO_INDEX && generation == 0;
    bool same = state.generation == generation;
    catalog_state_release(&state);
    return same;
}

/* Sidecars of a build that was not committed. */
static void remove_new_sidecars(build_run *run)
{
    segment_place place = build_run_place(run);
    if (!build_run_is_at(run, run->state.generation))
        return;
    for (size_t i = 0; i < run->new_id_count; i++)
        segment_remove(&place, run->new_ids[i]);
}

static ksv_status work(build_run *run, const char *const *files,
                       size_t file_count, bool is_update, ksv_error *error)
{
    KSV_TRY(open_index(run, error));
    KSV_TRY(build_parameters_settle(run, error));
    KSV_TRY(settle_patterns(run, error));
    KSV_TRY(make_plan(run, files, file_count, is_update, error));
    ksv_status status = build_run_files(run, error);
    if (status == KSV_OK)
        status = build_run_sum_up(run, error);
    if (status == KSV_OK)
        status = commit(run, error);
    if (status != KSV_OK) {
        remove_new_sidecars(run);
        return status;
    }
    return finish(run, error);
}

static ksv_status run_build(const char *directory, const char *const *files,
                            size_t file_count, const ksv_build_options *options,
                            bool is_update, ksv_build_report *report,
                            ksv_error *error)
{
    ksv_build_options defaults;
    ksv_build_options_init(&defaults);
    ksv_build_report unused;
    if (report == NULL)
        report = &unused;
    memset(report, 0, sizeof *report);
    build_run run;
    KSV_TRY(start_run(&run, directory, options != NULL ? options : &defaults,
                      report, error));
    ksv_status status = is_update ? require_index(&run, error) : KSV_OK;
    if (status == KSV_OK)
        status = work(&run, files, file_count, is_update, error);
    if (status == KSV_OK && run.first_failure.status != KSV_OK) {
        status = run.first_failure.status;
        if (error != NULL)
            *error = run.first_failure;
    }
    report->elapsed_ns = clock_monotonic_ns() - run.progress.start_ns;
    end_run(&run);
    return status;
}

ksv_status ksv_build(const char *directory, const char *const *files,
                     size_t file_count, const ksv_build_options *options,
                     ksv_build_report *report, ksv_error *error)
{
    return run_build(directory, files, file_count, options, false, report,
                     error);
}

ksv_status ksv_update(const char *directory, const char *const *files,
                      size_t file_count, const ksv_build_options *options,
                      ksv_build_report *report, ksv_error *error)
{
    return run_build(directory, files, file_count, options, true, report,
                     error);
}
