/* SPDX-License-Identifier: MIT */
/* A source that gives its bytes once, in order, as a file to those who read in
 * order. */
#ifndef KSV_IO_SEQUENTIAL_FILE_H
#define KSV_IO_SEQUENTIAL_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include <keysieve/io.h>
#include <keysieve/memory.h>

/* Reads up to `size_bytes` > 0 bytes. `*got_bytes` 0 without `*at_end`: nothing
 * has come for a while, ask again. */
typedef ksv_status (*sequential_read_fn)(void *ctx, void *buffer,
                                         size_t size_bytes, size_t *got_bytes,
                                         bool *at_end, ksv_error *error);

/* So many bytes of the beginning can be read again. */
#define SEQUENTIAL_FILE_KEPT_BYTES ((size_t)1 << 20)

/* `head` are the bytes that the source gave already; `head_bytes` up to the
 * number above. Reads have to begin within the kept bytes or where the one
 * before ended (KSV_ERROR_UNSUPPORTED), and wait for all that they ask for. */
ksv_status sequential_file_open(sequential_read_fn read, void *ctx,
                                const void *head, size_t head_bytes,
                                bool at_end, const ksv_allocator *allocator,
                                ksv_file **out, ksv_error *error);

/* As read_at of `file`, which may be of any kind, but of such a source what has
 * come: `*got_bytes` 0 without `*at_end` when nothing has for a while. */
ksv_status sequential_file_read_some(ksv_file *file, uint64_t offset,
                                     void *buffer, size_t size_bytes,
                                     size_t *got_bytes, bool *at_end,
                                     ksv_error *error);

#endif
