/* SPDX-License-Identifier: MIT */
/* Parameters, data files and segments as bytes: in the copy and in LMDB. */
#ifndef KSV_CATALOG_CATALOG_CODEC_H
#define KSV_CATALOG_CATALOG_CODEC_H

#include "base/coding.h"
#include "catalog/catalog.h"

#define CATALOG_FORMAT_VERSION 1
#define CATALOG_FEATURES 0 /* bits that this version knows */

/* Encoding appends to `out`; what could not be decoded again (a hash of 20
 * bits, a file of a segment that does not exist) is KSV_ERROR_ARGUMENT. */
ksv_status codec_put_parameters(byte_buffer *out,
                                const catalog_parameters *parameters,
                                ksv_error *error);
ksv_status codec_put_file(byte_buffer *out, const catalog_file *file,
                          ksv_error *error);
ksv_status codec_put_segment(byte_buffer *out, const catalog_segment *segment,
                             ksv_error *error);

/* Decoding trusts nothing: KSV_ERROR_CORRUPT without a path. What is filled
 * owns its memory after success and is empty after failure. */
ksv_status codec_get_parameters(byte_cursor *in, const ksv_allocator *allocator,
                                catalog_parameters *parameters,
                                ksv_error *error);
ksv_status codec_get_file(byte_cursor *in, const ksv_allocator *allocator,
                          catalog_file *file, ksv_error *error);
ksv_status codec_get_segment(byte_cursor *in, const ksv_allocator *allocator,
                             catalog_segment *segment, ksv_error *error);

/* The whole state but for its generation. */
ksv_status codec_put_state(byte_buffer *out, const catalog_state *state,
                           ksv_error *error);
/* Into `state`, which is initialised and empty, and so again after failure.
 * Nothing may be left in `in`. */
ksv_status codec_get_state(byte_cursor *in, catalog_state *state,
                           ksv_error *error);

#endif
