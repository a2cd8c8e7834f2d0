/* SPDX-License-Identifier: MIT */
/* The CRC-32 of gzip (polynomial 0x04c11db7, reflected). */
#ifndef KSV_DATAFILE_CRC32_H
#define KSV_DATAFILE_CRC32_H

#include <stddef.h>
#include <stdint.h>

/* The CRC of what `crc` is of (0 for nothing) followed by `data`. Thread-safe.
 */
uint32_t crc32_update(uint32_t crc, const uint8_t *data, size_t size_bytes);

#endif
