/* SPDX-License-Identifier: MIT */
/* Scans one file with several threads, with the same result as with one.
 *
 * The content is cut into chunks of equal size. A worker reads a chunk, waits
 * for its turn, and passes over the chunk to learn where its first record
 * begins and where the next worker stands at its end: that is exact, since
 * turns come in order, and takes little of the time. Then it reads the records
 * that begin in its chunk, the last one beyond its end. */
#include "scan/parallel_scan.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/mutex.h"
#include "io/file.h"
#include "scan/record_split.h"
#include "scan/scan_batch.h"

/* It stays in the cache until it is split. */
#define CHUNK_BYTES ((size_t)1 << 18)
/* What is read beyond a chunk for the end of its last record, at first. */
#define REST_BYTES_MIN ((size_t)4096)
#define REST_BYTES_MAX ((size_t)1 << 18)
#define NO_CHUNK UINT64_MAX

typedef struct parallel_scan {
    const file_scan *scan;
    ksv_file *file;
    uint64_t size_bytes;
    size_t chunk_bytes;
    record_split split;
    bool has_marks;
    content_hash *content; /* for the one whose turn it is */
    byte_buffer layout;    /* complete before the workers begin */
    mutex lock;            /* of all below */
    condition turned;
    uint64_t next_chunk; /* that nobody has taken */
    uint64_t turn;       /* of the chunk whose worker may pass over it */
    split_state state;   /* at its start */
    uint64_t failed_chunk;
    ksv_error failure;
} parallel_scan;

typedef struct worker {
    parallel_scan *job;
    record_reader *reader; /* borrowed */
    scan_batch batch;
    uint8_t *chunk;
    record_marks marks; /* of the chunk */
    uint8_t *rest;
    size_t rest_capacity;
    thread_task task;
} worker;

/* A chunk in the hands of a worker. */
typedef struct taken_chunk {
    uint64_t number;
    uint64_t offset;
    size_t size;
    size_t first;      /* position of its first record, or `size` */
    split_state after; /* at its end */
    bool is_marked;
} taken_chunk;

bool parallel_scan_is_possible(const file_scan *scan,
                               const datafile_stream *stream)
{
    ksv_file_info info;
    record_split split;
    datafile_stream_opened_as(stream, &info);
    record_split_init(&split, scan->spec, NULL, 0);
    size_t chunk_bytes =
        scan->chunk_bytes > 0 ? scan->chunk_bytes : CHUNK_BYTES;
    return scan->chunk_records != NULL && scan->chunk_workers > 1 &&
           scan->pool != NULL && split.rule != SPLIT_NEVER &&
           datafile_stream_kind(stream) == DATAFILE_PLAIN &&
           info.size_bytes / chunk_bytes >= 2;
}

static ksv_status read_exactly(const parallel_scan *job, uint64_t offset,
                               uint8_t *buffer, size_t size, ksv_error *error)
{
    size_t got;
    KSV_TRY(
        job->file->ops->read_at(job->file, offset, buffer, size, &got, error));
    if (got == size)
        return KSV_OK;
    return error_set(error, KSV_ERROR_STALE, NULL, "changed while it was read");
}

/* Of failures that of the lowest chunk counts: the others may not have come to
 * pass with one thread. */
static void note_failure(parallel_scan *job, uint64_t chunk,
                         const ksv_error *failure)
{
    mutex_lock(&job->lock);
    if (chunk < job->failed_chunk) {
        job->failed_chunk = chunk;
        job->failure = *failure;
    }
    condition_wake(&job->turned);
    mutex_unlock(&job->lock);
}

static bool take_chunk(parallel_scan *job, taken_chunk *taken)
{
    mutex_lock(&job->lock);
    uint64_t number = job->next_chunk;
    uint64_t offset = number * job->chunk_bytes;
    bool any = offset < job->size_bytes && number < job->failed_chunk;
    job->next_chunk += any;
    mutex_unlock(&job->lock);
    uint64_t left = job->size_bytes - offset;
    *taken = (taken_chunk){.number = number,
                           .offset = offset,
                           .size = left < job->chunk_bytes ? (size_t)left
                                                           : job->chunk_bytes};
    return any;
}

/* False: a chunk before has failed, and the turn may never come. */
static bool wait_for_turn(parallel_scan *job, const taken_chunk *taken)
{
    mutex_lock(&job->lock);
    while (job->turn != taken->number && job->failed_chunk > taken->number)
        condition_wait(&job->turned, &job->lock);
    bool goes_on = job->failed_chunk > taken->number;
    mutex_unlock(&job->lock);
    return goes_on;
}

static void end_turn(parallel_scan *job, const taken_chunk *taken)
{
    mutex_lock(&job->lock);
    job->state = taken->after;
    job->turn++;
    condition_wake(&job->turned);
    mutex_unlock(&job->lock);
}

/* What has to be done in the order of the content. */
static ksv_status take_turn(worker *w, taken_chunk *taken, ksv_error *error)
{
    parallel_scan *job = w->job;
    taken->after = job->state;
    taken->first =
        taken->is_marked
            ? record_marks_complete(&w->marks, &job->split, &taken->after)
            : record_split_pass(&job->split, &taken->after, taken->offset,
                                w->chunk, taken->size, false);
    content_hash_add(job->content, w->chunk, taken->size);
    const file_scan *scan = job->scan;
    if (w->batch.worker != 0 || scan->progress == NULL)
        return KSV_OK;
    return scan->progress(scan->ctx, taken->offset + taken->size, error);
}

/* Reads a chunk and learns where it stands; `*goes_on` is false when a chunk
 * before has failed. */
static ksv_status read_chunk(worker *w, taken_chunk *taken, bool *goes_on,
                             ksv_error *error)
{
    parallel_scan *job = w->job;
    *goes_on = false;
    KSV_TRY(read_exactly(job, taken->offset, w->chunk, taken->size, error));
    taken->is_marked = job->has_marks && taken->offset > 0;
    if (taken->is_marked)
        record_marks_find(&w->marks, &job->split, w->chunk, taken->size);
    *goes_on = wait_for_turn(job, taken);
    if (!*goes_on)
        return KSV_OK;
    ksv_status status = take_turn(w, taken, error);
    if (status == KSV_OK)
        end_turn(job, taken);
    return status;
}

static ksv_status feed(worker *w, const taken_chunk *taken, const uint8_t *data,
                       size_t size, bool last, ksv_error *error)
{
    record_reader_feed(w->reader, data, size, last);
    return scan_batch_give(&w->batch, w->reader, taken->number, error);
}

static ksv_status make_room(worker *w, size_t wanted, ksv_error *error)
{
    void *rest = w->rest;
    ksv_status status = memory_grow(w->job->scan->allocator, &rest,
                                    &w->rest_capacity, wanted, 1, error);
    w->rest = rest;
    return status;
}

/* Reads on behind the chunk until the record that begins in it has ended. */
static ksv_status finish_last_record(worker *w, const taken_chunk *taken,
                                     ksv_error *error)
{
    parallel_scan *job = w->job;
    split_state state = taken->after;
    uint64_t offset = taken->offset + taken->size;
    for (size_t wanted = REST_BYTES_MIN;; wanted *= 4) {
        if (wanted > REST_BYTES_MAX)
            wanted = REST_BYTES_MAX;
        size_t size = wanted < job->size_bytes - offset
                          ? wanted
                          : (size_t)(job->size_bytes - offset);
        KSV_TRY(make_room(w, size, error));
        KSV_TRY(read_exactly(job, offset, w->rest, size, error));
        size_t end =
            record_split_pass(&job->split, &state, offset, w->rest, size, true);
        offset += size;
        bool last = end < size || offset == job->size_bytes;
        KSV_TRY(feed(w, taken, w->rest, end, last, error));
        if (last)
            return KSV_OK;
    }
}

/* Gives the records that begin in the chunk from `position` on. */
static ksv_status give_records(worker *w, const taken_chunk *taken,
                               size_t position, ksv_error *error)
{
    bool last = taken->offset + taken->size == w->job->size_bytes;
    if (taken->is_marked)
        record_reader_feed_marked(w->reader, &w->marks, position, last);
    else
        record_reader_feed(w->reader, w->chunk + position,
                           taken->size - position, last);
    KSV_TRY(scan_batch_give(&w->batch, w->reader, taken->number, error));
    return last ? KSV_OK : finish_last_record(w, taken, error);
}

static ksv_status scan_chunk(worker *w, taken_chunk *taken, ksv_error *error)
{
    parallel_scan *job = w->job;
    bool goes_on;
    KSV_TRY(read_chunk(w, taken, &goes_on, error));
    if (!goes_on || taken->first == taken->size)
        return KSV_OK;
    KSV_TRY(record_reader_begin_at(w->reader, job->layout.data,
                                   job->layout.size,
                                   taken->offset + taken->first, error));
    return give_records(w, taken, taken->first, error);
}

static void work(void *ctx)
{
    worker *w = ctx;
    taken_chunk taken;
    while (take_chunk(w->job, &taken)) {
        ksv_error error;
        error_clear(&error);
        if (scan_chunk(w, &taken, &error) != KSV_OK)
            note_failure(w->job, taken.number, &error);
    }
}

/* The beginning of the content, up to and with the chunk in which its first
 * record ends: what is known of the layout then holds for the rest. */
static ksv_status scan_head(worker *w, ksv_error *error)
{
    parallel_scan *job = w->job;
    taken_chunk taken;
    record_reader_begin(w->reader);
    while (take_chunk(job, &taken)) {
        bool goes_on;
        KSV_TRY(read_chunk(w, &taken, &goes_on, error));
        bool last = taken.offset + taken.size == job->size_bytes;
        KSV_TRY(feed(w, &taken, w->chunk, taken.size, last, error));
        if (last)
            return KSV_OK;
        if (record_reader_has_first(w->reader)) {
            KSV_TRY(finish_last_record(w, &taken, error));
            break;
        }
    }
    return record_reader_layout(w->reader, &job->layout, error);
}

static ksv_status open_worker(worker *w, parallel_scan *job, unsigned number,
                              ksv_error *error)
{
    const ksv_allocator *a = job->scan->allocator;
    w->job = job;
    w->task = (thread_task){.run = work, .ctx = w};
    KSV_TRY(scan_batch_init(&w->batch, job->scan, number, error));
    w->chunk = memory_alloc(a, job->chunk_bytes);
    if (w->chunk == NULL)
        return error_set_memory(error);
    if (job->has_marks)
        KSV_TRY(record_marks_open(&w->marks, job->chunk_bytes, a, error));
    if (w->reader != NULL)
        return KSV_OK;
    return record_reader_open(job->scan->spec, job->scan->skip_bad_records, a,
                              &w->reader, error);
}

static void close_worker(worker *w)
{
    if (w->job == NULL)
        return;
    const ksv_allocator *a = w->job->scan->allocator;
    if (w->batch.worker > 0)
        record_reader_close(w->reader);
    memory_free(a, w->chunk, w->job->chunk_bytes);
    record_marks_close(&w->marks, a);
    memory_free(a, w->rest, w->rest_capacity);
    scan_batch_release(&w->batch);
}

/* As many as there is memory and work for. */
static unsigned open_helpers(parallel_scan *job, worker *workers,
                             unsigned count)
{
    uint64_t left = (job->size_bytes - job->next_chunk * job->chunk_bytes) /
                    job->chunk_bytes;
    unsigned opened = 0;
    while (opened < count && opened < left) {
        worker *w = &workers[1 + opened];
        if (open_worker(w, job, 1 + opened, NULL) != KSV_OK)
            break;
        opened++;
    }
    return opened;
}

static ksv_status run_workers(parallel_scan *job, worker *workers,
                              unsigned count, ksv_error *error)
{
    KSV_TRY(open_worker(&workers[0], job, 0, error));
    KSV_TRY(scan_head(&workers[0], error));
    unsigned helpers = 0;
    if (job->next_chunk * job->chunk_bytes < job->size_bytes)
        helpers = open_helpers(job, workers, count - 1);
    for (unsigned i = 1; i <= helpers; i++)
        thread_pool_submit(job->scan->pool, &workers[i].task);
    work(&workers[0]);
    for (unsigned i = 1; i <= helpers; i++)
        thread_pool_wait(job->scan->pool, &workers[i].task);
    if (job->failed_chunk == NO_CHUNK)
        return KSV_OK;
    if (error != NULL)
        *error = job->failure;
    return job->failure.status;
}

static ksv_status init_split(parallel_scan *job, ksv_error *error)
{
    uint8_t head[RECORD_SPLIT_HEAD_BYTES];
    size_t got;
    KSV_TRY(
        job->file->ops->read_at(job->file, 0, head, sizeof head, &got, error));
    record_split_init(&job->split, job->scan->spec, head, got);
    job->state = record_split_begin(&job->split);
    job->has_marks = record_marks_serve(&job->split) &&
                     job->chunk_bytes % STRUCTURE_BLOCK_BYTES == 0;
    return KSV_OK;
}

static ksv_status with_workers(parallel_scan *job, record_reader *reader,
                               ksv_error *error)
{
    const ksv_allocator *a = job->scan->allocator;
    unsigned count = job->scan->chunk_workers;
    worker *workers = memory_zalloc_array(a, count, sizeof *workers);
    if (workers == NULL)
        return error_set_memory(error);
    workers[0].reader = reader;
    ksv_status status = init_split(job, error);
    if (status == KSV_OK)
        status = run_workers(job, workers, count, error);
    for (unsigned i = 0; i < count; i++)
        close_worker(&workers[i]);
    memory_free(a, workers, count * sizeof *workers);
    return status;
}

ksv_status parallel_scan_run(const file_scan *scan, datafile_stream *stream,
                             record_reader *reader, content_hash *content,
                             ksv_error *error)
{
    ksv_file_info info;
    datafile_stream_opened_as(stream, &info);
    parallel_scan job = {
        .scan = scan,
        .file = datafile_stream_file(stream),
        .size_bytes = info.size_bytes,
        .chunk_bytes = scan->chunk_bytes > 0 ? scan->chunk_bytes : CHUNK_BYTES,
        .content = content,
        .failed_chunk = NO_CHUNK};
    KSV_TRY(mutex_init(&job.lock, error));
    ksv_status status = condition_init(&job.turned, error);
    if (status == KSV_OK) {
        buffer_init(&job.layout, scan->allocator);
        status = with_workers(&job, reader, error);
        buffer_release(&job.layout);
        condition_release(&job.turned);
    }
    mutex_release(&job.lock);
    return status;
}
