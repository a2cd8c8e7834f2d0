/* SPDX-License-Identifier: MIT */
/* Files of a state of dedup for tests: small ones with known content, and
 * readers that tell what is in any. */
#ifndef KSV_TESTS_SUPPORT_DEDUP_FILES_H
#define KSV_TESTS_SUPPORT_DEDUP_FILES_H

#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"
#include "dedup/journal.h"
#include "dedup/run.h"
#include "dedup/state_record.h"

/* As many are in each sample. */
#define DEDUP_SAMPLE_ENTRIES 300

/* The C library's. */
const ksv_allocator *dedup_sample_allocator(void);
ksv_hasher dedup_sample_hasher(void);
journal_info dedup_sample_journal(void);

/* The bytes of a run, a journal and a "state" with all that can be in one.
 * Released with free(). The journal has a mark after each 50 entries, and as
 * many entries without a mark at its end. */
uint8_t *dedup_sample_run(size_t *size);
uint8_t *dedup_sample_journal_file(size_t *size);
void dedup_sample_state(state_record *record);

/* Reads a run wholly: `*sum` is a hash of all entries, `*found` how many of the
 * sample's keys are found. */
ksv_status dedup_read_run(const uint8_t *data, size_t size,
                          const ksv_hasher *hasher, uint64_t *entries,
                          uint64_t *sum, unsigned *found, ksv_error *error);

/* Reads a journal: how many entries count, and whether they are those of the
 * sample. */
ksv_status dedup_read_journal(const uint8_t *data, size_t size,
                              const journal_info *info,
                              uint64_t committed_bytes, uint64_t *entries,
                              bool *is_sample, ksv_error *error);

#endif
