/* SPDX-License-Identifier: MIT */
/* The forms in which keys are stored in runs: ids of hexadecimal digits take
 * half of their bytes. */
#ifndef KSV_DEDUP_RUN_KEY_H
#define KSV_DEDUP_RUN_KEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum run_key_form {
    RUN_KEY_BYTES = 0, /* as they are */
    RUN_KEY_HEX = 1,   /* digits 0-9, a-f: two a byte, the first one high */
    RUN_KEY_UUID = 2   /* 8-4-4-4-12 such digits without the hyphens */
} run_key_form;

/* Longer keys are stored as they are. */
#define RUN_KEY_PACKED_MAX 256
/* What a packed one takes at most. */
#define RUN_KEY_PACKED_BYTES (RUN_KEY_PACKED_MAX / 2)

typedef struct run_key {
    run_key_form form;
    uint64_t key_bytes;    /* of the key itself */
    uint64_t stored_bytes; /* in this form */
    const uint8_t *stored; /* or, in a page, as much of it as is there */
} run_key;

/* The form of a key that takes the fewest bytes, which depends on nothing else;
 * it is made in `packed`, or borrows `key`. */
void run_key_pack(const uint8_t *key, uint64_t key_bytes,
                  uint8_t packed[RUN_KEY_PACKED_BYTES], run_key *out);

/* How many bytes a key of so many has in a form; false: it has no such form. */
bool run_key_measure(unsigned form, uint64_t key_bytes, uint64_t *stored_bytes);

#endif
