/* SPDX-License-Identifier: MIT */
/* Checks every byte of a tree that counts. */
#include "btree/tree_check.h"

#include "base/error.h"
#include "btree/tree_entries.h"
#include "btree/tree_shared.h"

/* How often it begins anew because a writer has changed the tree. */
#define TRIES 10

typedef struct checker {
    const tree_view *view;
    tree_visit_fn visit;
    void *ctx;
    ksv_status visit_status; /* that the visitor has returned */
    tree_entries entries;
    tree_head counted; /* what there is */
    bool is_behind_last;
    byte_buffer bound_key; /* where the last block ended */
    tree_place bound_place;
    byte_buffer last_key; /* of the entry before, in this block */
    tree_place last_place;
} checker;

static ksv_status corrupt(ksv_error *error, const char *what)
{
    error_set(error, KSV_ERROR_CORRUPT, NULL, "%s", what);
    error_add_remedy(error, KSV_REMEDY_BUILD);
    return KSV_ERROR_CORRUPT;
}

static ksv_status set_bound(byte_buffer *key, tree_place *place,
                            const tree_bound *bound, ksv_error *error)
{
    buffer_clear(key);
    *place = bound->place;
    return buffer_append(key, bound->key.data, bound->key.size_bytes, error);
}

static ksv_status check_entry(checker *c, const tree_block *block,
                              const tree_bound *entry, bool is_first,
                              ksv_error *error)
{
    tree_bound last = {{c->last_key.data, c->last_key.size}, c->last_place};
    if (!tree_block_covers(block, entry))
        return corrupt(error,
                       "has an entry outside of the bounds of its block");
    if (!is_first && tree_bound_compare(&last, entry) >= 0)
        return corrupt(error, "has entries out of order");
    KSV_TRY(tree_head_count(&c->counted, entry->place.part, 1, error));
    KSV_TRY(set_bound(&c->last_key, &c->last_place, entry, error));
    if (c->visit == NULL)
        return KSV_OK;
    c->visit_status = c->visit(c->ctx, entry->key, entry->place, error);
    return c->visit_status;
}

static ksv_status check_entries(checker *c, const tree_block *block,
                                ksv_error *error)
{
    bool found;
    bool is_first = true;
    KSV_TRY(tree_entries_first(&c->entries, block, &found, error));
    while (found) {
        tree_bound entry = tree_entries_get(&c->entries);
        /* Restarts are what seeking begins with. */
        if (c->entries.at == 0 && c->entries.number % TREE_RESTART_KEYS == 0) {
            bool there;
            KSV_TRY(tree_entries_check_restart(&c->entries, &there, error));
            if (!there)
                return corrupt(error, "has a block with wrong restarts");
        }
        KSV_TRY(check_entry(c, block, &entry, is_first, error));
        is_first = false;
        KSV_TRY(tree_entries_next(&c->entries, &found, error));
    }
    return KSV_OK;
}

/* The next block has to begin where this one ends. */
static ksv_status note_high(checker *c, const tree_block *block,
                            ksv_error *error)
{
    tree_bound high = {{block->low.key.data, block->high_shared},
                       block->high_place};
    c->is_behind_last = !block->has_high;
    if (!block->has_high)
        return KSV_OK;
    KSV_TRY(set_bound(&c->bound_key, &c->bound_place, &high, error));
    return buffer_append(&c->bound_key, block->high_rest.data,
                         block->high_rest.size_bytes, error);
}

static ksv_status check_block(checker *c, tree_key key, const uint8_t *value,
                              size_t value_bytes, ksv_error *error)
{
    tree_block block;
    tree_bound begin = {{c->bound_key.data, c->bound_key.size}, c->bound_place};
    const char *wrong =
        tree_block_open(&block, value, value_bytes, c->view->tag);
    if (wrong != NULL)
        return corrupt(error, wrong);
    if (block.txn_id > c->view->lmdb.txn_id)
        return corrupt(error, "has a block of a later commit");
    if (!tree_record_has_text(key.data, key.size_bytes, block.low.key))
        return corrupt(error, "has a block under a wrong record");
    if (c->is_behind_last || tree_bound_compare(&begin, &block.low) != 0)
        return corrupt(error, "has blocks that do not meet");
    c->counted.blocks++;
    KSV_TRY(check_entries(c, &block, error));
    return note_high(c, &block, error);
}

/* An lmdb_visit_fn. The head was read when the view was opened. */
static ksv_status check_record(void *ctx, const uint8_t *key, size_t key_bytes,
                               const uint8_t *value, size_t value_bytes,
                               ksv_error *error)
{
    checker *c = ctx;
    if (key[0] == TREE_RECORD_BLOCK)
        return check_block(c, (tree_key){key, key_bytes}, value, value_bytes,
                           error);
    tree_record_key head = tree_record_head();
    return key_bytes == head.size_bytes &&
                   memcmp(key, head.bytes, key_bytes) == 0
               ? KSV_OK
               : corrupt(error, "has a record of an unknown kind");
}

static ksv_status compare_counts(const checker *c, ksv_error *error)
{
    const tree_head *told = &c->view->head;
    const tree_head *found = &c->counted;
    bool same = told->entries == found->entries &&
                told->blocks == found->blocks &&
                told->part_count == found->part_count;
    for (size_t i = 0; same && i < told->part_count; i++)
        same = told->parts[i].part == found->parts[i].part &&
               told->parts[i].entries == found->parts[i].entries;
    if (!c->is_behind_last)
        return corrupt(error, "lacks its last block");
    return same ? KSV_OK : corrupt(error, "counts other entries than it has");
}

static ksv_status check_view(checker *c, uint64_t *bytes_checked,
                             ksv_error *error)
{
    const tree_source *s = &c->view->source;
    lmdb_walk_options options = {
        .order = LMDB_ORDER_TIED, .visit = check_record, .ctx = c};
    KSV_TRY(lmdb_walk(s->file, s->path, &c->view->lmdb, s->allocator, &options,
                      bytes_checked, error));
    return compare_counts(c, error);
}

static ksv_status check_once(const tree_view *view, tree_visit_fn visit,
                             void *ctx, uint64_t *bytes_checked,
                             bool *is_visitors, ksv_error *error)
{
    const ksv_allocator *a = view->source.allocator;
    checker c = {.view = view, .visit = visit, .ctx = ctx};
    tree_entries_init(&c.entries, a);
    tree_head_init(&c.counted, a);
    buffer_init(&c.bound_key, a);
    buffer_init(&c.last_key, a);
    ksv_status status = check_view(&c, bytes_checked, error);
    *is_visitors = c.visit_status != KSV_OK;
    if (!*is_visitors)
        error_add_path(status != KSV_OK ? error : NULL, view->source.path);
    tree_entries_release(&c.entries);
    tree_head_release(&c.counted);
    buffer_release(&c.bound_key);
    buffer_release(&c.last_key);
    return status;
}

ksv_status tree_check(tree_reader *reader, tree_visit_fn visit, void *ctx,
                      uint64_t *bytes_checked, ksv_error *error)
{
    uint64_t bytes = 0;
    tree_view *view = reader_acquire(reader);
    ksv_status status = KSV_OK;
    for (int i = 0; i < TRIES; i++) {
        bool is_visitors;
        bool renewed = false;
        status = check_once(view, visit, ctx, &bytes, &is_visitors, error);
        if (status != KSV_ERROR_CORRUPT || is_visitors)
            break;
        ksv_status other = reader_renew(reader, &view, &renewed, &bytes, NULL);
        if (other != KSV_OK || !renewed)
            break;
    }
    if (bytes_checked != NULL)
        *bytes_checked += bytes;
    reader_release(reader, view);
    return status;
}
