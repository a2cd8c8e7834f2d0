/* SPDX-License-Identifier: MIT */
/* A block of a sorted table that was read: its entries. */
#include "sorted/block.h"

#include "base/bytes.h"
#include "base/error.h"
#include "base/varint.h"

static ksv_status inflate_keys(sorted_block *block, const uint8_t *stored,
                               size_t stored_bytes, inflater *decoder,
                               byte_buffer *raw, ksv_error *error)
{
    size_t raw_bytes = block->header.raw_bytes;
    buffer_clear(raw);
    KSV_TRY(buffer_reserve(raw, raw_bytes + INFLATE_OUTPUT_SLACK, error));
    if (!inflate_whole(decoder, stored, stored_bytes, raw->data, raw_bytes))
        return sorted_set_corrupt(error, &block->place,
                                  "it cannot be inflated");
    raw->size = raw_bytes;
    block->keys = raw->data;
    return KSV_OK;
}

/* Keys and restarts are apart. */
static ksv_status find_restarts(sorted_block *block, ksv_error *error)
{
    size_t raw_bytes = block->header.raw_bytes;
    block->restart_count = sorted_restart_count(block->header.entries);
    size_t count = block->restart_count;
    /* Two bytes each unless there are too many keys for that. */
    size_t bytes = 2;
    if (raw_bytes > count * 2)
        bytes = sorted_restart_bytes(raw_bytes - count * 2);
    if (raw_bytes <= count * bytes ||
        sorted_restart_bytes(raw_bytes - count * bytes) != bytes)
        return sorted_set_corrupt(error, &block->place,
                                  "it has no room for its entries");
    block->keys_bytes = raw_bytes - count * bytes;
    block->restart_bytes = bytes;
    block->restarts = block->keys + block->keys_bytes;
    return KSV_OK;
}

ksv_status block_open(sorted_block *block, const uint8_t *bytes,
                      const block_place *place, uint64_t tag, unsigned level,
                      inflater *decoder, byte_buffer *raw, ksv_error *error)
{
    sorted_block b = {.place = *place};
    *block = (sorted_block){0};
    KSV_TRY(sorted_decode_block(bytes, place, tag, level, &b.header, error));
    const uint8_t *stored = bytes + SORTED_BLOCK_HEADER_BYTES;
    b.tail_bytes =
        level > 0
            ? (size_t)b.header.base
            : (size_t)(((uint64_t)b.header.entries * b.header.payload_bits +
                        7) /
                       8);
    size_t stored_bytes = b.header.stored_bytes - b.tail_bytes;
    b.tail = stored + stored_bytes;
    b.keys = stored;
    if ((b.header.flags & SORTED_FLAG_DEFLATED) != 0)
        KSV_TRY(inflate_keys(&b, stored, stored_bytes, decoder, raw, error));
    KSV_TRY(find_restarts(&b, error));
    *block = b;
    return KSV_OK;
}

void block_walker_init(block_walker *walker, const ksv_allocator *allocator)
{
    *walker = (block_walker){0};
    buffer_init(&walker->key, allocator);
}

void block_walker_release(block_walker *walker)
{
    buffer_release(&walker->key);
}

void block_walker_set(block_walker *walker, const sorted_block *block)
{
    walker->block = block;
    walker->entry = block != NULL ? block->header.entries : 0;
}

static ksv_status set_entries_corrupt(block_walker *walker, ksv_error *error)
{
    walker->entry = walker->block->header.entries;
    return sorted_set_corrupt(error, &walker->block->place,
                              "its entries are wrong");
}

/* Takes the key at `next`, which is that of entry number `entry`. */
static ksv_status take_key(block_walker *walker, uint32_t entry,
                           ksv_error *error)
{
    const sorted_block *block = walker->block;
    byte_cursor c = {block->keys + walker->next,
                     block->keys + block->keys_bytes, false};
    uint64_t common = cursor_varint(&c);
    uint64_t rest_bytes = cursor_varint(&c);
    bool is_restart = entry % SORTED_RESTART_ENTRIES == 0;
    if (c.failed || rest_bytes > (size_t)(c.end - c.next) ||
        common > (is_restart ? 0 : walker->key.size))
        return set_entries_corrupt(walker, error);
    walker->key.size = (size_t)common;
    walker->entry = block->header.entries;
    KSV_TRY(buffer_append(&walker->key, c.next, (size_t)rest_bytes, error));
    walker->next = (size_t)(c.next - block->keys) + (size_t)rest_bytes;
    walker->entry = entry;
    return KSV_OK;
}

size_t block_restart_at(const sorted_block *block, size_t restart)
{
    if (restart == 0)
        return 0;
    const uint8_t *p = block->restarts + (restart - 1) * block->restart_bytes;
    return block->restart_bytes == 2 ? load_u16(p) : load_u32(p);
}

/* Goes to the first entry of a restart. */
static ksv_status go_to_restart(block_walker *walker, size_t restart,
                                ksv_error *error)
{
    const sorted_block *block = walker->block;
    size_t at = block_restart_at(block, restart);
    if (at >= block->keys_bytes)
        return set_entries_corrupt(walker, error);
    walker->next = at;
    walker->key.size = 0;
    return take_key(walker, (uint32_t)restart * SORTED_RESTART_ENTRIES, error);
}

ksv_status block_walker_go(block_walker *walker, uint32_t entry,
                           ksv_error *error)
{
    uint32_t entries = walker->block->header.entries;
    walker->entry = entries;
    if (entry >= entries)
        return KSV_OK;
    KSV_TRY(go_to_restart(walker, entry / SORTED_RESTART_ENTRIES, error));
    while (walker->entry < entry)
        KSV_TRY(take_key(walker, walker->entry + 1, error));
    return KSV_OK;
}

ksv_status block_walker_next(block_walker *walker, ksv_error *error)
{
    uint32_t entry = walker->entry + 1;
    if (entry >= walker->block->header.entries) {
        walker->entry = walker->block->header.entries;
        return KSV_OK;
    }
    return take_key(walker, entry, error);
}

int block_walker_compare(const block_walker *walker, sorted_key key)
{
    return bytes_compare(walker->key.data, walker->key.size, key.data,
                         key.size_bytes, 0);
}

/* The last restart whose key comes before `key`, or the first one. */
static ksv_status find_restart(block_walker *walker, sorted_key key,
                               size_t *restart, ksv_error *error)
{
    size_t low = 0, high = walker->block->restart_count;
    while (low < high) {
        size_t middle = low + (high - low + 1) / 2;
        KSV_TRY(go_to_restart(walker, middle, error));
        if (block_walker_compare(walker, key) < 0)
            low = middle;
        else
            high = middle - 1;
    }
    *restart = low;
    return KSV_OK;
}

ksv_status block_walker_seek(block_walker *walker, sorted_key key,
                             ksv_error *error)
{
    size_t restart;
    KSV_TRY(find_restart(walker, key, &restart, error));
    KSV_TRY(go_to_restart(walker, restart, error));
    while (block_walker_is_at_entry(walker) &&
           block_walker_compare(walker, key) < 0)
        KSV_TRY(block_walker_next(walker, error));
    return KSV_OK;
}
