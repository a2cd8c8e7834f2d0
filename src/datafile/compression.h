/* SPDX-License-Identifier: MIT */
/* Compressions told by the first bytes of a file. */
#ifndef KSV_DATAFILE_COMPRESSION_H
#define KSV_DATAFILE_COMPRESSION_H

#include <stddef.h>
#include <stdint.h>

/* As many bytes as the longest mark needs. */
#define COMPRESSION_MARK_BYTES 10

/* The name of the compression of a file that begins with `size_bytes` bytes at
 * `head` (COMPRESSION_MARK_BYTES unless the file is shorter), or NULL for
 * none. A constant string. */
const char *compression_name(const uint8_t *head, size_t size_bytes);

#endif
