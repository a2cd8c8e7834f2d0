/* SPDX-License-Identifier: MIT */
/* The header lines of fasta and fastq records, and the keys in them. */
#include "scan/sequence_header.h"

#include "base/error.h"

static ksv_status add_to_parts(record_reader *reader, key_part_kind kind,
                               const uint8_t *data, size_t size,
                               ksv_error *error)
{
    for (size_t i = 0; i < reader->spec->part_count; i++) {
        if (reader->spec->parts[i].kind == kind)
            KSV_TRY(part_add(&reader->parts[i], data, size, error));
    }
    return KSV_OK;
}

static ksv_status add_name(sequence_header *place, record_reader *reader,
                           const uint8_t *p, const uint8_t *end,
                           ksv_error *error)
{
    if (*place == SEQUENCE_BEFORE_NAME) {
        while (p < end && sequence_is_space(*p))
            p++;
        if (p == end)
            return KSV_OK;
        *place = SEQUENCE_IN_NAME;
    }
    if (*place == SEQUENCE_AFTER_NAME)
        return KSV_OK;
    const uint8_t *name = p;
    while (p < end && !sequence_is_space(*p))
        p++;
    if (p < end)
        *place = SEQUENCE_AFTER_NAME;
    return add_to_parts(reader, KEY_PART_NAME, name, (size_t)(p - name), error);
}

ksv_status sequence_header_add(sequence_header *place, record_reader *reader,
                               const uint8_t *data, size_t size,
                               ksv_error *error)
{
    if (size > 0 && *place == SEQUENCE_BEFORE_MARK) {
        *place = SEQUENCE_BEFORE_NAME;
        data++;
        size--;
    }
    if (size == 0)
        return KSV_OK;
    KSV_TRY(add_to_parts(reader, KEY_PART_HEADER, data, size, error));
    return add_name(place, reader, data, data + size, error);
}
