/* SPDX-License-Identifier: MIT */
/* What a builder finds in an index directory, and what has to be done to it. */
#include "catalog/catalog_inspect.h"

#include "base/error.h"
#include "catalog/catalog_names.h"
#include "catalog/catalog_reader.h"
#include "catalog/catalog_records.h"
#include "io/file.h"

typedef struct inspector {
    const ksv_file_system *fs;
    const char *directory;
    const char *path; /* of catalog.mdb */
    const ksv_allocator *allocator;
    name_list names;
    ksv_file *file; /* catalog.mdb, when its head is good */
    inspection *result;
} inspector;

/* Goes on after damage, which is remembered; any other failure ends it. */
static ksv_status note_damage(inspector *in, ksv_status status,
                              const ksv_error *problem, ksv_error *error)
{
    if (status == KSV_OK)
        return KSV_OK;
    if (status != KSV_ERROR_CORRUPT) {
        if (error != NULL)
            *error = *problem;
        return status;
    }
    if (in->result->damage.status == KSV_OK)
        in->result->damage = *problem;
    return KSV_OK;
}

static void take_state(inspector *in, inspect_finding finding,
                       catalog_state *state)
{
    in->result->finding = finding;
    in->result->state = *state;
}

/* Without a word of the environment on which copy counts, it is the last one
 * written: it is complete, and what it names was synced before. An older one is
 * never taken in its place. */
static ksv_status take_highest_copy(inspector *in, ksv_error *error)
{
    in->result->finding = INSPECT_LOST;
    if (!in->names.has_copy)
        return KSV_OK;
    catalog_mark mark;
    catalog_state state;
    ksv_error problem;
    ksv_status status = copy_read(in->fs, in->directory, in->names.highest_copy,
                                  in->allocator, &mark, &state, NULL, &problem);
    if (status == KSV_OK)
        take_state(in, INSPECT_ENVIRONMENT_DAMAGED, &state);
    return note_damage(in, status, &problem, error);
}

/* The environment's records, into `*state` when they are good. */
static ksv_status read_environment(inspector *in, catalog_state *state,
                                   bool *good, uint64_t *body_checksum,
                                   ksv_error *error)
{
    ksv_error problem;
    ksv_status status =
        records_read(in->file, in->path, &in->result->head, in->allocator,
                     state, body_checksum, NULL, &problem);
    *good = status == KSV_OK;
    return note_damage(in, status, &problem, error);
}

static ksv_status read_matching_copy(inspector *in, catalog_state *state,
                                     bool *good, uint64_t *body_checksum,
                                     ksv_error *error)
{
    ksv_error problem;
    catalog_mark mark = records_mark(&in->result->head);
    ksv_status status = copy_read_marked(in->fs, in->directory, &mark, false,
                                         in->allocator, state, NULL, &problem);
    *good = status == KSV_OK;
    if (*good)
        status = copy_body_checksum(state, body_checksum, &problem);
    if (*good && status != KSV_OK)
        catalog_state_release(state);
    return note_damage(in, status, &problem, error);
}

/* A good head that names a commit. */
static ksv_status compare_both(inspector *in, ksv_error *error)
{
    catalog_state environment;
    catalog_state copy;
    bool environment_good;
    bool copy_good;
    uint64_t checksums[2] = {0, 0};
    KSV_TRY(read_matching_copy(in, &copy, &copy_good, &checksums[0], error));
    ksv_status status = read_environment(in, &environment, &environment_good,
                                         &checksums[1], error);
    if (status != KSV_OK) {
        if (copy_good)
            catalog_state_release(&copy);
        return status;
    }
    if (copy_good) {
        take_state(in,
                   environment_good && checksums[0] == checksums[1]
                       ? INSPECT_GOOD
                       : INSPECT_ENVIRONMENT_DAMAGED,
                   &copy);
        if (environment_good)
            catalog_state_release(&environment);
        return KSV_OK;
    }
    /* A later copy beside a missing one: the head may be what is damaged. */
    bool has_later =
        in->names.has_copy && in->names.highest_copy > in->result->head.txn_id;
    if (environment_good && !has_later) {
        take_state(in, INSPECT_COPY_DAMAGED, &environment);
        return KSV_OK;
    }
    if (environment_good)
        catalog_state_release(&environment);
    return take_highest_copy(in, error);
}

/* No catalog.mdb, an empty one, or one without a commit. */
static ksv_status judge_absence(inspector *in, const catalog_view *view,
                                ksv_error *error)
{
    ksv_error problem;
    ksv_status status = view_judge_absence(in->fs, in->directory, in->path,
                                           view, in->allocator, &problem);
    if (status == KSV_ERROR_NO_INDEX) {
        in->result->finding =
            in->file != NULL ? INSPECT_UNCOMMITTED : INSPECT_NOTHING;
        return KSV_OK;
    }
    KSV_TRY(note_damage(in, status, &problem, error));
    return take_highest_copy(in, error);
}

static ksv_status inspect(inspector *in, ksv_error *error)
{
    catalog_view view;
    ksv_error problem;
    KSV_TRY(name_list_read(in->fs, in->directory, in->allocator, &in->names,
                           error));
    ksv_status status = view_open(in->fs, in->path, &view, &in->file, &problem);
    if (in->names.has_copy)
        in->result->highest = in->names.highest_copy;
    KSV_TRY(note_damage(in, status, &problem, error));
    if (status != KSV_OK)
        return take_highest_copy(in, error);
    in->result->head = view.head;
    if (view.head.txn_id > in->result->highest)
        in->result->highest = view.head.txn_id;
    if (in->file == NULL || view.head.txn_id == 0)
        return judge_absence(in, &view, error);
    return compare_both(in, error);
}

ksv_status inspect_index(const ksv_file_system *fs, const char *directory,
                         const ksv_allocator *allocator, inspection *result,
                         ksv_error *error)
{
    result->finding = INSPECT_NOTHING;
    result->head = (lmdb_head){0};
    result->highest = 0;
    catalog_state_init(&result->state, allocator);
    error_clear(&result->damage);
    char *path = path_join(allocator, directory, CATALOG_FILE_NAME);
    if (path == NULL)
        return error_set_memory(error);
    inspector in = {.fs = fs,
                    .directory = directory,
                    .path = path,
                    .allocator = allocator,
                    .names = {.allocator = allocator},
                    .result = result};
    ksv_status status = inspect(&in, error);
    if (status != KSV_OK)
        catalog_state_release(&result->state);
    file_close_quietly(in.file);
    name_list_release(&in.names);
    memory_free_string(allocator, path);
    return status;
}
