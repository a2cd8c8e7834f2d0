/* SPDX-License-Identifier: MIT */
/* Cuts windows into lines: lines that straddle windows, first and last ones. */
#include "scan/line_splitter.h"

#include "base/error.h"

static const uint8_t CARRIAGE_RETURN[1] = {'\r'};

void line_splitter_init(line_splitter *s, const scan_spec *spec, bool in_middle)
{
    *s = (line_splitter){
        .end_byte = spec->record_end_cr ? '\r' : '\n',
        .drops_cr = !spec->record_end_cr,
        .saw_end = in_middle || spec->record_end_cr,
    };
}

ksv_status line_splitter_refuse_lone_cr(uint64_t offset, ksv_error *error)
{
    return error_set_at(error, KSV_ERROR_DATA, NULL, offset,
                        "there is no LF line end but there are lone CR bytes; "
                        "if records end at CR, use --record-end cr");
}

static void give(line_splitter *s, const uint8_t *data, size_t size, bool ends,
                 line_piece *piece)
{
    *piece = (line_piece){data, size, !s->begun, ends};
    s->line_length += size;
    s->begun = !ends;
    s->open = !ends;
}

static void note_lone_cr(line_splitter *s, const record_reader *r,
                         const uint8_t *data, size_t size)
{
    if (s->saw_end || s->saw_cr || size == 0)
        return;
    const uint8_t *cr = memchr(data, '\r', size);
    if (cr == NULL)
        return;
    s->saw_cr = true;
    s->cr_offset = r->window_offset + (uint64_t)(cr - r->data);
}

/* The CR that the last window ended in: half a terminator, or data. */
static void give_held_cr(line_splitter *s, record_reader *r, line_piece *piece)
{
    s->holds_cr = false;
    if (r->position < r->size && r->data[r->position] == s->end_byte) {
        r->position++;
        s->saw_end = true;
        give(s, CARRIAGE_RETURN, 0, true, piece);
        return;
    }
    if (!s->saw_end && !s->saw_cr) {
        s->saw_cr = true;
        s->cr_offset = reader_offset(r) - 1;
    }
    give(s, CARRIAGE_RETURN, 1, false, piece);
}

/* The rest of the window has no end byte. */
static void give_rest(line_splitter *s, record_reader *r, line_piece *piece)
{
    const uint8_t *start = r->data + r->position;
    size_t size = r->size - r->position;
    r->position = r->size;
    if (s->drops_cr && start[size - 1] == '\r') {
        s->holds_cr = true;
        size--;
    }
    note_lone_cr(s, r, start, size);
    give(s, start, size, false, piece);
}

static void give_to_end(line_splitter *s, record_reader *r, const uint8_t *end,
                        line_piece *piece)
{
    const uint8_t *start = r->data + r->position;
    size_t size = (size_t)(end - start);
    r->position += size + 1;
    if (size > 0 && s->drops_cr && start[size - 1] == '\r')
        size--;
    s->saw_end = true;
    give(s, start, size, true, piece);
}

ksv_status line_splitter_next_piece(line_splitter *s, record_reader *r,
                                    line_piece *piece, bool *got,
                                    ksv_error *error)
{
    bool used_up = r->position == r->size;
    *got = !used_up || (r->last && s->open);
    if (!*got)
        return KSV_OK;
    if (!s->open) {
        s->line_offset = reader_offset(r);
        s->line_length = 0;
        s->open = true;
    }
    if (s->holds_cr) {
        give_held_cr(s, r, piece);
        return KSV_OK;
    }
    if (used_up) {
        if (!s->saw_end && s->saw_cr)
            return line_splitter_refuse_lone_cr(s->cr_offset, error);
        give(s, CARRIAGE_RETURN, 0, true, piece);
        return KSV_OK;
    }
    const uint8_t *start = r->data + r->position;
    const uint8_t *end = memchr(start, s->end_byte, r->size - r->position);
    if (end != NULL)
        give_to_end(s, r, end, piece);
    else
        give_rest(s, r, piece);
    return KSV_OK;
}
