/* SPDX-License-Identifier: MIT */
/* Threads that work off a queue of tasks. */
#include "base/thread_pool.h"

#include <pthread.h>
#include <stddef.h>

#include "base/error.h"
#include "base/memory.h"

struct thread_pool {
    ksv_allocator allocator;
    pthread_mutex_t lock;
    pthread_cond_t has_task;
    pthread_cond_t task_done;
    thread_task *first; /* of those not begun */
    thread_task *last;
    bool closing;
    unsigned started;
    unsigned capacity;
    pthread_t threads[];
};

/* The next task, or NULL when there will be none. Called with the lock. */
static thread_task *next_task(thread_pool *pool)
{
    while (pool->first == NULL && !pool->closing)
        (void)pthread_cond_wait(&pool->has_task, &pool->lock);
    thread_task *task = pool->first;
    if (task != NULL)
        pool->first = task->next;
    return task;
}

static void *work(void *ctx)
{
    thread_pool *pool = ctx;
    (void)pthread_mutex_lock(&pool->lock);
    thread_task *task;
    while ((task = next_task(pool)) != NULL) {
        (void)pthread_mutex_unlock(&pool->lock);
        task->run(task->ctx);
        (void)pthread_mutex_lock(&pool->lock);
        task->done = true;
        (void)pthread_cond_broadcast(&pool->task_done);
    }
    (void)pthread_mutex_unlock(&pool->lock);
    return NULL;
}

static bool init_locks(thread_pool *pool)
{
    if (pthread_mutex_init(&pool->lock, NULL) != 0)
        return false;
    if (pthread_cond_init(&pool->has_task, NULL) == 0) {
        if (pthread_cond_init(&pool->task_done, NULL) == 0)
            return true;
        (void)pthread_cond_destroy(&pool->has_task);
    }
    (void)pthread_mutex_destroy(&pool->lock);
    return false;
}

static size_t pool_bytes(unsigned threads)
{
    return offsetof(thread_pool, threads) + threads * sizeof(pthread_t);
}

ksv_status thread_pool_open(unsigned threads, const ksv_allocator *allocator,
                            thread_pool **out, ksv_error *error)
{
    *out = NULL;
    const ksv_allocator a = allocator_or_default(allocator);
    thread_pool *pool = memory_zalloc(&a, pool_bytes(threads));
    if (pool == NULL)
        return error_set_memory(error);
    pool->allocator = a;
    pool->capacity = threads;
    if (!init_locks(pool)) {
        memory_free(&a, pool, pool_bytes(threads));
        return error_set_memory(error);
    }
    while (pool->started < threads &&
           pthread_create(&pool->threads[pool->started], NULL, work, pool) == 0)
        pool->started++;
    if (pool->started == 0) {
        thread_pool_close(pool);
        return error_set(error, KSV_ERROR_MEMORY, NULL,
                         "no thread could be started");
    }
    *out = pool;
    return KSV_OK;
}

void thread_pool_submit(thread_pool *pool, thread_task *task)
{
    task->next = NULL;
    task->done = false;
    (void)pthread_mutex_lock(&pool->lock);
    if (pool->first == NULL)
        pool->first = task;
    else
        pool->last->next = task;
    pool->last = task;
    (void)pthread_cond_signal(&pool->has_task);
    (void)pthread_mutex_unlock(&pool->lock);
}

void thread_pool_wait(thread_pool *pool, thread_task *task)
{
    (void)pthread_mutex_lock(&pool->lock);
    while (!task->done)
        (void)pthread_cond_wait(&pool->task_done, &pool->lock);
    (void)pthread_mutex_unlock(&pool->lock);
}

void thread_pool_close(thread_pool *pool)
{
    if (pool == NULL)
        return;
    (void)pthread_mutex_lock(&pool->lock);
    pool->closing = true;
    (void)pthread_cond_broadcast(&pool->has_task);
    (void)pthread_mutex_unlock(&pool->lock);
    for (unsigned i = 0; i < pool->started; i++)
        (void)pthread_join(pool->threads[i], NULL);
    (void)pthread_cond_destroy(&pool->task_done);
    (void)pthread_cond_destroy(&pool->has_task);
    (void)pthread_mutex_destroy(&pool->lock);
    const ksv_allocator a = pool->allocator;
    memory_free(&a, pool, pool_bytes(pool->capacity));
}
