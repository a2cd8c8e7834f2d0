/* SPDX-License-Identifier: MIT */
/* An index block in memory: which block can hold a key. */
#include "sorted/index_node.h"

#include "base/error.h"
#include "base/varint.h"
#include "io/file.h"

/* Children stand before the block that leads to them, in their order. */
static ksv_status decode_children(index_node *node, ksv_error *error)
{
    const block_place *own = &node->block.place;
    byte_cursor c = cursor_over(node->block.tail, node->block.tail_bytes);
    uint64_t end = 0, number = 0;
    for (size_t i = 0; i < node->count; i++) {
        uint64_t size = cursor_varint(&c);
        uint64_t skipped_numbers = cursor_varint(&c);
        uint64_t skipped_bytes = cursor_varint(&c);
        uint64_t bytes = size >> 1;
        if (c.failed || bytes <= SORTED_BLOCK_HEADER_BYTES ||
            skipped_bytes > own->offset - end ||
            bytes > own->offset - end - skipped_bytes || bytes > UINT32_MAX ||
            skipped_numbers > UINT32_MAX - number)
            return sorted_set_corrupt(error, own, "it leads nowhere");
        number += skipped_numbers;
        node->children[i] = (index_child){
            {end + skipped_bytes, (uint32_t)bytes, (uint32_t)number},
            (size & 1) != 0};
        end += skipped_bytes + bytes;
        number++;
    }
    if (!cursor_at_end(&c) ||
        node->children[0].place.offset < SORTED_HEADER_BYTES)
        return sorted_set_corrupt(error, own, "it leads nowhere");
    return KSV_OK;
}

static ksv_status load(index_node *node, ksv_file *file,
                       const block_place *place, uint64_t tag,
                       inflater *decoder, ksv_error *error)
{
    const ksv_allocator *a = node->allocator;
    KSV_TRY(buffer_reserve(
        &node->stored, (size_t)place->size_bytes + BLOCK_READ_PADDING, error));
    KSV_TRY(file_read_exactly(file, place->offset, node->stored.data,
                              place->size_bytes, error));
    KSV_TRY(block_open(&node->block, node->stored.data, place, tag, node->level,
                       decoder, &node->raw, error));
    /* An entry takes two bytes of keys and three of the tail at least. */
    node->count = node->block.header.entries;
    if (node->count > node->block.tail_bytes / 3)
        return sorted_set_corrupt(error, place, "it leads nowhere");
    node->children = memory_zalloc_array(a, node->count, sizeof(index_child));
    if (node->level > 1)
        node->slots =
            memory_zalloc_array(a, node->count, sizeof(index_node_slot));
    if (node->children == NULL || (node->level > 1 && node->slots == NULL))
        return error_set_memory(error);
    return decode_children(node, error);
}

ksv_status index_node_load(ksv_file *file, const ksv_allocator *allocator,
                           const block_place *place, uint64_t tag,
                           unsigned level, inflater *decoder, index_node **out,
                           ksv_error *error)
{
    *out = NULL;
    index_node *node = memory_zalloc(allocator, sizeof *node);
    if (node == NULL)
        return error_set_memory(error);
    node->allocator = allocator;
    node->level = level;
    buffer_init(&node->stored, allocator);
    buffer_init(&node->raw, allocator);
    ksv_status status = load(node, file, place, tag, decoder, error);
    if (status != KSV_OK) {
        index_node_free(node);
        return status;
    }
    *out = node;
    return KSV_OK;
}

void index_node_free(index_node *node)
{
    if (node == NULL)
        return;
    const ksv_allocator *a = node->allocator;
    for (size_t i = 0; node->slots != NULL && i < node->count; i++)
        index_node_free(atomic_load(&node->slots[i]));
    memory_free(a, (void *)node->slots, node->count * sizeof(index_node_slot));
    memory_free(a, node->children, node->count * sizeof(index_child));
    buffer_release(&node->stored);
    buffer_release(&node->raw);
    memory_free(a, node, sizeof *node);
}

ksv_status index_node_find(const index_node *node, block_walker *walker,
                           sorted_key key, size_t *child, ksv_error *error)
{
    block_walker_set(walker, &node->block);
    KSV_TRY(block_walker_seek(walker, key, error));
    /* The first key that is not before the one asked for: either its block
     * begins with it, or it may be in the block before. */
    size_t at = walker->entry;
    bool begins_here = block_walker_is_at_entry(walker) &&
                       block_walker_compare(walker, key) == 0 &&
                       !node->children[at].continues;
    *child = begins_here || at == 0 ? at : at - 1;
    return KSV_OK;
}
