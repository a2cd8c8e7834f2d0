/* SPDX-License-Identifier: MIT */
/* Key parts that come in pieces, and the key that they make. */
#include "base/error.h"
#include "scan/record_reader_private.h"

#include <string.h>

ksv_status part_append_copy(part_value *part, const uint8_t *data, size_t size,
                            ksv_error *error)
{
    KSV_TRY(part_hold(part, error));
    KSV_TRY(buffer_append(&part->copy, data, size, error));
    part->data = part->copy.data;
    part->size = part->copy.size;
    return KSV_OK;
}

ksv_status part_hold(part_value *part, ksv_error *error)
{
    if (part->copied || part->size == 0)
        return KSV_OK;
    buffer_clear(&part->copy);
    KSV_TRY(buffer_append(&part->copy, part->data, part->size, error));
    part->data = part->copy.data;
    part->copied = true;
    return KSV_OK;
}

ksv_status part_add_range(part_value *part, const key_part *range,
                          uint64_t before, const uint8_t *data, size_t size,
                          ksv_error *error)
{
    uint64_t first = range->first - 1;
    if (size == 0 || before >= range->last || first >= before + size)
        return KSV_OK;
    size_t from = first > before ? (size_t)(first - before) : 0;
    size_t to =
        range->last - before < size ? (size_t)(range->last - before) : size;
    return part_add(part, data + from, to - from, error);
}

void part_release(part_value *part)
{
    buffer_release(&part->copy);
}

static bool all_parts_have_bytes(const record_reader *r)
{
    for (size_t i = 0; i < r->spec->part_count; i++) {
        if (r->parts[i].size == 0)
            return false;
    }
    return true;
}

/* The key goes to the buffer of copied keys; record_reader_next() sets the
 * pointer when that buffer does not move any more. */
static ksv_status copy_key(record_reader *r, scan_record *record,
                           ksv_error *error)
{
    const scan_spec *spec = r->spec;
    size_t separator_bytes = strlen(spec->separator);
    size_t key_bytes = (spec->part_count - 1) * separator_bytes;
    for (size_t i = 0; i < spec->part_count; i++)
        key_bytes += r->parts[i].size;
    KSV_TRY(buffer_reserve(&r->keys, key_bytes, error));
    uint8_t *next = r->keys.data + r->keys.size;
    for (size_t i = 0; i < spec->part_count; i++) {
        if (i > 0) {
            memcpy(next, spec->separator, separator_bytes);
            next += separator_bytes;
        }
        memcpy(next, r->parts[i].data, r->parts[i].size);
        next += r->parts[i].size;
    }
    r->keys.size += key_bytes;
    record->key = NULL;
    record->key_bytes = key_bytes;
    return KSV_OK;
}

ksv_status reader_finish_key(record_reader *r, scan_record *record,
                             ksv_error *error)
{
    size_t count = r->spec->part_count;
    record->key = NULL;
    record->key_bytes = 0;
    record->kind = SCAN_RECORD_WITHOUT_KEY;
    if (all_parts_have_bytes(r)) {
        record->kind = SCAN_RECORD_KEYED;
        if (count == 1 && !r->parts[0].copied) {
            record->key = r->parts[0].data;
            record->key_bytes = r->parts[0].size;
        } else {
            KSV_TRY(copy_key(r, record, error));
        }
    }
    for (size_t i = 0; i < count; i++)
        part_reset(&r->parts[i]);
    return KSV_OK;
}
