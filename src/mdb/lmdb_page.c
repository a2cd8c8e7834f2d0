/* SPDX-License-Identifier: MIT */
/* One page of an LMDB tree, checked while it is read. */
#include "mdb/lmdb_page.h"

static unsigned upper_of(const lmdb_page *p)
{
    return lmdb_load_u16(p->bytes + LMDB_WORD_BYTES + 6);
}

static unsigned offset_of(const lmdb_page *p, unsigned i)
{
    return lmdb_load_u16(p->bytes + LMDB_PAGE_HEADER_BYTES + 2 * (size_t)i);
}

/* The two halves of a value's size stand in the order of the machine, as one
 * number would; a page number has its highest 16 bits behind them. */
static void decode_head(const uint8_t *b, lmdb_node *out)
{
    uint32_t low = lmdb_load_u32(b);
    out->flags = lmdb_load_u16(b + 4);
    out->key_bytes = lmdb_load_u16(b + 6);
    out->key = b + LMDB_NODE_HEADER_BYTES;
    out->value = out->key + out->key_bytes;
    out->value_bytes = low;
    out->child = low;
    if (LMDB_WORD_BYTES == 8)
        out->child |= (uint64_t)out->flags << 32;
}

void lmdb_page_node(const lmdb_page *page, unsigned i, lmdb_node *out)
{
    decode_head(page->bytes + offset_of(page, i), out);
}

/* Fills `*node_bytes` when node `i` lies inside of the page. */
static bool measure_node(const lmdb_page *p, unsigned i, lmdb_node *out,
                         size_t *node_bytes)
{
    unsigned offset = offset_of(p, i);
    if (offset < upper_of(p) || offset % 2 != 0 ||
        offset + LMDB_NODE_HEADER_BYTES > p->page_bytes)
        return false;
    decode_head(p->bytes + offset, out);
    uint64_t bytes = LMDB_NODE_HEADER_BYTES + (uint64_t)out->key_bytes;
    if (p->is_leaf)
        bytes += lmdb_node_is_big(out) ? LMDB_WORD_BYTES : out->value_bytes;
    if (bytes > p->page_bytes - offset || out->key_bytes > LMDB_KEY_BYTES_MOST)
        return false;
    *node_bytes = ((size_t)bytes + 1) & ~(size_t)1;
    return true;
}

/* Nodes fill the upper part of a page without gaps, so none overlaps another
 * when their sizes add up. */
static const char *check_nodes(const lmdb_page *p)
{
    size_t sum = 0;
    for (unsigned i = 0; i < p->nodes; i++) {
        lmdb_node n;
        size_t bytes;
        if (!measure_node(p, i, &n, &bytes))
            return "has an entry that lies outside";
        if (p->is_leaf && (n.flags & ~LMDB_NODE_BIGDATA) != 0)
            return "has an entry of an unknown kind";
        sum += bytes;
    }
    return sum == p->page_bytes - upper_of(p) ? NULL
                                              : "has entries that overlap";
}

const char *lmdb_page_take(const uint8_t *bytes, size_t page_bytes,
                           uint64_t number, bool is_leaf, unsigned nodes_least,
                           lmdb_page *out)
{
    const uint8_t *fields = bytes + LMDB_WORD_BYTES;
    unsigned flags = lmdb_load_u16(fields + 2);
    unsigned lower = lmdb_load_u16(fields + 4);
    unsigned upper = lmdb_load_u16(fields + 6);
    if (lmdb_load_word(bytes) != number ||
        flags != (is_leaf ? LMDB_PAGE_LEAF : LMDB_PAGE_BRANCH))
        return "has a wrong header";
    if (lower < LMDB_PAGE_HEADER_BYTES || lower % 2 != 0 || upper < lower ||
        upper % 2 != 0 || upper > page_bytes)
        return "has wrong bounds";
    unsigned nodes = (lower - (unsigned)LMDB_PAGE_HEADER_BYTES) / 2;
    if (nodes < nodes_least)
        return "has too few entries";
    *out = (lmdb_page){number, bytes, page_bytes, nodes, is_leaf};
    return check_nodes(out);
}

uint64_t lmdb_big_head(const uint8_t *bytes, uint64_t first)
{
    const uint8_t *fields = bytes + LMDB_WORD_BYTES;
    bool fits = lmdb_load_word(bytes) == first &&
                lmdb_load_u16(fields + 2) == LMDB_PAGE_OVERFLOW;
    return fits ? lmdb_load_u32(fields + 4) : 0;
}
