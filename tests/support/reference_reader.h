/* SPDX-License-Identifier: MIT */
/* The rules of csv, tsv, lines and fixed, read slowly from a whole buffer. */
#ifndef KSV_TEST_REFERENCE_READER_H
#define KSV_TEST_REFERENCE_READER_H

#include <keysieve/format.h>

#include "support/scan_run.h"

/* Shares no code with the readers. Knows two regular expressions: "a(b*)" and
 * "[0-9a]+"; keys have at most 8 parts, rows at most 300 fields and contents at
 * most 300 bytes. */
void reference_read(const ksv_format_options *options, bool skip_bad,
                    const uint8_t *data, size_t size, scan_result *result);

#endif
