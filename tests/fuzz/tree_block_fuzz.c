/* SPDX-License-Identifier: MIT */
/* Any bytes as a block of a tree: as they are, and with the checksum made
 * right. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "btree/tree_entries.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const uint8_t id[16] = "a fuzzed tree...";

/* Uses every byte that an entry has. */
static uint64_t use(const tree_entries *e)
{
    tree_bound entry = tree_entries_get(e);
    uint64_t sum = entry.place.part + entry.place.offset;
    for (size_t i = 0; i < entry.key.size_bytes; i++)
        sum += entry.key.data[i];
    return sum;
}

static uint64_t walk(tree_entries *e, const tree_block *block, bool back)
{
    bool found;
    uint64_t sum = 0;
    ksv_status status = back ? tree_entries_last(e, block, &found, NULL)
                             : tree_entries_first(e, block, &found, NULL);
    while (status == KSV_OK && found) {
        sum += use(e);
        status = back ? tree_entries_previous(e, &found, NULL)
                      : tree_entries_next(e, &found, NULL);
    }
    return status == KSV_OK ? sum : 0;
}

static void seek(tree_entries *e, const tree_block *block, const uint8_t *data,
                 size_t size)
{
    for (size_t n = 0; n < 8 && n < size; n++) {
        bool found;
        tree_bound bound = {{data + n, n}, {data[n], n}};
        if (tree_entries_seek(e, block, &bound, &found, NULL) == KSV_OK &&
            found)
            use(e);
        tree_block_covers(block, &bound);
    }
}

static void read_block(const uint8_t *data, size_t size)
{
    tree_block block;
    if (tree_block_open(&block, data, size, tree_block_tag(id)) != NULL)
        return;
    ksv_allocator a = allocator_or_default(NULL);
    tree_entries e;
    tree_entries_init(&e, &a);
    walk(&e, &block, false);
    walk(&e, &block, true);
    seek(&e, &block, data, size);
    tree_entries_release(&e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_block(data, size);
    if (size < TREE_BLOCK_HEADER_BYTES)
        return 0;
    uint8_t *copy = malloc(size);
    if (copy == NULL)
        return 0;
    memcpy(copy, data, size);
    uint64_t tag = tree_block_tag(id);
    for (int i = 0; i < 8; i++)
        copy[TREE_BLOCK_TAG + i] = (uint8_t)(tag >> (8 * i));
    tree_block_seal(copy, size, 1);
    read_block(copy, size);
    free(copy);
    return 0;
}
