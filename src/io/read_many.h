/* SPDX-License-Identifier: MIT */
/* Many reads of files of the operating system at once. */
#ifndef KSV_IO_READ_MANY_H
#define KSV_IO_READ_MANY_H

#include <keysieve/io.h>

/* The read_many of a ksv_file_system. What the page cache holds is copied in
 * order, which no other way beats; what it does not is read with the disk's
 * queue full. */
ksv_status posix_read_many(void *ctx, ksv_read *reads, size_t count,
                           ksv_error *error);

#endif
