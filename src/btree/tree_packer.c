/* SPDX-License-Identifier: MIT */
/* Packs entries that come in order into blocks. */
#include "btree/tree_packer.h"

#include "base/error.h"
#include "btree/tree_block.h"
#include "btree/tree_varint.h"
#include "mdb/lmdb_page.h"

size_t tree_packer_page_room(size_t page_bytes)
{
    return page_bytes - LMDB_PAGE_HEADER_BYTES;
}

void tree_packer_init(tree_packer *p, const ksv_allocator *allocator,
                      size_t page_bytes, uint64_t tag, tree_block_fn emit,
                      void *ctx)
{
    *p = (tree_packer){.allocator = allocator,
                       .page_bytes = page_bytes,
                       .tag = tag,
                       .full_bytes = tree_packer_page_room(page_bytes),
                       .emit = emit,
                       .ctx = ctx};
    buffer_init(&p->low_key, allocator);
    buffer_init(&p->out, allocator);
    buffer_init(&p->restarts, allocator);
    buffer_init(&p->last_key, allocator);
    buffer_init(&p->pending_key, allocator);
}

void tree_packer_release(tree_packer *p)
{
    buffer_release(&p->low_key);
    buffer_release(&p->out);
    buffer_release(&p->restarts);
    buffer_release(&p->last_key);
    buffer_release(&p->pending_key);
}

static tree_bound bound_over(const byte_buffer *key, tree_place place)
{
    return (tree_bound){{key->data, key->size}, place};
}

static ksv_status set_key(byte_buffer *buffer, tree_key key, ksv_error *error)
{
    buffer_clear(buffer);
    return buffer_append(buffer, key.data, key.size_bytes, error);
}

static ksv_status put_varint(byte_buffer *out, uint64_t v, ksv_error *error)
{
    uint8_t bytes[VARINT_BYTES_MOST];
    return buffer_append(out, bytes, varint_put(bytes, v), error);
}

static ksv_status put_rest(byte_buffer *out, tree_key key, size_t shared,
                           ksv_error *error)
{
    KSV_TRY(put_varint(out, key.size_bytes - shared, error));
    return buffer_append(out, key.data + shared, key.size_bytes - shared,
                         error);
}

static ksv_status put_place(byte_buffer *out, tree_place place,
                            ksv_error *error)
{
    KSV_TRY(put_varint(out, place.part, error));
    return put_varint(out, place.offset, error);
}

/* Starts a block whose low bound is that of the packer. */
static ksv_status start_block(tree_packer *p, ksv_error *error)
{
    static const uint8_t header[TREE_BLOCK_HEADER_BYTES];
    tree_bound low = bound_over(&p->low_key, p->low_place);
    p->keys = 0;
    buffer_clear(&p->restarts);
    buffer_clear(&p->out);
    KSV_TRY(buffer_append(&p->out, header, sizeof header, error));
    KSV_TRY(put_rest(&p->out, low.key, 0, error));
    KSV_TRY(put_place(&p->out, low.place, error));
    p->low_end = p->out.size;
    return KSV_OK;
}

static size_t place_bytes(tree_place place)
{
    return varint_bytes(place.part * 2 + 1) + varint_bytes(place.offset);
}

/* The bytes of a block that ends here, at `high`. */
static size_t end_bytes(const tree_packer *p, uint32_t keys,
                        const tree_bound *high)
{
    size_t bytes = (size_t)tree_block_restarts(keys) * 4;
    if (high == NULL)
        return bytes;
    tree_bound low = bound_over(&p->low_key, p->low_place);
    size_t shared = tree_key_shared(low.key, high->key);
    size_t rest = high->key.size_bytes - shared;
    return bytes + varint_bytes(shared) + varint_bytes(rest) + rest +
           place_bytes(high->place);
}

static ksv_status finish_bytes(tree_packer *p, const tree_bound *high,
                               ksv_error *error)
{
    tree_bound low = bound_over(&p->low_key, p->low_place);
    size_t entries_end = p->out.size;
    if (entries_end > UINT32_MAX)
        return error_set(error, KSV_ERROR_UNSUPPORTED, NULL,
                         "a key is too long for this organisation");
    if (high != NULL) {
        size_t shared = tree_key_shared(low.key, high->key);
        KSV_TRY(put_varint(&p->out, shared, error));
        KSV_TRY(put_rest(&p->out, high->key, shared, error));
        KSV_TRY(put_place(&p->out, high->place, error));
    }
    KSV_TRY(buffer_append(&p->out, p->restarts.data, p->restarts.size, error));
    /* All blocks fill their pages, so that LMDB gives each pages of its own. */
    size_t size =
        (size_t)lmdb_big_pages(p->page_bytes, p->out.size) * p->page_bytes -
        LMDB_PAGE_HEADER_BYTES;
    p->used_bytes = p->out.size;
    size_t padding = size - p->out.size;
    KSV_TRY(buffer_reserve(&p->out, padding, error));
    memset(p->out.data + p->out.size, 0, padding);
    p->out.size = size;
    uint8_t *b = p->out.data;
    store_u64(b + TREE_BLOCK_TAG, p->tag);
    store_u32(b + TREE_BLOCK_KEYS, p->keys);
    store_u32(b + TREE_BLOCK_ENTRIES_END, (uint32_t)entries_end);
    store_u32(b + TREE_BLOCK_FLAGS, high != NULL ? TREE_BLOCK_HAS_HIGH : 0);
    return KSV_OK;
}

static ksv_status finish_block(tree_packer *p, const tree_bound *high,
                               ksv_error *error)
{
    KSV_TRY(finish_bytes(p, high, error));
    tree_bound low = bound_over(&p->low_key, p->low_place);
    return p->emit(p->ctx, &low, p->out.data, p->out.size, error);
}

/* How the pending entry would be written: after the last one of the block, or
 * in a block of its own. */
typedef struct step {
    bool same_key;
    size_t shared; /* with the key it is told by */
    tree_place told;
} step;

static step plan_step(const tree_packer *p)
{
    tree_bound e = bound_over(&p->pending_key, p->pending_place);
    step s = {.told = {e.place.part, e.place.offset}};
    bool follows = p->keys > 0;
    s.same_key = follows && p->last_shared == e.key.size_bytes &&
                 p->last_key.size == e.key.size_bytes;
    if (s.same_key) {
        s.told.part -= p->last_place.part;
        if (s.told.part == 0)
            s.told.offset -= p->last_place.offset;
    } else if (follows && p->keys % TREE_RESTART_KEYS != 0) {
        s.shared = p->last_shared;
    } else {
        tree_bound low = bound_over(&p->low_key, p->low_place);
        s.shared = tree_key_shared(low.key, e.key);
    }
    return s;
}

static bool fits(const tree_packer *p, const step *s, const tree_bound *high)
{
    size_t bytes = p->out.size + place_bytes(s->told);
    if (!s->same_key) {
        size_t rest = p->pending_key.size - s->shared;
        bytes += varint_bytes(s->shared) + varint_bytes(rest) + rest;
    }
    return bytes + end_bytes(p, p->keys + !s->same_key, high) <= p->full_bytes;
}

static ksv_status append(tree_packer *p, const step *s, ksv_error *error)
{
    tree_key key = {p->pending_key.data, p->pending_key.size};
    if (s->same_key) {
        p->out.data[p->place_offset] |= 1;
    } else {
        if (p->keys % TREE_RESTART_KEYS == 0)
            KSV_TRY(buffer_put_u32(&p->restarts, (uint32_t)p->out.size, error));
        KSV_TRY(put_varint(&p->out, s->shared, error));
        KSV_TRY(put_rest(&p->out, key, s->shared, error));
        p->keys++;
    }
    p->place_offset = p->out.size;
    KSV_TRY(put_varint(&p->out, s->told.part * 2, error));
    KSV_TRY(put_varint(&p->out, s->told.offset, error));
    p->last_place = p->pending_place;
    return set_key(&p->last_key, key, error);
}

/* Ends the block before the pending entry and starts another. */
static ksv_status split(tree_packer *p, ksv_error *error)
{
    tree_bound last = bound_over(&p->last_key, p->last_place);
    tree_bound e = bound_over(&p->pending_key, p->pending_place);
    tree_bound between = tree_bound_between(&last, &e, p->last_shared);
    KSV_TRY(finish_block(p, &between, error));
    p->low_place = between.place;
    KSV_TRY(set_key(&p->low_key, between.key, error));
    return start_block(p, error);
}

/* Writes the pending entry; the block would end at `high` behind it. */
static ksv_status write_pending(tree_packer *p, const tree_bound *high,
                                ksv_error *error)
{
    step s = plan_step(p);
    if (p->keys > 0 && !fits(p, &s, high)) {
        KSV_TRY(split(p, error));
        s = plan_step(p);
    }
    p->has_pending = false;
    return append(p, &s, error);
}

ksv_status tree_packer_begin(tree_packer *p, const tree_bound *low,
                             ksv_error *error)
{
    p->has_pending = false;
    p->low_place = low->place;
    KSV_TRY(set_key(&p->low_key, low->key, error));
    return start_block(p, error);
}

ksv_status tree_packer_add(tree_packer *p, const tree_bound *entry,
                           ksv_error *error)
{
    size_t shared = 0;
    if (p->has_pending) {
        tree_bound e = bound_over(&p->pending_key, p->pending_place);
        shared = tree_key_shared(e.key, entry->key);
        tree_bound between = tree_bound_between(&e, entry, shared);
        KSV_TRY(write_pending(p, &between, error));
    }
    p->has_pending = true;
    p->last_shared = shared;
    p->pending_place = entry->place;
    return set_key(&p->pending_key, entry->key, error);
}

ksv_status tree_packer_end(tree_packer *p, const tree_bound *high,
                           ksv_error *error)
{
    if (p->has_pending)
        KSV_TRY(write_pending(p, high, error));
    return finish_block(p, high, error);
}
