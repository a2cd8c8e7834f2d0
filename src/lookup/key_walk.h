/* SPDX-License-Identifier: MIT */
/* Goes over the keys of all segments of a snapshot in their order. */
#ifndef KSV_LOOKUP_KEY_WALK_H
#define KSV_LOOKUP_KEY_WALK_H

#include <stdbool.h>
#include <stddef.h>

#include "lookup/key_bounds.h"
#include "lookup/lookup_session.h"

/* A segment on the way. */
typedef struct walk_input {
    table_cursor *cursor;
    table_cost counted; /* in the receipt */
    bool is_at;         /* an entry */
} walk_input;

typedef enum walk_direction {
    WALK_NOWHERE,  /* cursors have to be set */
    WALK_FORWARD,  /* cursors are at the first entries behind the gap */
    WALK_BACKWARD, /* at the last ones before it */
} walk_direction;

/* It stands in a gap between two keys. One thread at a time. */
typedef struct key_walk {
    const ksv_allocator *allocator;
    lookup_session session;
    bool has_session;
    key_bounds bounds;
    walk_input *inputs;
    size_t input_count;
    walk_direction direction;
    byte_buffer gap; /* it is before this key, */
    bool is_at_end;  /* unless it is behind all */
    /* The key that it went over last; its living entries, in the order of the
     * answer, are the candidates of the session. */
    byte_buffer key;
    ksv_receipt receipt;
} key_walk;

/* Stands before the first key of `range`, which is copied. KSV_ERROR_STALE when
 * a data file is not what was indexed, KSV_ERROR_UNSUPPORTED when the index
 * keeps no keys. To be closed in every case. */
ksv_status key_walk_open(key_walk *walk, index_snapshot *snapshot,
                         const ksv_range *range, ksv_error *error);
void key_walk_close(key_walk *walk);

/* Goes before the first key of the range from `key` on, or to its end. */
ksv_status key_walk_seek(key_walk *walk, ksv_key key, ksv_error *error);
ksv_status key_walk_seek_end(key_walk *walk, ksv_error *error);

/* Goes over the next key with living entries, or back over the one before;
 * `*found` false: there is none. */
ksv_status key_walk_next(key_walk *walk, bool *found, ksv_error *error);
ksv_status key_walk_previous(key_walk *walk, bool *found, ksv_error *error);

/* Goes to the other side of the key that it went over last. */
ksv_status key_walk_turn(key_walk *walk, ksv_error *error);

/* Reads the record of candidate number `i` of the key and visits it. */
ksv_status key_walk_read(key_walk *walk, size_t i, size_t key_number,
                         bool no_data, ksv_record_fn visit, void *ctx,
                         ksv_error *error);

#endif
