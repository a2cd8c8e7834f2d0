/* SPDX-License-Identifier: MIT */
/* What a build has to do: the files named against what the catalog holds. */
#include "build/build_plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "build/file_extender.h"
#include "build/watch_walk.h"
#include "catalog/catalog_names.h"
#include "io/file.h"
#include "segment/data_identity.h"

void build_plan_init(build_plan *plan, const ksv_allocator *allocator)
{
    *plan = (build_plan){.allocator = allocator};
    plan->paths.allocator = allocator;
    plan->known.allocator = allocator;
    plan->directory.allocator = allocator;
}

/* Known files in the order of the index, then new ones as they were named: so
 * they get ascending ordinals. */
static int compare_files(const void *a, const void *b)
{
    const planned_file *left = a;
    const planned_file *right = b;
    if (left->known != right->known)
        return left->known < right->known ? -1 : 1;
    return (left->number > right->number) - (left->number < right->number);
}

/* What is needed only while files are added. */
static void close_helpers(build_plan *plan)
{
    plan->is_started = false;
    path_table_close(&plan->paths);
    path_table_close(&plan->known);
    sidecar_health_close(&plan->health);
    path_memo_release(&plan->directory);
}

void build_plan_finish(build_plan *plan)
{
    if (plan->is_started && plan->count > 1)
        qsort(plan->files, plan->count, sizeof *plan->files, compare_files);
    close_helpers(plan);
}

static void release_file(const ksv_allocator *a, planned_file *file)
{
    memory_free_string(a, file->open_path);
    memory_free_string(a, file->given_path);
    memory_free_string(a, file->relative_path);
    memory_free_string(a, file->moved_path);
    memory_free(a, file->problem, sizeof *file->problem);
    memory_free(a, file->before, sizeof *file->before);
}

void build_plan_release(build_plan *plan)
{
    for (size_t i = 0; i < plan->count; i++)
        release_file(plan->allocator, &plan->files[i]);
    memory_free(plan->allocator, plan->files,
                plan->capacity * sizeof *plan->files);
    close_helpers(plan);
    build_plan_init(plan, plan->allocator);
}

static ksv_status copy_text(const ksv_allocator *a, const char *text,
                            char **out, ksv_error *error)
{
    *out = memory_copy_string(a, text, strlen(text));
    return *out != NULL ? KSV_OK : error_set_memory(error);
}

/* A new element at the end; all zero but `known`. */
static ksv_status add_file(build_plan *plan, planned_file **file,
                           ksv_error *error)
{
    void *items = plan->files;
    KSV_TRY(memory_grow(plan->allocator, &items, &plan->capacity,
                        plan->count + 1, sizeof *plan->files, error));
    plan->files = items;
    *file = &plan->files[plan->count++];
    memset(*file, 0, sizeof **file);
    (*file)->known = PLAN_NOT_KNOWN;
    (*file)->number = plan->count;
    return KSV_OK;
}

/* Turns a problem of one file into a planned failure. */
static ksv_status plan_failure(build_plan *plan, planned_file *file,
                               const ksv_error *problem, ksv_error *error)
{
    file->action = PLAN_FAIL;
    file->problem = memory_alloc(plan->allocator, sizeof *file->problem);
    if (file->problem == NULL)
        return error_set_memory(error);
    *file->problem = *problem;
    error_replace_path(file->problem, file->given_path);
    return KSV_OK;
}

/* Options that ask more of the data than was asked when it was indexed. */
static bool must_be_read_again(const plan_request *request,
                               const catalog_file *file)
{
    const ksv_build_options *options = request->options;
    return (options->strict && file->records_without_key > 0) ||
           (!options->skip_bad_records && file->bad_records > 0);
}

/* What was appended is indexed on its own where the catalog says enough of what
 * was there before, and there is not more of it than that. */
static ksv_status plan_growth(build_plan *plan, planned_file *file,
                              const catalog_file *known, ksv_error *error)
{
    uint64_t more_bytes = file->info.size_bytes - known->size_bytes;
    if (!file_extender_can(known) || more_bytes > known->size_bytes)
        return KSV_OK;
    memory_free(plan->allocator, file->before, sizeof *file->before);
    file->before = memory_alloc(plan->allocator, sizeof *file->before);
    if (file->before == NULL)
        return error_set_memory(error);
    *file->before = *known;
    file->action = PLAN_EXTEND;
    return KSV_OK;
}

static ksv_status plan_known(build_plan *plan, const plan_request *request,
                             planned_file *file, ksv_error *error)
{
    const catalog_file *known = &request->state->files[file->known];
    data_identity found;
    ksv_error problem;
    error_clear(&problem);
    ksv_status status = data_identity_check(&request->place, known,
                                            file->open_path, &found, &problem);
    file_identity identity = found.identity;
    file->info = found.info;
    if (status == KSV_ERROR_MEMORY)
        return error_set_memory(error);
    if (status != KSV_OK)
        return plan_failure(plan, file, &problem, error);
    file->is_missing = identity == FILE_IDENTITY_MISSING;
    if (file->is_missing) {
        file->action = request->options->keep_missing ? PLAN_KEEP : PLAN_DROP;
        if (!request->is_update) {
            error_set(&problem, KSV_ERROR_IO, file->given_path,
                      "no such file or directory");
            return plan_failure(plan, file, &problem, error);
        }
        return KSV_OK;
    }
    file->action = PLAN_INDEX;
    bool is_good = identity != FILE_IDENTITY_CHANGED &&
                   !must_be_read_again(request, known);
    if (is_good)
        KSV_TRY(
            sidecar_health_ask(&plan->health, file->known, &is_good, error));
    if (!is_good)
        return KSV_OK;
    if (identity == FILE_IDENTITY_GROWN)
        return plan_growth(plan, file, known, error);
    file->action = identity == FILE_IDENTITY_SAME ? PLAN_KEEP : PLAN_REFRESH;
    return KSV_OK;
}

/* What kind of thing lies there; data files are regular files. */
static ksv_status look_at(build_plan *plan, const plan_request *request,
                          planned_file *file, ksv_error *error)
{
    ksv_error problem;
    error_clear(&problem);
    const ksv_file_system *fs = request->place.fs;
    if (fs->info(fs->ctx, file->open_path, &file->info, &problem) != KSV_OK)
        return plan_failure(plan, file, &problem, error);
    file->size_bytes = file->info.size_bytes;
    if (file->info.kind == KSV_FILE_DIRECTORY)
        return error_set(error, KSV_ERROR_ARGUMENT, file->given_path,
                         "is a directory");
    if (file->info.kind != KSV_FILE_REGULAR)
        return error_set(error, KSV_ERROR_ARGUMENT, file->given_path,
                         "is not a regular file, so its records could not be "
                         "read again");
    return KSV_OK;
}

/* A name that the index gives to files of its own would cost the user's file
 * its life when the index is cleaned up. */
static ksv_status refuse_own_name(const planned_file *file, ksv_error *error)
{
    uint64_t number;
    if (strchr(file->relative_path, '/') != NULL ||
        name_parse(file->relative_path, &number) == NAME_FOREIGN)
        return KSV_OK;
    return error_set(error, KSV_ERROR_ARGUMENT, file->given_path,
                     "lies in the index directory and has the name of a file "
                     "of the index");
}

/* A file that is not planned yet, whose relative path is known by now. */
static ksv_status note_path(build_plan *plan, planned_file *file,
                            ksv_error *error)
{
    file->known = path_table_find(&plan->known, file->relative_path);
    return path_table_add(&plan->paths, file->relative_path,
                          (size_t)(file - plan->files), error);
}

/* Fills in the identity of a named file; false in `*is_new` when the plan has
 * it already. */
static ksv_status identify(build_plan *plan, const plan_request *request,
                           planned_file *file, bool *is_new, ksv_error *error)
{
    const ksv_allocator *a = plan->allocator;
    char *canonical = NULL;
    ksv_error problem;
    error_clear(&problem);
    *is_new = true;
    if (path_canonical_near(&plan->directory, file->given_path, &canonical,
                            &problem) != KSV_OK)
        return plan_failure(plan, file, &problem, error);
    ksv_status status = path_relative(request->real_directory, canonical, a,
                                      &file->relative_path, error);
    memory_free_string(a, canonical);
    KSV_TRY(status);
    KSV_TRY(refuse_own_name(file, error));
    *is_new =
        path_table_find(&plan->paths, file->relative_path) == PATH_TABLE_NONE;
    return *is_new ? note_path(plan, file, error) : KSV_OK;
}

static ksv_status plan_one(build_plan *plan, const plan_request *request,
                           const char *given_path, ksv_error *error)
{
    planned_file *file;
    bool is_new;
    KSV_TRY(add_file(plan, &file, error));
    KSV_TRY(copy_text(plan->allocator, given_path, &file->given_path, error));
    KSV_TRY(copy_text(plan->allocator, given_path, &file->open_path, error));
    KSV_TRY(identify(plan, request, file, &is_new, error));
    if (!is_new) {
        release_file(plan->allocator, file);
        plan->count--;
        return KSV_OK;
    }
    bool vanished_is_fine = request->is_update && file->known != PLAN_NOT_KNOWN;
    if (file->action != PLAN_FAIL && !vanished_is_fine)
        KSV_TRY(look_at(plan, request, file, error));
    if (file->action == PLAN_FAIL || file->known == PLAN_NOT_KNOWN)
        return KSV_OK;
    return plan_known(plan, request, file, error);
}

static ksv_status start(build_plan *plan, const plan_request *request,
                        ksv_error *error)
{
    const catalog_state *state = request->state;
    if (plan->is_started)
        return KSV_OK;
    plan->is_started = true;
    /* An update has to be cheap where nothing has changed. */
    sidecar_health_open(&plan->health, &request->place, state,
                        request->is_update);
    for (size_t i = 0; i < state->file_count; i++)
        KSV_TRY(path_table_add(&plan->known, state->files[i].relative_path, i,
                               error));
    return KSV_OK;
}

ksv_status build_plan_named(build_plan *plan, const plan_request *request,
                            const char *const *files, size_t file_count,
                            ksv_error *error)
{
    KSV_TRY(start(plan, request, error));
    for (size_t i = 0; i < file_count; i++)
        KSV_TRY(plan_one(plan, request, files[i], error));
    return KSV_OK;
}

/* A file that is no longer where its relative path leads: so that a pattern
 * does not find it a second time. */
static ksv_status note_moved(build_plan *plan, const plan_request *request,
                             planned_file *file, ksv_error *error)
{
    const ksv_allocator *a = plan->allocator;
    char *canonical = NULL;
    if (path_canonical(file->open_path, a, &canonical, NULL) != KSV_OK)
        return KSV_OK;
    ksv_status status = path_relative(request->real_directory, canonical, a,
                                      &file->moved_path, error);
    memory_free_string(a, canonical);
    KSV_TRY(status);
    return path_table_add(&plan->paths, file->moved_path,
                          (size_t)(file - plan->files), error);
}

/* A known file, which lies where its relative path leads, or when the index
 * alone was moved, where it was given. */
static ksv_status plan_where_it_is(build_plan *plan,
                                   const plan_request *request,
                                   planned_file *file, ksv_error *error)
{
    file->open_path = path_join(plan->allocator, request->real_directory,
                                file->relative_path);
    if (file->open_path == NULL)
        return error_set_memory(error);
    KSV_TRY(plan_known(plan, request, file, error));
    if (!file->is_missing || file->given_path[0] != '/')
        return KSV_OK;
    memory_free_string(plan->allocator, file->open_path);
    file->open_path = NULL;
    KSV_TRY(
        copy_text(plan->allocator, file->given_path, &file->open_path, error));
    KSV_TRY(note_moved(plan, request, file, error));
    return plan_known(plan, request, file, error);
}

ksv_status build_plan_all(build_plan *plan, const plan_request *request,
                          ksv_error *error)
{
    const ksv_allocator *a = plan->allocator;
    KSV_TRY(start(plan, request, error));
    for (size_t i = 0; i < request->state->file_count; i++) {
        const catalog_file *known = &request->state->files[i];
        planned_file *file;
        KSV_TRY(add_file(plan, &file, error));
        KSV_TRY(copy_text(a, known->given_path, &file->given_path, error));
        KSV_TRY(
            copy_text(a, known->relative_path, &file->relative_path, error));
        KSV_TRY(note_path(plan, file, error));
        file->size_bytes = known->size_bytes;
        KSV_TRY(plan_where_it_is(plan, request, file, error));
    }
    return KSV_OK;
}

typedef struct watch_planner {
    build_plan *plan;
    const plan_request *request;
} watch_planner;

static ksv_status plan_match(void *ctx, const watch_match *match,
                             ksv_error *error)
{
    const watch_planner *w = ctx;
    build_plan *plan = w->plan;
    const ksv_allocator *a = plan->allocator;
    if (path_table_find(&plan->paths, match->relative_path) != PATH_TABLE_NONE)
        return KSV_OK;
    planned_file *file;
    KSV_TRY(add_file(plan, &file, error));
    KSV_TRY(copy_text(a, match->given_path, &file->given_path, error));
    KSV_TRY(copy_text(a, match->open_path, &file->open_path, error));
    KSV_TRY(copy_text(a, match->relative_path, &file->relative_path, error));
    KSV_TRY(note_path(plan, file, error));
    KSV_TRY(look_at(plan, w->request, file, error));
    if (file->action == PLAN_FAIL || file->known == PLAN_NOT_KNOWN)
        return KSV_OK;
    return plan_known(plan, w->request, file, error);
}

static void tell_problem(void *ctx, const ksv_error *problem, bool is_warning)
{
    const watch_planner *w = ctx;
    const ksv_build_options *options = w->request->options;
    if (options->problem != NULL)
        options->problem(options->problem_ctx, problem, is_warning);
}

ksv_status build_plan_watched(build_plan *plan, const plan_request *request,
                              ksv_error *error)
{
    watch_planner planner = {plan, request};
    const watch_walk walk = {.fs = request->place.fs,
                             .allocator = plan->allocator,
                             .real_directory = request->real_directory,
                             .match = plan_match,
                             .problem = tell_problem,
                             .ctx = &planner};
    const catalog_parameters *parameters = &request->state->parameters;
    watch_entry entry;
    KSV_TRY(start(plan, request, error));
    KSV_TRY(watch_list_check(parameters, error));
    for (size_t at = 0; watch_list_next(parameters, &at, &entry);)
        KSV_TRY(watch_walk_run(&walk, &entry, error));
    return KSV_OK;
}
