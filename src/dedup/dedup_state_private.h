/* SPDX-License-Identifier: MIT */
/* What opening a state and keeping it have in common. */
#ifndef KSV_DEDUP_DEDUP_STATE_PRIVATE_H
#define KSV_DEDUP_DEDUP_STATE_PRIVATE_H

#include "dedup/dedup_state.h"
#include "dedup/journal.h"
#include "dedup/state_files.h"
#include "dedup/state_record.h"

/* The file "state" says which runs, filters of generations and journals there
 * are; it is replaced as a whole. Keys in memory, or in the open generation,
 * are in the journals. A checkpoint hence appends to a journal, and replaces
 * the file only when something else has changed. */
struct dedup_state {
    ksv_dedup *dedup; /* borrowed */
    ksv_allocator allocator;
    const ksv_file_system *fs;
    char *directory;
    ksv_file *lock;
    byte_buffer journals;    /* state_journal each, the current one last */
    journal_writer *journal; /* the current one, or NULL */
    byte_buffer specs;
    bool is_stored;           /* there is a file "state" */
    bool journals_changed;    /* since it was written, as all of these */
    uint64_t changes;         /* of generations */
    uint64_t noted_committed; /* bytes of the current journal */
    uint64_t epoch;           /* see state_epoch() */
};

/* Changes when all keys that were passed before are in files of their own, so
 * that no journal is needed for them. */
uint64_t state_epoch(const dedup_state *state);

journal_info state_journal_info(const dedup_state *state, const uint8_t id[16]);
/* Of the file with the filter of a generation. */
void state_filter_id(uint64_t number, uint8_t id[16]);

/* Removes files that do not belong to the state. */
void state_clean(const dedup_state *state);

#endif
