/* SPDX-License-Identifier: MIT */
/* Reads a single record of csv or tsv by masks, for those who fetch one. */
#include "scan/delimited_reader.h"
#include "scan/single_record.h"

bool delimited_take_single(delimited_reader *r, scan_record *record)
{
    record_reader *base = &r->base;
    if (r->escapes || base->spec->part_count != 1)
        return false;
    const single_shape shape = {.kernels = r->kernels,
                                .column = base->layout.columns[0],
                                .end_byte = r->end_byte,
                                .delimiter = r->delimiter,
                                .quote = r->quote,
                                .has_quote = r->has_quote,
                                .drops_cr = r->drops_cr};
    const uint8_t *data = base->data + base->position;
    single_record found;
    if (!single_record_find(&shape, data, base->size - base->position, &found))
        return false;
    record->offset = reader_offset(base);
    record->length = found.length;
    record->key = data + found.key_start;
    record->key_bytes = found.key_end - found.key_start;
    record->kind =
        record->key_bytes > 0 ? SCAN_RECORD_KEYED : SCAN_RECORD_WITHOUT_KEY;
    base->position += found.end + 1;
    return true;
}
