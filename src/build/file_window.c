/* SPDX-License-Identifier: MIT */
/* Indexes the files of a plan, several small ones at once, and gives the
 * results in the order of the plan. */
#include "build/file_window.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/thread_pool.h"
#include "build/file_collector.h"

/* What a file takes beside its entries: buffers of records, pages and blocks.
 */
#define FILE_BYTES ((uint64_t)4 << 20)
/* With less, a file would spill all the time. */
#define FILE_LEAST_BYTES ((uint64_t)16 << 20)
#define MOST_WORKERS 64

typedef struct file_job {
    thread_task task;
    file_window *window;
    size_t index; /* of its file in the plan */
    uint64_t id;
    built_file built;
    ksv_status status;
    ksv_error error;
} file_job;

struct file_window {
    file_builder *builder;
    const build_plan *plan;
    const ksv_allocator *allocator;
    uint64_t memory_bytes; /* for all files together */
    bool collects;         /* small files get no tables */
    bool leaves_loose;     /* nor is any of their sidecars synced */
    size_t workers;        /* files at once */
    uint64_t next_id;
    size_t next; /* index of the file that is to be begun next */
    thread_pool *pool;
    file_job *jobs; /* a ring */
    size_t job_count;
    size_t head; /* number of the oldest job */
    size_t busy;
};

/* The first file from `index` on that is to be indexed; plan->count: none. */
static size_t find_next(const file_window *w, size_t index)
{
    while (index < w->plan->count && !plan_reads_file(&w->plan->files[index]))
        index++;
    return index;
}

ksv_status file_window_open(file_builder *builder, const build_plan *plan,
                            uint64_t memory_bytes, uint64_t first_id,
                            bool collects, bool leaves_loose, file_window **out,
                            ksv_error *error)
{
    const ksv_allocator *a = builder->place.allocator;
    *out = NULL;
    file_window *w = memory_zalloc(a, sizeof *w);
    if (w == NULL)
        return error_set_memory(error);
    w->collects = collects;
    w->leaves_loose = leaves_loose;
    w->builder = builder;
    w->plan = plan;
    w->allocator = a;
    w->memory_bytes = memory_bytes;
    w->next_id = first_id;
    w->next = find_next(w, 0);
    uint64_t workers = w->memory_bytes / FILE_LEAST_BYTES;
    if (workers > builder->threads)
        workers = builder->threads;
    if (workers > MOST_WORKERS)
        workers = MOST_WORKERS;
    w->workers = workers > 0 ? (size_t)workers : 1;
    *out = w;
    return KSV_OK;
}

static uint64_t share_bytes(const file_window *w, size_t files)
{
    return w->memory_bytes / files - FILE_BYTES;
}

static bool is_collected(const file_window *w, size_t index)
{
    return w->collects &&
           plan_read_bytes(&w->plan->files[index]) <= COLLECTOR_FILE_BYTES;
}

static void run_job(void *ctx)
{
    file_job *job = ctx;
    const file_window *w = job->window;
    file_means means = {share_bytes(w, w->workers), 1,
                        is_collected(w, job->index),
                        w->leaves_loose && is_collected(w, job->index)};
    job->status = file_builder_run(w->builder, &w->plan->files[job->index],
                                   job->id, &means, &job->built, &job->error);
}

/* Entries of a small file will hardly need more than its part of the memory,
 * and one thread is soon done with it. */
static bool is_small(const file_window *w, size_t index)
{
    return index < w->plan->count &&
           w->plan->files[index].size_bytes <= share_bytes(w, w->workers) / 2;
}

/* Whether several files can be worked on: the next one is to be begun. */
static bool can_share(const file_window *w)
{
    return w->workers > 1 && w->builder->parameters->hash_bits != 0 &&
           is_small(w, w->next) && is_small(w, find_next(w, w->next + 1));
}

static ksv_status need_jobs(file_window *w, ksv_error *error)
{
    if (w->jobs != NULL)
        return KSV_OK;
    KSV_TRY(
        thread_pool_open((unsigned)w->workers, w->allocator, &w->pool, error));
    /* As many again wait, so that one that takes long holds up no other. */
    w->jobs =
        memory_zalloc_array(w->allocator, 2 * w->workers, sizeof *w->jobs);
    if (w->jobs == NULL)
        return error_set_memory(error);
    w->job_count = 2 * w->workers;
    return KSV_OK;
}

/* Moves on to the file after the next one; returns that one's segment id. */
static uint64_t begin_next(file_window *w)
{
    w->next = find_next(w, w->next + 1);
    return w->next_id++;
}

static void fill_jobs(file_window *w)
{
    while (w->busy < w->job_count && is_small(w, w->next)) {
        file_job *job = &w->jobs[(w->head + w->busy++) % w->job_count];
        job->window = w;
        job->index = w->next;
        job->id = begin_next(w);
        error_clear(&job->error);
        job->task = (thread_task){.run = run_job, .ctx = job};
        thread_pool_submit(w->pool, &job->task);
    }
}

static file_job *wait_for_head(file_window *w)
{
    file_job *job = &w->jobs[w->head % w->job_count];
    thread_pool_wait(w->pool, &job->task);
    w->head++;
    w->busy--;
    return job;
}

static ksv_status run_alone(file_window *w, built_file *out, ksv_error *error)
{
    size_t index = w->next;
    file_means means = {share_bytes(w, 1), w->builder->threads,
                        is_collected(w, index),
                        w->leaves_loose && is_collected(w, index)};
    return file_builder_run(w->builder, &w->plan->files[index], begin_next(w),
                            &means, out, error);
}

ksv_status file_window_take(file_window *window, built_file *out,
                            ksv_error *error)
{
    file_window *w = window;
    memset(out, 0, sizeof *out);
    if (w->busy == 0 && !can_share(w)) {
        return run_alone(w, out, error);
    }
    KSV_TRY(need_jobs(w, error));
    fill_jobs(w);
    file_job *job = wait_for_head(w);
    *out = job->built;
    if (job->status != KSV_OK && error != NULL)
        *error = job->error;
    return job->status;
}

void file_window_close(file_window *window)
{
    if (window == NULL)
        return;
    file_window *w = window;
    if (w->busy > 0)
        build_progress_stop(w->builder->progress);
    while (w->busy > 0) {
        file_job *job = wait_for_head(w);
        if (job->status == KSV_OK)
            built_file_release(w->builder, &job->built);
    }
    thread_pool_close(w->pool);
    memory_free(w->allocator, w->jobs, w->job_count * sizeof *w->jobs);
    memory_free(w->allocator, w, sizeof *w);
}
