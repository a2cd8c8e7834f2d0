/* SPDX-License-Identifier: MIT */
/* What tables of whole keys in their order have in common. */
#include "segment/keyed_table.h"

#include <stdatomic.h>

#include "base/error.h"
#include "base/memory.h"

void keyed_table_release(keyed_table *table)
{
    table->ops->close(atomic_load(&table->spare));
}

static ksv_status take_cursor(const segment_table *table, void **out,
                              ksv_error *error)
{
    keyed_table *t = table->own;
    *out = atomic_exchange(&t->spare, NULL);
    return *out != NULL ? KSV_OK : t->ops->open(table, out, error);
}

static void give_cursor_back(keyed_table *t, void *cursor)
{
    void *none = NULL;
    if (!atomic_compare_exchange_strong(&t->spare, &none, cursor))
        t->ops->close(cursor);
}

ksv_status keyed_table_find(const segment_table *table, const table_key *key,
                            ksv_payload_fn visit, void *ctx, table_cost *cost,
                            ksv_error *error)
{
    keyed_table *t = table->own;
    void *cursor;
    KSV_TRY(take_cursor(table, &cursor, error));
    if (!key->may_share)
        t->ops->forget(cursor);
    table_cost before = t->ops->cost(cursor);
    ksv_status status = t->ops->find(cursor, key, visit, ctx, error);
    table_cost after = t->ops->cost(cursor);
    table_cost_add(cost, &after, &before);
    give_cursor_back(t, cursor);
    return status;
}

typedef struct keyed_cursor {
    table_cursor base;
    const keyed_ops *ops;
    const ksv_allocator *allocator;
    void *own;
} keyed_cursor;

static ksv_status move(table_cursor *cursor, table_move where,
                       const table_key *key, bool *found, ksv_error *error)
{
    static const table_key nothing = {NULL, 0, 0, false};
    keyed_cursor *c = (keyed_cursor *)cursor;
    ksv_status status =
        c->ops->move(c->own, where, key != NULL ? key : &nothing, found, error);
    cursor->cost = c->ops->cost(c->own);
    if (status == KSV_OK && *found)
        cursor->entry = c->ops->entry(c->own);
    return status;
}

static void close_cursor(table_cursor *cursor)
{
    keyed_cursor *c = (keyed_cursor *)cursor;
    c->ops->close(c->own);
    memory_free(c->allocator, c, sizeof *c);
}

ksv_status keyed_table_open_cursor(const segment_table *table,
                                   table_cursor **out, ksv_error *error)
{
    *out = NULL;
    keyed_cursor *c = memory_zalloc(table->allocator, sizeof *c);
    if (c == NULL)
        return error_set_memory(error);
    c->base.move = move;
    c->base.close = close_cursor;
    c->ops = ((const keyed_table *)table->own)->ops;
    c->allocator = table->allocator;
    ksv_status status = c->ops->open(table, &c->own, error);
    if (status != KSV_OK) {
        c->own = NULL;
        close_cursor(&c->base);
        return status;
    }
    *out = &c->base;
    return KSV_OK;
}

uint64_t keyed_table_hash(const catalog_parameters *parameters,
                          const uint8_t *key, size_t key_bytes)
{
    uint64_t hash = ksv_hash(&parameters->hasher, key, key_bytes);
    return ksv_hash_truncate(hash, parameters->hash_bits);
}
