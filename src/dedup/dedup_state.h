/* SPDX-License-Identifier: MIT */
/* What is kept of passed keys across runs and crashes: a directory. */
#ifndef KSV_DEDUP_DEDUP_STATE_H
#define KSV_DEDUP_DEDUP_STATE_H

#include "dedup/dedup_private.h"

typedef struct dedup_state dedup_state;

/* Locks the directory, makes it if need be, opens the engine of `dedup` with
 * what it had passed at the last checkpoint, and sets `dedup->state`. On
 * failure the state is as it was. */
ksv_status dedup_state_open(ksv_dedup *dedup, const char *directory,
                            ksv_error *error);
/* Notes how long the journal is, so that a later loss is seen; before the
 * engine is closed. What cannot be noted is left. */
void dedup_state_finish(dedup_state *state);
/* NULL is allowed. */
void dedup_state_close(dedup_state *state);

/* Writes down the keys that are fresh, for the next checkpoint. */
ksv_status dedup_state_note(dedup_state *state, const offered_key *keys,
                            const bool *fresh, size_t count, ksv_error *error);

/* A checkpoint. */
ksv_status dedup_state_commit(dedup_state *state, ksv_error *error);

#endif
