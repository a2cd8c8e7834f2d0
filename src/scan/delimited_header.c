/* SPDX-License-Identifier: MIT */
/* Finds the columns of a key in the header of a csv or tsv content. */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "scan/delimited_reader.h"

/* Of a message about columns. */
#define LISTED_NAME_BYTES 64
#define LISTING_BYTES 500

static size_t longest_name(const scan_spec *spec)
{
    size_t longest = LISTED_NAME_BYTES;
    for (size_t i = 0; i < spec->part_count; i++) {
        if (spec->parts[i].text_bytes > longest)
            longest = spec->parts[i].text_bytes;
    }
    return longest;
}

ksv_status column_search_open(delimited_reader *r, ksv_error *error)
{
    column_search *s = &r->search;
    const ksv_allocator *a = &r->base.allocator;
    buffer_init(&s->cell, a);
    buffer_init(&s->listing, a);
    s->cell_limit_bytes = longest_name(r->base.spec) + 1;
    s->hits = memory_zalloc_array(a, r->base.spec->part_count, sizeof *s->hits);
    return s->hits != NULL ? KSV_OK : error_set_memory(error);
}

void column_search_close(delimited_reader *r)
{
    column_search *s = &r->search;
    const ksv_allocator *a = &r->base.allocator;
    memory_free(a, s->hits, r->base.spec->part_count * sizeof *s->hits);
    if (s->cell.allocator == NULL)
        return;
    buffer_release(&s->cell);
    buffer_release(&s->listing);
}

void column_search_begin(delimited_reader *r)
{
    column_search *s = &r->search;
    buffer_clear(&s->cell);
    buffer_clear(&s->listing);
    s->listing_is_full = false;
    memset(s->hits, 0, r->base.spec->part_count * sizeof *s->hits);
}

ksv_status column_search_add(delimited_reader *r, const uint8_t *data,
                             size_t size, ksv_error *error)
{
    column_search *s = &r->search;
    size_t room = s->cell_limit_bytes - s->cell.size;
    return buffer_append(&s->cell, data, size < room ? size : room, error);
}

/* At most `limit` bytes, without a part of a UTF-8 sequence at the end. */
static size_t cut_text(const uint8_t *text, size_t size, size_t limit)
{
    if (size <= limit)
        return size;
    while (limit > 0 && (text[limit] & 0xc0) == 0x80)
        limit--;
    return limit;
}

/* Adds the cell's name to the columns that a message shows. */
static ksv_status list_cell(delimited_reader *r, ksv_error *error)
{
    column_search *s = &r->search;
    if (s->listing_is_full)
        return KSV_OK;
    if (r->field > 0)
        KSV_TRY(buffer_append(&s->listing, ", ", 2, error));
    size_t shown = cut_text(s->cell.data, s->cell.size, LISTED_NAME_BYTES);
    s->listing_is_full = s->listing.size + shown > LISTING_BYTES;
    if (!s->listing_is_full)
        KSV_TRY(buffer_append(&s->listing, s->cell.data, shown, error));
    if (s->listing_is_full || shown < s->cell.size)
        KSV_TRY(buffer_append(&s->listing, "...", 3, error));
    return KSV_OK;
}

static bool cell_is_called(const column_search *s, const key_part *part)
{
    return part->kind == KEY_PART_COLUMN_NAME &&
           part->text_bytes == s->cell.size &&
           (s->cell.size == 0 ||
            memcmp(part->text, s->cell.data, s->cell.size) == 0);
}

ksv_status column_search_end_cell(delimited_reader *r, ksv_error *error)
{
    column_search *s = &r->search;
    const scan_spec *spec = r->base.spec;
    for (size_t i = 0; i < spec->part_count; i++) {
        struct column_hits *hits = &s->hits[i];
        if (!cell_is_called(s, &spec->parts[i]))
            continue;
        if (hits->count == 0)
            hits->first = r->field;
        else if (hits->count == 1)
            hits->second = r->field;
        hits->count++;
    }
    KSV_TRY(list_cell(r, error));
    buffer_clear(&s->cell);
    return KSV_OK;
}

static ksv_status refuse_missing(const delimited_reader *r,
                                 const key_part *part, ksv_error *error)
{
    const byte_buffer *listing = &r->search.listing;
    return error_set_at(error, KSV_ERROR_DATA, NULL, r->record_offset,
                        "there is no column '%.300s'; the columns are: %.*s",
                        part->text, (int)listing->size,
                        listing->size > 0 ? (const char *)listing->data : "");
}

static ksv_status refuse_ambiguous(const delimited_reader *r,
                                   const key_part *part,
                                   const struct column_hits *hits,
                                   ksv_error *error)
{
    return error_set_at(error, KSV_ERROR_DATA, NULL, r->record_offset,
                        "column '%.300s' is ambiguous: it stands at the "
                        "positions %" PRIu64 " and %" PRIu64
                        "%s; use the number",
                        part->text, hits->first + 1, hits->second + 1,
                        hits->count > 2 ? " and others" : "");
}

ksv_status column_search_finish(delimited_reader *r, ksv_error *error)
{
    const scan_spec *spec = r->base.spec;
    for (size_t i = 0; i < spec->part_count; i++) {
        const struct column_hits *hits = &r->search.hits[i];
        const key_part *part = &spec->parts[i];
        if (part->kind != KEY_PART_COLUMN_NAME)
            continue;
        if (hits->count == 0)
            return refuse_missing(r, part, error);
        if (hits->count > 1)
            return refuse_ambiguous(r, part, hits, error);
        r->base.layout.columns[i] = hits->first;
    }
    return delimited_check_width(r, "header", error);
}

ksv_status delimited_check_width(const delimited_reader *r, const char *what,
                                 ksv_error *error)
{
    const scan_spec *spec = r->base.spec;
    uint64_t width = r->field + 1;
    for (size_t i = 0; i < spec->part_count; i++) {
        const key_part *part = &spec->parts[i];
        if (part->kind == KEY_PART_COLUMN_NUMBER && part->first > width)
            return error_set_at(error, KSV_ERROR_DATA, NULL, r->record_offset,
                                "there is no column %" PRIu64
                                ": the %s has %" PRIu64 " column%s",
                                part->first, what, width,
                                width == 1 ? "" : "s");
    }
    return KSV_OK;
}
