/* SPDX-License-Identifier: MIT */
/* Checks every page of an LMDB environment that a commit refers to. */
#include "catalog/lmdb_walker.h"

#include "base/error.h"
#include "base/memory.h"

/* LMDB itself has room for as many levels. */
#define DEPTH_MOST 32
#define KEY_BYTES_MOST 511
/* Pages that a transaction takes and gives back are free without ever having
 * been written: the last page may lie behind the end of the file. */
#define UNWRITTEN_PAGES_MOST ((uint64_t)1 << 20)

typedef struct walker {
    ksv_file *file;
    const char *path;
    const ksv_allocator *allocator;
    const lmdb_meta *meta;
    size_t page_bytes;
    uint64_t file_pages;
    uint8_t *taken; /* a bit a page: belongs to something */
    size_t taken_bytes;
    uint64_t taken_pages;
    uint8_t *levels; /* a page a level of the tree being walked */
    byte_buffer value;
    lmdb_visit_fn visit;
    void *ctx;
    uint64_t bytes_read;
    /* Of the tree being walked. */
    const lmdb_tree *tree;
    lmdb_tree found;
    bool is_free_list;
    /* The next key has to be greater than this one, or equal to it when it is
     * the separator before its page. */
    uint8_t bound[KEY_BYTES_MOST];
    size_t bound_bytes;
    bool has_bound;
    bool bound_included;
} walker;

typedef struct page {
    uint64_t number;
    const uint8_t *bytes;
    unsigned nodes;
    bool is_leaf;
} page;

typedef struct node {
    const uint8_t *key;
    size_t key_bytes;
    uint32_t value_bytes; /* in leaves */
    uint64_t child;       /* in branches */
    unsigned flags;       /* in leaves */
    const uint8_t *value; /* in leaves: the value, or its page's number */
} node;

static ksv_status damaged(const walker *w, uint64_t page_number,
                          const char *what, ksv_error *error)
{
    error_set_at(error, KSV_ERROR_CORRUPT, w->path, page_number * w->page_bytes,
                 "page %llu: %s", (unsigned long long)page_number, what);
    error_add_remedy(error, KSV_REMEDY_BUILD);
    return KSV_ERROR_CORRUPT;
}

static ksv_status take_page(walker *w, uint64_t number, uint64_t named_by,
                            ksv_error *error)
{
    if (number < LMDB_FIRST_PAGE || number > w->meta->last_page)
        return damaged(w, named_by, "names a page that does not exist", error);
    uint8_t bit = (uint8_t)(1u << (number & 7));
    if ((w->taken[number >> 3] & bit) != 0)
        return damaged(w, named_by, "names a page that is in use elsewhere",
                       error);
    w->taken[number >> 3] |= bit;
    w->taken_pages++;
    return KSV_OK;
}

static ksv_status read_pages(walker *w, uint64_t number, uint8_t *out,
                             size_t pages, ksv_error *error)
{
    if (number >= w->file_pages || pages > w->file_pages - number)
        return damaged(w, number, "lies behind the end of the file", error);
    size_t wanted = pages * w->page_bytes;
    size_t got = 0;
    ksv_status status = w->file->ops->read_at(w->file, number * w->page_bytes,
                                              out, wanted, &got, error);
    if (status != KSV_OK) {
        error_add_path(error, w->path);
        return status;
    }
    w->bytes_read += got;
    return got == wanted ? KSV_OK : damaged(w, number, "ends too early", error);
}

static ksv_status read_tree_page(walker *w, uint64_t number, unsigned level,
                                 page *out, ksv_error *error)
{
    uint8_t *bytes = w->levels + level * w->page_bytes;
    KSV_TRY(read_pages(w, number, bytes, 1, error));
    const uint8_t *fields = bytes + LMDB_WORD_BYTES;
    unsigned flags = lmdb_load_u16(fields + 2);
    unsigned lower = lmdb_load_u16(fields + 4);
    unsigned upper = lmdb_load_u16(fields + 6);
    bool is_leaf = level + 1 == w->tree->depth;
    if (lmdb_load_word(bytes) != number ||
        flags != (is_leaf ? LMDB_PAGE_LEAF : LMDB_PAGE_BRANCH))
        return damaged(w, number, "has a wrong header", error);
    if (lower < LMDB_PAGE_HEADER_BYTES || lower % 2 != 0 || upper < lower ||
        upper % 2 != 0 || upper > w->page_bytes)
        return damaged(w, number, "has wrong bounds", error);
    unsigned nodes = (lower - (unsigned)LMDB_PAGE_HEADER_BYTES) / 2;
    /* A branch with one child is found in free lists only. */
    if (nodes < (is_leaf || w->is_free_list ? 1u : 2u))
        return damaged(w, number, "has too few entries", error);
    *out = (page){number, bytes, nodes, is_leaf};
    return KSV_OK;
}

/* Fills `*out` when node `i` lies inside of the page. */
static bool decode_node(const walker *w, const page *p, unsigned i, node *out,
                        size_t *node_bytes)
{
    unsigned upper = lmdb_load_u16(p->bytes + LMDB_WORD_BYTES + 6);
    unsigned offset =
        lmdb_load_u16(p->bytes + LMDB_PAGE_HEADER_BYTES + 2 * (size_t)i);
    if (offset < upper || offset % 2 != 0 ||
        offset + LMDB_NODE_HEADER_BYTES > w->page_bytes)
        return false;
    /* The two halves of a value's size stand in the order of the machine, as
     * one number would; a page number has its highest 16 bits behind them. */
    const uint8_t *b = p->bytes + offset;
    uint32_t low = lmdb_load_u32(b);
    out->flags = lmdb_load_u16(b + 4);
    out->key_bytes = lmdb_load_u16(b + 6);
    out->key = b + LMDB_NODE_HEADER_BYTES;
    out->value_bytes = low;
    out->child = low;
    if (LMDB_WORD_BYTES == 8)
        out->child |= (uint64_t)out->flags << 32;
    uint64_t bytes = LMDB_NODE_HEADER_BYTES + (uint64_t)out->key_bytes;
    if (p->is_leaf)
        bytes += (out->flags & LMDB_NODE_BIGDATA) != 0 ? LMDB_WORD_BYTES
                                                       : out->value_bytes;
    if (bytes > w->page_bytes - offset || out->key_bytes > KEY_BYTES_MOST)
        return false;
    out->value = out->key + out->key_bytes;
    *node_bytes = ((size_t)bytes + 1) & ~(size_t)1;
    return true;
}

/* Nodes fill the upper part of a page without gaps, so none overlaps another
 * when their sizes add up. */
static ksv_status check_nodes(const walker *w, const page *p, ksv_error *error)
{
    size_t sum = 0;
    for (unsigned i = 0; i < p->nodes; i++) {
        node n;
        size_t bytes;
        if (!decode_node(w, p, i, &n, &bytes))
            return damaged(w, p->number, "has an entry that lies outside",
                           error);
        if (p->is_leaf && (n.flags & ~LMDB_NODE_BIGDATA) != 0)
            return damaged(w, p->number, "has an entry of an unknown kind",
                           error);
        sum += bytes;
    }
    if (sum != w->page_bytes - lmdb_load_u16(p->bytes + LMDB_WORD_BYTES + 6))
        return damaged(w, p->number, "has entries that overlap", error);
    return KSV_OK;
}

static int compare_keys(const walker *w, const node *n)
{
    if (w->is_free_list) {
        uint64_t a = lmdb_load_word(n->key);
        uint64_t b = lmdb_load_word(w->bound);
        return (a > b) - (a < b);
    }
    size_t shared =
        n->key_bytes < w->bound_bytes ? n->key_bytes : w->bound_bytes;
    int order = memcmp(n->key, w->bound, shared);
    if (order != 0)
        return order;
    return (n->key_bytes > w->bound_bytes) - (n->key_bytes < w->bound_bytes);
}

static ksv_status check_order(walker *w, const page *p, const node *n,
                              ksv_error *error)
{
    if (n->key_bytes == 0 ||
        (w->is_free_list && n->key_bytes != LMDB_WORD_BYTES))
        return damaged(w, p->number, "has a key of a wrong size", error);
    if (w->has_bound) {
        int order = compare_keys(w, n);
        if (order < 0 || (order == 0 && !w->bound_included))
            return damaged(w, p->number, "has keys out of order", error);
    }
    memcpy(w->bound, n->key, n->key_bytes);
    w->bound_bytes = n->key_bytes;
    w->has_bound = true;
    w->bound_included = !p->is_leaf;
    return KSV_OK;
}

static ksv_status read_big_value(walker *w, const page *p, const node *n,
                                 const uint8_t **value, ksv_error *error)
{
    uint64_t first = lmdb_load_word(n->value);
    uint64_t bytes = LMDB_PAGE_HEADER_BYTES + (uint64_t)n->value_bytes;
    uint64_t pages = (bytes - 1) / w->page_bytes + 1;
    if (first >= w->file_pages || pages > w->file_pages - first)
        return damaged(w, p->number, "has a value behind the end of the file",
                       error);
    for (uint64_t i = 0; i < pages; i++)
        KSV_TRY(take_page(w, first + i, p->number, error));
    buffer_clear(&w->value);
    KSV_TRY(buffer_reserve(&w->value, (size_t)pages * w->page_bytes, error));
    KSV_TRY(read_pages(w, first, w->value.data, (size_t)pages, error));
    const uint8_t *fields = w->value.data + LMDB_WORD_BYTES;
    if (lmdb_load_word(w->value.data) != first ||
        lmdb_load_u16(fields + 2) != LMDB_PAGE_OVERFLOW ||
        lmdb_load_u32(fields + 4) != pages)
        return damaged(w, first, "has a wrong header", error);
    w->found.overflow_pages += pages;
    *value = w->value.data + LMDB_PAGE_HEADER_BYTES;
    return KSV_OK;
}

/* A record of the free list: a count, then as many page numbers, descending. */
static ksv_status take_free_pages(walker *w, const page *p,
                                  const uint8_t *value, size_t value_bytes,
                                  ksv_error *error)
{
    uint64_t words = value_bytes / LMDB_WORD_BYTES;
    uint64_t count = words > 0 ? lmdb_load_word(value) : 0;
    if (words == 0 || count > words - 1)
        return damaged(w, p->number, "has a free list of a wrong size", error);
    uint64_t before = UINT64_MAX;
    for (uint64_t i = 1; i <= count; i++) {
        uint64_t number = lmdb_load_word(value + i * LMDB_WORD_BYTES);
        if (number >= before)
            return damaged(w, p->number, "has a free list out of order", error);
        KSV_TRY(take_page(w, number, p->number, error));
        before = number;
    }
    return KSV_OK;
}

static ksv_status walk_leaf(walker *w, const page *p, ksv_error *error)
{
    for (unsigned i = 0; i < p->nodes; i++) {
        node n;
        size_t bytes;
        if (!decode_node(w, p, i, &n, &bytes))
            return damaged(w, p->number, "has an entry that lies outside",
                           error);
        KSV_TRY(check_order(w, p, &n, error));
        const uint8_t *value = n.value;
        if ((n.flags & LMDB_NODE_BIGDATA) != 0)
            KSV_TRY(read_big_value(w, p, &n, &value, error));
        w->found.entries++;
        if (w->is_free_list)
            KSV_TRY(take_free_pages(w, p, value, n.value_bytes, error));
        else if (w->visit != NULL)
            KSV_TRY(w->visit(w->ctx, n.key, n.key_bytes, value, n.value_bytes,
                             error));
    }
    return KSV_OK;
}

/* Recursion goes as deep as the tree: `level` stays below its depth. */
static ksv_status walk_page(walker *w, uint64_t number, uint64_t named_by,
                            unsigned level, ksv_error *error)
{
    page p;
    KSV_TRY(take_page(w, number, named_by, error));
    KSV_TRY(read_tree_page(w, number, level, &p, error));
    KSV_TRY(check_nodes(w, &p, error));
    if (p.is_leaf) {
        w->found.leaf_pages++;
        return walk_leaf(w, &p, error);
    }
    w->found.branch_pages++;
    for (unsigned i = 0; i < p.nodes; i++) {
        node n;
        size_t bytes;
        if (!decode_node(w, &p, i, &n, &bytes))
            return damaged(w, number, "has an entry that lies outside", error);
        /* The first key of a branch stands for everything before the second. */
        if (i > 0)
            KSV_TRY(check_order(w, &p, &n, error));
        KSV_TRY(walk_page(w, n.child, number, level + 1, error));
    }
    return KSV_OK;
}

static ksv_status check_counts(const walker *w, uint64_t meta_page,
                               ksv_error *error)
{
    const lmdb_tree *told = w->tree;
    const lmdb_tree *found = &w->found;
    if (told->branch_pages != found->branch_pages ||
        told->leaf_pages != found->leaf_pages ||
        told->overflow_pages != found->overflow_pages ||
        told->entries != found->entries)
        return damaged(w, meta_page, "counts other pages than there are",
                       error);
    return KSV_OK;
}

static ksv_status walk_tree(walker *w, const lmdb_tree *tree, bool is_free_list,
                            ksv_error *error)
{
    uint64_t meta_page = w->meta->page_number;
    w->tree = tree;
    w->is_free_list = is_free_list;
    w->has_bound = false;
    memset(&w->found, 0, sizeof w->found);
    if ((tree->root == LMDB_NO_PAGE) != (tree->depth == 0) ||
        tree->depth > DEPTH_MOST)
        return damaged(w, meta_page, "has a tree of impossible depth", error);
    if (tree->depth > 0)
        KSV_TRY(walk_page(w, tree->root, meta_page, 0, error));
    return check_counts(w, meta_page, error);
}

static ksv_status prepare(walker *w, ksv_error *error)
{
    ksv_file_info info;
    ksv_status status = w->file->ops->info(w->file, &info, error);
    if (status != KSV_OK) {
        error_add_path(error, w->path);
        return status;
    }
    /* What lies behind the last whole page is of a commit that was not done. */
    w->file_pages = info.size_bytes / w->page_bytes;
    uint64_t last = w->meta->last_page;
    if (w->file_pages < LMDB_FIRST_PAGE ||
        last >= w->file_pages + UNWRITTEN_PAGES_MOST)
        return damaged(w, w->meta->page_number,
                       "counts more pages than the file has", error);
    w->taken_bytes = (size_t)(last / 8 + 1);
    w->taken = memory_zalloc(w->allocator, w->taken_bytes);
    w->levels = memory_alloc(w->allocator, DEPTH_MOST * w->page_bytes);
    return w->taken != NULL && w->levels != NULL ? KSV_OK
                                                 : error_set_memory(error);
}

ksv_status lmdb_walk(ksv_file *file, const char *path, const lmdb_head *head,
                     const ksv_allocator *allocator, lmdb_visit_fn visit,
                     void *ctx, uint64_t *bytes_read, ksv_error *error)
{
    walker w = {.file = file,
                .path = path,
                .allocator = allocator,
                .meta = &head->newest,
                .page_bytes = head->page_bytes,
                .visit = visit,
                .ctx = ctx};
    buffer_init(&w.value, allocator);
    ksv_status status = prepare(&w, error);
    if (status == KSV_OK)
        status = walk_tree(&w, &head->newest.free_list, true, error);
    if (status == KSV_OK)
        status = walk_tree(&w, &head->newest.main, false, error);
    if (status == KSV_OK &&
        w.taken_pages != head->newest.last_page + 1 - LMDB_FIRST_PAGE)
        status = damaged(&w, head->newest.page_number,
                         "counts pages that nothing uses", error);
    if (bytes_read != NULL)
        *bytes_read += w.bytes_read;
    buffer_release(&w.value);
    memory_free(allocator, w.taken, w.taken_bytes);
    memory_free(allocator, w.levels, DEPTH_MOST * w.page_bytes);
    return status;
}
