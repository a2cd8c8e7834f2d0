/* SPDX-License-Identifier: MIT */
/* The content that an access point keeps of what lies before it. */
#include "datafile/points_window.h"

#include <string.h>

bool points_window_unpack(const points_entry *entry, const byte_buffer *blob,
                          inflater *scratch, uint8_t *window)
{
    const size_t stored = entry->window_stored_bytes;
    const size_t size = entry->window_bytes;
    if (stored != size)
        return inflate_whole(scratch, blob->data, stored, window, size);
    if (size != 0)
        memcpy(window, blob->data, size);
    return true;
}
