/* SPDX-License-Identifier: MIT */
/* The two meta pages of an LMDB environment, read from its file alone. */
#include "mdb/lmdb_layout.h"

#include "base/error.h"
#include "hash/hash.h"

#define ADDRESS_OFFSET (LMDB_PAGE_HEADER_BYTES + 8)
#define TREES_OFFSET (ADDRESS_OFFSET + 2 * LMDB_WORD_BYTES)
#define LAST_PAGE_OFFSET (TREES_OFFSET + 2 * LMDB_TREE_BYTES)
#define TXN_ID_OFFSET (LAST_PAGE_OFFSET + LMDB_WORD_BYTES)

#define PAGE_BYTES_LEAST 256
#define PAGE_BYTES_MOST 65536

static lmdb_tree decode_tree(const uint8_t *p)
{
    const uint8_t *words = p + 8;
    return (lmdb_tree){
        .pad = lmdb_load_u32(p),
        .flags = lmdb_load_u16(p + 4),
        .depth = lmdb_load_u16(p + 6),
        .branch_pages = lmdb_load_word(words),
        .leaf_pages = lmdb_load_word(words + LMDB_WORD_BYTES),
        .overflow_pages = lmdb_load_word(words + 2 * LMDB_WORD_BYTES),
        .entries = lmdb_load_word(words + 3 * LMDB_WORD_BYTES),
        .root = lmdb_load_word(words + 4 * LMDB_WORD_BYTES),
    };
}

static lmdb_meta decode_meta(const uint8_t *page)
{
    const uint8_t *meta = page + LMDB_PAGE_HEADER_BYTES;
    return (lmdb_meta){
        .page_number = lmdb_load_word(page),
        .page_flags = lmdb_load_u16(page + LMDB_WORD_BYTES + 2),
        .magic = lmdb_load_u32(meta),
        .version = lmdb_load_u32(meta + 4),
        .address = lmdb_load_word(page + ADDRESS_OFFSET),
        .map_bytes = lmdb_load_word(page + ADDRESS_OFFSET + LMDB_WORD_BYTES),
        .free_list = decode_tree(page + TREES_OFFSET),
        .main = decode_tree(page + TREES_OFFSET + LMDB_TREE_BYTES),
        .last_page = lmdb_load_word(page + LAST_PAGE_OFFSET),
        .txn_id = lmdb_load_word(page + TXN_ID_OFFSET),
    };
}

static bool is_empty_tree(const lmdb_tree *tree)
{
    return tree->root == LMDB_NO_PAGE && tree->depth == 0 &&
           tree->entries == 0 && tree->branch_pages == 0 &&
           tree->leaf_pages == 0 && tree->overflow_pages == 0;
}

/* NULL, or what is wrong with a meta page by itself. */
static const char *judge_meta(const lmdb_meta *meta, unsigned number)
{
    uint32_t page_bytes = meta->free_list.pad;
    if (meta->magic != LMDB_MAGIC)
        return "is no LMDB environment of this kind of machine";
    if (meta->page_number != number || meta->page_flags != LMDB_PAGE_META)
        return "a meta page has a wrong header";
    if (meta->version != LMDB_DATA_VERSION)
        return "a meta page has a wrong version";
    if (page_bytes < PAGE_BYTES_LEAST || page_bytes > PAGE_BYTES_MOST ||
        (page_bytes & (page_bytes - 1)) != 0)
        return "a meta page has an impossible page size";
    if ((meta->free_list.flags & 0xff) != LMDB_TREE_INTEGERKEY ||
        meta->main.flags != 0 || meta->last_page < LMDB_FIRST_PAGE - 1)
        return "a meta page has impossible fields";
    return meta->txn_id == 0 || (meta->txn_id & 1) == number
               ? NULL
               : "a meta page has a wrong place";
}

/* As LMDB makes it before any commit. */
static bool is_fresh(const lmdb_meta *meta)
{
    return is_empty_tree(&meta->free_list) && is_empty_tree(&meta->main) &&
           meta->last_page == LMDB_FIRST_PAGE - 1;
}

/* Transactions take turns at the two pages, so their ids are neighbours. */
static const char *judge_pair(const lmdb_meta *a, const lmdb_meta *b)
{
    if (a->free_list.pad != b->free_list.pad || a->address != b->address)
        return "the meta pages are of two environments";
    if (a->txn_id == 0 && b->txn_id == 0)
        return is_fresh(a) && is_fresh(b) ? NULL
                                          : "a meta page has lost its commit";
    uint64_t distance =
        a->txn_id > b->txn_id ? a->txn_id - b->txn_id : b->txn_id - a->txn_id;
    return distance == 1 ? NULL
                         : "the meta pages are not of neighbouring commits";
}

/* Only both pages together speak of a later version: one of them is damage. */
static bool is_later_version(const lmdb_meta metas[2])
{
    return metas[0].magic == LMDB_MAGIC && metas[1].magic == LMDB_MAGIC &&
           metas[0].version > LMDB_DATA_VERSION &&
           metas[1].version == metas[0].version;
}

static ksv_status judge_head(lmdb_head *head, const char *path,
                             const lmdb_meta metas[2], ksv_error *error)
{
    if (is_later_version(metas))
        return error_set(error, KSV_ERROR_VERSION, path,
                         "is an LMDB environment of version %u; this program "
                         "reads version %d",
                         (unsigned)metas[0].version, LMDB_DATA_VERSION);
    uint64_t offset = 0;
    const char *wrong = judge_meta(&metas[0], 0);
    if (wrong == NULL) {
        offset = metas[0].free_list.pad;
        wrong = judge_meta(&metas[1], 1);
    }
    if (wrong == NULL)
        wrong = judge_pair(&metas[0], &metas[1]);
    if (wrong != NULL) {
        error_set_at(error, KSV_ERROR_CORRUPT, path, offset, "%s", wrong);
        error_add_remedy(error, KSV_REMEDY_BUILD);
        return KSV_ERROR_CORRUPT;
    }
    unsigned newest = metas[0].txn_id < metas[1].txn_id;
    head->page_bytes = metas[0].free_list.pad;
    head->environment_id = metas[0].address;
    head->txn_id = metas[newest].txn_id;
    head->newest = metas[newest];
    head->other_checksum = lmdb_meta_checksum(head->raw[!newest]);
    return KSV_OK;
}

static ksv_status read_raw(ksv_file *file, const char *path, uint64_t offset,
                           uint8_t *raw, ksv_error *error)
{
    size_t got = 0;
    ksv_status status =
        file->ops->read_at(file, offset, raw, LMDB_META_BYTES, &got, error);
    if (status != KSV_OK) {
        error_add_path(error, path);
        return status;
    }
    if (got == LMDB_META_BYTES)
        return KSV_OK;
    error_set_at(error, KSV_ERROR_CORRUPT, path, offset + got, "is cut short");
    error_add_remedy(error, KSV_REMEDY_BUILD);
    return KSV_ERROR_CORRUPT;
}

ksv_status lmdb_head_read(ksv_file *file, const char *path, lmdb_head *head,
                          ksv_error *error)
{
    memset(head, 0, sizeof *head);
    lmdb_meta metas[2];
    KSV_TRY(read_raw(file, path, 0, head->raw[0], error));
    metas[0] = decode_meta(head->raw[0]);
    KSV_TRY(read_raw(file, path, metas[0].free_list.pad, head->raw[1], error));
    metas[1] = decode_meta(head->raw[1]);
    return judge_head(head, path, metas, error);
}

uint64_t lmdb_environment_id(uint64_t wanted)
{
    return (size_t)wanted;
}

void lmdb_meta_patch(uint8_t *page, uint64_t environment_id, uint64_t txn_id)
{
    size_t words[] = {(size_t)environment_id, (size_t)txn_id};
    memcpy(page + ADDRESS_OFFSET, &words[0], LMDB_WORD_BYTES);
    memcpy(page + TXN_ID_OFFSET, &words[1], LMDB_WORD_BYTES);
}

uint64_t lmdb_meta_checksum(const uint8_t *page)
{
    return hash_checksum64(page, LMDB_META_BYTES);
}
