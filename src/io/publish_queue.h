/* SPDX-License-Identifier: MIT */
/* Publishes many files while more are being written: their syncs wait for the
 * disk side by side, not one after the other. */
#ifndef KSV_IO_PUBLISH_QUEUE_H
#define KSV_IO_PUBLISH_QUEUE_H

#include <stddef.h>

#include <keysieve/memory.h>
#include <keysieve/status.h>

#include "io/atomic_file.h"

/* One thread at a time. */
typedef struct publish_queue publish_queue;

/* `expected_files` is a guess. */
ksv_status publish_queue_open(size_t expected_files,
                              const ksv_allocator *allocator,
                              publish_queue **out, ksv_error *error);

/* Takes over `file`, also on failure: it will be synced, then renamed, in the
 * order of the calls. The first failure of any file is that of this call or a
 * later one, and of all that follow; no file is renamed after it. */
ksv_status publish_queue_add(publish_queue *queue, atomic_file *file,
                             ksv_error *error);

/* Returns when all files are published, or abandoned after a failure. */
ksv_status publish_queue_finish(publish_queue *queue, ksv_error *error);

/* Abandons what is not published. NULL is allowed. */
void publish_queue_close(publish_queue *queue);

#endif
