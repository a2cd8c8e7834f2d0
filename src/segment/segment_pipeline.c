/* SPDX-License-Identifier: MIT */
/* Sorted entries into a table and a filter at once, by the threads that sort
 * them: they make the pages and the blocks of a group of entries, the caller
 * says where pages end, and appends what is made in its order. */
#include "segment/segment_pipeline.h"

#include "base/error.h"
#include "base/memory.h"
#include "table/table_batch.h"

/* A span of the filter has at most so many times the blocks that its entries
 * would fill if all were different and spread evenly, and a few more. */
#define SPAN_EXCESS 4
#define SPAN_SPARE_BLOCKS 4096

/* A group of entries on its way. */
typedef struct group_job {
    const segment_target *target;
    thread_task task;
    const hash_entry *entries;
    size_t count;
    table_batch batch;
    filter_span span;
    bool wants_span;
    ksv_status status;
    ksv_error error;
} group_job;

typedef struct pipeline {
    const segment_target *target;
    entry_sorter *sorter;
    thread_pool *pool; /* or NULL */
    uint64_t total;    /* entries */
    bool has_filter;
    group_job *jobs; /* a ring */
    size_t job_count;
    size_t head; /* number of the oldest that is not appended */
    size_t pending;
} pipeline;

static void run_job(void *ctx)
{
    group_job *job = ctx;
    table_batch_make_pages(&job->batch);
    job->status = KSV_OK;
    if (job->wants_span)
        job->status = filter_span_fill(&job->span, job->target->filter_options,
                                       job->entries, job->count, &job->error);
}

static ksv_status open_jobs(pipeline *p, ksv_error *error)
{
    const ksv_allocator *a = p->target->allocator;
    p->job_count = entry_sorter_most_kept(p->sorter) + 1;
    p->jobs = memory_zalloc_array(a, p->job_count, sizeof *p->jobs);
    if (p->jobs == NULL)
        return error_set_memory(error);
    for (size_t i = 0; i < p->job_count; i++) {
        group_job *job = &p->jobs[i];
        job->target = p->target;
        job->task = (thread_task){.run = run_job, .ctx = job};
        table_batch_init(&job->batch, a);
        filter_span_init(&job->span, a);
    }
    return KSV_OK;
}

static void close_jobs(pipeline *p)
{
    for (; p->pool != NULL && p->pending > 0; p->pending--)
        thread_pool_wait(p->pool, &p->jobs[p->head++ % p->job_count].task);
    for (size_t i = 0; p->jobs != NULL && i < p->job_count; i++) {
        table_batch_release(&p->jobs[i].batch);
        filter_span_release(&p->jobs[i].span);
    }
    memory_free(p->target->allocator, p->jobs, p->job_count * sizeof *p->jobs);
}

/* Keys that repeat leave few hashes to many entries, and a filter planned for
 * the entries would be mostly empty. */
static bool is_reasonable(const pipeline *p, const hash_entry *entries,
                          size_t count)
{
    double blocks = (double)p->target->filter_options->plan.blocks;
    double part = (double)(entries[count - 1].hash - entries[0].hash) / 0x1p64;
    double share = (double)count / (double)p->total;
    return part * blocks <= SPAN_EXCESS * share * blocks + SPAN_SPARE_BLOCKS;
}

/* Appends what a job has made, unless that failed. */
static ksv_status append(pipeline *p, const group_job *job, ksv_error *error)
{
    if (job->status != KSV_OK) {
        if (error != NULL)
            *error = job->error;
        return job->status;
    }
    KSV_TRY(table_batch_append(&job->batch, p->target->table, error));
    if (!p->has_filter)
        return KSV_OK;
    return filter_writer_add_span(p->target->filter, &job->span, error);
}

static ksv_status finish_oldest(pipeline *p, ksv_error *error)
{
    group_job *job = &p->jobs[p->head % p->job_count];
    if (p->pool != NULL)
        thread_pool_wait(p->pool, &job->task);
    p->head++;
    p->pending--;
    KSV_TRY(append(p, job, error));
    entry_sorter_give_back(p->sorter);
    return KSV_OK;
}

static ksv_status start_job(pipeline *p, group_job *job,
                            const hash_entry *entries, size_t count,
                            ksv_error *error)
{
    p->has_filter = p->has_filter && is_reasonable(p, entries, count);
    job->entries = entries;
    job->count = count;
    job->wants_span = p->has_filter;
    error_clear(&job->error);
    return table_batch_plan(&job->batch, p->target->table, entries, count,
                            error);
}

/* Entries that are gone when the next ones are asked for. */
static ksv_status write_at_once(pipeline *p, const hash_entry *entries,
                                size_t count, ksv_error *error)
{
    while (p->pending > 0)
        KSV_TRY(finish_oldest(p, error));
    group_job *job = &p->jobs[0];
    KSV_TRY(start_job(p, job, entries, count, error));
    run_job(job);
    return append(p, job, error);
}

static ksv_status write_kept(pipeline *p, const hash_entry *entries,
                             size_t count, ksv_error *error)
{
    group_job *job = &p->jobs[(p->head + p->pending) % p->job_count];
    KSV_TRY(start_job(p, job, entries, count, error));
    p->pending++;
    if (p->pool != NULL)
        thread_pool_submit(p->pool, &job->task);
    else
        run_job(job);
    return KSV_OK;
}

static ksv_status write_all(pipeline *p, ksv_error *error)
{
    for (;;) {
        const hash_entry *entries;
        size_t count;
        bool kept;
        while (p->pending == p->job_count)
            KSV_TRY(finish_oldest(p, error));
        KSV_TRY(
            entry_sorter_next_kept(p->sorter, &entries, &count, &kept, error));
        if (count == 0)
            break;
        KSV_TRY(kept ? write_kept(p, entries, count, error)
                     : write_at_once(p, entries, count, error));
    }
    while (p->pending > 0)
        KSV_TRY(finish_oldest(p, error));
    return KSV_OK;
}

ksv_status segment_pipeline_run(const segment_target *target,
                                entry_sorter *sorter, bool *has_filter,
                                ksv_error *error)
{
    pipeline p = {.target = target,
                  .sorter = sorter,
                  .pool = entry_sorter_pool(sorter),
                  .total = entry_sorter_count(sorter),
                  .has_filter = true};
    ksv_status status = open_jobs(&p, error);
    if (status == KSV_OK)
        status = write_all(&p, error);
    close_jobs(&p);
    *has_filter = p.has_filter;
    return status;
}
