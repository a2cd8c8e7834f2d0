/* SPDX-License-Identifier: MIT */
/* One pass over a gzip file that a thread of its own inflates, some pieces
 * ahead. */
#include "datafile/gzip_ahead.h"

#include <stdatomic.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/thread_pool.h"

/* One is the caller's, one is being filled, the others even out their pace. */
#define SLOTS 4

/* A buffer, and what came of filling it. */
typedef struct ahead_slot {
    gzip_ahead *ahead;
    uint8_t *buffer;
    points_spans spans;
    gzip_piece piece;
    ksv_status status;
    ksv_error error;
    thread_task task;
} ahead_slot;

struct gzip_ahead {
    ksv_allocator allocator;
    thread_pool *pool; /* of one thread, so that pieces come in turn */
    size_t buffer_bytes;
    atomic_bool closing;
    /* The thread's own. */
    gzip_decoder *decoder;
    gzip_points *points;
    bool ended;
    /* The caller's own. */
    size_t current;
    bool given; /* the current slot is */
    ahead_slot slots[SLOTS];
};

static bool is_end(const ahead_slot *slot)
{
    return slot->status != KSV_OK || slot->piece.last;
}

static void fill_slot(void *ctx)
{
    ahead_slot *slot = ctx;
    gzip_ahead *a = slot->ahead;
    if (a->ended || atomic_load_explicit(&a->closing, memory_order_relaxed))
        return;
    gzip_decoder_move_to(a->decoder, slot->buffer);
    error_clear(&slot->error);
    slot->status = gzip_piece_decode(a->decoder, a->points, &slot->spans,
                                     &slot->piece, &slot->error);
    a->ended = is_end(slot);
}

static void submit_slot(gzip_ahead *a, ahead_slot *slot)
{
    slot->task = (thread_task){fill_slot, slot, false, NULL};
    thread_pool_submit(a->pool, &slot->task);
}

static ksv_status open_slots(gzip_ahead *a, ksv_error *error)
{
    for (size_t i = 0; i < SLOTS; i++) {
        a->slots[i].ahead = a;
        points_spans_init(&a->slots[i].spans, &a->allocator);
        a->slots[i].buffer = memory_alloc(&a->allocator, a->buffer_bytes);
        if (a->slots[i].buffer == NULL)
            return error_set_memory(error);
    }
    return KSV_OK;
}

ksv_status gzip_ahead_open(gzip_decoder *d, gzip_points *points,
                           const ksv_allocator *allocator, gzip_ahead **out,
                           ksv_error *error)
{
    *out = NULL;
    const ksv_allocator allocate = allocator_or_default(allocator);
    gzip_ahead *a = memory_zalloc(&allocate, sizeof *a);
    if (a == NULL)
        return error_set_memory(error);
    a->allocator = allocate;
    a->decoder = d;
    a->points = points;
    a->buffer_bytes = gzip_decoder_buffer_bytes(d);
    atomic_init(&a->closing, false);
    ksv_status status = open_slots(a, error);
    if (status == KSV_OK)
        status = thread_pool_open(1, &a->allocator, &a->pool, error);
    if (status != KSV_OK) {
        gzip_ahead_close(a);
        return status;
    }
    for (size_t i = 0; i < SLOTS; i++)
        submit_slot(a, &a->slots[i]);
    *out = a;
    return KSV_OK;
}

ksv_status gzip_ahead_next(gzip_ahead *ahead, gzip_piece *piece,
                           ksv_error *error)
{
    gzip_ahead *a = ahead;
    ahead_slot *slot = &a->slots[a->current];
    if (a->given && is_end(slot)) {
        slot->piece.size_bytes = 0;
    } else if (a->given) {
        submit_slot(a, slot);
        a->current = (a->current + 1) % SLOTS;
        slot = &a->slots[a->current];
    }
    thread_pool_wait(a->pool, &slot->task);
    a->given = true;
    *piece = slot->piece;
    if (slot->status != KSV_OK && error != NULL)
        *error = slot->error;
    return slot->status;
}

void gzip_ahead_close(gzip_ahead *ahead)
{
    if (ahead == NULL)
        return;
    const ksv_allocator allocate = ahead->allocator;
    atomic_store_explicit(&ahead->closing, true, memory_order_relaxed);
    thread_pool_close(ahead->pool);
    for (size_t i = 0; i < SLOTS; i++) {
        if (ahead->slots[i].buffer == NULL)
            continue;
        memory_free(&allocate, ahead->slots[i].buffer, ahead->buffer_bytes);
        points_spans_release(&ahead->slots[i].spans);
    }
    memory_free(&allocate, ahead, sizeof *ahead);
}
