/* SPDX-License-Identifier: MIT */
/* Sorts random entries with an entry_sorter and compares with qsort. */
#ifndef KSV_TESTS_SUPPORT_SORT_MODEL_H
#define KSV_TESTS_SUPPORT_SORT_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <keysieve/io.h>
#include <keysieve/memory.h>
#include <keysieve/status.h>

typedef struct sort_case {
    size_t count;
    uint64_t keys;  /* different hashes to draw from; 0: nearly all differ */
    bool colliding; /* keys differ in bits that `hash_bits` leaves out */
    unsigned hash_bits;
    unsigned adders;  /* entries go round; each has its own thread when
                         `threads` is above 1 */
    unsigned threads; /* 0: sorted by the caller */
    uint64_t memory_bytes;
    uint64_t expected; /* entries, as the sorter is told */
    bool must_spill;
    uint64_t seed;
    const ksv_allocator *allocator;
    const ksv_file_system *fs; /* NULL: in memory; else with `directory` */
    const char *directory;
} sort_case;

/* Runs a case and compares all that comes out; a difference fails the test. */
ksv_status sort_case_run(const sort_case *c);

/* As sort_case_run(), which has to succeed and leave no file. */
void sort_case_check(const sort_case *c);

#endif
