/* SPDX-License-Identifier: MIT */
/* The header of a gzip member (RFC 1952), parsed from pieces of any size. */
#include "datafile/gzip_header.h"

#include <string.h>

#include "base/coding.h"
#include "datafile/crc32.h"

#define FIXED_BYTES 10
#define METHOD_DEFLATE 8
#define SUBFIELD_HEAD_BYTES 4
#define BGZF_SUBFIELD_BYTES 2

enum {
    FLAG_CHECKSUM = 2,
    FLAG_EXTRA = 4,
    FLAG_NAME = 8,
    FLAG_COMMENT = 16,
    FLAGS_RESERVED = 0xe0
};

void gzip_header_begin(gzip_header *header)
{
    memset(header, 0, sizeof *header);
}

static void bad(gzip_header *h, const char *problem)
{
    h->state = GZIP_HEADER_BAD;
    h->problem = problem;
}

/* The next part that the flags ask for after `state`. */
static void next_part(gzip_header *h, gzip_header_state state)
{
    h->field_bytes = 0;
    if (state < GZIP_HEADER_EXTRA_LENGTH && (h->flags & FLAG_EXTRA) != 0)
        h->state = GZIP_HEADER_EXTRA_LENGTH;
    else if (state < GZIP_HEADER_NAME && (h->flags & FLAG_NAME) != 0)
        h->state = GZIP_HEADER_NAME;
    else if (state < GZIP_HEADER_COMMENT && (h->flags & FLAG_COMMENT) != 0)
        h->state = GZIP_HEADER_COMMENT;
    else if (state < GZIP_HEADER_CHECKSUM && (h->flags & FLAG_CHECKSUM) != 0)
        h->state = GZIP_HEADER_CHECKSUM;
    else
        h->state = GZIP_HEADER_COMPLETE;
}

static void push_fixed(gzip_header *h, uint8_t byte)
{
    switch (h->field_bytes++) {
    case 0:
        if (byte != GZIP_MAGIC_1)
            bad(h, "does not begin as one");
        break;
    case 1:
        if (byte != GZIP_MAGIC_2)
            bad(h, "does not begin as one");
        break;
    case 2:
        if (byte != METHOD_DEFLATE)
            bad(h, "is compressed by an unknown method");
        break;
    case 3:
        h->flags = byte;
        if ((byte & FLAGS_RESERVED) != 0)
            bad(h, "has reserved flags set in its header");
        break;
    case FIXED_BYTES - 1:
        next_part(h, GZIP_HEADER_FIXED);
        break;
    default:
        break;
    }
}

static void push_extra_length(gzip_header *h, uint8_t byte)
{
    h->field[h->field_bytes++] = byte;
    if (h->field_bytes < 2)
        return;
    h->extra_left = load_u16(h->field);
    h->field_bytes = 0;
    h->in_subfield = false;
    h->state = GZIP_HEADER_EXTRA;
    if (h->extra_left == 0)
        next_part(h, GZIP_HEADER_EXTRA);
}

static void begin_subfield(gzip_header *h)
{
    h->subfield_left = load_u16(h->field + 2);
    h->is_bgzf_subfield = h->field[0] == 'B' && h->field[1] == 'C' &&
                          h->subfield_left == BGZF_SUBFIELD_BYTES;
    h->field_bytes = 0;
    h->in_subfield = h->subfield_left != 0;
}

/* Extra fields that are no list of subfields are allowed: what does not fit is
 * passed over. */
static void push_extra(gzip_header *h, uint8_t byte)
{
    if (!h->in_subfield) {
        h->field[h->field_bytes++] = byte;
        if (h->field_bytes == SUBFIELD_HEAD_BYTES)
            begin_subfield(h);
    } else {
        if (h->is_bgzf_subfield)
            h->field[h->field_bytes++] = byte;
        if (--h->subfield_left == 0) {
            if (h->is_bgzf_subfield)
                h->bgzf_block_bytes = (uint32_t)load_u16(h->field) + 1;
            h->field_bytes = 0;
            h->in_subfield = false;
        }
    }
    if (--h->extra_left == 0)
        next_part(h, GZIP_HEADER_EXTRA);
}

static void push_checksum(gzip_header *h, uint8_t byte)
{
    h->field[h->field_bytes++] = byte;
    if (h->field_bytes < 2)
        return;
    h->given_checksum = load_u16(h->field);
    next_part(h, GZIP_HEADER_CHECKSUM);
}

static void push_byte(gzip_header *h, uint8_t byte)
{
    switch (h->state) {
    case GZIP_HEADER_FIXED:
        push_fixed(h, byte);
        break;
    case GZIP_HEADER_EXTRA_LENGTH:
        push_extra_length(h, byte);
        break;
    case GZIP_HEADER_EXTRA:
        push_extra(h, byte);
        break;
    case GZIP_HEADER_NAME:
    case GZIP_HEADER_COMMENT:
        if (byte == 0)
            next_part(h, h->state);
        break;
    case GZIP_HEADER_CHECKSUM:
        push_checksum(h, byte);
        break;
    default:
        break;
    }
}

size_t gzip_header_push(gzip_header *header, const uint8_t *data,
                        size_t size_bytes)
{
    size_t used = 0, checked = 0;
    while (used < size_bytes && header->state < GZIP_HEADER_COMPLETE) {
        const bool is_checksum = header->state == GZIP_HEADER_CHECKSUM;
        push_byte(header, data[used++]);
        if (!is_checksum)
            checked = used;
    }
    header->crc = crc32_update(header->crc, data, checked);
    if (header->state == GZIP_HEADER_COMPLETE &&
        (header->flags & FLAG_CHECKSUM) != 0 &&
        (header->crc & 0xffff) != header->given_checksum)
        bad(header, "has a damaged header: its checksum is wrong");
    return used;
}
