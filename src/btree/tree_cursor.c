/* SPDX-License-Identifier: MIT */
/* A place between the entries of a tree: finds keys, goes both ways. */
#include "btree/tree_cursor.h"

#include "base/error.h"
#include "btree/tree_entries.h"
#include "btree/tree_locate.h"
#include "btree/tree_shared.h"

/* Each failure may come of a later transaction, in whose tree what was going on
 * begins again; in between it may change once more. */
#define TRIES 100

struct tree_cursor {
    tree_reader *reader; /* borrowed */
    ksv_allocator allocator;
    tree_view *view;
    tree_located located;
    tree_entries entries; /* at an entry when its block is not NULL */
    byte_buffer target_key;
    tree_place target_place; /* where it is going */
    const tree_bound *limit; /* what is behind is not wanted; or NULL */
    uint64_t bytes_read;     /* by what is done beside `located` */
};

ksv_status tree_cursor_open(tree_reader *reader, tree_cursor **out,
                            ksv_error *error)
{
    *out = NULL;
    tree_cursor *c = memory_zalloc(&reader->allocator, sizeof *c);
    if (c == NULL)
        return error_set_memory(error);
    c->reader = reader;
    c->allocator = reader->allocator;
    c->view = reader_acquire(reader);
    tree_located_init(&c->located, &c->allocator);
    tree_entries_init(&c->entries, &c->allocator);
    buffer_init(&c->target_key, &c->allocator);
    *out = c;
    return KSV_OK;
}

void tree_cursor_close(tree_cursor *c)
{
    if (c == NULL)
        return;
    ksv_allocator a = c->allocator;
    reader_release(c->reader, c->view);
    tree_located_release(&c->located);
    tree_entries_release(&c->entries);
    buffer_release(&c->target_key);
    memory_free(&a, c, sizeof *c);
}

static ksv_status set_target(tree_cursor *c, const tree_bound *bound,
                             ksv_error *error)
{
    buffer_clear(&c->target_key);
    c->target_place = bound->place;
    return buffer_append(&c->target_key, bound->key.data, bound->key.size_bytes,
                         error);
}

static tree_bound target(const tree_cursor *c)
{
    return (tree_bound){{c->target_key.data, c->target_key.size},
                        c->target_place};
}

/* The high bound of the block becomes the target. */
static ksv_status target_behind(tree_cursor *c, ksv_error *error)
{
    const tree_block *b = &c->located.block;
    tree_bound low = {{b->low.key.data, b->high_shared}, b->high_place};
    KSV_TRY(set_target(c, &low, error));
    return buffer_append(&c->target_key, b->high_rest.data,
                         b->high_rest.size_bytes, error);
}

/* Whether nothing is wanted of the blocks behind this one. */
static bool is_last_block(const tree_cursor *c)
{
    const tree_block *b = &c->located.block;
    return !b->has_high ||
           (c->limit != NULL && tree_block_compare_high(b, c->limit) > 0);
}

/* Goes to the first entry that is not before the target. */
static ksv_status go_forward(tree_cursor *c, bool *found, ksv_error *error)
{
    for (;;) {
        tree_bound bound = target(c);
        KSV_TRY(tree_locate(&c->located, c->view, &bound, error));
        KSV_TRY(tree_entries_seek(&c->entries, &c->located.block, &bound, found,
                                  error));
        if (*found || is_last_block(c))
            return KSV_OK;
        KSV_TRY(target_behind(c, error));
    }
}

/* Goes to the last entry of the block that comes before the target. */
static ksv_status last_before(tree_cursor *c, const tree_bound *bound,
                              bool *found, ksv_error *error)
{
    const tree_block *block = &c->located.block;
    KSV_TRY(tree_entries_seek(&c->entries, block, bound, found, error));
    return *found ? tree_entries_previous(&c->entries, found, error)
                  : tree_entries_last(&c->entries, block, found, error);
}

/* From the block that is located on, back to one that has entries. */
static ksv_status last_of_earlier(tree_cursor *c, bool *found, ksv_error *error)
{
    while (!*found) {
        bool is_there;
        KSV_TRY(tree_locate_previous(&c->located, &is_there, error));
        if (!is_there)
            return KSV_OK;
        KSV_TRY(
            tree_entries_last(&c->entries, &c->located.block, found, error));
    }
    return KSV_OK;
}

/* Goes to the last entry that comes before the target. */
static ksv_status go_back(tree_cursor *c, bool *found, ksv_error *error)
{
    tree_bound bound = target(c);
    KSV_TRY(tree_locate(&c->located, c->view, &bound, error));
    KSV_TRY(last_before(c, &bound, found, error));
    return last_of_earlier(c, found, error);
}

static ksv_status go_last(tree_cursor *c, bool *found, ksv_error *error)
{
    KSV_TRY(tree_locate_last(&c->located, c->view, error));
    KSV_TRY(tree_entries_last(&c->entries, &c->located.block, found, error));
    return last_of_earlier(c, found, error);
}

typedef ksv_status (*cursor_go)(tree_cursor *c, bool *found, ksv_error *error);

/* After a failure: whether there is a later transaction to go on with. */
static ksv_status renew(tree_cursor *c, bool *renewed, ksv_error *error)
{
    ksv_error problem;
    c->entries.block = NULL;
    ksv_status status =
        reader_renew(c->reader, &c->view, renewed, &c->bytes_read, &problem);
    if (status != KSV_OK && error != NULL)
        *error = problem;
    if (*renewed)
        c->located.view = NULL;
    return status;
}

/* Goes, again in the tree of a later transaction when that may be why it
 * failed. */
static ksv_status run(tree_cursor *c, cursor_go go, bool *found,
                      ksv_error *error)
{
    for (int i = 0; i < TRIES; i++) {
        bool renewed;
        *found = false;
        ksv_status status = go(c, found, error);
        if (status == KSV_OK && !*found)
            c->entries.block = NULL;
        if (status == KSV_OK)
            return status;
        *found = false;
        error_add_path(error, c->reader->path);
        KSV_TRY(renew(c, &renewed, error));
        if (!renewed || status != KSV_ERROR_CORRUPT)
            return status;
    }
    return error_set(error, KSV_ERROR_BUSY, c->reader->path,
                     "changes faster than it can be read");
}

ksv_status tree_cursor_first(tree_cursor *cursor, bool *found, ksv_error *error)
{
    return tree_cursor_seek(cursor, (tree_key){NULL, 0}, found, error);
}

ksv_status tree_cursor_last(tree_cursor *cursor, bool *found, ksv_error *error)
{
    return run(cursor, go_last, found, error);
}

ksv_status tree_cursor_seek(tree_cursor *cursor, tree_key key, bool *found,
                            ksv_error *error)
{
    tree_bound bound = {key, {0, 0}};
    KSV_TRY(set_target(cursor, &bound, error));
    return run(cursor, go_forward, found, error);
}

ksv_status tree_cursor_seek_before(tree_cursor *cursor, tree_key key,
                                   bool *found, ksv_error *error)
{
    tree_bound bound = {key, {0, 0}};
    KSV_TRY(set_target(cursor, &bound, error));
    return run(cursor, go_back, found, error);
}

static ksv_status at_none(tree_cursor *cursor, bool *found, ksv_error *error)
{
    *found = false;
    return error_set(error, KSV_ERROR_ARGUMENT, cursor->reader->path,
                     "the cursor is at no entry");
}

ksv_status tree_cursor_next(tree_cursor *cursor, bool *found, ksv_error *error)
{
    if (cursor->entries.block == NULL)
        return at_none(cursor, found, error);
    ksv_status status = tree_entries_next(&cursor->entries, found, error);
    error_add_path(status != KSV_OK ? error : NULL, cursor->reader->path);
    KSV_TRY(status);
    if (*found || is_last_block(cursor))
        return KSV_OK;
    KSV_TRY(target_behind(cursor, error));
    return run(cursor, go_forward, found, error);
}

ksv_status tree_cursor_previous(tree_cursor *cursor, bool *found,
                                ksv_error *error)
{
    if (cursor->entries.block == NULL)
        return at_none(cursor, found, error);
    ksv_status status = tree_entries_previous(&cursor->entries, found, error);
    error_add_path(status != KSV_OK ? error : NULL, cursor->reader->path);
    KSV_TRY(status);
    if (*found)
        return KSV_OK;
    KSV_TRY(set_target(cursor, &cursor->located.block.low, error));
    return run(cursor, go_back, found, error);
}

tree_key tree_cursor_key(const tree_cursor *cursor)
{
    return (tree_key){cursor->entries.key.data, cursor->entries.key.size};
}

tree_place tree_cursor_place(const tree_cursor *cursor)
{
    return cursor->entries.places[cursor->entries.at];
}

static bool is_at_key(const tree_cursor *cursor, tree_key key)
{
    return tree_key_compare(tree_cursor_key(cursor), key) == 0;
}

static ksv_status visit_all(tree_cursor *cursor, tree_key key,
                            tree_place_fn visit, void *ctx, ksv_error *error)
{
    bool found;
    KSV_TRY(tree_cursor_seek(cursor, key, &found, error));
    while (found && is_at_key(cursor, key) &&
           visit(ctx, tree_cursor_place(cursor)))
        KSV_TRY(tree_cursor_next(cursor, &found, error));
    return KSV_OK;
}

ksv_status tree_cursor_find(tree_cursor *cursor, tree_key key,
                            tree_place_fn visit, void *ctx, ksv_error *error)
{
    const tree_bound behind = {key, {UINT64_MAX, UINT64_MAX}};
    cursor->limit = &behind;
    ksv_status status = visit_all(cursor, key, visit, ctx, error);
    cursor->limit = NULL;
    cursor->entries.block = NULL;
    return status;
}

void tree_cursor_forget(tree_cursor *cursor)
{
    cursor->located.view = NULL;
    cursor->entries.block = NULL;
}

tree_cost tree_cursor_cost(const tree_cursor *cursor)
{
    return (tree_cost){cursor->located.blocks_read,
                       cursor->bytes_read + cursor->located.path.bytes_read};
}
