/* SPDX-License-Identifier: MIT */
/* Checks every page of an LMDB environment that a commit refers to. */
#include "mdb/lmdb_walker.h"

#include "base/error.h"
#include "base/memory.h"

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
    const lmdb_walk_options *options;
    uint64_t bytes_read;
    /* Of the tree being walked. */
    const lmdb_tree *tree;
    lmdb_tree found;
    bool is_free_list;
    /* The next key has to be greater than this one, or equal to it when it is
     * the separator before its page. */
    uint8_t bound[LMDB_KEY_BYTES_MOST];
    size_t bound_bytes;
    bool has_bound;
    bool bound_included;
} walker;

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
                                 lmdb_page *out, ksv_error *error)
{
    uint8_t *bytes = w->levels + level * w->page_bytes;
    KSV_TRY(read_pages(w, number, bytes, 1, error));
    bool is_leaf = level + 1 == w->tree->depth;
    /* A branch with one child is found in free lists only. */
    unsigned least = is_leaf || w->is_free_list ? 1u : 2u;
    const char *wrong =
        lmdb_page_take(bytes, w->page_bytes, number, is_leaf, least, out);
    return wrong == NULL ? KSV_OK : damaged(w, number, wrong, error);
}

static int compare_keys(const walker *w, const lmdb_node *n)
{
    if (w->is_free_list) {
        uint64_t a = lmdb_load_word(n->key);
        uint64_t b = lmdb_load_word(w->bound);
        return (a > b) - (a < b);
    }
    return lmdb_compare(w->options->order, n->key, n->key_bytes, w->bound,
                        w->bound_bytes);
}

static bool has_right_size(const walker *w, size_t key_bytes)
{
    if (w->is_free_list)
        return key_bytes == LMDB_WORD_BYTES;
    return key_bytes >=
           (w->options->order == LMDB_ORDER_TIED ? LMDB_TIE_BYTES + 1 : 1);
}

static ksv_status check_order(walker *w, const lmdb_page *p, const lmdb_node *n,
                              ksv_error *error)
{
    if (!has_right_size(w, n->key_bytes))
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

/* The number of pages of the value that begins at page `first`: at least
 * `needed`, more when a shorter value took the place of a longer one. */
static ksv_status read_big_header(walker *w, uint64_t first, uint64_t needed,
                                  uint64_t *pages, ksv_error *error)
{
    buffer_clear(&w->value);
    KSV_TRY(buffer_reserve(&w->value, w->page_bytes, error));
    KSV_TRY(read_pages(w, first, w->value.data, 1, error));
    *pages = lmdb_big_head(w->value.data, first);
    if (*pages < needed || *pages > w->file_pages - first)
        return damaged(w, first, "has a wrong header", error);
    return KSV_OK;
}

static ksv_status read_big_value(walker *w, const lmdb_page *p,
                                 const lmdb_node *n, const uint8_t **value,
                                 ksv_error *error)
{
    uint64_t first = lmdb_load_word(n->value);
    uint64_t needed = lmdb_big_pages(w->page_bytes, n->value_bytes);
    uint64_t pages = needed;
    if (first >= w->file_pages || needed > w->file_pages - first)
        return damaged(w, p->number, "has a value behind the end of the file",
                       error);
    KSV_TRY(take_page(w, first, p->number, error));
    bool is_read = w->is_free_list || !w->options->skips_values;
    if (is_read)
        KSV_TRY(read_big_header(w, first, needed, &pages, error));
    for (uint64_t i = 1; i < pages; i++)
        KSV_TRY(take_page(w, first + i, p->number, error));
    if (is_read && needed > 1) {
        KSV_TRY(
            buffer_reserve(&w->value, (size_t)needed * w->page_bytes, error));
        KSV_TRY(read_pages(w, first + 1, w->value.data + w->page_bytes,
                           (size_t)needed - 1, error));
    }
    w->found.overflow_pages += pages;
    *value = is_read ? w->value.data + LMDB_PAGE_HEADER_BYTES : NULL;
    return KSV_OK;
}

/* A record of the free list: a count, then as many page numbers, descending. */
static ksv_status take_free_pages(walker *w, const lmdb_page *p,
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

static ksv_status walk_leaf(walker *w, const lmdb_page *p, ksv_error *error)
{
    for (unsigned i = 0; i < p->nodes; i++) {
        lmdb_node n;
        lmdb_page_node(p, i, &n);
        KSV_TRY(check_order(w, p, &n, error));
        const uint8_t *value = n.value;
        if (lmdb_node_is_big(&n))
            KSV_TRY(read_big_value(w, p, &n, &value, error));
        w->found.entries++;
        if (w->is_free_list)
            KSV_TRY(take_free_pages(w, p, value, n.value_bytes, error));
        else if (w->options->visit != NULL)
            KSV_TRY(w->options->visit(w->options->ctx, n.key, n.key_bytes,
                                      value, n.value_bytes, error));
    }
    return KSV_OK;
}

/* Recursion goes as deep as the tree: `level` stays below its depth. */
static ksv_status walk_page(walker *w, uint64_t number, uint64_t named_by,
                            unsigned level, ksv_error *error)
{
    lmdb_page p;
    KSV_TRY(take_page(w, number, named_by, error));
    KSV_TRY(read_tree_page(w, number, level, &p, error));
    if (p.is_leaf) {
        w->found.leaf_pages++;
        return walk_leaf(w, &p, error);
    }
    w->found.branch_pages++;
    for (unsigned i = 0; i < p.nodes; i++) {
        lmdb_node n;
        lmdb_page_node(&p, i, &n);
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
        tree->depth > LMDB_DEPTH_MOST)
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
    w->levels = memory_alloc(w->allocator, LMDB_DEPTH_MOST * w->page_bytes);
    return w->taken != NULL && w->levels != NULL ? KSV_OK
                                                 : error_set_memory(error);
}

static ksv_status walk_all(walker *w, ksv_error *error)
{
    const lmdb_meta *meta = w->meta;
    KSV_TRY(walk_tree(w, &meta->free_list, true, error));
    KSV_TRY(walk_tree(w, &meta->main, false, error));
    if (w->taken_pages != meta->last_page + 1 - LMDB_FIRST_PAGE)
        return damaged(w, meta->page_number, "counts pages that nothing uses",
                       error);
    return KSV_OK;
}

static void release(walker *w, uint64_t *bytes_read)
{
    if (bytes_read != NULL)
        *bytes_read += w->bytes_read;
    buffer_release(&w->value);
    memory_free(w->allocator, w->taken, w->taken_bytes);
    memory_free(w->allocator, w->levels, LMDB_DEPTH_MOST * w->page_bytes);
}

ksv_status lmdb_walk(ksv_file *file, const char *path, const lmdb_head *head,
                     const ksv_allocator *allocator,
                     const lmdb_walk_options *options, uint64_t *bytes_read,
                     ksv_error *error)
{
    walker w = {.file = file,
                .path = path,
                .allocator = allocator,
                .meta = &head->newest,
                .page_bytes = head->page_bytes,
                .options = options};
    buffer_init(&w.value, allocator);
    ksv_status status = prepare(&w, error);
    if (status == KSV_OK)
        status = walk_all(&w, error);
    release(&w, bytes_read);
    return status;
}

ksv_status lmdb_unused_pages(ksv_file *file, const char *path,
                             const lmdb_head *head,
                             const ksv_allocator *allocator, lmdb_page_set *out,
                             uint64_t *bytes_read, ksv_error *error)
{
    static const lmdb_walk_options options;
    walker w = {.file = file,
                .path = path,
                .allocator = allocator,
                .meta = &head->newest,
                .page_bytes = head->page_bytes,
                .options = &options};
    *out = (lmdb_page_set){NULL, 0, 0};
    buffer_init(&w.value, allocator);
    ksv_status status = prepare(&w, error);
    if (status == KSV_OK)
        status = walk_tree(&w, &head->newest.free_list, true, error);
    if (status == KSV_OK) {
        *out = (lmdb_page_set){w.taken, w.taken_bytes, w.taken_pages};
        w.taken = NULL;
    }
    release(&w, bytes_read);
    return status;
}

void lmdb_page_set_release(lmdb_page_set *set, const ksv_allocator *allocator)
{
    memory_free(allocator, set->bits, set->size_bytes);
    *set = (lmdb_page_set){NULL, 0, 0};
}
