/* SPDX-License-Identifier: MIT */
/* A place between the records that a sparse table leads to. Entries at or
 * beyond the limit are those of records that live no more: they are the last
 * ones, and passed over. */
#include "segment/sparse_cursor.h"

#include <string.h>

#include "base/error.h"

ksv_status sparse_cursor_open(sorted_reader *reader, const sparse_place *place,
                              sparse_cursor **out, ksv_error *error)
{
    *out = NULL;
    sparse_cursor *c = memory_zalloc(place->allocator, sizeof *c);
    if (c == NULL)
        return error_set_memory(error);
    c->place = place;
    sparse_span_init(&c->span, place);
    buffer_init(&c->first_key, place->allocator);
    ksv_status status = sorted_cursor_open(reader, &c->index, error);
    if (status != KSV_OK) {
        sparse_cursor_close(c);
        return status;
    }
    *out = c;
    return KSV_OK;
}

void sparse_cursor_close(sparse_cursor *cursor)
{
    if (cursor == NULL)
        return;
    sorted_cursor_close(cursor->index);
    sparse_span_release(&cursor->span);
    buffer_release(&cursor->first_key);
    memory_free(cursor->place->allocator, cursor, sizeof *cursor);
}

void sparse_cursor_forget(sparse_cursor *cursor)
{
    sorted_cursor_forget(cursor->index);
    cursor->span.is_loaded = false;
}

table_cost sparse_cursor_cost(const sparse_cursor *cursor)
{
    const sparse_span *span = &cursor->span;
    return (table_cost){.pages = sorted_cursor_blocks_read(cursor->index),
                        .bytes = sorted_cursor_bytes_read(cursor->index) +
                                 span->bytes_read,
                        .data_reads = span->reads,
                        .files_opened = span->files_opened};
}

static bool lives(const sparse_cursor *c)
{
    return sorted_cursor_payload(c->index) < sparse_limit(c->place);
}

/* Loads the span of the entry that the index is at, if it lives, and lets the
 * index go on to the next entry. */
static ksv_status enter(sparse_cursor *c, bool *found, ksv_error *error)
{
    *found = lives(c);
    if (!*found)
        return KSV_OK;
    uint64_t first = sorted_cursor_payload(c->index);
    sorted_key key = sorted_cursor_key(c->index);
    buffer_clear(&c->first_key);
    KSV_TRY(buffer_append(&c->first_key, key.data, key.size_bytes, error));
    key.data = c->first_key.data;
    KSV_TRY(sorted_cursor_next(c->index, &c->has_next, error));
    uint64_t end = sparse_limit(c->place);
    if (c->has_next && lives(c))
        end = sorted_cursor_payload(c->index);
    return sparse_span_load(&c->span, first, end, key, error);
}

/* Enters the span of the entry that the index was sent to. */
static ksv_status enter_at(sparse_cursor *c, bool last, bool *found,
                           ksv_error *error)
{
    if (*found)
        KSV_TRY(enter(c, found, error));
    if (*found)
        c->at = last ? c->span.count - 1 : 0;
    return KSV_OK;
}

static ksv_status go_first(sparse_cursor *c, bool *found, ksv_error *error)
{
    KSV_TRY(sorted_cursor_first(c->index, found, error));
    return enter_at(c, false, found, error);
}

static ksv_status go_next(sparse_cursor *c, bool *found, ksv_error *error)
{
    *found = true;
    if (++c->at < c->span.count)
        return KSV_OK;
    *found = c->has_next;
    return enter_at(c, false, found, error);
}

/* Goes back from an entry at the limit or beyond it. */
static ksv_status leave_dead(sparse_cursor *c, bool *found, ksv_error *error)
{
    while (*found && !lives(c))
        KSV_TRY(sorted_cursor_previous(c->index, found, error));
    return KSV_OK;
}

static ksv_status go_last(sparse_cursor *c, bool *found, ksv_error *error)
{
    *found = false;
    if (sparse_limit(c->place) == 0)
        return KSV_OK;
    KSV_TRY(sorted_cursor_last(c->index, found, error));
    KSV_TRY(leave_dead(c, found, error));
    return enter_at(c, true, found, error);
}

static ksv_status go_previous(sparse_cursor *c, bool *found, ksv_error *error)
{
    *found = true;
    if (c->at > 0) {
        c->at--;
        return KSV_OK;
    }
    /* To the entry of the span, then to the one before it. */
    if (c->has_next)
        KSV_TRY(sorted_cursor_previous(c->index, found, error));
    else
        KSV_TRY(sorted_cursor_last(c->index, found, error));
    if (*found)
        KSV_TRY(sorted_cursor_previous(c->index, found, error));
    return enter_at(c, true, found, error);
}

/* Goes to the last span that begins with a key before `key`, or to the first
 * one. */
static ksv_status seek_span(sparse_cursor *c, sorted_key key, bool *found,
                            ksv_error *error)
{
    KSV_TRY(sorted_cursor_seek_before(c->index, key, found, error));
    if (!*found)
        KSV_TRY(sorted_cursor_first(c->index, found, error));
    return KSV_OK;
}

static ksv_status seek(sparse_cursor *c, sorted_key key, bool *found,
                       ksv_error *error)
{
    KSV_TRY(seek_span(c, key, found, error));
    KSV_TRY(enter_at(c, false, found, error));
    if (!*found)
        return KSV_OK;
    c->at = sparse_span_find(&c->span, key);
    if (c->at < c->span.count)
        return KSV_OK;
    c->at--;
    return go_next(c, found, error);
}

static ksv_status seek_before(sparse_cursor *c, sorted_key key, bool *found,
                              ksv_error *error)
{
    *found = false;
    if (sparse_limit(c->place) == 0)
        return KSV_OK;
    KSV_TRY(sorted_cursor_seek_before(c->index, key, found, error));
    KSV_TRY(leave_dead(c, found, error));
    KSV_TRY(enter_at(c, false, found, error));
    /* The span's first key comes before it. */
    if (*found)
        c->at = sparse_span_find(&c->span, key) - 1;
    return KSV_OK;
}

static ksv_status go(sparse_cursor *c, table_move where, sorted_key key,
                     bool *found, ksv_error *error)
{
    switch (where) {
    case TABLE_FIRST:
        return go_first(c, found, error);
    case TABLE_LAST:
        return go_last(c, found, error);
    case TABLE_SEEK:
        return seek(c, key, found, error);
    case TABLE_SEEK_BEFORE:
        return seek_before(c, key, found, error);
    case TABLE_NEXT:
        return go_next(c, found, error);
    case TABLE_PREVIOUS:
        return go_previous(c, found, error);
    }
    return KSV_OK;
}

ksv_status sparse_cursor_move(sparse_cursor *cursor, table_move where,
                              sorted_key key, bool *found, ksv_error *error)
{
    *found = false;
    ksv_status status = go(cursor, where, key, found, error);
    if (status != KSV_OK)
        *found = false;
    return status;
}

/* Whether the entry that the index is at can lead to records of `key`. */
static bool may_lead_to(const sparse_cursor *c, sorted_key key)
{
    return sorted_key_compare(sorted_cursor_key(c->index), key) <= 0;
}

/* Visits the records of `key` in the span; `*more`: they may go on behind it.
 */
static void visit_span(const sparse_cursor *c, sorted_key key,
                       sorted_payload_fn visit, void *ctx, bool *more)
{
    const sparse_span *span = &c->span;
    size_t at = sparse_span_find(span, key);
    *more = true;
    while (*more && at < span->count) {
        *more = sorted_key_compare(sparse_span_key(span, at), key) == 0 &&
                visit(ctx, span->records[at].payload);
        at++;
    }
}

ksv_status sparse_cursor_find(sparse_cursor *cursor, sorted_key key,
                              sorted_payload_fn visit, void *ctx,
                              ksv_error *error)
{
    sparse_cursor *c = cursor;
    bool found;
    KSV_TRY(seek_span(c, key, &found, error));
    while (found && may_lead_to(c, key)) {
        bool more;
        KSV_TRY(enter(c, &found, error));
        if (!found)
            break;
        visit_span(c, key, visit, ctx, &more);
        found = more && c->has_next;
    }
    return KSV_OK;
}
