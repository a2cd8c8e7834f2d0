/* SPDX-License-Identifier: MIT */
/* What is kept of passed keys across runs and crashes: a directory. */
#include "dedup/dedup_state.h"

#include "base/error.h"

ksv_status dedup_state_open(ksv_dedup *dedup, const char *directory,
                            ksv_error *error)
{
    (void)dedup;
    return error_set(error, KSV_ERROR_UNSUPPORTED, directory,
                     "a state cannot be kept yet");
}

void dedup_state_close(dedup_state *state)
{
    (void)state;
}

ksv_status dedup_state_note(dedup_state *state, const offered_key *keys,
                            const bool *fresh, size_t count, ksv_error *error)
{
    (void)state;
    (void)keys;
    (void)fresh;
    (void)count;
    (void)error;
    return KSV_OK;
}

ksv_status dedup_state_commit(dedup_state *state, ksv_error *error)
{
    (void)state;
    (void)error;
    return KSV_OK;
}
