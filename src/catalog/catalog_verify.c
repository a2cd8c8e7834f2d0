/* SPDX-License-Identifier: MIT */
/* Compares what LMDB holds with the copy of the committed state. */
#include "base/error.h"
#include "catalog/catalog.h"
#include "catalog/catalog_copy.h"
#include "catalog/catalog_reader.h"
#include "catalog/catalog_records.h"

typedef struct verify_task {
    const ksv_file_system *fs;
    const char *directory;
    const ksv_allocator *allocator;
    uint64_t bytes_checked;
} verify_task;

/* Each holds the checksum of what the other should hold, so that equal sums of
 * two contents, both checked against theirs, are equal contents. */
static ksv_status compare(verify_task *task, ksv_file *file, const char *path,
                          const catalog_view *view, const catalog_state *copy,
                          ksv_error *error)
{
    uint64_t of_copy;
    uint64_t of_environment;
    catalog_state state;
    KSV_TRY(copy_body_checksum(copy, &of_copy, error));
    KSV_TRY(records_read(file, path, &view->head, task->allocator, &state,
                         &of_environment, &task->bytes_checked, error));
    catalog_state_release(&state);
    task->bytes_checked += sizeof view->head.raw;
    if (of_copy == of_environment)
        return KSV_OK;
    error_set(error, KSV_ERROR_CORRUPT, path, "differs from its copy");
    error_add_remedy(error, KSV_REMEDY_BUILD);
    return KSV_ERROR_CORRUPT;
}

static ksv_status verify_view(void *ctx, ksv_file *file, const char *path,
                              const catalog_view *view, ksv_error *error)
{
    verify_task *task = ctx;
    catalog_state copy;
    catalog_mark mark = records_mark(&view->head);
    task->bytes_checked = 0;
    KSV_TRY(copy_read_marked(task->fs, task->directory, &mark, false,
                             task->allocator, &copy, &task->bytes_checked,
                             error));
    ksv_status status = compare(task, file, path, view, &copy, error);
    catalog_state_release(&copy);
    return status;
}

ksv_status catalog_verify(const ksv_file_system *fs, const char *directory,
                          const ksv_allocator *allocator,
                          uint64_t *bytes_checked, ksv_error *error)
{
    ksv_allocator a = allocator_or_default(allocator);
    verify_task task = {fs, directory, &a, 0};
    ksv_status status = view_look(fs, directory, &a, verify_view, &task, error);
    *bytes_checked += task.bytes_checked;
    return status;
}
