/* SPDX-License-Identifier: MIT */
/* A place between the entries of a sorted table: finds keys, goes both ways. */
#include "sorted/sorted_cursor.h"

#include "base/error.h"
#include "io/file.h"
#include "sorted/sorted_reader_private.h"

_Static_assert(SORTED_READ_PADDING >= BLOCK_READ_PADDING, "too little padding");

/* A child of an index node on the way from the root to a block of data. */
typedef struct path_step {
    index_node *node;
    size_t child;
} path_step;

struct sorted_cursor {
    sorted_reader *reader;
    path_step path[SORTED_MOST_LEVELS]; /* the root first */
    sorted_block block;                 /* number of entries 0: none */
    const uint8_t *bytes;               /* that it was opened from */
    block_walker walker;
    block_walker index_walker;
    byte_buffer stored; /* the block, when the cursor has read it */
    byte_buffer raw;
    uint64_t blocks_read;
    uint64_t bytes_read;
    inflater inflater;
};

ksv_status sorted_cursor_open(sorted_reader *reader, sorted_cursor **out,
                              ksv_error *error)
{
    const ksv_allocator *a = &reader->allocator;
    *out = NULL;
    sorted_cursor *c = memory_zalloc(a, sizeof *c);
    if (c == NULL)
        return error_set_memory(error);
    c->reader = reader;
    block_walker_init(&c->walker, a);
    block_walker_init(&c->index_walker, a);
    buffer_init(&c->stored, a);
    buffer_init(&c->raw, a);
    inflate_init(&c->inflater);
    *out = c;
    return KSV_OK;
}

void sorted_cursor_close(sorted_cursor *cursor)
{
    if (cursor == NULL)
        return;
    const ksv_allocator *a = &cursor->reader->allocator;
    block_walker_release(&cursor->walker);
    block_walker_release(&cursor->index_walker);
    buffer_release(&cursor->stored);
    buffer_release(&cursor->raw);
    memory_free(a, cursor, sizeof *cursor);
}

static bool is_empty(const sorted_cursor *c)
{
    return c->reader->meta.info.blocks == 0;
}

/* What a step leads to; without steps that is the root. */
static block_place place_of(const sorted_cursor *c)
{
    unsigned levels = c->reader->meta.levels;
    if (levels == 0)
        return c->reader->meta.root;
    const path_step *last = &c->path[levels - 1];
    return last->node->children[last->child].place;
}

/* Loads the node of step `depth`, whose place the step before it tells. */
static ksv_status load_step(sorted_cursor *c, unsigned depth, ksv_error *error)
{
    sorted_reader *r = c->reader;
    unsigned level = r->meta.levels - depth;
    index_node_slot *slot = &r->root;
    const block_place *place = &r->meta.root;
    if (depth > 0) {
        const path_step *above = &c->path[depth - 1];
        slot = &above->node->slots[above->child];
        place = &above->node->children[above->child].place;
    }
    return sorted_reader_node(r, slot, place, level, &c->inflater,
                              &c->path[depth].node, error);
}

/* Goes down to the block in which entries of `key` begin. */
static ksv_status descend_to_key(sorted_cursor *c, sorted_key key,
                                 ksv_error *error)
{
    for (unsigned depth = 0; depth < c->reader->meta.levels; depth++) {
        path_step *step = &c->path[depth];
        KSV_TRY(load_step(c, depth, error));
        KSV_TRY(index_node_find(step->node, &c->index_walker, key, &step->child,
                                error));
    }
    return KSV_OK;
}

/* Goes down from step `depth` to its first or last block. */
static ksv_status descend_to_edge(sorted_cursor *c, unsigned depth, bool last,
                                  ksv_error *error)
{
    for (; depth < c->reader->meta.levels; depth++) {
        path_step *step = &c->path[depth];
        KSV_TRY(load_step(c, depth, error));
        step->child = last ? step->node->count - 1 : 0;
    }
    return KSV_OK;
}

/* Goes to the next block of data, or the one before; `*found` false: there is
 * none. */
static ksv_status step_block(sorted_cursor *c, bool forward, bool *found,
                             ksv_error *error)
{
    unsigned depth = c->reader->meta.levels;
    *found = false;
    while (depth > 0 && !*found) {
        path_step *step = &c->path[--depth];
        *found =
            forward ? step->child + 1 < step->node->count : step->child > 0;
        if (*found)
            step->child = forward ? step->child + 1 : step->child - 1;
    }
    if (!*found)
        return KSV_OK;
    return descend_to_edge(c, depth + 1, !forward, error);
}

static void forget_block(sorted_cursor *c)
{
    c->block = (sorted_block){0};
    block_walker_set(&c->walker, NULL);
}

void sorted_cursor_forget(sorted_cursor *cursor)
{
    forget_block(cursor);
    cursor->bytes = NULL;
}

/* Whether the block is open already, from the caller's bytes or, when there are
 * none, from those that the cursor has read. */
static bool has_block(const sorted_cursor *c, const block_place *place,
                      const uint8_t *bytes)
{
    return c->block.header.entries > 0 &&
           c->block.place.number == place->number &&
           c->bytes == (bytes != NULL ? bytes : c->stored.data);
}

static ksv_status read_block(sorted_cursor *c, const block_place *place,
                             const uint8_t **bytes, ksv_error *error)
{
    size_t size_bytes = place->size_bytes;
    buffer_clear(&c->stored);
    KSV_TRY(buffer_reserve(&c->stored, size_bytes + BLOCK_READ_PADDING, error));
    KSV_TRY(file_read_exactly(c->reader->file, place->offset, c->stored.data,
                              size_bytes, error));
    c->blocks_read++;
    c->bytes_read += size_bytes;
    *bytes = c->stored.data;
    return KSV_OK;
}

/* What the index says about the block, beside its place. */
static ksv_status compare_with_index(sorted_cursor *c, ksv_error *error)
{
    unsigned levels = c->reader->meta.levels;
    bool continues = false;
    if (levels > 0) {
        const path_step *last = &c->path[levels - 1];
        continues = last->node->children[last->child].continues;
    }
    if (((c->block.header.flags & SORTED_FLAG_RUN_BEFORE) != 0) == continues)
        return KSV_OK;
    ksv_status status = sorted_set_corrupt(error, &c->block.place,
                                           "it is not what its index says");
    forget_block(c);
    return status;
}

/* Opens the block that the path leads to; `bytes` NULL: they are read. */
static ksv_status load_block(sorted_cursor *c, const uint8_t *bytes,
                             ksv_error *error)
{
    block_place place = place_of(c);
    if (has_block(c, &place, bytes)) {
        block_walker_set(&c->walker, &c->block);
        return KSV_OK;
    }
    forget_block(c);
    if (bytes == NULL)
        KSV_TRY(read_block(c, &place, &bytes, error));
    KSV_TRY(block_open(&c->block, bytes, &place, c->reader->meta.tag, 0,
                       &c->inflater, &c->raw, error));
    c->bytes = bytes;
    block_walker_set(&c->walker, &c->block);
    return compare_with_index(c, error);
}

/* Goes to the first or last entry of the block that the path leads to. */
static ksv_status enter_block(sorted_cursor *c, bool last, ksv_error *error)
{
    KSV_TRY(load_block(c, NULL, error));
    uint32_t entry = last ? c->block.header.entries - 1 : 0;
    return block_walker_go(&c->walker, entry, error);
}

/* Goes to the neighbouring block's nearest entry. */
static ksv_status cross(sorted_cursor *c, bool forward, bool *found,
                        ksv_error *error)
{
    bool stepped;
    *found = false;
    block_walker_set(&c->walker, NULL);
    KSV_TRY(step_block(c, forward, &stepped, error));
    if (stepped)
        KSV_TRY(enter_block(c, !forward, error));
    *found = stepped;
    return KSV_OK;
}

static ksv_status go_to_edge(sorted_cursor *c, bool last, bool *found,
                             ksv_error *error)
{
    block_walker_set(&c->walker, NULL);
    *found = false;
    if (is_empty(c))
        return KSV_OK;
    KSV_TRY(descend_to_edge(c, 0, last, error));
    KSV_TRY(enter_block(c, last, error));
    *found = true;
    return KSV_OK;
}

ksv_status sorted_cursor_first(sorted_cursor *cursor, bool *found,
                               ksv_error *error)
{
    return go_to_edge(cursor, false, found, error);
}

ksv_status sorted_cursor_last(sorted_cursor *cursor, bool *found,
                              ksv_error *error)
{
    return go_to_edge(cursor, true, found, error);
}

/* Goes to the first entry of the block with the key or one after it, or to none
 * of the block; `bytes` as for load_block(). */
static ksv_status seek_in_block(sorted_cursor *c, sorted_key key,
                                const uint8_t *bytes, ksv_error *error)
{
    block_walker_set(&c->walker, NULL);
    KSV_TRY(descend_to_key(c, key, error));
    KSV_TRY(load_block(c, bytes, error));
    return block_walker_seek(&c->walker, key, error);
}

ksv_status sorted_cursor_seek(sorted_cursor *cursor, sorted_key key,
                              bool *found, ksv_error *error)
{
    *found = false;
    if (is_empty(cursor))
        return KSV_OK;
    KSV_TRY(seek_in_block(cursor, key, NULL, error));
    *found = block_walker_is_at_entry(&cursor->walker);
    return *found ? KSV_OK : cross(cursor, true, found, error);
}

ksv_status sorted_cursor_seek_before(sorted_cursor *cursor, sorted_key key,
                                     bool *found, ksv_error *error)
{
    *found = false;
    if (is_empty(cursor))
        return KSV_OK;
    KSV_TRY(seek_in_block(cursor, key, NULL, error));
    uint32_t entry = cursor->walker.entry;
    if (entry == 0)
        return cross(cursor, false, found, error);
    KSV_TRY(block_walker_go(&cursor->walker, entry - 1, error));
    *found = true;
    return KSV_OK;
}

ksv_status sorted_cursor_next(sorted_cursor *cursor, bool *found,
                              ksv_error *error)
{
    *found = false;
    KSV_TRY(block_walker_next(&cursor->walker, error));
    *found = block_walker_is_at_entry(&cursor->walker);
    return *found ? KSV_OK : cross(cursor, true, found, error);
}

ksv_status sorted_cursor_previous(sorted_cursor *cursor, bool *found,
                                  ksv_error *error)
{
    uint32_t entry = cursor->walker.entry;
    *found = false;
    if (entry == 0)
        return cross(cursor, false, found, error);
    KSV_TRY(block_walker_go(&cursor->walker, entry - 1, error));
    *found = true;
    return KSV_OK;
}

sorted_key sorted_cursor_key(const sorted_cursor *cursor)
{
    return block_walker_key(&cursor->walker);
}

uint64_t sorted_cursor_payload(const sorted_cursor *cursor)
{
    return block_payload(&cursor->block, cursor->walker.entry);
}

/* Visits the entries of `key` in the block from the walker's on; `*more` is
 * false after a visit that said so, or when the last entry has another key. */
static ksv_status visit_block(sorted_cursor *c, sorted_key key,
                              sorted_payload_fn visit, void *ctx, bool *more,
                              ksv_error *error)
{
    block_walker *w = &c->walker;
    while (block_walker_is_at_entry(w)) {
        *more = block_walker_compare(w, key) == 0 &&
                visit(ctx, block_payload(&c->block, w->entry));
        if (!*more)
            return KSV_OK;
        KSV_TRY(block_walker_next(w, error));
    }
    return KSV_OK;
}

static ksv_status visit_all(sorted_cursor *c, sorted_key key,
                            sorted_payload_fn visit, void *ctx,
                            ksv_error *error)
{
    bool more = false;
    KSV_TRY(visit_block(c, key, visit, ctx, &more, error));
    while (more && (c->block.header.flags & SORTED_FLAG_RUN_AFTER) != 0) {
        bool found;
        block_place place = c->block.place;
        KSV_TRY(cross(c, true, &found, error));
        if (!found || (c->block.header.flags & SORTED_FLAG_RUN_BEFORE) == 0)
            return sorted_set_corrupt(error, &place,
                                      "what follows does not go on with it");
        KSV_TRY(visit_block(c, key, visit, ctx, &more, error));
    }
    return KSV_OK;
}

static ksv_status find(sorted_cursor *c, sorted_key key, const uint8_t *bytes,
                       sorted_payload_fn visit, void *ctx, ksv_error *error)
{
    if (is_empty(c))
        return KSV_OK;
    ksv_status status = seek_in_block(c, key, bytes, error);
    if (status == KSV_OK)
        status = visit_all(c, key, visit, ctx, error);
    block_walker_set(&c->walker, NULL);
    return status;
}

ksv_status sorted_cursor_find(sorted_cursor *cursor, sorted_key key,
                              sorted_payload_fn visit, void *ctx,
                              ksv_error *error)
{
    return find(cursor, key, NULL, visit, ctx, error);
}

ksv_status sorted_cursor_locate(sorted_cursor *cursor, sorted_key key,
                                sorted_place *place, bool *found,
                                ksv_error *error)
{
    *found = !is_empty(cursor);
    *place = (sorted_place){0};
    block_walker_set(&cursor->walker, NULL);
    if (!*found)
        return KSV_OK;
    KSV_TRY(descend_to_key(cursor, key, error));
    block_place at = place_of(cursor);
    *place = (sorted_place){at.offset, at.size_bytes, at.number};
    return KSV_OK;
}

ksv_status sorted_cursor_find_in(sorted_cursor *cursor, sorted_key key,
                                 const uint8_t *block, sorted_payload_fn visit,
                                 void *ctx, ksv_error *error)
{
    return find(cursor, key, block, visit, ctx, error);
}

uint64_t sorted_cursor_blocks_read(const sorted_cursor *cursor)
{
    return cursor->blocks_read;
}

uint64_t sorted_cursor_bytes_read(const sorted_cursor *cursor)
{
    return cursor->bytes_read;
}
