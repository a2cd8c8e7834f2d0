/* SPDX-License-Identifier: MIT */
/* What is known of a sorted table: whole keys in the order of their bytes. */
#ifndef KSV_SORTED_SORTED_TABLE_H
#define KSV_SORTED_SORTED_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <keysieve/memory.h>
#include <keysieve/status.h>

#include "base/bytes.h"

/* An immutable file of entries (key, payload) in ascending order, keys compared
 * as bytes, a key before all that it is a beginning of. Entries stand in blocks
 * of some KiB, each of which has a checksum and is deflated when that pays;
 * index blocks lead to the one block that a key can be in. Only a key with more
 * entries than a block holds goes over several blocks. Keys may be empty, hold
 * any bytes, and be as long as this. */
#define SORTED_MOST_KEY_BYTES ((size_t)1 << 30)

typedef struct sorted_options {
    unsigned payload_bits; /* 1..64: every payload is below 2^payload_bits */
    /* Entries are the first key of each span of records, not all keys: for the
     * user of the table, to whom it says what a payload means. */
    bool sparse;
    /* Any 16 bytes that tell this table from others. */
    uint8_t id[16];
    /* What blocks are filled up to, before deflating; 0: what serves most. Not
     * kept in the table. */
    size_t block_bytes;
} sorted_options;

typedef struct sorted_info {
    sorted_options options;
    uint64_t entries;
    uint64_t distinct_keys;
    uint64_t longest_run; /* entries of the key that has the most */
    uint64_t key_bytes;   /* lengths of the keys of all entries */
    uint64_t data_blocks;
    uint64_t blocks;    /* of data and index */
    uint64_t raw_bytes; /* of all blocks before deflating */
    uint64_t file_bytes;
} sorted_info;

/* A key is borrowed bytes. */
typedef struct sorted_key {
    const uint8_t *data;
    size_t size_bytes;
} sorted_key;

/* Below, at or above 0 as `a` comes before `b`, is it or comes after. */
static inline int sorted_key_compare(sorted_key a, sorted_key b)
{
    return bytes_compare(a.data, a.size_bytes, b.data, b.size_bytes, 0);
}

#endif
