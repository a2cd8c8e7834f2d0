/* SPDX-License-Identifier: MIT */
/* Random bytes of the operating system. */
#ifndef KSV_IO_RANDOM_H
#define KSV_IO_RANDOM_H

#include <stdbool.h>
#include <stddef.h>

/* The largest request. */
#define RANDOM_BYTES_MAX 256

/* Fills `out` with `size_bytes` (up to RANDOM_BYTES_MAX) bytes that nobody can
 * predict; false when the operating system has none. Thread-safe. */
bool random_bytes(void *out, size_t size_bytes);

#endif
