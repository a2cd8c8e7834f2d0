/* SPDX-License-Identifier: MIT */
/* The file "state" of a state directory: what belongs to it. Codec. */
#ifndef KSV_DEDUP_STATE_RECORD_H
#define KSV_DEDUP_STATE_RECORD_H

#include "base/memory.h"
#include "dedup/dedup_private.h"

#define STATE_MAGIC "KSVDEDP\n"
#define STATE_MAGIC_BYTES 8
#define STATE_VERSION 1
/* More are never listed: neither are there as many runs, nor as many journals.
 */
#define STATE_FILES_MAX 4096

/* A journal whose keys are in no other file. */
typedef struct state_journal {
    uint64_t number;
    uint64_t committed_bytes; /* at least */
    uint8_t id[16];
} state_journal;

/* A generation, without its filter. */
typedef struct state_generation {
    int64_t first_ms;
    int64_t newest_ms;
    uint64_t file_number; /* 0: its keys are in journals */
    uint64_t file_keys;
} state_generation;

typedef struct state_record {
    ksv_hasher hasher;
    bool approximate;
    int64_t window_ms;
    uint32_t generation_slices;
    uint64_t expected_keys;
    double fpr;
    byte_buffer specs; /* of keys and of the time, encoded */
    bool has_time;
    int64_t stream_ms;
    uint64_t next_number;
    byte_buffer runs;        /* uint64_t each */
    byte_buffer generations; /* state_generation each */
    byte_buffer journals;    /* state_journal each */
} state_record;

void state_record_init(state_record *record, const ksv_allocator *allocator);
void state_record_release(state_record *record);

/* Appends the stored form. */
ksv_status state_record_encode(const state_record *record, byte_buffer *out,
                               ksv_error *error);
/* Into an empty record. KSV_ERROR_CORRUPT or KSV_ERROR_VERSION. */
ksv_status state_record_decode(const void *data, size_t size_bytes,
                               state_record *record, ksv_error *error);

#endif
