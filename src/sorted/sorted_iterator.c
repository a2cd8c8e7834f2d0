/* SPDX-License-Identifier: MIT */
/* Reads all of a sorted table from its front to its end and checks it: makes
 * the index anew and compares. */
#include "sorted/sorted_iterator.h"

#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "io/file.h"
#include "sorted/index_builder.h"
#include "sorted/sorted_reader_private.h"

#define DEFAULT_BUFFER_BYTES ((size_t)256 << 10)
#define LEAST_BUFFER_BYTES ((size_t)4 << 10)

struct sorted_iterator {
    sorted_reader *reader;
    size_t buffer_bytes;
    byte_buffer buffer; /* read, of which those before `at` are used */
    size_t at;
    uint64_t read_offset; /* behind the buffer */
    sorted_info seen;
    unsigned flags; /* of the block of data before */
    uint64_t run_entries;
    byte_buffer last; /* key */
    uint64_t last_payload;
    sorted_block block; /* of data; the walker is in it, or at none */
    block_walker walker;
    byte_buffer raw;
    byte_buffer index_raw;
    index_builder index;
    byte_buffer separator;
    bool ended;
    inflater inflater;
};

ksv_status sorted_iterator_open(sorted_reader *reader, size_t buffer_bytes,
                                sorted_iterator **out, ksv_error *error)
{
    const ksv_allocator *a = &reader->allocator;
    *out = NULL;
    sorted_iterator *it = memory_zalloc(a, sizeof *it);
    if (it == NULL)
        return error_set_memory(error);
    it->reader = reader;
    it->buffer_bytes = buffer_bytes == 0 ? DEFAULT_BUFFER_BYTES
                       : buffer_bytes < LEAST_BUFFER_BYTES ? LEAST_BUFFER_BYTES
                                                           : buffer_bytes;
    it->read_offset = SORTED_HEADER_BYTES;
    buffer_init(&it->buffer, a);
    buffer_init(&it->last, a);
    buffer_init(&it->raw, a);
    buffer_init(&it->index_raw, a);
    buffer_init(&it->separator, a);
    block_walker_init(&it->walker, a);
    index_builder_init(&it->index, a);
    inflate_init(&it->inflater);
    *out = it;
    return KSV_OK;
}

void sorted_iterator_close(sorted_iterator *iterator)
{
    if (iterator == NULL)
        return;
    const ksv_allocator *a = &iterator->reader->allocator;
    buffer_release(&iterator->buffer);
    buffer_release(&iterator->last);
    buffer_release(&iterator->raw);
    buffer_release(&iterator->index_raw);
    buffer_release(&iterator->separator);
    block_walker_release(&iterator->walker);
    index_builder_release(&iterator->index);
    memory_free(a, iterator, sizeof *iterator);
}

static uint64_t blocks_end(const sorted_iterator *it)
{
    return it->reader->meta.info.file_bytes - SORTED_FOOTER_BYTES;
}

/* Where the bytes at `at` are in the file. */
static uint64_t offset_of(const sorted_iterator *it)
{
    return it->read_offset - (it->buffer.size - it->at);
}

/* Makes `wanted` bytes from `at` on available, which there are in the file. */
static ksv_status fill(sorted_iterator *it, size_t wanted, ksv_error *error)
{
    byte_buffer *b = &it->buffer;
    size_t left = b->size - it->at;
    if (left >= wanted)
        return KSV_OK;
    if (left > 0)
        memmove(b->data, b->data + it->at, left);
    b->size = left;
    it->at = 0;
    uint64_t more = blocks_end(it) - it->read_offset;
    size_t take = wanted > it->buffer_bytes ? wanted : it->buffer_bytes;
    take -= left;
    if (take > more)
        take = (size_t)more;
    KSV_TRY(buffer_reserve(b, take + BLOCK_READ_PADDING, error));
    KSV_TRY(file_read_exactly(it->reader->file, it->read_offset, b->data + left,
                              take, error));
    it->read_offset += take;
    b->size += take;
    return KSV_OK;
}

/* Makes the next block available: `*place`, but for its number, and level. */
static ksv_status peek_block(sorted_iterator *it, block_place *place,
                             unsigned *level, ksv_error *error)
{
    *place = (block_place){.offset = offset_of(it)};
    uint64_t left = blocks_end(it) - place->offset;
    uint64_t size_bytes = 0;
    if (left >= SORTED_BLOCK_HEADER_BYTES) {
        KSV_TRY(fill(it, SORTED_BLOCK_HEADER_BYTES, error));
        size_bytes = sorted_peek_block(it->buffer.data + it->at, level);
    }
    if (size_bytes == 0 || size_bytes > left || size_bytes > UINT32_MAX ||
        *level > SORTED_MOST_LEVELS)
        return sorted_set_corrupt(error, place, "it has an impossible size");
    place->size_bytes = (uint32_t)size_bytes;
    return fill(it, (size_t)size_bytes, error);
}

static void count_block(sorted_iterator *it, const sorted_block *block)
{
    it->seen.blocks++;
    it->seen.raw_bytes += SORTED_BLOCK_HEADER_BYTES +
                          (uint64_t)block->header.raw_bytes + block->tail_bytes;
    it->at += block->place.size_bytes;
}

/* The index block has to be what the blocks before it make. */
static ksv_status compare_index_block(sorted_iterator *it, block_place *place,
                                      unsigned level, ksv_error *error)
{
    sorted_block block;
    place->number = (uint32_t)(it->seen.blocks - it->seen.data_blocks);
    KSV_TRY(block_open(&block, it->buffer.data + it->at, place,
                       it->reader->meta.tag, level, &it->inflater,
                       &it->index_raw, error));
    index_level *l = &it->index.levels[level];
    if (level > it->index.begun || l->builder.entries == 0)
        return sorted_set_corrupt(error, place, "it leads to nothing");
    KSV_TRY(block_builder_end(&l->builder, error));
    if (block.header.entries != l->builder.entries ||
        block.header.flags > SORTED_FLAG_DEFLATED ||
        block.header.raw_bytes != l->builder.keys.size ||
        memcmp(block.keys, l->builder.keys.data, l->builder.keys.size) != 0 ||
        block.tail_bytes != l->builder.places.size ||
        memcmp(block.tail, l->builder.places.data, block.tail_bytes) != 0)
        return sorted_set_corrupt(error, place,
                                  "it does not lead to the blocks before it");
    count_block(it, &block);
    return index_builder_move_up(&it->index, level, place, error);
}

/* The key with which the index leads to the block that the walker is in, whose
 * first key it has. */
static ksv_status set_separator(sorted_iterator *it, bool continues,
                                ksv_error *error)
{
    const byte_buffer *key = &it->walker.key;
    size_t size_bytes = key->size;
    if (it->seen.entries == 0) {
        size_bytes = 0;
    } else if (!continues) {
        size_t most = key->size < it->last.size ? key->size : it->last.size;
        size_bytes = bytes_common(key->data, it->last.data, 0, most) + 1;
    }
    if (size_bytes > key->size)
        return sorted_set_corrupt(error, &it->block.place,
                                  "its keys are not in order");
    buffer_clear(&it->separator);
    return buffer_append(&it->separator, key->data, size_bytes, error);
}

/* Opens the next block of data, whose first entry the walker then is at. */
static ksv_status open_data_block(sorted_iterator *it, block_place *place,
                                  ksv_error *error)
{
    place->number = (uint32_t)it->seen.data_blocks;
    KSV_TRY(block_open(&it->block, it->buffer.data + it->at, place,
                       it->reader->meta.tag, 0, &it->inflater, &it->raw,
                       error));
    unsigned flags = it->block.header.flags;
    bool continues = (flags & SORTED_FLAG_RUN_BEFORE) != 0;
    if (continues != ((it->flags & SORTED_FLAG_RUN_AFTER) != 0))
        return sorted_set_corrupt(error, place, "its flags are wrong");
    block_walker_set(&it->walker, &it->block);
    KSV_TRY(block_walker_go(&it->walker, 0, error));
    if (continues !=
        (it->seen.entries > 0 &&
         block_walker_compare(&it->walker,
                              (sorted_key){it->last.data, it->last.size}) == 0))
        return sorted_set_corrupt(error, place, "its flags are wrong");
    KSV_TRY(set_separator(it, continues, error));
    sorted_key key = {it->separator.data, it->separator.size};
    KSV_TRY(index_builder_add(&it->index, 1, key, continues, place, error));
    it->flags = flags;
    it->seen.data_blocks++;
    count_block(it, &it->block);
    return KSV_OK;
}

/* What the footer says has to be what was seen. */
static ksv_status check_end(sorted_iterator *it, ksv_error *error)
{
    const sorted_meta *meta = &it->reader->meta;
    const sorted_info *info = &meta->info, *seen = &it->seen;
    block_place root = {0};
    bool has_root = info->blocks == 0;
    if (!has_root && it->index.begun == meta->levels + 1)
        has_root = index_builder_has_root(&it->index, meta->levels + 1, &root);
    it->ended = true;
    if (has_root && root.offset == meta->root.offset &&
        root.size_bytes == meta->root.size_bytes &&
        root.number == meta->root.number && info->entries == seen->entries &&
        info->distinct_keys == seen->distinct_keys &&
        info->longest_run == seen->longest_run &&
        info->key_bytes == seen->key_bytes &&
        info->data_blocks == seen->data_blocks &&
        info->blocks == seen->blocks && info->raw_bytes == seen->raw_bytes &&
        (it->flags & SORTED_FLAG_RUN_AFTER) == 0)
        return KSV_OK;
    return error_set_at(error, KSV_ERROR_CORRUPT, NULL, blocks_end(it),
                        "the sorted table's footer does not fit to its blocks");
}

/* Goes to the first entry of the next block of data, over those of index; to
 * none at the end. */
static ksv_status next_block(sorted_iterator *it, ksv_error *error)
{
    block_walker_set(&it->walker, NULL);
    while (offset_of(it) < blocks_end(it)) {
        block_place place;
        unsigned level = 0;
        KSV_TRY(peek_block(it, &place, &level, error));
        if (level == 0)
            return open_data_block(it, &place, error);
        KSV_TRY(compare_index_block(it, &place, level, error));
    }
    return check_end(it, error);
}

/* Compares the walker's entry with the one before, and counts it. */
static ksv_status take_entry(sorted_iterator *it, uint64_t payload,
                             ksv_error *error)
{
    sorted_info *seen = &it->seen;
    const byte_buffer *key = &it->walker.key;
    unsigned bits = it->reader->meta.info.options.payload_bits;
    int order = 1;
    if (seen->entries > 0)
        order = bytes_compare(key->data, key->size, it->last.data,
                              it->last.size, 0);
    if (order < 0 || (order == 0 && payload < it->last_payload) ||
        payload >> bits != 0)
        return sorted_set_corrupt(error, &it->block.place,
                                  "its entries are not in order");
    seen->entries++;
    seen->key_bytes += key->size;
    seen->distinct_keys += order > 0;
    it->run_entries = order > 0 ? 1 : it->run_entries + 1;
    if (it->run_entries > seen->longest_run)
        seen->longest_run = it->run_entries;
    it->last_payload = payload;
    if (order == 0)
        return KSV_OK;
    buffer_clear(&it->last);
    return buffer_append(&it->last, key->data, key->size, error);
}

/* Goes to the next entry of the block, or none, and checks that those who find
 * keys come to the same ones: restarts are where they have to be, and the last
 * entry ends where they begin. */
static ksv_status walk(sorted_iterator *it, ksv_error *error)
{
    const sorted_block *block = &it->block;
    size_t next = it->walker.next;
    KSV_TRY(block_walker_next(&it->walker, error));
    uint32_t entry = it->walker.entry;
    size_t expected =
        entry == block->header.entries ? block->keys_bytes
        : entry % SORTED_RESTART_ENTRIES == 0
            ? block_restart_at(block, entry / SORTED_RESTART_ENTRIES)
            : next;
    if (next == expected)
        return KSV_OK;
    return sorted_set_corrupt(error, &block->place,
                              "its restarts are not where it says");
}

ksv_status sorted_iterator_next(sorted_iterator *iterator, sorted_key *key,
                                uint64_t *payload, bool *end, ksv_error *error)
{
    sorted_iterator *it = iterator;
    *end = false;
    if (block_walker_is_at_entry(&it->walker))
        KSV_TRY(walk(it, error));
    if (!it->ended && !block_walker_is_at_entry(&it->walker))
        KSV_TRY(next_block(it, error));
    *end = it->ended;
    if (*end)
        return KSV_OK;
    *payload = block_payload(&it->block, it->walker.entry);
    *key = block_walker_key(&it->walker);
    return take_entry(it, *payload, error);
}
