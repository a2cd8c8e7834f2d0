/* SPDX-License-Identifier: MIT */
/* The tree as one transaction left it, read page by page with plain reads. */
#include "btree/tree_view.h"

#include "base/error.h"
#include "btree/tree_block.h"
#include "io/file.h"

#define OPEN_TRIES 100
#define KEPT_PAGES_MOST 4096
#define KEPT_PROBES 8

ksv_status tree_view_damage(const tree_view *view, uint64_t page,
                            const char *what, ksv_error *error)
{
    error_set_at(error, KSV_ERROR_CORRUPT, view->source.path,
                 page * view->page_bytes, "page %llu: %s",
                 (unsigned long long)page, what);
    error_add_remedy(error, KSV_REMEDY_BUILD);
    return KSV_ERROR_CORRUPT;
}

static ksv_status read_pages(const tree_view *view, uint64_t first,
                             uint64_t pages, uint8_t *out, uint64_t *bytes_read,
                             ksv_error *error)
{
    size_t wanted = (size_t)pages * view->page_bytes;
    size_t got = 0;
    ksv_file *file = view->source.file;
    ksv_status status = file->ops->read_at(file, first * view->page_bytes, out,
                                           wanted, &got, error);
    if (status != KSV_OK) {
        error_add_path(error, view->source.path);
        return status;
    }
    *bytes_read += got;
    return got == wanted
               ? KSV_OK
               : tree_view_damage(view, first, "ends too early", error);
}

/* NULL, or why the tree cannot have these pages in use. */
static const char *judge_place(const tree_view *view, uint64_t first,
                               uint64_t pages)
{
    if (first < LMDB_FIRST_PAGE || first > view->lmdb.newest.last_page)
        return "does not exist";
    if (first >= view->file_pages || pages > view->file_pages - first)
        return "lies behind the end of the file";
    return lmdb_page_set_has(&view->unused, first) ? "is not in use" : NULL;
}

/* The slot that keeps the page, or the one where it may be put: NULL when there
 * is no room. */
static _Atomic(uint8_t *) *find_slot(tree_view *view, uint64_t number,
                                     uint8_t **kept)
{
    size_t first = (size_t)(number * 0x9e3779b97f4a7c15u >> 32);
    for (size_t i = 0; i < KEPT_PROBES; i++) {
        _Atomic(uint8_t *) *slot =
            &view->kept[(first + i) & (view->kept_slots - 1)];
        *kept = atomic_load_explicit(slot, memory_order_acquire);
        if (*kept == NULL || lmdb_load_word(*kept) == number)
            return slot;
    }
    *kept = NULL;
    return NULL;
}

/* Another thread may have put a page there meanwhile: then this one is not
 * kept. */
static ksv_status keep_page(tree_view *view, _Atomic(uint8_t *) *slot,
                            lmdb_page *page, ksv_error *error)
{
    uint8_t *copy = memory_alloc(view->source.allocator, view->page_bytes);
    uint8_t *nothing = NULL;
    if (copy == NULL)
        return error_set_memory(error);
    memcpy(copy, page->bytes, view->page_bytes);
    if (atomic_compare_exchange_strong(slot, &nothing, copy))
        page->bytes = copy;
    else
        memory_free(view->source.allocator, copy, view->page_bytes);
    return KSV_OK;
}

ksv_status tree_view_page(tree_view *view, uint64_t number, bool is_leaf,
                          uint8_t *own, lmdb_page *out, uint64_t *bytes_read,
                          ksv_error *error)
{
    uint8_t *kept;
    const char *wrong = judge_place(view, number, 1);
    if (wrong != NULL)
        return tree_view_damage(view, number, wrong, error);
    _Atomic(uint8_t *) *slot = find_slot(view, number, &kept);
    if (kept != NULL)
        return lmdb_page_take_again(kept, view->page_bytes, is_leaf, out)
                   ? KSV_OK
                   : tree_view_damage(view, number, "has a wrong header",
                                      error);
    KSV_TRY(read_pages(view, number, 1, own, bytes_read, error));
    wrong = lmdb_page_take(own, view->page_bytes, number, is_leaf,
                           is_leaf ? 1 : 2, out);
    if (wrong != NULL)
        return tree_view_damage(view, number, wrong, error);
    return slot != NULL ? keep_page(view, slot, out, error) : KSV_OK;
}

/* Where the value begins and how many pages it has. */
static ksv_status place_value(const tree_view *view, const lmdb_page *leaf,
                              const lmdb_node *node, uint64_t *first,
                              uint64_t *pages, ksv_error *error)
{
    if (!lmdb_node_is_big(node))
        return tree_view_damage(view, leaf->number,
                                "has a block in a wrong place", error);
    *first = lmdb_load_word(node->value);
    *pages = lmdb_big_pages(view->page_bytes, node->value_bytes);
    const char *wrong = judge_place(view, *first, *pages);
    return wrong == NULL ? KSV_OK
                         : tree_view_damage(view, *first, wrong, error);
}

ksv_status tree_view_value(const tree_view *view, const lmdb_page *leaf,
                           const lmdb_node *node, byte_buffer *buffer,
                           const uint8_t **value, uint64_t *bytes_read,
                           ksv_error *error)
{
    uint64_t first;
    uint64_t pages;
    *value = node->value;
    if (!lmdb_node_is_big(node))
        return KSV_OK;
    KSV_TRY(place_value(view, leaf, node, &first, &pages, error));
    size_t bytes = (size_t)pages * view->page_bytes;
    buffer_clear(buffer);
    KSV_TRY(buffer_reserve(buffer, bytes, error));
    KSV_TRY(read_pages(view, first, pages, buffer->data, bytes_read, error));
    if (lmdb_big_head(buffer->data, first) != pages)
        return tree_view_damage(view, first, "has a wrong header", error);
    buffer->size = bytes;
    *value = buffer->data + LMDB_PAGE_HEADER_BYTES;
    return KSV_OK;
}

ksv_status tree_view_check_value(const tree_view *view, const lmdb_page *leaf,
                                 const lmdb_node *node, ksv_error *error)
{
    uint64_t first;
    uint64_t pages;
    uint8_t head[LMDB_PAGE_HEADER_BYTES];
    KSV_TRY(place_value(view, leaf, node, &first, &pages, error));
    ksv_status status = file_read_exactly(
        view->source.file, first * view->page_bytes, head, sizeof head, error);
    if (status != KSV_OK) {
        error_add_path(error, view->source.path);
        return status;
    }
    return lmdb_big_head(head, first) == pages
               ? KSV_OK
               : tree_view_damage(view, first, "has a wrong header", error);
}

/* Goes down to the last record, which is the head. */
static ksv_status find_head(tree_view *view, uint8_t *own, lmdb_page *leaf,
                            lmdb_node *node, uint64_t *bytes_read,
                            ksv_error *error)
{
    const lmdb_tree *tree = &view->lmdb.newest.main;
    tree_record_key key = tree_record_head();
    uint64_t number = tree->root;
    if (tree->depth == 0 || tree->depth > LMDB_DEPTH_MOST)
        return tree_view_damage(view, view->lmdb.newest.page_number,
                                "has a tree of impossible depth", error);
    for (unsigned level = 1; level <= tree->depth; level++) {
        KSV_TRY(tree_view_page(view, number, level == tree->depth, own, leaf,
                               bytes_read, error));
        lmdb_page_node(leaf, leaf->nodes - 1, node);
        number = node->child;
    }
    if (node->key_bytes != key.size_bytes ||
        memcmp(node->key, key.bytes, key.size_bytes) != 0)
        return tree_view_damage(view, leaf->number, "has no head of the tree",
                                error);
    return KSV_OK;
}

static ksv_status judge_head(const tree_view *view, uint64_t page,
                             ksv_error *error)
{
    const tree_head *head = &view->head;
    const uint8_t *id = view->source.id;
    if (id != NULL && memcmp(head->id, id, sizeof head->id) != 0)
        return tree_view_damage(view, page, "is of another tree", error);
    if (head->txn_id != view->lmdb.txn_id)
        return tree_view_damage(view, page, "has the head of another commit",
                                error);
    if (head->blocks + 1 != view->lmdb.newest.main.entries)
        return tree_view_damage(view, page,
                                "counts other blocks than there are", error);
    return KSV_OK;
}

static ksv_status read_head(tree_view *view, uint64_t *bytes_read,
                            ksv_error *error)
{
    lmdb_page leaf;
    lmdb_node node;
    const uint8_t *value;
    byte_buffer buffer;
    buffer_init(&buffer, view->source.allocator);
    uint8_t *own = memory_alloc(view->source.allocator, view->page_bytes);
    ksv_status status =
        own != NULL ? find_head(view, own, &leaf, &node, bytes_read, error)
                    : error_set_memory(error);
    if (status == KSV_OK)
        status = tree_view_value(view, &leaf, &node, &buffer, &value,
                                 bytes_read, error);
    if (status == KSV_OK)
        status = tree_head_decode(&view->head, value, node.value_bytes, error);
    if (status == KSV_OK)
        status = judge_head(view, leaf.number, error);
    error_add_path(error, view->source.path);
    buffer_release(&buffer);
    memory_free(view->source.allocator, own, view->page_bytes);
    return status;
}

/* Slots for twice the pages that there are above the blocks. */
static ksv_status make_slots(tree_view *view, ksv_error *error)
{
    const lmdb_tree *tree = &view->lmdb.newest.main;
    uint64_t pages = tree->branch_pages + tree->leaf_pages;
    if (pages > KEPT_PAGES_MOST || tree->leaf_pages > KEPT_PAGES_MOST)
        pages = KEPT_PAGES_MOST;
    view->kept_slots = KEPT_PROBES;
    while (view->kept_slots < 2 * pages)
        view->kept_slots *= 2;
    view->kept = memory_zalloc_array(view->source.allocator, view->kept_slots,
                                     sizeof *view->kept);
    if (view->kept == NULL)
        return error_set_memory(error);
    for (size_t i = 0; i < view->kept_slots; i++)
        atomic_init(&view->kept[i], NULL);
    return KSV_OK;
}

static void forget(tree_view *view)
{
    const ksv_allocator *a = view->source.allocator;
    for (size_t i = 0; view->kept != NULL && i < view->kept_slots; i++)
        memory_free(a, atomic_load(&view->kept[i]), view->page_bytes);
    memory_free(a, view->kept, view->kept_slots * sizeof *view->kept);
    view->kept = NULL;
    lmdb_page_set_release(&view->unused, a);
    tree_head_release(&view->head);
}

static ksv_status take(tree_view *view, uint64_t *bytes_read, ksv_error *error)
{
    const tree_source *s = &view->source;
    ksv_file_info info;
    KSV_TRY(lmdb_head_read(s->file, s->path, &view->lmdb, error));
    *bytes_read += 2 * LMDB_META_BYTES;
    view->page_bytes = view->lmdb.page_bytes;
    ksv_status status = s->file->ops->info(s->file, &info, error);
    if (status != KSV_OK) {
        error_add_path(error, s->path);
        return status;
    }
    view->file_bytes = info.size_bytes;
    view->file_pages = info.size_bytes / view->page_bytes;
    if (s->knows_unused)
        KSV_TRY(lmdb_unused_pages(s->file, s->path, &view->lmdb, s->allocator,
                                  &view->unused, bytes_read, error));
    KSV_TRY(make_slots(view, error));
    KSV_TRY(read_head(view, bytes_read, error));
    view->tag = tree_block_tag(view->head.id);
    return KSV_OK;
}

ksv_status tree_view_is_last(const tree_view *view, bool *is_last,
                             ksv_error *error)
{
    lmdb_head now;
    ksv_status status =
        lmdb_head_read(view->source.file, view->source.path, &now, error);
    *is_last = memcmp(now.raw, view->lmdb.raw, sizeof now.raw) == 0;
    /* A head that cannot be read is one that is just being written, or it is
     * told by whoever opens the tree anew. */
    return status == KSV_ERROR_IO ? status : KSV_OK;
}

/* What was read while a later transaction ended may be of either. */
static ksv_status take_last(tree_view *view, uint64_t *bytes_read,
                            ksv_error *error)
{
    for (int i = 0; i < OPEN_TRIES; i++) {
        bool is_last;
        tree_head_init(&view->head, view->source.allocator);
        ksv_status status = take(view, bytes_read, error);
        if (status != KSV_OK && status != KSV_ERROR_CORRUPT)
            return status;
        KSV_TRY(
            tree_view_is_last(view, &is_last, status == KSV_OK ? error : NULL));
        if (is_last)
            return status;
        forget(view);
    }
    return error_set(error, KSV_ERROR_BUSY, view->source.path,
                     "changes faster than it can be read");
}

ksv_status tree_view_open(const tree_source *source, tree_view **out,
                          uint64_t *bytes_read, ksv_error *error)
{
    *out = NULL;
    tree_view *view = memory_zalloc(source->allocator, sizeof *view);
    if (view == NULL)
        return error_set_memory(error);
    view->source = *source;
    ksv_status status = take_last(view, bytes_read, error);
    if (status != KSV_OK) {
        tree_view_close(view);
        return status;
    }
    *out = view;
    return KSV_OK;
}

void tree_view_close(tree_view *view)
{
    if (view == NULL)
        return;
    forget(view);
    const ksv_allocator *a = view->source.allocator;
    memory_free(a, view, sizeof *view);
}

void tree_view_get_info(const tree_view *view, tree_info *info)
{
    const lmdb_meta *meta = &view->lmdb.newest;
    const lmdb_tree *tree = &meta->main;
    uint64_t used = tree->branch_pages + tree->leaf_pages +
                    tree->overflow_pages + LMDB_FIRST_PAGE;
    *info = (tree_info){.txn_id = view->lmdb.txn_id,
                        .next_part = view->head.next_part,
                        .least_generation = view->head.least_generation,
                        .entries = view->head.entries,
                        .part_count = view->head.part_count,
                        .blocks = view->head.blocks,
                        .inner_pages = tree->branch_pages + tree->leaf_pages,
                        .file_bytes = view->file_bytes,
                        .page_bytes = (unsigned)view->page_bytes,
                        .depth = tree->depth};
    memcpy(info->id, view->head.id, sizeof info->id);
    if (meta->last_page + 1 > used)
        info->free_bytes = (meta->last_page + 1 - used) * view->page_bytes;
}
