/* SPDX-License-Identifier: MIT */
/* What a build has to do: the files named against what the catalog holds. */
#include "build/build_plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "catalog/catalog_names.h"
#include "io/file.h"
#include "segment/data_identity.h"

void build_plan_init(build_plan *plan, const ksv_allocator *allocator)
{
    *plan = (build_plan){.allocator = allocator};
    plan->paths.allocator = allocator;
    plan->known.allocator = allocator;
}

/* Lets go of what is of use only while the state is as it was. */
static void finish(build_plan *plan)
{
    path_table_close(&plan->paths);
    path_table_close(&plan->known);
    sidecar_health_close(&plan->health);
}

static void release_file(const ksv_allocator *a, planned_file *file)
{
    memory_free_string(a, file->open_path);
    memory_free_string(a, file->given_path);
    memory_free_string(a, file->relative_path);
    memory_free(a, file->problem, sizeof *file->problem);
}

void build_plan_release(build_plan *plan)
{
    for (size_t i = 0; i < plan->count; i++)
        release_file(plan->allocator, &plan->files[i]);
    memory_free(plan->allocator, plan->files,
                plan->capacity * sizeof *plan->files);
    finish(plan);
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
    if (identity == FILE_IDENTITY_MISSING) {
        file->action = request->options->keep_missing ? PLAN_KEEP : PLAN_DROP;
        if (!request->is_update) {
            error_set(&problem, KSV_ERROR_IO, file->given_path,
                      "no such file or directory");
            return plan_failure(plan, file, &problem, error);
        }
        return KSV_OK;
    }
    bool is_good =
        (identity == FILE_IDENTITY_SAME || identity == FILE_IDENTITY_TOUCHED) &&
        !must_be_read_again(request, known);
    if (is_good)
        KSV_TRY(
            sidecar_health_ask(&plan->health, file->known, &is_good, error));
    file->action = !is_good                         ? PLAN_INDEX
                   : identity == FILE_IDENTITY_SAME ? PLAN_KEEP
                                                    : PLAN_REFRESH;
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
    if (path_canonical(file->given_path, a, &canonical, &problem) != KSV_OK)
        return plan_failure(plan, file, &problem, error);
    ksv_status status = path_relative(request->real_directory, canonical, a,
                                      &file->relative_path, error);
    memory_free_string(a, canonical);
    KSV_TRY(status);
    KSV_TRY(refuse_own_name(file, error));
    file->known = path_table_find(&plan->known, file->relative_path);
    *is_new =
        path_table_find(&plan->paths, file->relative_path) == PATH_TABLE_NONE;
    if (!*is_new)
        return KSV_OK;
    return path_table_add(&plan->paths, file->relative_path,
                          (size_t)(file - plan->files), error);
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
    sidecar_health_open(&plan->health, &request->place, state);
    for (size_t i = 0; i < state->file_count; i++)
        KSV_TRY(path_table_add(&plan->known, state->files[i].relative_path, i,
                               error));
    return KSV_OK;
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

ksv_status build_plan_named(build_plan *plan, const plan_request *request,
                            const char *const *files, size_t file_count,
                            ksv_error *error)
{
    ksv_status status = start(plan, request, error);
    for (size_t i = 0; i < file_count && status == KSV_OK; i++)
        status = plan_one(plan, request, files[i], error);
    finish(plan);
    if (status == KSV_OK && plan->count > 1)
        qsort(plan->files, plan->count, sizeof *plan->files, compare_files);
    return status;
}

static ksv_status plan_again(build_plan *plan, const plan_request *request,
                             size_t index, ksv_error *error)
{
    const catalog_file *known = &request->state->files[index];
    planned_file *file;
    KSV_TRY(add_file(plan, &file, error));
    file->known = index;
    KSV_TRY(copy_text(plan->allocator, known->given_path, &file->given_path,
                      error));
    KSV_TRY(copy_text(plan->allocator, known->relative_path,
                      &file->relative_path, error));
    KSV_TRY(file_identity_path(request->place.fs, request->real_directory,
                               known, plan->allocator, &file->open_path,
                               error));
    file->size_bytes = known->size_bytes;
    return plan_known(plan, request, file, error);
}

ksv_status build_plan_all(build_plan *plan, const plan_request *request,
                          ksv_error *error)
{
    ksv_status status = start(plan, request, error);
    for (size_t i = 0; i < request->state->file_count && status == KSV_OK; i++)
        status = plan_again(plan, request, i, error);
    finish(plan);
    return status;
}
