/* SPDX-License-Identifier: MIT */
/* The public check of an index: catalog, sidecars and, if asked, the data. */
#include <keysieve/verify.h>

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "catalog/catalog.h"
#include "segment/data_identity.h"
#include "segment/organisation.h"
#include "segment/segment_check.h"
#include "segment/state_data.h"
#include "verify/data_check.h"

/* What the tables hold of a data file. */
typedef struct table_facts {
    entry_sum entries;
    bool is_damaged; /* so that it is not known */
} table_facts;

typedef struct verify_run {
    ksv_verify_options options;
    ksv_allocator allocator;
    const ksv_file_system *fs;
    const char *directory;
    catalog_state state;
    scan_spec *spec;
    segment_place place;
    state_data data;     /* that is read when it is to be compared */
    table_facts *tables; /* of each data file */
    ksv_progress progress;
    ksv_verify_report *report;
    ksv_error first_problem;
} verify_run;

void ksv_verify_options_init(ksv_verify_options *options)
{
    memset(options, 0, sizeof *options);
}

static void tell(verify_run *run, const ksv_error *problem, bool is_warning)
{
    if (!is_warning && run->report->problems++ == 0)
        run->first_problem = *problem;
    if (run->options.problem != NULL)
        run->options.problem(run->options.problem_ctx, problem, is_warning);
}

/* Out of memory and a stop by the caller end the check; all else is noted. */
static ksv_status note(verify_run *run, ksv_status status,
                       const ksv_error *problem, ksv_error *error)
{
    if (status == KSV_OK)
        return KSV_OK;
    if (status == KSV_ERROR_MEMORY || status == KSV_ERROR_CANCELLED) {
        if (error != NULL)
            *error = *problem;
        return status;
    }
    tell(run, problem, false);
    return KSV_OK;
}

static ksv_status check_catalog(verify_run *run, ksv_error *error)
{
    ksv_error problem;
    error_clear(&problem);
    ksv_status status = catalog_verify(run->fs, run->directory, &run->allocator,
                                       &run->report->bytes_checked, &problem);
    run->report->files_checked += 2; /* the environment and its copy */
    return note(run, status, &problem, error);
}

static void join_sums(verify_run *run, const catalog_segment *segment,
                      const entry_sum *sums, bool is_damaged)
{
    for (size_t i = 0; i < segment->part_count; i++) {
        const catalog_part *part = &segment->parts[i];
        const catalog_file *file =
            part->is_dead ? NULL
                          : catalog_find_file(&run->state, part->ordinal);
        if (file == NULL)
            continue;
        table_facts *facts = &run->tables[file - run->state.files];
        entry_sum_join(&facts->entries, &sums[i]);
        facts->is_damaged = facts->is_damaged || is_damaged;
    }
}

static ksv_status check_segment(verify_run *run, const catalog_segment *segment,
                                ksv_error *error)
{
    ksv_error problem;
    error_clear(&problem);
    size_t parts = segment->part_count;
    entry_sum *sums = memory_zalloc_array(&run->allocator, parts, sizeof *sums);
    if (sums == NULL)
        return error_set_memory(error);
    ksv_status status = segment_check(&run->place, segment, sums, &problem);
    join_sums(run, segment, sums, status != KSV_OK);
    memory_free(&run->allocator, sums, parts * sizeof *sums);
    run->report->files_checked += 2;
    run->report->bytes_checked += segment->filter.bytes + segment->table_bytes;
    run->report->entries_checked += segment->entries;
    return note(run, status, &problem, error);
}

static ksv_status check_sidecars(verify_run *run, const catalog_file *file,
                                 ksv_error *error)
{
    ksv_error problem;
    error_clear(&problem);
    ksv_status status =
        segment_check_file(&run->place, &run->state, file, &problem);
    for (size_t i = 0; i < file->extent_count; i++) {
        const catalog_filter *filter = &file->extents[i].filter;
        if (segment_has_filter(&run->state, filter->id))
            continue;
        run->report->files_checked++;
        run->report->bytes_checked += filter->bytes;
    }
    run->report->files_checked += file->points_id != 0;
    run->report->bytes_checked += file->points_bytes;
    return note(run, status, &problem, error);
}

static ksv_status check_identity(verify_run *run, const catalog_file *file,
                                 const char *path, bool *fresh,
                                 ksv_error *error)
{
    ksv_error problem;
    error_clear(&problem);
    data_identity found;
    ksv_status status =
        data_identity_check(&run->place, file, path, &found, &problem);
    file_identity identity = found.identity;
    if (status != KSV_OK)
        error_replace_path(&problem, file->given_path);
    *fresh = status == KSV_OK && (identity == FILE_IDENTITY_SAME ||
                                  identity == FILE_IDENTITY_TOUCHED);
    if (status == KSV_OK && !*fresh)
        status = file_identity_error(file, identity, &problem);
    return note(run, status, &problem, error);
}

static ksv_status check_data(verify_run *run, const catalog_file *file,
                             const char *path, ksv_error *error)
{
    ksv_error problem;
    error_clear(&problem);
    const table_facts *facts = &run->tables[file - run->state.files];
    const data_check check = {.place = &run->place,
                              .spec = run->spec,
                              .state = &run->state,
                              .file = file,
                              .entries =
                                  facts->is_damaged ? NULL : &facts->entries,
                              .path = path};
    ksv_status status =
        data_check_run(&check, &run->report->records_compared, &problem);
    return note(run, status, &problem, error);
}

static ksv_status check_file(verify_run *run, const catalog_file *file,
                             ksv_error *error)
{
    KSV_TRY(check_sidecars(run, file, error));
    char *path;
    KSV_TRY(file_identity_path(run->fs, run->directory, file, &run->allocator,
                               &path, error));
    bool fresh;
    ksv_status status = check_identity(run, file, path, &fresh, error);
    if (status == KSV_OK && fresh && run->options.data)
        status = check_data(run, file, path, error);
    memory_free_string(&run->allocator, path);
    return status;
}

static void start_progress(verify_run *run)
{
    const catalog_state *state = &run->state;
    run->progress =
        (ksv_progress){.file = "", .files_total = state->file_count};
    for (size_t i = 0; i < state->file_count; i++)
        run->progress.bytes_total += state->files[i].size_bytes;
    if (state->file_count > 0)
        run->progress.file = state->files[0].given_path;
}

static ksv_status report_progress(verify_run *run, ksv_error *error)
{
    if (run->options.progress == NULL)
        return KSV_OK;
    if (!run->options.progress(run->options.progress_ctx, &run->progress))
        return error_set(error, KSV_ERROR_CANCELLED, NULL, "stopped");
    return KSV_OK;
}

static ksv_status check_all(verify_run *run, ksv_error *error)
{
    const catalog_parameters *p = &run->state.parameters;
    KSV_TRY(organisation_require(p, run->directory, error));
    KSV_TRY(scan_spec_decode(p->format, p->format_bytes, &run->allocator,
                             &run->spec, error));
    run->place = (segment_place){.fs = run->fs,
                                 .directory = run->directory,
                                 .allocator = &run->allocator,
                                 .parameters = p};
    state_data_init(&run->data, &run->place, run->directory, &run->state,
                    run->spec);
    if (run->options.data)
        run->place.data = &run->data.base;
    run->tables = memory_zalloc_array(&run->allocator, run->state.file_count,
                                      sizeof *run->tables);
    if (run->tables == NULL)
        return error_set_memory(error);
    start_progress(run);
    for (size_t i = 0; i < run->state.segment_count; i++) {
        KSV_TRY(report_progress(run, error));
        KSV_TRY(check_segment(run, &run->state.segments[i], error));
    }
    for (size_t i = 0; i < run->state.file_count; i++) {
        const catalog_file *file = &run->state.files[i];
        run->progress.file = file->given_path;
        KSV_TRY(report_progress(run, error));
        KSV_TRY(check_file(run, file, error));
        run->progress.files_done++;
        run->progress.bytes_done += file->size_bytes;
        run->progress.records = run->report->records_compared;
    }
    return KSV_OK;
}

static ksv_status verify_all(verify_run *run, ksv_error *error)
{
    /* What readers see is the ground for everything else. */
    KSV_TRY(catalog_read(run->fs, run->directory, &run->allocator, &run->state,
                         error));
    ksv_status status = check_catalog(run, error);
    if (status == KSV_OK)
        status = check_all(run, error);
    scan_spec_destroy(run->spec);
    memory_free(&run->allocator, run->tables,
                run->state.file_count * sizeof *run->tables);
    catalog_state_release(&run->state);
    return status;
}

ksv_status ksv_verify(const char *directory, const ksv_verify_options *options,
                      ksv_verify_report *report, ksv_error *error)
{
    ksv_verify_options defaults;
    ksv_verify_options_init(&defaults);
    ksv_verify_report unused;
    verify_run run;
    memset(&run, 0, sizeof run);
    run.options = options != NULL ? *options : defaults;
    run.allocator = allocator_or_default(run.options.allocator);
    run.fs = run.options.file_system != NULL ? run.options.file_system
                                             : ksv_posix_file_system();
    run.directory = directory;
    run.report = report != NULL ? report : &unused;
    memset(run.report, 0, sizeof *run.report);
    error_clear(&run.first_problem);
    KSV_TRY(verify_all(&run, error));
    if (run.report->problems == 0)
        return KSV_OK;
    if (error != NULL)
        *error = run.first_problem;
    return run.first_problem.status;
}
