/* SPDX-License-Identifier: MIT */
/* What the codecs of the catalog share: ids, numbers, strings and errors. */
#ifndef KSV_CATALOG_CODEC_BYTES_H
#define KSV_CATALOG_CODEC_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <keysieve/memory.h>
#include <keysieve/status.h>

#include "base/coding.h"

#define CODEC_ID_BYTES 16

/* KSV_ERROR_CORRUPT with the remedy to build, and KSV_ERROR_ARGUMENT. */
ksv_status codec_corrupt(ksv_error *error, const char *what);
ksv_status codec_unusable(ksv_error *error, const char *what);

ksv_status codec_put_id(byte_buffer *out, const uint8_t id[CODEC_ID_BYTES],
                        ksv_error *error);
void codec_get_id(byte_cursor *in, uint8_t id[CODEC_ID_BYTES]);

ksv_status codec_put_numbers(byte_buffer *out, const uint64_t *numbers,
                             size_t count, ksv_error *error);

/* A copy of the next string of bytes; NULL with `*no_memory` left alone when it
 * is empty or cut. */
uint8_t *codec_copy_blob(byte_cursor *in, const ksv_allocator *allocator,
                         size_t *size_bytes, bool *no_memory);

/* A copy of the next string; one with a NUL inside is a failure of `in`. */
char *codec_copy_string(byte_cursor *in, const ksv_allocator *allocator,
                        bool *no_memory);

/* Reads how many items of `item_bytes` follow: not more than are there. */
size_t codec_get_count(byte_cursor *in, size_t item_bytes);

#endif
