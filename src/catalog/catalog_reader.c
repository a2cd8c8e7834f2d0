/* SPDX-License-Identifier: MIT */
/* Reads the committed state without writing, safely beside a builder. */
#include "catalog/catalog_reader.h"

#include "base/error.h"
#include "catalog/catalog_copy.h"
#include "catalog/catalog_names.h"
#include "catalog/catalog_records.h"
#include "io/file.h"

/* Each try that fails because a builder has committed meanwhile is followed by
 * another; this many commits in the time of one look do not happen. */
#define TRIES_MOST 1000
/* A failure is believed when a second look sees the same meta pages. Damage in
 * themselves takes a third one and pauses: LMDB may have been writing one when
 * it was read. */
#define SAME_TRIES 2
#define SAME_TRIES_OF_BAD_HEAD 3
#define PAUSE_NS 1000000

static ksv_status open_and_measure(const ksv_file_system *fs, const char *path,
                                   catalog_view *view, ksv_file **file,
                                   ksv_error *error)
{
    ksv_status status = fs->open_read(fs->ctx, path, file, error);
    if (status != KSV_OK)
        return status;
    ksv_file_info info = {0};
    status = (*file)->ops->info(*file, &info, error);
    if (status == KSV_OK && info.kind != KSV_FILE_REGULAR)
        status =
            error_set(error, KSV_ERROR_CORRUPT, path, "is not a regular file");
    view->exists = true;
    view->size_bytes = info.size_bytes;
    return status;
}

ksv_status view_open(const ksv_file_system *fs, const char *path,
                     catalog_view *view, ksv_file **file, ksv_error *error)
{
    *view = (catalog_view){0};
    *file = NULL;
    ksv_error problem;
    error_clear(&problem);
    ksv_status status = open_and_measure(fs, path, view, file, &problem);
    if (status == KSV_OK && view->size_bytes > 0)
        status = lmdb_head_read(*file, path, &view->head, &problem);
    else if (status != KSV_OK && file_error_is_missing(&problem))
        status = KSV_OK;
    if (status != KSV_OK || !view->exists || view->size_bytes == 0) {
        file_close_quietly(*file);
        *file = NULL;
    }
    if (status != KSV_OK && error != NULL) {
        *error = problem;
        error_add_path(error, path);
    }
    return status;
}

static ksv_status no_index(const char *directory, ksv_error *error)
{
    error_set(error, KSV_ERROR_NO_INDEX, directory, "there is no index here");
    error_add_remedy(error, KSV_REMEDY_BUILD);
    return KSV_ERROR_NO_INDEX;
}

static ksv_status damaged(const char *path, const char *what, ksv_error *error)
{
    error_set(error, KSV_ERROR_CORRUPT, path, "%s", what);
    error_add_remedy(error, KSV_REMEDY_BUILD);
    return KSV_ERROR_CORRUPT;
}

/* Before the first commit, the one copy that there may be is that of a builder
 * that is about to commit, or was killed then. */
static ksv_status judge_first_copy(const ksv_file_system *fs,
                                   const char *directory, const char *path,
                                   const catalog_view *view,
                                   const ksv_allocator *allocator,
                                   uint64_t highest_copy, ksv_error *error)
{
    catalog_mark mark;
    catalog_state state;
    if (highest_copy != 1)
        return damaged(path, "has no commit, but there are copies of one",
                       error);
    KSV_TRY(copy_read(fs, directory, highest_copy, allocator, &mark, &state,
                      NULL, error));
    catalog_state_release(&state);
    if (mark.environment_id != view->head.environment_id)
        return damaged(path, "belongs to another index than the copy of it",
                       error);
    return no_index(directory, error);
}

ksv_status view_judge_absence(const ksv_file_system *fs, const char *directory,
                              const char *path, const catalog_view *view,
                              const ksv_allocator *allocator, ksv_error *error)
{
    name_list list;
    ksv_error problem;
    error_clear(&problem);
    ksv_status status =
        name_list_read(fs, directory, allocator, &list, &problem);
    bool has_commit = view->exists && view->size_bytes > 0;
    if (status != KSV_OK) {
        if (file_error_is_missing(&problem))
            status = no_index(directory, error);
        else if (error != NULL)
            *error = problem;
    } else if (has_commit && list.has_copy) {
        status = judge_first_copy(fs, directory, path, view, allocator,
                                  list.highest_copy, error);
    } else if (!has_commit && (list.has_copy || list.has_sidecar)) {
        status = damaged(path, view->exists ? "is empty" : "is missing", error);
    } else {
        status = no_index(directory, error);
    }
    name_list_release(&list);
    return status;
}

static ksv_status look_once(const ksv_file_system *fs, const char *directory,
                            const char *path, const ksv_allocator *allocator,
                            view_fn look, void *ctx, catalog_view *view,
                            ksv_error *error)
{
    ksv_file *file;
    KSV_TRY(view_open(fs, path, view, &file, error));
    ksv_status status =
        file == NULL || view->head.txn_id == 0
            ? view_judge_absence(fs, directory, path, view, allocator, error)
            : look(ctx, file, path, view, error);
    file_close_quietly(file);
    return status;
}

static bool is_same_view(const catalog_view *a, const catalog_view *b)
{
    return a->exists == b->exists &&
           (a->size_bytes == 0) == (b->size_bytes == 0) &&
           memcmp(a->head.raw, b->head.raw, sizeof a->head.raw) == 0;
}

ksv_status view_look(const ksv_file_system *fs, const char *directory,
                     const ksv_allocator *allocator, view_fn look, void *ctx,
                     ksv_error *error)
{
    char *path = path_join(allocator, directory, CATALOG_FILE_NAME);
    if (path == NULL)
        return error_set_memory(error);
    catalog_view before = {0};
    ksv_status status = KSV_OK;
    int same = 0;
    int enough = SAME_TRIES;
    for (int i = 0; i < TRIES_MOST && same < enough; i++) {
        catalog_view view;
        status =
            look_once(fs, directory, path, allocator, look, ctx, &view, error);
        if (status != KSV_ERROR_CORRUPT)
            break;
        same = i > 0 && is_same_view(&before, &view) ? same + 1 : 1;
        enough = view.head.page_bytes > 0 ? SAME_TRIES : SAME_TRIES_OF_BAD_HEAD;
        if (view.head.page_bytes == 0 && same < enough)
            clock_sleep_ns(PAUSE_NS);
        before = view;
    }
    memory_free_string(allocator, path);
    return status;
}

typedef struct read_task {
    const ksv_file_system *fs;
    const char *directory;
    const ksv_allocator *allocator;
    catalog_state *state;
} read_task;

static ksv_status read_copy(void *ctx, ksv_file *file, const char *path,
                            const catalog_view *view, ksv_error *error)
{
    (void)file;
    (void)path;
    const read_task *task = ctx;
    catalog_mark mark = records_mark(&view->head);
    return copy_read_marked(task->fs, task->directory, &mark, true,
                            task->allocator, task->state, NULL, error);
}

ksv_status catalog_read(const ksv_file_system *fs, const char *directory,
                        const ksv_allocator *allocator, catalog_state *state,
                        ksv_error *error)
{
    ksv_allocator a = allocator_or_default(allocator);
    catalog_state_init(state, &a);
    read_task task = {fs, directory, &a, state};
    return view_look(fs, directory, &a, read_copy, &task, error);
}
