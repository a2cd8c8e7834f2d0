/* SPDX-License-Identifier: MIT */
/* Fuzzes the decoder of the copy, with its checksum and without. */
#include <stdlib.h>
#include <string.h>

#include "catalog/catalog_codec.h"
#include "catalog/catalog_copy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What was decoded is encoded to the same bytes. */
static void check_body(const uint8_t *data, size_t size)
{
    catalog_state state;
    catalog_state_init(&state, NULL);
    byte_cursor in = cursor_over(data, size);
    if (codec_get_state(&in, &state, NULL) != KSV_OK)
        return;
    byte_buffer again;
    buffer_init(&again, &state.allocator);
    if (codec_put_state(&again, &state, NULL) != KSV_OK || again.size != size ||
        memcmp(again.data, data, size) != 0)
        abort();
    buffer_release(&again);
    catalog_state_release(&state);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    catalog_mark mark;
    catalog_state state;
    if (copy_decode(data, size, size % 2 == 0, NULL, &mark, &state, NULL) ==
        KSV_OK)
        catalog_state_release(&state);
    check_body(data, size);
    if (size > 64 + 8)
        check_body(data + 64, size - 64 - 8);
    return 0;
}
