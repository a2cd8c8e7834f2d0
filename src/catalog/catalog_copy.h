/* SPDX-License-Identifier: MIT */
/* The copy of a committed state: one checksummed file that never changes. */
#ifndef KSV_CATALOG_CATALOG_COPY_H
#define KSV_CATALOG_CATALOG_COPY_H

#include "catalog/catalog.h"

/* What ties a state to the commit that made it. */
typedef struct catalog_mark {
    uint64_t generation;     /* the id of LMDB's write transaction */
    uint64_t environment_id; /* as in both meta pages */
    /* The checksum of the meta page before it, which that commit leaves alone:
     * it tells a damaged transaction id from an older state. */
    uint64_t other_checksum;
} catalog_mark;

/* "0000000000000007.ksc". */
void copy_name(uint64_t generation, char name[CATALOG_NAME_BYTES]);

/* Appends the whole file to `out`. `*body_checksum` (may be NULL) is that of
 * the encoded state alone. */
ksv_status copy_encode(const catalog_state *state, const catalog_mark *mark,
                       byte_buffer *out, uint64_t *body_checksum,
                       ksv_error *error);

/* `state` is initialised by this call and to be released after success only.
 * One that is packed lies in an arena and cannot be changed. */
ksv_status copy_decode(const void *data, size_t size_bytes, bool is_packed,
                       const ksv_allocator *allocator, catalog_mark *mark,
                       catalog_state *state, ksv_error *error);

/* Reads the copy of `generation`; one that does not exist is KSV_ERROR_CORRUPT
 * like one that is damaged. `*bytes_read` (may be NULL) is added to. */
ksv_status copy_read(const ksv_file_system *fs, const char *directory,
                     uint64_t generation, const ksv_allocator *allocator,
                     catalog_mark *mark, catalog_state *state,
                     uint64_t *bytes_read, ksv_error *error);

/* As copy_read(), and KSV_ERROR_CORRUPT when it is not the copy of just the
 * commit `wanted`. */
ksv_status copy_read_marked(const ksv_file_system *fs, const char *directory,
                            const catalog_mark *wanted, bool is_packed,
                            const ksv_allocator *allocator,
                            catalog_state *state, uint64_t *bytes_read,
                            ksv_error *error);

/* Publishes the copy; the directory is synced too. `*body_checksum` as above.
 */
ksv_status copy_write(const ksv_file_system *fs, const char *directory,
                      const catalog_state *state, const catalog_mark *mark,
                      uint64_t *body_checksum, ksv_error *error);

/* The checksum of the encoded state. */
ksv_status copy_body_checksum(const catalog_state *state,
                              uint64_t *body_checksum, ksv_error *error);

/* Removes the copy of a commit that is not the last one, if it can. */
void copy_remove(const ksv_file_system *fs, const char *directory,
                 uint64_t generation, const ksv_allocator *allocator);

#endif
