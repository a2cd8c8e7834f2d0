/* SPDX-License-Identifier: MIT */
/* The records of a tree's environment: their keys, and what its head says. */
#include "btree/tree_record.h"

#include "base/coding.h"
#include "base/error.h"
#include "hash/hash.h"

#define MAGIC "KSVTREE\n"
#define MAGIC_BYTES 8
#define VERSION 1
#define FEATURES 0
#define FIXED_BYTES 80
#define PART_BYTES 16
#define CHECKSUM_BYTES 8

static void put_tie(uint8_t *p, uint64_t tie)
{
    for (int i = 0; i < LMDB_TIE_BYTES; i++)
        p[i] = (uint8_t)(tie >> (56 - 8 * i));
}

static size_t text_bytes(tree_key low)
{
    return low.size_bytes < TREE_TEXT_BYTES_MOST ? low.size_bytes
                                                 : TREE_TEXT_BYTES_MOST;
}

tree_record_key tree_record_block(tree_key low, uint64_t tie)
{
    tree_record_key key;
    size_t text = text_bytes(low);
    key.bytes[0] = TREE_RECORD_BLOCK;
    if (text > 0)
        memcpy(key.bytes + 1, low.data, text);
    put_tie(key.bytes + 1 + text, tie);
    key.size_bytes = 1 + text + LMDB_TIE_BYTES;
    return key;
}

tree_record_key tree_record_head(void)
{
    tree_record_key key = {{TREE_RECORD_HEAD}, 1 + LMDB_TIE_BYTES};
    return key;
}

uint64_t tree_record_tie(const uint8_t *key, size_t key_bytes)
{
    uint64_t tie = 0;
    for (size_t i = key_bytes - LMDB_TIE_BYTES; i < key_bytes; i++)
        tie = tie << 8 | key[i];
    return tie;
}

bool tree_record_has_text(const uint8_t *key, size_t key_bytes, tree_key low)
{
    size_t text = text_bytes(low);
    return key_bytes == 1 + text + LMDB_TIE_BYTES &&
           key[0] == TREE_RECORD_BLOCK &&
           (text == 0 || memcmp(key + 1, low.data, text) == 0);
}

bool tree_record_same_text(const tree_record_key *a, const tree_record_key *b)
{
    return a->size_bytes == b->size_bytes &&
           memcmp(a->bytes, b->bytes, a->size_bytes - LMDB_TIE_BYTES) == 0;
}

void tree_record_set_tie(tree_record_key *key, uint64_t tie)
{
    put_tie(key->bytes + key->size_bytes - LMDB_TIE_BYTES, tie);
}

void tree_head_init(tree_head *head, const ksv_allocator *allocator)
{
    *head = (tree_head){.allocator = allocator};
}

void tree_head_release(tree_head *head)
{
    memory_free(head->allocator, head->parts,
                head->part_capacity * sizeof *head->parts);
    head->parts = NULL;
    head->part_count = 0;
    head->part_capacity = 0;
}

/* The number of parts before `part`. */
static size_t rank_of(const tree_head *head, uint64_t part)
{
    size_t low = 0;
    size_t high = head->part_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (head->parts[middle].part < part)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static ksv_status add_part(tree_head *head, uint64_t part, size_t at,
                           ksv_error *error)
{
    if (head->part_count == head->part_capacity) {
        void *parts = head->parts;
        KSV_TRY(memory_grow(head->allocator, &parts, &head->part_capacity,
                            head->part_count + 1, sizeof *head->parts, error));
        head->parts = parts;
    }
    memmove(head->parts + at + 1, head->parts + at,
            (head->part_count - at) * sizeof *head->parts);
    head->parts[at] = (tree_part){part, 0};
    head->part_count++;
    return KSV_OK;
}

ksv_status tree_head_count(tree_head *head, uint64_t part, int64_t entries,
                           ksv_error *error)
{
    size_t at = rank_of(head, part);
    if (at == head->part_count || head->parts[at].part != part)
        KSV_TRY(add_part(head, part, at, error));
    tree_part *p = &head->parts[at];
    p->entries += (uint64_t)entries;
    head->entries += (uint64_t)entries;
    if (part >= head->next_part)
        head->next_part = part + 1;
    if (p->entries == 0) {
        head->part_count--;
        memmove(p, p + 1, (head->part_count - at) * sizeof *p);
    }
    return KSV_OK;
}

static ksv_status put_fixed(const tree_head *head, byte_buffer *out,
                            ksv_error *error)
{
    const uint64_t numbers[] = {head->txn_id,           head->next_part,
                                head->least_generation, head->entries,
                                head->blocks,           head->part_count};
    KSV_TRY(buffer_append(out, MAGIC, MAGIC_BYTES, error));
    KSV_TRY(buffer_put_u16(out, VERSION, error));
    KSV_TRY(buffer_put_u16(out, 0, error));
    KSV_TRY(buffer_put_u32(out, FEATURES, error));
    KSV_TRY(buffer_append(out, head->id, sizeof head->id, error));
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        KSV_TRY(buffer_put_u64(out, numbers[i], error));
    return KSV_OK;
}

ksv_status tree_head_encode(const tree_head *head, byte_buffer *out,
                            ksv_error *error)
{
    buffer_clear(out);
    KSV_TRY(put_fixed(head, out, error));
    for (size_t i = 0; i < head->part_count; i++) {
        KSV_TRY(buffer_put_u64(out, head->parts[i].part, error));
        KSV_TRY(buffer_put_u64(out, head->parts[i].entries, error));
    }
    return buffer_put_u64(out, hash_checksum64(out->data, out->size), error);
}

static ksv_status damaged(ksv_error *error)
{
    return error_set(error, KSV_ERROR_CORRUPT, NULL,
                     "has a damaged head of the tree");
}

static ksv_status get_parts(tree_head *head, byte_cursor *c, uint64_t count,
                            ksv_error *error)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < count; i++) {
        tree_part part = {cursor_u64(c), 0};
        part.entries = cursor_u64(c);
        bool behind = i == 0 || part.part > head->parts[i - 1].part;
        sum += part.entries;
        if (!behind || part.part >= head->next_part || part.entries == 0 ||
            sum < part.entries)
            return damaged(error);
        KSV_TRY(add_part(head, part.part, (size_t)i, error));
        head->parts[i].entries = part.entries;
    }
    return sum == head->entries ? KSV_OK : damaged(error);
}

static ksv_status get_all(tree_head *head, const uint8_t *data,
                          size_t size_bytes, ksv_error *error)
{
    size_t checked = size_bytes - CHECKSUM_BYTES;
    if (load_u64(data + checked) != hash_checksum64(data, checked))
        return damaged(error);
    byte_cursor c = cursor_over(data + 16, checked - 16);
    memcpy(head->id, cursor_take(&c, 16), 16);
    head->txn_id = cursor_u64(&c);
    head->next_part = cursor_u64(&c);
    head->least_generation = cursor_u64(&c);
    head->entries = cursor_u64(&c);
    head->blocks = cursor_u64(&c);
    uint64_t count = cursor_u64(&c);
    if (count != (checked - FIXED_BYTES) / PART_BYTES ||
        (checked - FIXED_BYTES) % PART_BYTES != 0)
        return damaged(error);
    return get_parts(head, &c, count, error);
}

ksv_status tree_head_decode(tree_head *head, const uint8_t *data,
                            size_t size_bytes, ksv_error *error)
{
    if (size_bytes < FIXED_BYTES + CHECKSUM_BYTES ||
        memcmp(data, MAGIC, MAGIC_BYTES) != 0 || load_u16(data + 8) == 0)
        return damaged(error);
    if (load_u16(data + 8) > VERSION || load_u32(data + 12) != FEATURES)
        return error_set(error, KSV_ERROR_VERSION, NULL,
                         "is a tree of version %u; this program reads "
                         "version %d",
                         (unsigned)load_u16(data + 8), VERSION);
    return get_all(head, data, size_bytes, error);
}
