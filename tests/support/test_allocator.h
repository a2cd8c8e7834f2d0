/* SPDX-License-Identifier: MIT */
/* An allocator that counts, checks the sizes given back, and can fail. */
#ifndef KSV_TESTS_TEST_ALLOCATOR_H
#define KSV_TESTS_TEST_ALLOCATOR_H

#include <stdbool.h>
#include <stdint.h>

#include <keysieve/memory.h>

#define TEST_ALLOCATOR_NEVER UINT64_MAX

/* One thread at a time. */
typedef struct test_allocator {
    ksv_allocator allocator; /* to hand out; the structure must stay in place */
    uint64_t allocations;    /* asked for, reallocations included */
    uint64_t failing;        /* the number, from 0, of one that fails */
    uint64_t live_bytes;
    uint64_t peak_bytes;
    bool wrong_size; /* a size given back was not the one asked for */
} test_allocator;

void test_allocator_init(test_allocator *a);

#endif
