/* SPDX-License-Identifier: MIT */
/* A stretch of a tree that is written anew within a transaction. */
#include "btree/tree_region.h"

#include "base/error.h"
#include "btree/tree_ties.h"

/* Changes that are gathered before a region is written. */
#define CHANGES_BYTES_MOST ((size_t)256 << 10)
#define PAIR_BYTES 32

static ksv_status list_add(tree_region *r, region_list *list,
                           const region_block *block, ksv_error *error)
{
    if (list->count == list->capacity) {
        void *items = list->items;
        KSV_TRY(memory_grow(r->allocator, &items, &list->capacity,
                            list->count + 1, sizeof *list->items, error));
        list->items = items;
    }
    list->items[list->count++] = *block;
    return KSV_OK;
}

/* A tree_block_fn. Ties are given when all new blocks are known. */
static ksv_status take_block(void *ctx, const tree_bound *low, uint8_t *block,
                             size_t size_bytes, ksv_error *error)
{
    tree_region *r = ctx;
    region_block b = {tree_record_block(low->key, 0), r->out.size, size_bytes};
    r->used_bytes += r->packer.used_bytes;
    KSV_TRY(list_add(r, &r->after, &b, error));
    return buffer_append(&r->out, block, size_bytes, error);
}

void tree_region_init(tree_region *r, tree_target *target)
{
    const ksv_allocator *a = target->allocator;
    *r = (tree_region){.allocator = a, .target = target};
    buffer_init(&r->low_key, a);
    buffer_init(&r->high_key, a);
    buffer_init(&r->out, a);
    tree_pairs_init(&r->old, a);
    tree_pairs_init(&r->changes, a);
    tree_pairs_init(&r->merged, a);
    tree_entries_init(&r->entries, a);
    tree_packer_init(&r->packer, a, target->store.page_bytes, target->tag,
                     take_block, r);
}

static void list_release(tree_region *r, region_list *list)
{
    memory_free(r->allocator, list->items,
                list->capacity * sizeof *list->items);
    list->items = NULL;
}

void tree_region_release(tree_region *r)
{
    if (r->allocator == NULL)
        return;
    buffer_release(&r->low_key);
    buffer_release(&r->high_key);
    buffer_release(&r->out);
    tree_pairs_release(&r->old);
    tree_pairs_release(&r->changes);
    tree_pairs_release(&r->merged);
    tree_entries_release(&r->entries);
    tree_packer_release(&r->packer);
    list_release(r, &r->before);
    list_release(r, &r->after);
    memory_free(r->allocator, r->counts, r->count_capacity * sizeof *r->counts);
    r->allocator = NULL;
}

static tree_bound low_of(const tree_region *r)
{
    return (tree_bound){{r->low_key.data, r->low_key.size}, r->low_place};
}

/* Notes that there will be more or fewer entries of a part. The head counts
 * them when they are written: a commit may come in between. */
static ksv_status count(tree_region *r, uint64_t part, int64_t entries,
                        ksv_error *error)
{
    for (size_t i = r->count_count; i > 0; i--)
        if (r->counts[i - 1].part == part) {
            r->counts[i - 1].entries += entries;
            return KSV_OK;
        }
    if (r->count_count == r->count_capacity) {
        void *counts = r->counts;
        KSV_TRY(memory_grow(r->allocator, &counts, &r->count_capacity,
                            r->count_count + 1, sizeof *r->counts, error));
        r->counts = counts;
    }
    r->counts[r->count_count++] = (region_count){part, entries};
    return KSV_OK;
}

/* Adds the entries of a block to `pairs`; those of dead parts go. */
static ksv_status take_entries(tree_region *r, const tree_block *block,
                               tree_pairs *pairs, ksv_error *error)
{
    bool found;
    KSV_TRY(tree_entries_first(&r->entries, block, &found, error));
    while (found) {
        tree_bound entry = tree_entries_get(&r->entries);
        if (r->is_dead != NULL && r->is_dead(r->dead_ctx, entry.place.part)) {
            r->has_changed = true;
            KSV_TRY(
                tree_head_count(&r->target->head, entry.place.part, -1, error));
        } else {
            KSV_TRY(tree_pairs_add(pairs, &entry, false, error));
        }
        KSV_TRY(tree_entries_next(&r->entries, &found, error));
    }
    return KSV_OK;
}

static ksv_status set_high(tree_region *r, const tree_block *block,
                           ksv_error *error)
{
    r->has_high = block->has_high;
    r->high_place = block->high_place;
    buffer_clear(&r->high_key);
    if (!block->has_high)
        return KSV_OK;
    KSV_TRY(buffer_append(&r->high_key, block->low.key.data, block->high_shared,
                          error));
    return buffer_append(&r->high_key, block->high_rest.data,
                         block->high_rest.size_bytes, error);
}

/* Takes the block that covers `bound` into the region. */
static ksv_status take(tree_region *r, const tree_bound *bound,
                       tree_block *block, tree_pairs *pairs, ksv_error *error)
{
    region_block b = {.offset = 0};
    KSV_TRY(tree_target_locate(r->target, bound, block, &b.record, error));
    KSV_TRY(tree_target_check(r->target, &b.record, block, error));
    b.size_bytes = block->size_bytes;
    KSV_TRY(list_add(r, &r->before, &b, error));
    KSV_TRY(take_entries(r, block, pairs, error));
    return set_high(r, block, error);
}

ksv_status tree_region_open(tree_region *r, const tree_bound *bound,
                            ksv_error *error)
{
    tree_block block;
    r->before.count = 0;
    r->has_changed = false;
    r->changes_bytes = 0;
    r->count_count = 0;
    tree_pairs_clear(&r->old);
    tree_pairs_clear(&r->changes);
    tree_pairs_clear(&r->merged);
    KSV_TRY(tree_target_begin(r->target, 0, error));
    KSV_TRY(take(r, bound, &block, &r->old, error));
    r->low_place = block.low.place;
    buffer_clear(&r->low_key);
    KSV_TRY(buffer_append(&r->low_key, block.low.key.data,
                          block.low.key.size_bytes, error));
    r->is_open = true;
    return KSV_OK;
}

bool tree_region_takes(const tree_region *r, const tree_bound *entry)
{
    if (r->changes_bytes > CHANGES_BYTES_MOST)
        return false;
    if (r->changes.count > 0) {
        tree_bound last = tree_pairs_get(&r->changes, r->changes.count - 1);
        if (tree_bound_compare(&last, entry) >= 0)
            return false;
    }
    tree_bound low = low_of(r);
    tree_bound high = tree_region_high(r);
    return tree_bound_compare(&low, entry) <= 0 &&
           (!r->has_high || tree_bound_compare(entry, &high) < 0);
}

ksv_status tree_region_add(tree_region *r, const tree_bound *entry, bool is_out,
                           ksv_error *error)
{
    r->changes_bytes += entry->key.size_bytes + PAIR_BYTES;
    return tree_pairs_add(&r->changes, entry, is_out, error);
}

/* An entry of the changes, which is among the old ones (`is_there`) or not. */
static ksv_status merge_change(tree_region *r, size_t i, bool is_there,
                               ksv_error *error)
{
    tree_bound entry = tree_pairs_get(&r->changes, i);
    bool is_out = r->changes.items[i].is_out;
    if (is_there == is_out) {
        r->has_changed = true;
        KSV_TRY(count(r, entry.place.part, is_out ? -1 : 1, error));
    }
    return is_out ? KSV_OK : tree_pairs_add(&r->merged, &entry, false, error);
}

static ksv_status merge(tree_region *r, ksv_error *error)
{
    size_t i = 0;
    for (size_t k = 0; k < r->changes.count; k++) {
        tree_bound change = tree_pairs_get(&r->changes, k);
        int order = 1;
        while (i < r->old.count) {
            tree_bound entry = tree_pairs_get(&r->old, i);
            order = tree_bound_compare(&entry, &change);
            if (order >= 0)
                break;
            KSV_TRY(tree_pairs_add(&r->merged, &entry, false, error));
            i++;
        }
        bool is_there = i < r->old.count && order == 0;
        KSV_TRY(merge_change(r, k, is_there, error));
        i += is_there;
    }
    for (; i < r->old.count; i++) {
        tree_bound entry = tree_pairs_get(&r->old, i);
        KSV_TRY(tree_pairs_add(&r->merged, &entry, false, error));
    }
    return KSV_OK;
}

static ksv_status pack_once(tree_region *r, size_t full_bytes, ksv_error *error)
{
    tree_bound low = low_of(r);
    tree_bound high = tree_region_high(r);
    r->after.count = 0;
    r->used_bytes = 0;
    r->packer.full_bytes = full_bytes;
    buffer_clear(&r->out);
    KSV_TRY(tree_packer_begin(&r->packer, &low, error));
    for (size_t i = 0; i < r->merged.count; i++) {
        tree_bound entry = tree_pairs_get(&r->merged, i);
        KSV_TRY(tree_packer_add(&r->packer, &entry, error));
    }
    return tree_packer_end(&r->packer, r->has_high ? &high : NULL, error);
}

static size_t room_of(const tree_region *r)
{
    return tree_packer_page_room(r->target->store.page_bytes);
}

/* Blocks that are made of one get about the same share each, so that all have
 * room for more. At the end, where keys are often appended, they are full. */
static ksv_status pack(tree_region *r, ksv_error *error)
{
    size_t room = room_of(r);
    KSV_TRY(pack_once(r, room, error));
    if (r->after.count < 2 || !r->has_high)
        return KSV_OK;
    size_t share = (size_t)(r->used_bytes / r->after.count) + room / 16;
    return share < room ? pack_once(r, share, error) : KSV_OK;
}

/* Takes the block behind the region into it. */
static ksv_status absorb(tree_region *r, ksv_error *error)
{
    tree_block block;
    byte_buffer key;
    buffer_init(&key, r->allocator);
    tree_bound bound = tree_region_high(r);
    ksv_status status =
        buffer_append(&key, bound.key.data, bound.key.size_bytes, error);
    bound.key.data = key.data;
    if (status == KSV_OK)
        status = take(r, &bound, &block, &r->merged, error);
    if (status == KSV_OK && tree_bound_compare(&block.low, &bound) != 0)
        status = error_set(error, KSV_ERROR_CORRUPT, r->target->source.path,
                           "has blocks that do not meet");
    r->has_changed = true;
    buffer_release(&key);
    return status;
}

/* The tie of the block behind the region, when its record has the text of the
 * last new one; else 0. */
static ksv_status tie_behind(tree_region *r, uint64_t *tie, ksv_error *error)
{
    const tree_record_key *last = &r->after.items[r->after.count - 1].record;
    tree_bound high = tree_region_high(r);
    tree_block block;
    tree_record_key record;
    *tie = 0;
    if (!r->has_high ||
        !tree_record_has_text(last->bytes, last->size_bytes, high.key))
        return KSV_OK;
    KSV_TRY(tree_target_locate(r->target, &high, &block, &record, error));
    *tie = tree_record_tie(record.bytes, record.size_bytes);
    return KSV_OK;
}

/* Gives the new blocks their ties; `*fits` false: there are too few. */
static ksv_status give_ties(tree_region *r, bool *fits, ksv_error *error)
{
    uint64_t behind;
    region_block *items = r->after.items;
    KSV_TRY(tie_behind(r, &behind, error));
    /* The first one keeps the record of the block that began there. */
    items[0].record = r->before.items[0].record;
    *fits = true;
    for (size_t i = 1; i < r->after.count && *fits;) {
        size_t end = i + 1;
        while (end < r->after.count &&
               tree_record_same_text(&items[end].record, &items[i].record))
            end++;
        bool follows =
            tree_record_same_text(&items[i].record, &items[i - 1].record);
        tie_range range = {follows
                               ? tree_record_tie(items[i - 1].record.bytes,
                                                 items[i - 1].record.size_bytes)
                               : 0,
                           .high = end == r->after.count ? behind : 0};
        *fits = tie_range_prepare(&range, end - i);
        for (; i < end && *fits; i++)
            tree_record_set_tie(&items[i].record, tie_range_next(&range));
    }
    return KSV_OK;
}

static bool is_among(const region_list *list, const region_block *block)
{
    for (size_t i = 0; i < list->count; i++) {
        const region_block *b = &list->items[i];
        if (b->size_bytes == block->size_bytes &&
            b->record.size_bytes == block->record.size_bytes &&
            memcmp(b->record.bytes, block->record.bytes,
                   b->record.size_bytes) == 0)
            return true;
    }
    return false;
}

/* LMDB gives a value that is as long as the one before as many pages; others
 * would keep more than they need. */
static ksv_status write_all(tree_region *r, ksv_error *error)
{
    tree_target *t = r->target;
    for (size_t i = 0; i < r->before.count; i++)
        if (!is_among(&r->after, &r->before.items[i]))
            KSV_TRY(tree_target_erase(t, &r->before.items[i].record, error));
    for (size_t i = 0; i < r->after.count; i++) {
        const region_block *b = &r->after.items[i];
        KSV_TRY(tree_target_put(t, &b->record, r->out.data + b->offset,
                                b->size_bytes, error));
    }
    for (size_t i = 0; i < r->count_count; i++)
        KSV_TRY(tree_head_count(&t->head, r->counts[i].part,
                                r->counts[i].entries, error));
    t->head.blocks += r->after.count;
    t->head.blocks -= r->before.count;
    return KSV_OK;
}

/* Packs until the new blocks are neither too empty nor without ties. */
static ksv_status shape(tree_region *r, ksv_error *error)
{
    for (;;) {
        bool fits = true;
        KSV_TRY(pack(r, error));
        bool is_small = r->after.count == 1 && r->used_bytes < room_of(r) / 4;
        if (!is_small || !r->has_high) {
            KSV_TRY(give_ties(r, &fits, error));
            if (fits)
                return KSV_OK;
            if (!r->has_high)
                return error_set(error, KSV_ERROR_UNSUPPORTED,
                                 r->target->source.path,
                                 "has too many long keys that are alike");
        }
        KSV_TRY(absorb(r, error));
    }
}

ksv_status tree_region_close(tree_region *r, ksv_error *error)
{
    r->is_open = false;
    KSV_TRY(merge(r, error));
    if (!r->has_changed)
        return KSV_OK;
    KSV_TRY(shape(r, error));
    KSV_TRY(tree_target_begin(r->target, r->out.size, error));
    return write_all(r, error);
}
