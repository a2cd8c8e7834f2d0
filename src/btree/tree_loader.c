/* SPDX-License-Identifier: MIT */
/* Makes a new tree from entries that come in order. */
#include "btree/tree_loader.h"

#include "base/error.h"
#include "btree/tree_block.h"
#include "btree/tree_packer.h"
#include "btree/tree_store.h"
#include "btree/tree_view.h"
#include "io/atomic_file.h"
#include "io/file.h"

struct tree_loader {
    const ksv_file_system *fs; /* borrowed */
    ksv_allocator allocator;
    char *directory;
    char *path;
    char *scratch_path; /* NULL once it has its name */
    tree_store store;
    bool is_open; /* the store */
    tree_packer packer;
    tree_head head;
    tree_record_key record; /* of the last block */
    byte_buffer last_key;
    tree_place last_place;
    uint64_t part_entries; /* of the last place's part, not yet counted */
    ksv_status status;     /* of what failed */
};

/* The key of a block's record, behind that of the block before. */
static tree_record_key next_record(const tree_loader *l, tree_key low)
{
    uint64_t tie = TREE_TIE_FIRST;
    const tree_record_key *before = &l->record;
    if (l->head.blocks > 0 &&
        tree_record_has_text(before->bytes, before->size_bytes, low))
        tie =
            tree_record_tie(before->bytes, before->size_bytes) + TREE_TIE_STEP;
    return tree_record_block(low, tie);
}

/* A tree_block_fn. */
static ksv_status put_block(void *ctx, const tree_bound *low, uint8_t *block,
                            size_t size_bytes, ksv_error *error)
{
    tree_loader *l = ctx;
    if (tree_store_is_long(&l->store, size_bytes)) {
        /* Without a head, which comes behind the last block. */
        l->store.txn_id = 0;
        KSV_TRY(lmdb_store_commit(&l->store.lmdb, error));
    }
    KSV_TRY(tree_store_begin(&l->store, size_bytes, error));
    tree_block_seal(block, size_bytes, l->store.txn_id);
    l->record = next_record(l, low->key);
    l->head.blocks++;
    return tree_store_put(&l->store, &l->record, block, size_bytes, true,
                          error);
}

/* LMDB and the file system given are at odds about what there is. */
static ksv_status explain_missing(const tree_loader *l, ksv_status status,
                                  const ksv_error *problem, ksv_error *error)
{
    if (status != KSV_OK && file_error_is_missing(problem))
        return error_set(error, KSV_ERROR_UNSUPPORTED, l->directory,
                         "an index can be built in the file system of the "
                         "operating system only");
    if (status != KSV_OK && error != NULL)
        *error = *problem;
    return status;
}

static ksv_status open_store(tree_loader *l, ksv_error *error)
{
    ksv_error problem;
    ksv_file_info info;
    ksv_status status = l->fs->remove(l->fs->ctx, l->scratch_path, &problem);
    if (status != KSV_OK && !file_error_is_missing(&problem))
        return explain_missing(l, status, &problem, error);
    error_clear(&problem);
    status = tree_store_open(&l->store, l->scratch_path, 0, true, &l->allocator,
                             &problem);
    l->is_open = status == KSV_OK;
    if (status == KSV_OK)
        status = l->fs->info(l->fs->ctx, l->scratch_path, &info, &problem);
    return explain_missing(l, status, &problem, error);
}

static ksv_status make_paths(tree_loader *l, const char *directory,
                             const char *name, ksv_error *error)
{
    l->directory =
        memory_copy_string(&l->allocator, directory, strlen(directory));
    l->path = path_join(&l->allocator, directory, name);
    if (l->path != NULL)
        l->scratch_path =
            path_append(&l->allocator, l->path, ATOMIC_FILE_TEMPORARY);
    return l->directory != NULL && l->scratch_path != NULL
               ? KSV_OK
               : error_set_memory(error);
}

static ksv_status start(tree_loader *l, ksv_error *error)
{
    static const tree_bound all;
    KSV_TRY(open_store(l, error));
    tree_packer_init(&l->packer, &l->allocator, l->store.page_bytes,
                     tree_block_tag(l->head.id), put_block, l);
    return tree_packer_begin(&l->packer, &all, error);
}

ksv_status tree_loader_open(const ksv_file_system *fs, const char *directory,
                            const char *name, const uint8_t id[16],
                            const ksv_allocator *allocator, tree_loader **out,
                            ksv_error *error)
{
    ksv_allocator a = allocator_or_default(allocator);
    *out = NULL;
    tree_loader *l = memory_zalloc(&a, sizeof *l);
    if (l == NULL)
        return error_set_memory(error);
    l->fs = fs;
    l->allocator = a;
    tree_head_init(&l->head, &l->allocator);
    memcpy(l->head.id, id, sizeof l->head.id);
    buffer_init(&l->last_key, &l->allocator);
    ksv_status status = make_paths(l, directory, name, error);
    if (status == KSV_OK)
        status = start(l, error);
    if (status != KSV_OK)
        tree_loader_close(l);
    else
        *out = l;
    return status;
}

static ksv_status count_part(tree_loader *l, ksv_error *error)
{
    if (l->part_entries == 0)
        return KSV_OK;
    int64_t entries = (int64_t)l->part_entries;
    l->part_entries = 0;
    return tree_head_count(&l->head, l->last_place.part, entries, error);
}

static ksv_status add(tree_loader *l, tree_key key, tree_place place,
                      bool *is_new, ksv_error *error)
{
    tree_bound entry = {key, place};
    tree_bound last = {{l->last_key.data, l->last_key.size}, l->last_place};
    bool is_first = l->head.entries + l->part_entries == 0;
    int order = is_first ? -1 : tree_key_compare(last.key, key);
    *is_new = order != 0;
    if (order == 0)
        order = tree_place_compare(last.place, place);
    if (order == 0)
        return KSV_OK;
    if (order > 0 || place.part > TREE_MOST_PART ||
        key.size_bytes > TREE_MOST_KEY_BYTES)
        return error_set(error, KSV_ERROR_ARGUMENT, l->path,
                         "the entries are out of order");
    if (place.part != l->last_place.part)
        KSV_TRY(count_part(l, error));
    KSV_TRY(tree_packer_add(&l->packer, &entry, error));
    l->part_entries++;
    l->last_place = place;
    buffer_clear(&l->last_key);
    return buffer_append(&l->last_key, key.data, key.size_bytes, error);
}

/* What has failed goes on failing. */
static ksv_status check_status(const tree_loader *l, ksv_error *error)
{
    return l->status == KSV_OK
               ? KSV_OK
               : error_set(error, l->status, l->path, "has failed before");
}

ksv_status tree_loader_add(tree_loader *loader, tree_key key, tree_place place,
                           bool *is_new, ksv_error *error)
{
    bool unused;
    KSV_TRY(check_status(loader, error));
    ksv_status status =
        add(loader, key, place, is_new != NULL ? is_new : &unused, error);
    if (status != KSV_ERROR_ARGUMENT)
        loader->status = status;
    return status;
}

static ksv_status write_rest(tree_loader *l, ksv_error *error)
{
    KSV_TRY(count_part(l, error));
    KSV_TRY(tree_packer_end(&l->packer, NULL, error));
    KSV_TRY(tree_store_commit(&l->store, &l->head, true, error));
    return lmdb_store_sync(&l->store.lmdb, error);
}

static ksv_status read_info(const tree_loader *l, const char *path,
                            tree_info *info, ksv_error *error)
{
    uint64_t bytes = 0;
    tree_view *view = NULL;
    tree_source source = {.path = path, .allocator = &l->allocator};
    if (info == NULL)
        return KSV_OK;
    KSV_TRY(l->fs->open_read(l->fs->ctx, path, &source.file, error));
    ksv_status status = tree_view_open(&source, &view, &bytes, error);
    if (status == KSV_OK)
        tree_view_get_info(view, info);
    tree_view_close(view);
    file_close_quietly(source.file);
    return status;
}

static ksv_status publish(tree_loader *l, ksv_error *error)
{
    KSV_TRY(l->fs->rename(l->fs->ctx, l->scratch_path, l->path, error));
    memory_free_string(&l->allocator, l->scratch_path);
    l->scratch_path = NULL;
    return l->fs->sync_directory(l->fs->ctx, l->directory, error);
}

/* Ends the writing; all calls fail from then on. */
static ksv_status end(tree_loader *l, ksv_error *error)
{
    KSV_TRY(check_status(l, error));
    ksv_status status = write_rest(l, error);
    tree_store_close(&l->store);
    l->is_open = false;
    l->status = status == KSV_OK ? KSV_ERROR_ARGUMENT : status;
    return status;
}

ksv_status tree_loader_finish(tree_loader *loader, tree_info *info,
                              ksv_error *error)
{
    KSV_TRY(end(loader, error));
    KSV_TRY(publish(loader, error));
    return read_info(loader, loader->path, info, error);
}

ksv_status tree_loader_finish_unnamed(tree_loader *loader, tree_info *info,
                                      ksv_error *error)
{
    KSV_TRY(end(loader, error));
    KSV_TRY(read_info(loader, loader->scratch_path, info, error));
    memory_free_string(&loader->allocator, loader->scratch_path);
    loader->scratch_path = NULL;
    return KSV_OK;
}

void tree_loader_close(tree_loader *loader)
{
    if (loader == NULL)
        return;
    ksv_allocator a = loader->allocator;
    if (loader->is_open)
        tree_store_close(&loader->store);
    if (loader->scratch_path != NULL) {
        ksv_status ignored =
            loader->fs->remove(loader->fs->ctx, loader->scratch_path, NULL);
        (void)ignored;
    }
    tree_packer_release(&loader->packer);
    tree_head_release(&loader->head);
    buffer_release(&loader->last_key);
    memory_free_string(&a, loader->scratch_path);
    memory_free_string(&a, loader->path);
    memory_free_string(&a, loader->directory);
    memory_free(&a, loader, sizeof *loader);
}
