/* SPDX-License-Identifier: MIT */
/* What the fuzz targets of the record readers have in common. */
#ifndef KSV_TEST_SCAN_FUZZ_H
#define KSV_TEST_SCAN_FUZZ_H

#include <stddef.h>
#include <stdint.h>

#include <keysieve/format.h>

/* Reads a content of `format` whole and cut into windows, stopping at bad
 * records and skipping them, and looks each record up; aborts when two of these
 * disagree. The first byte of `data` chooses the windows. */
void scan_fuzz(ksv_format format, const char *const *keys, size_t key_count,
               const uint8_t *data, size_t size);

#endif
