/* SPDX-License-Identifier: MIT */
/* Fuzzes the decoder of LMDB's records: a sequence of them, each a byte for the
 * size of its key, two for that of its value, then both; the checksum is put in
 * for values that lack it, unless the highest bit of the key's size is set. */
#include <stdlib.h>

#include "base/coding.h"
#include "catalog/catalog_records.h"
#include "hash/hash.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static ksv_status add(record_reader *reader, const uint8_t *key,
                      size_t key_bytes, const uint8_t *value,
                      size_t value_bytes, bool with_checksum)
{
    byte_buffer b;
    buffer_init(&b, &reader->state->allocator);
    if (buffer_append(&b, key, key_bytes, NULL) != KSV_OK ||
        buffer_append(&b, value, value_bytes, NULL) != KSV_OK ||
        (with_checksum &&
         buffer_put_u64(&b, hash_checksum64(b.data, b.size), NULL) != KSV_OK))
        abort();
    static const uint8_t nothing[1];
    const uint8_t *bytes = b.data != NULL ? b.data : nothing;
    ksv_status status = record_reader_add(
        reader, bytes, key_bytes, bytes + key_bytes, b.size - key_bytes, NULL);
    buffer_release(&b);
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    catalog_state state;
    record_reader reader;
    catalog_state_init(&state, NULL);
    record_reader_init(&reader, &state);
    byte_cursor in = cursor_over(data, size);
    ksv_status status = KSV_OK;
    while (status == KSV_OK && in.next < in.end) {
        uint8_t head = cursor_u8(&in);
        size_t value_bytes = cursor_u16(&in);
        const uint8_t *key = cursor_take(&in, head & 0x7f);
        const uint8_t *value = cursor_take(&in, value_bytes);
        if (key == NULL || value == NULL)
            break;
        status =
            add(&reader, key, head & 0x7f, value, value_bytes, head < 0x80);
    }
    if (status == KSV_OK)
        status = record_reader_finish(&reader, NULL);
    record_reader_release(&reader);
    catalog_state_release(&state);
    return 0;
}
