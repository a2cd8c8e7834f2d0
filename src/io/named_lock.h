/* SPDX-License-Identifier: MIT */
/* Locks of files that their holders remove when they are done. */
#ifndef KSV_IO_NAMED_LOCK_H
#define KSV_IO_NAMED_LOCK_H

#include <stdbool.h>

#include <keysieve/io.h>

/* Locks the file at `path`, made if need be, once. `*lock` NULL without an
 * error: it was the lock of a file that its holder has removed in the meantime,
 * to be tried again. Another holder is KSV_ERROR_BUSY. */
ksv_status named_lock_try(const ksv_file_system *fs, const char *path,
                          ksv_file **lock, ksv_error *error);

#endif
