/* SPDX-License-Identifier: MIT */
/* Publishes many files while more are being written. */
#include "io/publish_queue.h"

#include <stdbool.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/thread_pool.h"

/* Files that are open at once. */
#define MOST_PENDING 32
/* Syncs that wait at once: file systems join them to one commit of their
 * journal. */
#define MOST_THREADS 8

typedef struct pending_file {
    thread_task task;
    atomic_file *file;
    ksv_status status;
    ksv_error error;
} pending_file;

struct publish_queue {
    ksv_allocator allocator;
    unsigned threads;
    thread_pool *pool;     /* NULL until there is a file */
    bool is_alone;         /* no thread could be started */
    ksv_status failed;     /* KSV_OK: nothing has */
    ksv_error first_error; /* with it */
    size_t head;           /* number of the oldest pending file */
    size_t count;
    pending_file pending[MOST_PENDING]; /* a ring */
};

ksv_status publish_queue_open(size_t expected_files,
                              const ksv_allocator *allocator,
                              publish_queue **out, ksv_error *error)
{
    *out = NULL;
    ksv_allocator a = allocator_or_default(allocator);
    publish_queue *queue = memory_zalloc(&a, sizeof *queue);
    if (queue == NULL)
        return error_set_memory(error);
    queue->allocator = a;
    queue->threads =
        expected_files < MOST_THREADS ? (unsigned)expected_files : MOST_THREADS;
    if (queue->threads == 0)
        queue->threads = 1;
    *out = queue;
    return KSV_OK;
}

static void sync_pending(void *ctx)
{
    pending_file *pending = ctx;
    pending->status = atomic_file_sync(pending->file, &pending->error);
}

static void keep_failure(publish_queue *queue, ksv_status status,
                         const ksv_error *problem)
{
    if (queue->failed != KSV_OK)
        return;
    queue->failed = status;
    queue->first_error = *problem;
}

/* Waits for the oldest file and renames it. */
static void finish_oldest(publish_queue *queue)
{
    pending_file *oldest = &queue->pending[queue->head % MOST_PENDING];
    if (queue->pool != NULL)
        thread_pool_wait(queue->pool, &oldest->task);
    queue->head++;
    queue->count--;
    if (oldest->status != KSV_OK)
        keep_failure(queue, oldest->status, &oldest->error);
    if (queue->failed != KSV_OK) {
        atomic_file_abandon(oldest->file);
        return;
    }
    ksv_status status =
        atomic_file_publish_synced(oldest->file, &oldest->error);
    if (status != KSV_OK)
        keep_failure(queue, status, &oldest->error);
}

static ksv_status tell_failure(const publish_queue *queue, ksv_error *error)
{
    if (queue->failed != KSV_OK && error != NULL)
        *error = queue->first_error;
    return queue->failed;
}

static void begin_sync(publish_queue *queue, pending_file *pending)
{
    if (queue->pool == NULL && !queue->is_alone)
        queue->is_alone = thread_pool_open(queue->threads, &queue->allocator,
                                           &queue->pool, NULL) != KSV_OK;
    pending->task = (thread_task){.run = sync_pending, .ctx = pending};
    error_clear(&pending->error);
    if (queue->pool != NULL)
        thread_pool_submit(queue->pool, &pending->task);
    else
        sync_pending(pending);
}

ksv_status publish_queue_add(publish_queue *queue, atomic_file *file,
                             ksv_error *error)
{
    if (queue->count == MOST_PENDING)
        finish_oldest(queue);
    if (queue->failed != KSV_OK) {
        atomic_file_abandon(file);
        return tell_failure(queue, error);
    }
    size_t number = (queue->head + queue->count++) % MOST_PENDING;
    queue->pending[number].file = file;
    begin_sync(queue, &queue->pending[number]);
    return KSV_OK;
}

ksv_status publish_queue_finish(publish_queue *queue, ksv_error *error)
{
    while (queue->count > 0)
        finish_oldest(queue);
    return tell_failure(queue, error);
}

void publish_queue_close(publish_queue *queue)
{
    if (queue == NULL)
        return;
    if (queue->count > 0 && queue->failed == KSV_OK)
        queue->failed = KSV_ERROR_CANCELLED;
    while (queue->count > 0)
        finish_oldest(queue);
    thread_pool_close(queue->pool);
    ksv_allocator a = queue->allocator;
    memory_free(&a, queue, sizeof *queue);
}
