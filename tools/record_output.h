/* SPDX-License-Identifier: MIT */
/* A found record on standard output, in each of its forms. */
#ifndef KSV_TOOLS_RECORD_OUTPUT_H
#define KSV_TOOLS_RECORD_OUTPUT_H

#include <stdbool.h>

#include <keysieve/index.h>

#include "output.h"

/* The record's bytes, whatever their number. False after a failure to read,
 * with `*error` filled; a failure to write shows in `out`. */
bool record_output_bytes(output *out, const ksv_record *record,
                         ksv_error *error);

/* KEY<TAB>FILE<TAB>OFFSET<TAB>LENGTH and a line feed. */
void record_output_location(output *out, const ksv_record *record);

/* The key alone; as JSON that it was found. */
void record_output_key(output *out, const void *key, size_t key_bytes,
                       bool as_json, bool nul_ended);

/* KEY<TAB>COUNT and a line feed, or a JSON object. */
void record_output_count(output *out, const void *key, size_t key_bytes,
                         uint64_t count, bool as_json);

/* A JSON object and a line feed; without the record's bytes unless
 * `with_bytes`. As record_output_bytes(). */
bool record_output_json(output *out, const ksv_record *record, bool with_bytes,
                        ksv_error *error);

#endif
