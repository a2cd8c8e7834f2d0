/* SPDX-License-Identifier: MIT */
/* Syncs a file that is being written while more is appended to it: what a disk
 * takes for a sync grows with what was written since the last one. */
#ifndef KSV_IO_SYNC_AHEAD_H
#define KSV_IO_SYNC_AHEAD_H

#include <stdint.h>

typedef struct sync_ahead sync_ahead;

/* Of the file open as `fd`, which is borrowed. NULL: there is no room for it,
 * and the file is synced at its end alone. */
sync_ahead *sync_ahead_open(int fd);

/* Another thread syncs what was appended so far, unless it is at it. */
void sync_ahead_go_on(sync_ahead *ahead);

/* Waits for the other thread and ends it; 0, or the errno of its first failure,
 * which the system does not tell again. NULL is allowed. */
int sync_ahead_close(sync_ahead *ahead);

#endif
