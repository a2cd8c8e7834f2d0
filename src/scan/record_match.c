/* SPDX-License-Identifier: MIT */
/* Tells by its bytes alone that a record has a key, where that is easy. */
#include "scan/record_match.h"

#include <string.h>

#include "scan/record_layout.h"

/* Which column of csv and tsv it is stands in the layout. */
static bool shape_delimited(const scan_spec *spec, const record_layout *layout,
                            single_shape *shape)
{
    if (spec->escape_backslash || layout->column_count != 1)
        return false;
    shape->column = layout->columns[0];
    shape->delimiter = spec->delimiter;
    shape->has_quote = spec->quote != KSV_BYTE_NONE;
    shape->quote = shape->has_quote ? (uint8_t)spec->quote : 0;
    return true;
}

/* Lines know no quotes. */
static bool shape_line(const scan_spec *spec, single_shape *shape)
{
    const key_part *part = &spec->parts[0];
    if (part->kind == KEY_PART_LINE)
        return true;
    if (part->kind != KEY_PART_COLUMN_NUMBER)
        return false;
    shape->column = part->first - 1;
    shape->delimiter = spec->delimiter;
    return true;
}

void record_match_init(record_match *match, const scan_spec *spec,
                       const void *layout, size_t layout_bytes)
{
    uint64_t column;
    record_layout decoded = {.columns = &column};
    *match = (record_match){.is_usable = false};
    if (spec->part_count != 1 ||
        record_layout_decode(layout, layout_bytes, 1, &decoded, NULL) != KSV_OK)
        return;
    uint8_t end_byte = spec->record_end_cr ? '\r' : '\n';
    match->shape = (single_shape){.kernels = structure_choose(),
                                  .end_byte = end_byte,
                                  .delimiter = end_byte,
                                  .drops_cr = !spec->record_end_cr};
    match->first_offset = decoded.first_offset;
    if (spec->format == KSV_FORMAT_CSV || spec->format == KSV_FORMAT_TSV)
        match->is_usable = shape_delimited(spec, &decoded, &match->shape);
    else if (spec->format == KSV_FORMAT_LINES)
        match->is_usable = shape_line(spec, &match->shape);
}

bool record_match_key(const record_match *match, uint64_t offset,
                      const uint8_t *bytes, size_t size_bytes, const void *key,
                      size_t key_bytes, uint64_t *length)
{
    /* The first record is for those who know what may stand before it. */
    if (!match->is_usable || offset <= match->first_offset || key_bytes == 0 ||
        size_bytes <= key_bytes || bytes[0] != match->shape.end_byte)
        return false;
    const uint8_t *data = bytes + 1;
    single_record found;
    if (!single_record_find(&match->shape, data, size_bytes - 1, &found) ||
        found.key_end - found.key_start != key_bytes ||
        memcmp(data + found.key_start, key, key_bytes) != 0)
        return false;
    *length = found.length;
    return true;
}
