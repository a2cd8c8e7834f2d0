/* SPDX-License-Identifier: MIT */
/* Threads that work off a queue of tasks. */
#ifndef KSV_BASE_THREAD_POOL_H
#define KSV_BASE_THREAD_POOL_H

#include <stdbool.h>

#include <keysieve/memory.h>
#include <keysieve/status.h>

/* A task; the caller sets `run` and `ctx` and keeps it where it is until it has
 * been waited for. */
typedef struct thread_task {
    void (*run)(void *ctx);
    void *ctx;
    bool done;                /* under the pool's lock */
    struct thread_task *next; /* likewise */
} thread_task;

typedef struct thread_pool thread_pool;

/* Starts up to `threads` (at least 1) threads; KSV_ERROR_MEMORY when the system
 * has room for none. */
ksv_status thread_pool_open(unsigned threads, const ksv_allocator *allocator,
                            thread_pool **out, ksv_error *error);

/* Tasks are begun in the order in which they come. */
void thread_pool_submit(thread_pool *pool, thread_task *task);

/* Returns when a task that was submitted has run. */
void thread_pool_wait(thread_pool *pool, thread_task *task);

/* Runs what was submitted, then ends the threads. NULL is allowed. */
void thread_pool_close(thread_pool *pool);

#endif
