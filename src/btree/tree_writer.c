/* SPDX-License-Identifier: MIT */
/* Changes a tree in place, in short transactions beside readers. */
#include "btree/tree_writer.h"

#include "base/error.h"
#include "btree/tree_region.h"
#include "io/file.h"

struct tree_writer {
    ksv_allocator allocator;
    char *path;
    uint8_t id[16];
    ksv_file *file;
    tree_target target;
    tree_region region;
    ksv_status status; /* of what failed */
};

static ksv_status open_all(tree_writer *w, const ksv_file_system *fs,
                           const char *path, ksv_error *error)
{
    w->path = memory_copy_string(&w->allocator, path, strlen(path));
    if (w->path == NULL)
        return error_set_memory(error);
    KSV_TRY(fs->open_read(fs->ctx, path, &w->file, error));
    tree_source source = {.file = w->file,
                          .path = w->path,
                          .allocator = &w->allocator,
                          .id = w->id};
    KSV_TRY(tree_target_open(&w->target, &source, &w->allocator, error));
    tree_region_init(&w->region, &w->target);
    return KSV_OK;
}

ksv_status tree_writer_open(const ksv_file_system *fs, const char *path,
                            const uint8_t id[16],
                            const ksv_allocator *allocator, tree_writer **out,
                            ksv_error *error)
{
    ksv_allocator a = allocator_or_default(allocator);
    *out = NULL;
    tree_writer *w = memory_zalloc(&a, sizeof *w);
    if (w == NULL)
        return error_set_memory(error);
    w->allocator = a;
    memcpy(w->id, id, sizeof w->id);
    ksv_status status = open_all(w, fs, path, error);
    if (status != KSV_OK)
        tree_writer_close(w);
    else
        *out = w;
    return status;
}

void tree_writer_close(tree_writer *w)
{
    if (w == NULL)
        return;
    ksv_allocator a = w->allocator;
    tree_region_release(&w->region);
    tree_target_close(&w->target);
    file_close_quietly(w->file);
    memory_free_string(&a, w->path);
    memory_free(&a, w, sizeof *w);
}

void tree_writer_get_info(const tree_writer *writer, tree_info *info)
{
    if (writer->target.view == NULL)
        memset(info, 0, sizeof *info);
    else
        tree_view_get_info(writer->target.view, info);
}

const tree_part *tree_writer_parts(const tree_writer *writer, size_t *count)
{
    *count = writer->target.head.part_count;
    return writer->target.head.parts;
}

/* What has failed goes on failing: the transaction is lost. */
static ksv_status note(tree_writer *w, ksv_status status, ksv_error *error)
{
    if (status != KSV_OK) {
        w->status = status;
        error_add_path(error, w->path);
    }
    return status;
}

static ksv_status check_status(const tree_writer *w, ksv_error *error)
{
    return w->status == KSV_OK
               ? KSV_OK
               : error_set(error, w->status, w->path, "has failed before");
}

static ksv_status flush(tree_writer *w, ksv_error *error)
{
    return w->region.is_open ? tree_region_close(&w->region, error) : KSV_OK;
}

static ksv_status change(tree_writer *w, const tree_bound *entry, bool is_out,
                         ksv_error *error)
{
    if (w->region.is_open && !tree_region_takes(&w->region, entry))
        KSV_TRY(flush(w, error));
    if (!w->region.is_open)
        KSV_TRY(tree_region_open(&w->region, entry, error));
    return tree_region_add(&w->region, entry, is_out, error);
}

static ksv_status check_entry(const tree_writer *w, const tree_bound *entry,
                              ksv_error *error)
{
    if (entry->key.size_bytes <= TREE_MOST_KEY_BYTES &&
        entry->place.part <= TREE_MOST_PART)
        return KSV_OK;
    return error_set(error, KSV_ERROR_ARGUMENT, w->path,
                     "a key or the number of a part is too large");
}

ksv_status tree_writer_insert(tree_writer *writer, tree_key key,
                              tree_place place, ksv_error *error)
{
    tree_bound entry = {key, place};
    KSV_TRY(check_status(writer, error));
    KSV_TRY(check_entry(writer, &entry, error));
    return note(writer, change(writer, &entry, false, error), error);
}

ksv_status tree_writer_delete(tree_writer *writer, tree_key key,
                              tree_place place, ksv_error *error)
{
    tree_bound entry = {key, place};
    KSV_TRY(check_status(writer, error));
    KSV_TRY(check_entry(writer, &entry, error));
    return note(writer, change(writer, &entry, true, error), error);
}

static ksv_status commit(tree_writer *w, ksv_error *error)
{
    KSV_TRY(flush(w, error));
    return tree_target_commit(&w->target, error);
}

ksv_status tree_writer_commit(tree_writer *writer, uint64_t *txn_id,
                              ksv_error *error)
{
    KSV_TRY(check_status(writer, error));
    KSV_TRY(note(writer, commit(writer, error), error));
    if (txn_id != NULL)
        *txn_id = writer->target.view->lmdb.txn_id;
    return KSV_OK;
}

static bool has_dead_parts(const tree_writer *w, tree_part_fn is_dead,
                           void *ctx)
{
    const tree_head *head = &w->target.head;
    for (size_t i = 0; i < head->part_count; i++)
        if (is_dead(ctx, head->parts[i].part))
            return true;
    return false;
}

/* Region by region, each of which begins where the one before ended. */
static ksv_status sweep(tree_writer *w, ksv_error *error)
{
    byte_buffer key;
    tree_bound bound = {{NULL, 0}, {0, 0}};
    buffer_init(&key, &w->allocator);
    ksv_status status = KSV_OK;
    bool has_more = true;
    while (has_more && status == KSV_OK) {
        status = tree_region_open(&w->region, &bound, error);
        if (status == KSV_OK)
            status = tree_region_close(&w->region, error);
        has_more = w->region.has_high;
        if (status == KSV_OK && has_more) {
            tree_bound high = tree_region_high(&w->region);
            buffer_clear(&key);
            status =
                buffer_append(&key, high.key.data, high.key.size_bytes, error);
            bound = (tree_bound){{key.data, key.size}, high.place};
        }
    }
    buffer_release(&key);
    return status;
}

static ksv_status sweep_and_commit(tree_writer *w, tree_part_fn is_dead,
                                   void *ctx, uint64_t generation,
                                   ksv_error *error)
{
    tree_head *head = &w->target.head;
    KSV_TRY(commit(w, error));
    if (!has_dead_parts(w, is_dead, ctx))
        return KSV_OK;
    if (head->least_generation < generation)
        head->least_generation = generation;
    w->region.is_dead = is_dead;
    w->region.dead_ctx = ctx;
    ksv_status status = sweep(w, error);
    w->region.is_dead = NULL;
    return status == KSV_OK ? commit(w, error) : status;
}

ksv_status tree_writer_sweep(tree_writer *writer, tree_part_fn is_dead,
                             void *ctx, uint64_t generation, ksv_error *error)
{
    KSV_TRY(check_status(writer, error));
    return note(writer,
                sweep_and_commit(writer, is_dead, ctx, generation, error),
                error);
}
