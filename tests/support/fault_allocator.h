/* SPDX-License-Identifier: MIT */
/* An allocator that fails when it is told to and counts what is not freed. */
#ifndef KSV_TESTS_SUPPORT_FAULT_ALLOCATOR_H
#define KSV_TESTS_SUPPORT_FAULT_ALLOCATOR_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include <keysieve/memory.h>

/* Safe to use from many threads. Not to be moved while in use. */
typedef struct fault_allocator {
    ksv_allocator allocator; /* to be handed to what is tested */
    pthread_mutex_t mutex;
    size_t calls;       /* of alloc and realloc so far */
    size_t fail_at;     /* the call that fails, from 1; 0: none */
    bool fail_after;    /* all later calls fail as well */
    size_t live_blocks; /* allocated and not freed */
    size_t live_bytes;
    size_t peak_bytes;
    size_t wrong_sizes; /* frees and reallocs that gave another size */
} fault_allocator;

void fault_allocator_init(fault_allocator *fault, size_t fail_at);

/* Whether everything was freed, and with its size. */
bool fault_allocator_is_clean(const fault_allocator *fault);

#endif
