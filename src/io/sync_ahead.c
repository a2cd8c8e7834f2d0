/* SPDX-License-Identifier: MIT */
/* Syncs a file that is being written while more is appended to it. */
#include "io/sync_ahead.h"

#include <errno.h>
#include <stdbool.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/mutex.h"
#include "base/thread_pool.h"

struct sync_ahead {
    int fd;
    thread_pool *pool; /* of one thread */
    thread_task task;
    mutex lock; /* of all below */
    condition changed;
    bool wanted;
    bool ends;
    int failure; /* an errno; 0: none */
};

/* Whether there is a sync to do. */
static bool wait_for_work(sync_ahead *ahead)
{
    mutex_lock(&ahead->lock);
    while (!ahead->wanted && !ahead->ends)
        condition_wait(&ahead->changed, &ahead->lock);
    bool goes_on = !ahead->ends && ahead->failure == 0;
    ahead->wanted = false;
    mutex_unlock(&ahead->lock);
    return goes_on;
}

/* A failed sync is never tried again. */
static void work(void *ctx)
{
    sync_ahead *ahead = ctx;
    while (wait_for_work(ahead)) {
        int result;
        do {
            result = fsync(ahead->fd);
        } while (result != 0 && errno == EINTR);
        if (result == 0)
            continue;
        int failure = errno;
        mutex_lock(&ahead->lock);
        ahead->failure = failure;
        mutex_unlock(&ahead->lock);
    }
}

static bool open_locks(sync_ahead *ahead)
{
    if (mutex_init(&ahead->lock, NULL) != KSV_OK)
        return false;
    if (condition_init(&ahead->changed, NULL) == KSV_OK)
        return true;
    mutex_release(&ahead->lock);
    return false;
}

sync_ahead *sync_ahead_open(int fd)
{
    ksv_allocator a = allocator_or_default(NULL);
    sync_ahead *ahead = memory_zalloc(&a, sizeof *ahead);
    if (ahead == NULL)
        return NULL;
    ahead->fd = fd;
    ahead->task = (thread_task){.run = work, .ctx = ahead};
    if (!open_locks(ahead)) {
        memory_free(&a, ahead, sizeof *ahead);
        return NULL;
    }
    if (thread_pool_open(1, &a, &ahead->pool, NULL) != KSV_OK) {
        (void)sync_ahead_close(ahead);
        return NULL;
    }
    thread_pool_submit(ahead->pool, &ahead->task);
    return ahead;
}

void sync_ahead_go_on(sync_ahead *ahead)
{
    mutex_lock(&ahead->lock);
    ahead->wanted = true;
    condition_wake(&ahead->changed);
    mutex_unlock(&ahead->lock);
}

int sync_ahead_close(sync_ahead *ahead)
{
    if (ahead == NULL)
        return 0;
    mutex_lock(&ahead->lock);
    ahead->ends = true;
    condition_wake(&ahead->changed);
    mutex_unlock(&ahead->lock);
    thread_pool_close(ahead->pool);
    int failure = ahead->failure;
    condition_release(&ahead->changed);
    mutex_release(&ahead->lock);
    ksv_allocator a = allocator_or_default(NULL);
    memory_free(&a, ahead, sizeof *ahead);
    return failure;
}
