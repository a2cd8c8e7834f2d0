/* SPDX-License-Identifier: MIT */
/* An open tree, which threads share, beside a writer that may be at work. */
#include "btree/tree_reader.h"

#include "base/error.h"
#include "btree/tree_shared.h"
#include "io/file.h"

/* Opens the last transaction, if it has all that the catalog's state names. */
static ksv_status open_view(tree_reader *reader, tree_view **out,
                            uint64_t *bytes_read, ksv_error *error)
{
    KSV_TRY(tree_view_open(&reader->source, out, bytes_read, error));
    const tree_view *view = *out;
    ksv_status status = KSV_OK;
    if (view->lmdb.txn_id < reader->least_txn_id)
        status =
            tree_view_damage(view, view->lmdb.newest.page_number,
                             "is older than what the catalog knows", error);
    else if (view->head.least_generation > reader->generation)
        status = error_set(error, KSV_ERROR_STALE, reader->path,
                           "was changed by a later build");
    if (status != KSV_OK) {
        tree_view_close(*out);
        *out = NULL;
    }
    return status;
}

static ksv_status open_file(tree_reader *reader,
                            const tree_reader_options *options,
                            ksv_error *error)
{
    reader->file = options->file;
    reader->owns_file = options->file == NULL;
    if (!reader->owns_file)
        return KSV_OK;
    KSV_TRY(options->fs->open_read(options->fs->ctx, options->path,
                                   &reader->file, error));
    file_expect_random(reader->file);
    return KSV_OK;
}

static ksv_status open_all(tree_reader *reader,
                           const tree_reader_options *options, ksv_error *error)
{
    uint64_t bytes = 0;
    reader->path = memory_copy_string(&reader->allocator, options->path,
                                      strlen(options->path));
    if (reader->path == NULL)
        return error_set_memory(error);
    KSV_TRY(open_file(reader, options, error));
    reader->source = (tree_source){.file = reader->file,
                                   .path = reader->path,
                                   .allocator = &reader->allocator,
                                   .id = reader->id,
                                   .knows_unused = true};
    KSV_TRY(open_view(reader, &reader->current, &bytes, error));
    reader->current->users = 1;
    return KSV_OK;
}

ksv_status tree_reader_open(const tree_reader_options *options,
                            tree_reader **out, ksv_error *error)
{
    ksv_allocator a = allocator_or_default(options->allocator);
    *out = NULL;
    tree_reader *reader = memory_zalloc(&a, sizeof *reader);
    if (reader == NULL)
        return error_set_memory(error);
    reader->allocator = a;
    memcpy(reader->id, options->id, sizeof reader->id);
    reader->least_txn_id = options->least_txn_id;
    reader->generation = options->generation;
    ksv_status status = mutex_init(&reader->lock, error);
    if (status != KSV_OK) {
        memory_free(&a, reader, sizeof *reader);
        return status;
    }
    status = open_all(reader, options, error);
    if (status != KSV_OK)
        tree_reader_close(reader);
    else
        *out = reader;
    return status;
}

void tree_reader_close(tree_reader *reader)
{
    if (reader == NULL)
        return;
    ksv_allocator a = reader->allocator;
    tree_view_close(reader->current);
    if (reader->owns_file)
        file_close_quietly(reader->file);
    memory_free_string(&a, reader->path);
    mutex_release(&reader->lock);
    memory_free(&a, reader, sizeof *reader);
}

tree_view *reader_acquire(tree_reader *reader)
{
    mutex_lock(&reader->lock);
    tree_view *view = reader->current;
    view->users++;
    mutex_unlock(&reader->lock);
    return view;
}

/* With the lock. */
static void drop_user(tree_view *view)
{
    if (--view->users == 0)
        tree_view_close(view);
}

void reader_release(tree_reader *reader, tree_view *view)
{
    if (view == NULL)
        return;
    mutex_lock(&reader->lock);
    drop_user(view);
    mutex_unlock(&reader->lock);
}

/* With the lock, so that only one thread opens what all are going to use. */
static ksv_status renew_locked(tree_reader *reader, tree_view **view,
                               bool *renewed, uint64_t *bytes_read,
                               ksv_error *error)
{
    if (reader->current == *view) {
        bool is_last;
        tree_view *later;
        KSV_TRY(tree_view_is_last(*view, &is_last, error));
        if (is_last)
            return KSV_OK;
        KSV_TRY(open_view(reader, &later, bytes_read, error));
        later->users = 1;
        drop_user(reader->current);
        reader->current = later;
    }
    drop_user(*view);
    *view = reader->current;
    (*view)->users++;
    *renewed = true;
    return KSV_OK;
}

ksv_status reader_renew(tree_reader *reader, tree_view **view, bool *renewed,
                        uint64_t *bytes_read, ksv_error *error)
{
    *renewed = false;
    mutex_lock(&reader->lock);
    ksv_status status = renew_locked(reader, view, renewed, bytes_read, error);
    mutex_unlock(&reader->lock);
    return status;
}

void tree_reader_get_info(tree_reader *reader, tree_info *info)
{
    tree_view *view = reader_acquire(reader);
    tree_view_get_info(view, info);
    reader_release(reader, view);
}
