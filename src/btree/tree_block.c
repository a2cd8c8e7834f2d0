/* SPDX-License-Identifier: MIT */
/* A block of entries, the value of a record of the tree, as it is opened. */
#include "btree/tree_block.h"

#include "btree/tree_varint.h"
#include "hash/hash.h"

uint64_t tree_block_tag(const uint8_t id[16])
{
    return hash_checksum64(id, 16);
}

void tree_block_seal(uint8_t *data, size_t size_bytes, uint64_t txn_id)
{
    store_u64(data + TREE_BLOCK_TXN_ID, txn_id);
    store_u64(
        data + TREE_BLOCK_CHECKSUM,
        hash_checksum64(data + TREE_BLOCK_TAG, size_bytes - TREE_BLOCK_TAG));
}

uint32_t tree_block_restarts(uint32_t keys)
{
    return keys / TREE_RESTART_KEYS + (keys % TREE_RESTART_KEYS != 0);
}

static tree_place get_place(byte_cursor *c)
{
    tree_place place;
    place.part = varint_get(c);
    place.offset = varint_get(c);
    return place;
}

static tree_key get_key(byte_cursor *c)
{
    tree_key key;
    uint64_t size = varint_get(c);
    if (size > TREE_MOST_KEY_BYTES)
        c->failed = true;
    key.data = cursor_take(c, (size_t)size);
    key.size_bytes = key.data != NULL ? (size_t)size : 0;
    return key;
}

static size_t offset_of(const tree_block *b, const byte_cursor *c)
{
    return (size_t)(c->next - b->data);
}

static void open_high(tree_block *b, byte_cursor *c)
{
    uint64_t shared = varint_get(c);
    b->high_rest = get_key(c);
    b->high_place = get_place(c);
    if (shared > b->low.key.size_bytes)
        c->failed = true;
    b->high_shared = c->failed ? 0 : (size_t)shared;
}

static bool open_parts(tree_block *b)
{
    byte_cursor c = cursor_over(b->data, b->size_bytes);
    cursor_take(&c, TREE_BLOCK_HEADER_BYTES);
    b->low.key = get_key(&c);
    b->low.place = get_place(&c);
    b->entries_offset = offset_of(b, &c);
    if (c.failed || b->entries_end < b->entries_offset ||
        b->entries_end > b->size_bytes)
        return false;
    cursor_take(&c, b->entries_end - b->entries_offset);
    if (b->has_high)
        open_high(b, &c);
    b->restarts_offset = offset_of(b, &c);
    cursor_take(&c, (size_t)tree_block_restarts(b->keys) * 4);
    return !c.failed && (b->keys == 0) == (b->entries_end == b->entries_offset);
}

const char *tree_block_open(tree_block *block, const uint8_t *data,
                            size_t size_bytes, uint64_t tag)
{
    if (size_bytes < TREE_BLOCK_HEADER_BYTES)
        return "has a block that is cut short";
    if (load_u64(data) !=
        hash_checksum64(data + TREE_BLOCK_TAG, size_bytes - TREE_BLOCK_TAG))
        return "has a damaged block";
    if (load_u64(data + TREE_BLOCK_TAG) != tag)
        return "has a block of another tree";
    uint32_t flags = load_u32(data + TREE_BLOCK_FLAGS);
    *block =
        (tree_block){.data = data,
                     .size_bytes = size_bytes,
                     .txn_id = load_u64(data + TREE_BLOCK_TXN_ID),
                     .keys = load_u32(data + TREE_BLOCK_KEYS),
                     .entries_end = load_u32(data + TREE_BLOCK_ENTRIES_END),
                     .has_high = (flags & TREE_BLOCK_HAS_HIGH) != 0};
    if ((flags & ~(uint32_t)TREE_BLOCK_HAS_HIGH) != 0 || !open_parts(block))
        return "has a block with impossible fields";
    if (block->has_high && tree_block_compare_high(block, &block->low) <= 0)
        return "has a block whose bounds are out of order";
    return NULL;
}

int tree_block_compare_high(const tree_block *block, const tree_bound *bound)
{
    int order = tree_joined_compare(block->low.key, block->high_shared,
                                    block->high_rest, bound->key);
    return order != 0 ? order
                      : tree_place_compare(block->high_place, bound->place);
}

bool tree_block_covers(const tree_block *block, const tree_bound *bound)
{
    return tree_bound_compare(&block->low, bound) <= 0 &&
           (!block->has_high || tree_block_compare_high(block, bound) > 0);
}

size_t tree_block_restart(const tree_block *block, uint32_t restart)
{
    return load_u32(block->data + block->restarts_offset + (size_t)restart * 4);
}
