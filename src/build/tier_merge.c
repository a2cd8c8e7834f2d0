/* SPDX-License-Identifier: MIT */
/* Merges the segments of an index in tiers, so that lookups ask few of them. */
#include "build/tier_merge.h"

#include "base/error.h"
#include "base/memory.h"
#include "segment/segment_join.h"

/* Of a segment, one entry in so many may be dead. */
#define DEAD_PART 4

/* Tables that are read at once. */
#define MERGE_MOST 1024

/* The segments of one merge, by their places in the state. */
typedef struct tier_job {
    build_run *run;
    size_t *inputs; /* room for all segments */
    size_t room;
    size_t count;
    unsigned tier; /* of the result */
} tier_job;

unsigned tier_of_new(size_t files)
{
    unsigned tier = 0;
    for (; files >= TIER_SEGMENTS; files /= TIER_SEGMENTS)
        tier++;
    return tier;
}

static bool is_dead_enough(const catalog_segment *segment)
{
    uint64_t dead = 0;
    for (size_t i = 0; i < segment->part_count; i++)
        dead += segment->parts[i].is_dead ? segment->parts[i].entries : 0;
    return dead > 0 && dead >= segment->entries / DEAD_PART;
}

/* A segment that is to be rewritten alone. */
static bool choose_dead(tier_job *job)
{
    const catalog_state *state = &job->run->state;
    for (size_t i = 0; i < state->segment_count; i++) {
        if (!is_dead_enough(&state->segments[i]))
            continue;
        job->inputs[0] = i;
        job->count = 1;
        job->tier = state->segments[i].tier;
        return true;
    }
    return false;
}

/* The lowest tier that is full, with all that it has: a row of builds that left
 * the merging is made good in one go. */
static bool choose_tier(tier_job *job)
{
    const catalog_state *state = &job->run->state;
    for (unsigned tier = 0; tier < CATALOG_TIER_MOST; tier++) {
        job->count = 0;
        for (size_t i = 0; i < state->segment_count; i++)
            if (state->segments[i].tier == tier && job->count < MERGE_MOST)
                job->inputs[job->count++] = i;
        job->tier = tier + 1;
        if (job->count >= TIER_SEGMENTS)
            return true;
    }
    return false;
}

static ksv_status step(void *ctx, uint64_t entries, ksv_error *error)
{
    build_run *run = ctx;
    (void)entries;
    return build_progress_add(&run->progress, "", 0, 0, error);
}

static ksv_status join_inputs(const tier_job *job, catalog_segment *out,
                              segment_files *files, ksv_error *error)
{
    build_run *run = job->run;
    segment_place place = build_run_place(run);
    const catalog_segment **segments =
        memory_zalloc_array(&run->allocator, job->count, sizeof *segments);
    if (segments == NULL)
        return error_set_memory(error);
    for (size_t i = 0; i < job->count; i++)
        segments[i] = &run->state.segments[job->inputs[i]];
    ksv_status status = segment_join(&place, segments, job->count, step, run,
                                     out, files, error);
    memory_free(&run->allocator, segments, job->count * sizeof *segments);
    return status;
}

static ksv_status publish(build_run *run, segment_files *files,
                          ksv_error *error)
{
    publish_queue *queue;
    KSV_TRY(publish_queue_open(2, &run->allocator, &queue, error));
    ksv_status status = segment_files_publish(files, queue, error);
    if (status == KSV_OK)
        status = publish_queue_finish(queue, error);
    publish_queue_close(queue);
    if (status == KSV_OK)
        status = run->fs->sync_directory(run->fs->ctx, run->directory, error);
    return status;
}

/* The new segment takes the place of those that it was made of. */
static ksv_status replace_inputs(const tier_job *job, catalog_segment *out,
                                 ksv_error *error)
{
    catalog_state *state = &job->run->state;
    size_t kept = 0;
    size_t next = 0;
    for (size_t i = 0; i < state->segment_count; i++) {
        catalog_segment *segment = &state->segments[i];
        bool is_input = next < job->count && job->inputs[next] == i;
        next += is_input;
        if (is_input)
            catalog_segment_release(&state->allocator, segment);
        else
            state->segments[kept++] = *segment;
    }
    state->segment_count = kept;
    return catalog_state_add_segment(state, out, error);
}

static ksv_status commit(const tier_job *job, catalog_segment *out,
                         ksv_error *error)
{
    build_run *run = job->run;
    KSV_TRY(replace_inputs(job, out, error));
    KSV_TRY(catalog_commit(run->catalog, &run->state, error));
    return catalog_clean(run->catalog, &run->state, error);
}

static ksv_status run_job(const tier_job *job, ksv_error *error)
{
    build_run *run = job->run;
    uint64_t id = run->state.next_segment_id++;
    catalog_segment out = {.id = id, .tier = job->tier};
    segment_files files = {NULL, NULL, NULL};
    uint64_t generation = run->state.generation;
    ksv_status status = build_progress_now(&run->progress, "", error);
    if (status == KSV_OK)
        status = join_inputs(job, &out, &files, error);
    if (status == KSV_OK)
        status = publish(run, &files, error);
    segment_files_abandon(&files);
    if (status == KSV_OK)
        status = commit(job, &out, error);
    catalog_segment_release(&run->allocator, &out);
    if (status != KSV_OK && build_run_is_at(run, generation)) {
        segment_place place = build_run_place(run);
        segment_remove(&place, id);
    }
    return status;
}

ksv_status tier_merge_all(build_run *run, ksv_error *error)
{
    const ksv_allocator *a = &run->allocator;
    /* No merge makes more segments. */
    size_t room = run->state.segment_count;
    tier_job job = {.run = run, .room = room};
    job.inputs = memory_zalloc_array(a, room, sizeof *job.inputs);
    if (job.inputs == NULL)
        return error_set_memory(error);
    ksv_status status = KSV_OK;
    while (status == KSV_OK && (choose_dead(&job) || choose_tier(&job)))
        status = run_job(&job, error);
    memory_free(a, job.inputs, room * sizeof *job.inputs);
    return status;
}
