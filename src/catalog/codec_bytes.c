/* SPDX-License-Identifier: MIT */
/* What the codecs of the catalog share: ids, numbers, strings and errors. */
#include "catalog/codec_bytes.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"

ksv_status codec_corrupt(ksv_error *error, const char *what)
{
    error_set(error, KSV_ERROR_CORRUPT, NULL, "%s", what);
    error_add_remedy(error, KSV_REMEDY_BUILD);
    return KSV_ERROR_CORRUPT;
}

ksv_status codec_unusable(ksv_error *error, const char *what)
{
    return error_set(error, KSV_ERROR_ARGUMENT, NULL, "%s", what);
}

ksv_status codec_put_id(byte_buffer *out, const uint8_t id[CODEC_ID_BYTES],
                        ksv_error *error)
{
    return buffer_append(out, id, CODEC_ID_BYTES, error);
}

void codec_get_id(byte_cursor *in, uint8_t id[CODEC_ID_BYTES])
{
    const uint8_t *p = cursor_take(in, CODEC_ID_BYTES);
    if (p != NULL)
        memcpy(id, p, CODEC_ID_BYTES);
}

ksv_status codec_put_numbers(byte_buffer *out, const uint64_t *numbers,
                             size_t count, ksv_error *error)
{
    for (size_t i = 0; i < count; i++)
        KSV_TRY(buffer_put_u64(out, numbers[i], error));
    return KSV_OK;
}

uint8_t *codec_copy_blob(byte_cursor *in, const ksv_allocator *allocator,
                         size_t *size_bytes, bool *no_memory)
{
    const uint8_t *p = cursor_bytes(in, size_bytes);
    if (p == NULL || *size_bytes == 0)
        return NULL;
    uint8_t *copy = memory_alloc(allocator, *size_bytes);
    if (copy == NULL) {
        *no_memory = true;
        *size_bytes = 0;
        return NULL;
    }
    memcpy(copy, p, *size_bytes);
    return copy;
}

char *codec_copy_string(byte_cursor *in, const ksv_allocator *allocator,
                        bool *no_memory)
{
    size_t length;
    const uint8_t *p = cursor_bytes(in, &length);
    if (p == NULL || memchr(p, '\0', length) != NULL) {
        in->failed = true;
        return NULL;
    }
    char *copy = memory_copy_string(allocator, (const char *)p, length);
    if (copy == NULL)
        *no_memory = true;
    return copy;
}

size_t codec_get_count(byte_cursor *in, size_t item_bytes)
{
    uint64_t count = cursor_u64(in);
    size_t left = in->failed ? 0 : (size_t)(in->end - in->next);
    if (count <= left / item_bytes)
        return (size_t)count;
    in->failed = true;
    return 0;
}
