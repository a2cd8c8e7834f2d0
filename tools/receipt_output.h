/* SPDX-License-Identifier: MIT */
/* What lookups cost, on standard error. */
#ifndef KSV_TOOLS_RECEIPT_OUTPUT_H
#define KSV_TOOLS_RECEIPT_OUTPUT_H

#include <stdbool.h>

#include <keysieve/index.h>

/* One line for one key: text, or a JSON object with its "key". */
void receipt_output_key(const ksv_key *key, const ksv_receipt *receipt,
                        bool as_json);

/* The sum over all keys: a line a fact, or a JSON object. */
void receipt_output_sum(const ksv_receipt *receipt, uint64_t blank_lines,
                        bool as_json);

#endif
