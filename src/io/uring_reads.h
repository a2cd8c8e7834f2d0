/* SPDX-License-Identifier: MIT */
/* Reads through an io_uring, where there is one. */
#ifndef KSV_IO_URING_READS_H
#define KSV_IO_URING_READS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <keysieve/io.h>

/* The `got_bytes` of a read that is still to be done. */
#define READ_TO_DO SIZE_MAX

/* Does those of `reads` that are to be done and of files of the operating
 * system, up to 64 at a time. Some may stay to be done: what a read met is
 * found out again by reading alone. False when this kernel or build has no
 * io_uring; then nothing was done. */
bool uring_reads(ksv_read *reads, size_t count);

#endif
