/* SPDX-License-Identifier: MIT */
/* What the fuzz targets of the readers have in common. */
#ifndef KSV_TEST_SCAN_FUZZ_H
#define KSV_TEST_SCAN_FUZZ_H

#include <stddef.h>
#include <stdint.h>

#include <keysieve/format.h>

/* Aborts when what is found in `data` depends on how it is cut into windows,
 * or, for a record, on where reading begins. Options that make no
 * specification are passed over. */
void scan_fuzz(const ksv_format_options *options, bool skip_bad,
               const uint8_t *data, size_t size);

#endif
