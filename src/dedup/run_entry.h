/* SPDX-License-Identifier: MIT */
/* The entries in a page of a run: codec. */
#ifndef KSV_DEDUP_RUN_ENTRY_H
#define KSV_DEDUP_RUN_ENTRY_H

#include "dedup/run_format.h"
#include "dedup/run_key.h"

/* Hashes in runs have their top 48 bits; the others are 0. Entries whose hashes
 * are equal are told apart by their keys. */
static inline uint64_t run_hash(uint64_t hash)
{
    return hash & ~UINT64_C(0xffff);
}

static inline uint32_t run_fence(uint64_t hash)
{
    return (uint32_t)(hash >> 32);
}

typedef struct run_entry {
    uint64_t hash;
    int64_t time_ms;
    run_key key;
    size_t here_bytes; /* of the stored key, in the page */
} run_entry;

/* The entry before, which the next one is told by; all 0 before the first one
 * of a page. */
typedef struct run_entry_before {
    uint64_t hash;
    uint64_t key_bytes;
    uint64_t stored_bytes;
    run_key_form form;
} run_entry_before;

/* Writes all of an entry but its key; returns how many bytes. Those up to
 * RUN_ENTRY_HEAD_MAX may be written. Hashes never fall, and the time is not
 * before the base of the run. */
size_t run_entry_head_encode(const run_info *info,
                             const run_entry_before *before,
                             const run_entry *entry,
                             uint8_t out[RUN_ENTRY_HEAD_MAX]);
void run_entry_note(run_entry_before *before, const run_entry *entry);

/* Walks over the entries of a page that was checked. */
typedef struct run_page_walk {
    const run_info *info;
    uint64_t page_number;
    const uint8_t *next;
    const uint8_t *end;
    run_page_kind kind;
    uint32_t left;
    run_entry_before before;
} run_page_walk;

void run_page_walk_begin(run_page_walk *walk, const run_info *info,
                         const run_page_head *head, const uint8_t *page);
/* `*any` false: there are no more. */
ksv_status run_page_walk_next(run_page_walk *walk, run_entry *entry, bool *any,
                              ksv_error *error);
/* The next one whose hash is not below. */
ksv_status run_page_walk_find(run_page_walk *walk, uint64_t hash,
                              run_entry *entry, bool *any, ksv_error *error);

#endif
