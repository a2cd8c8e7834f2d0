/* SPDX-License-Identifier: MIT */
/* Goes over the entries of one block, in both directions. */
#include "btree/tree_entries.h"

#include "base/error.h"
#include "btree/tree_varint.h"

void tree_entries_init(tree_entries *e, const ksv_allocator *allocator)
{
    *e = (tree_entries){.allocator = allocator};
    buffer_init(&e->key, allocator);
}

void tree_entries_release(tree_entries *e)
{
    buffer_release(&e->key);
    memory_free(e->allocator, e->places, e->place_capacity * sizeof *e->places);
    e->places = NULL;
}

static ksv_status damaged(tree_entries *e, ksv_error *error)
{
    e->block = NULL;
    return error_set(error, KSV_ERROR_CORRUPT, NULL,
                     "has a block with entries that cannot be read");
}

/* A place begins with twice its part, or what that is more than the one before;
 * the low bit says that another place follows. Offsets in one part are told as
 * differences too. */
static bool get_place(byte_cursor *c, const tree_place *before,
                      tree_place *place, bool *more)
{
    uint64_t first = varint_get(c);
    uint64_t offset = varint_get(c);
    *more = (first & 1) != 0;
    *place = (tree_place){first >> 1, offset};
    if (before == NULL || c->failed)
        return !c->failed;
    place->part += before->part;
    if (place->part == before->part)
        place->offset += before->offset;
    return place->part <= TREE_MOST_PART &&
           tree_place_compare(*before, *place) < 0;
}

static ksv_status get_places(tree_entries *e, byte_cursor *c, ksv_error *error)
{
    bool more = true;
    for (e->place_count = 0; more; e->place_count++) {
        if (e->place_count == e->place_capacity) {
            void *places = e->places;
            KSV_TRY(memory_grow(e->allocator, &places, &e->place_capacity,
                                e->place_count + 1, sizeof *e->places, error));
            e->places = places;
        }
        tree_place *place = &e->places[e->place_count];
        if (!get_place(c, e->place_count > 0 ? place - 1 : NULL, place, &more))
            return damaged(e, error);
    }
    return KSV_OK;
}

/* The key before is that of the entry that `e` is at, but for restarts, which
 * have the low key of the block. */
static ksv_status get_key(tree_entries *e, byte_cursor *c, bool is_restart,
                          ksv_error *error)
{
    tree_key low = e->block->low.key;
    uint64_t shared = varint_get(c);
    uint64_t rest_bytes = varint_get(c);
    const uint8_t *rest =
        rest_bytes <= SIZE_MAX ? cursor_take(c, (size_t)rest_bytes) : NULL;
    size_t before = is_restart ? low.size_bytes : e->key.size;
    if (c->failed || rest == NULL || shared > before ||
        shared + rest_bytes > TREE_MOST_KEY_BYTES)
        return damaged(e, error);
    if (is_restart) {
        buffer_clear(&e->key);
        KSV_TRY(buffer_append(&e->key, low.data, (size_t)shared, error));
    }
    e->key.size = (size_t)shared;
    return buffer_append(&e->key, rest, (size_t)rest_bytes, error);
}

/* Goes to the first place of key `number`, which begins at `offset`. */
static ksv_status take(tree_entries *e, uint32_t number, size_t offset,
                       ksv_error *error)
{
    const tree_block *b = e->block;
    if (offset < b->entries_offset || offset >= b->entries_end)
        return damaged(e, error);
    byte_cursor c = cursor_over(b->data + offset, b->entries_end - offset);
    KSV_TRY(get_key(e, &c, number % TREE_RESTART_KEYS == 0, error));
    KSV_TRY(get_places(e, &c, error));
    e->number = number;
    e->at = 0;
    e->next_offset = (size_t)(c.next - b->data);
    return KSV_OK;
}

static ksv_status take_restart(tree_entries *e, uint32_t restart,
                               ksv_error *error)
{
    return take(e, restart * TREE_RESTART_KEYS,
                tree_block_restart(e->block, restart), error);
}

ksv_status tree_entries_first(tree_entries *e, const tree_block *block,
                              bool *found, ksv_error *error)
{
    e->block = block;
    *found = block->keys > 0;
    if (*found)
        return take(e, 0, block->entries_offset, error);
    e->block = NULL;
    return KSV_OK;
}

ksv_status tree_entries_next_key(tree_entries *e, bool *found, ksv_error *error)
{
    *found = e->number + 1 < e->block->keys;
    if (*found)
        return take(e, e->number + 1, e->next_offset, error);
    e->block = NULL;
    return KSV_OK;
}

ksv_status tree_entries_next(tree_entries *e, bool *found, ksv_error *error)
{
    *found = e->at + 1 < e->place_count;
    if (!*found)
        return tree_entries_next_key(e, found, error);
    e->at++;
    return KSV_OK;
}

/* Goes to the last place of key `number`, by way of its restart. */
static ksv_status take_last_place(tree_entries *e, uint32_t number,
                                  ksv_error *error)
{
    KSV_TRY(take_restart(e, number / TREE_RESTART_KEYS, error));
    while (e->number < number)
        KSV_TRY(take(e, e->number + 1, e->next_offset, error));
    e->at = e->place_count - 1;
    return KSV_OK;
}

ksv_status tree_entries_last(tree_entries *e, const tree_block *block,
                             bool *found, ksv_error *error)
{
    e->block = block;
    *found = block->keys > 0;
    if (*found)
        return take_last_place(e, block->keys - 1, error);
    e->block = NULL;
    return KSV_OK;
}

ksv_status tree_entries_previous(tree_entries *e, bool *found, ksv_error *error)
{
    *found = e->at > 0 || e->number > 0;
    if (e->at > 0)
        e->at--;
    else if (*found)
        return take_last_place(e, e->number - 1, error);
    else
        e->block = NULL;
    return KSV_OK;
}

/* Compares the key of a restart with `key`, without making it. */
static bool compare_restart(const tree_block *b, uint32_t restart, tree_key key,
                            int *order)
{
    size_t offset = tree_block_restart(b, restart);
    if (offset < b->entries_offset || offset >= b->entries_end)
        return false;
    byte_cursor c = cursor_over(b->data + offset, b->entries_end - offset);
    uint64_t shared = varint_get(&c);
    uint64_t rest_bytes = varint_get(&c);
    if (c.failed || shared > b->low.key.size_bytes ||
        rest_bytes > (size_t)(c.end - c.next))
        return false;
    tree_key rest = {c.next, (size_t)rest_bytes};
    *order = tree_joined_compare(b->low.key, (size_t)shared, rest, key);
    return true;
}

ksv_status tree_entries_check_restart(tree_entries *e, bool *is_right,
                                      ksv_error *error)
{
    int order;
    tree_key key = {e->key.data, e->key.size};
    if (!compare_restart(e->block, e->number / TREE_RESTART_KEYS, key, &order))
        return damaged(e, error);
    *is_right = order == 0;
    return KSV_OK;
}

/* The last restart whose key is not behind `key`, or the first one. */
static ksv_status find_restart(tree_entries *e, tree_key key, uint32_t *restart,
                               ksv_error *error)
{
    uint32_t low = 0;
    uint32_t high = tree_block_restarts(e->block->keys);
    while (low + 1 < high) {
        uint32_t middle = low + (high - low) / 2;
        int order;
        if (!compare_restart(e->block, middle, key, &order))
            return damaged(e, error);
        if (order <= 0)
            low = middle;
        else
            high = middle;
    }
    *restart = low;
    return KSV_OK;
}

/* Among the places of the key that is looked for. */
static ksv_status seek_place(tree_entries *e, tree_place place, bool *found,
                             ksv_error *error)
{
    size_t low = 0;
    size_t high = e->place_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (tree_place_compare(e->places[middle], place) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    e->at = low;
    *found = true;
    return low < e->place_count ? KSV_OK
                                : tree_entries_next_key(e, found, error);
}

ksv_status tree_entries_seek(tree_entries *e, const tree_block *block,
                             const tree_bound *bound, bool *found,
                             ksv_error *error)
{
    e->block = block;
    *found = block->keys > 0;
    if (!*found) {
        e->block = NULL;
        return KSV_OK;
    }
    uint32_t restart;
    KSV_TRY(find_restart(e, bound->key, &restart, error));
    KSV_TRY(take_restart(e, restart, error));
    while (*found) {
        tree_key key = {e->key.data, e->key.size};
        int order = tree_key_compare(key, bound->key);
        if (order == 0)
            return seek_place(e, bound->place, found, error);
        if (order > 0)
            return KSV_OK;
        KSV_TRY(tree_entries_next_key(e, found, error));
    }
    return KSV_OK;
}
