/* SPDX-License-Identifier: MIT */
/* The content that an access point keeps of what lies before it. */
#ifndef KSV_DATAFILE_POINTS_WINDOW_H
#define KSV_DATAFILE_POINTS_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

#include "base/memory.h"
#include "compress/inflate.h"
#include "datafile/points_format.h"

/* Puts the window of `entry` out of its blob (points_reader_blob()) into
 * `window`, which has room for INFLATE_WINDOW_BYTES and INFLATE_OUTPUT_SLACK;
 * `scratch` is any inflater, which begins anew. False: it is damaged. */
bool points_window_unpack(const points_entry *entry, const byte_buffer *blob,
                          inflater *scratch, uint8_t *window);

#endif
