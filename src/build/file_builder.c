/* SPDX-License-Identifier: MIT */
/* One data file -> its sidecars. */
#include "build/file_builder.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/thread_pool.h"
#include "build/file_collector.h"
#include "build/file_extender.h"
#include "build/file_output.h"
#include "build/record_taker.h"
#include "catalog/file_identity.h"
#include "scan/file_scan.h"

/* How much larger than its first build an index may become before lookups read
 * more pages than planned, and the bits by which hashes outnumber keys then. */
enum {
    GROWTH_BITS = 6,
    SPARE_BITS = 11,
    HASH_BITS_MIN = 36,
    HASH_BITS_MAX = 48
};

/* Fewer entries are sorted before other threads would have begun. */
#define ENTRIES_WORTH_THREADS 200000

/* Content and memory that a thread more is worth while a file is scanned. */
#define WORKER_CONTENT_BYTES ((uint64_t)2 << 20)
#define WORKER_MEMORY_BYTES ((uint64_t)16 << 20)

typedef struct file_run {
    file_builder *builder;
    const planned_file *planned;
    const file_means *means;
    built_file *out;
    thread_pool *pool; /* or NULL */
    unsigned workers;  /* of the scan */
    record_taker *takers;
    segment_collector *collector;
    file_output output;
    uint64_t told_bytes; /* of progress */
    uint64_t told_records;
} file_run;

static ksv_status take_records(void *ctx, unsigned worker, uint64_t chunk,
                               const scan_record *records, size_t count,
                               ksv_error *error)
{
    (void)chunk;
    file_run *run = ctx;
    return record_taker_take(&run->takers[worker], records, count, error);
}

static ksv_status tell_progress(file_run *run, uint64_t bytes, uint64_t records,
                                ksv_error *error)
{
    uint64_t more_bytes = bytes - run->told_bytes;
    uint64_t more_records = records - run->told_records;
    run->told_bytes = bytes;
    run->told_records = records;
    return build_progress_add(run->builder->progress, run->planned->given_path,
                              more_bytes, more_records, error);
}

/* Of the records only those of the caller's thread can be told meanwhile. */
static ksv_status take_progress(void *ctx, uint64_t disk_bytes,
                                ksv_error *error)
{
    file_run *run = ctx;
    const record_counts *mine = &run->takers[0].counts;
    return tell_progress(run, disk_bytes, mine->records + mine->bad_records,
                         error);
}

/* Without it, too, all is done: alone it takes longer. */
static void open_pool(file_run *run)
{
    if (run->pool == NULL && run->means->threads > 1 &&
        thread_pool_open(run->means->threads, run->builder->place.allocator,
                         &run->pool, NULL) != KSV_OK)
        run->pool = NULL;
}

static ksv_status open_points(void *ctx, datafile_kind kind,
                              points_writer **writer, ksv_error *error)
{
    file_run *run = ctx;
    KSV_TRY(file_output_open_points(&run->output, kind, error));
    *writer = run->output.points;
    return KSV_OK;
}

/* Bits to keep of a hash: enough for the index that this first file with keys
 * promises, with room to grow, and for the rate that the filter has to reach.
 */
static unsigned choose_hash_bits(const file_builder *builder,
                                 const built_file *first, uint64_t keys)
{
    double part =
        first->file.size_bytes > 0
            ? (double)builder->total_bytes / (double)first->file.size_bytes
            : 1.0;
    double all_keys = (double)keys * (part > 1.0 ? part : 1.0);
    double spare = ceil(log2(1.0 / builder->parameters->fpr)) + 3;
    if (spare < SPARE_BITS)
        spare = SPARE_BITS;
    double bits = floor(log2(all_keys) + GROWTH_BITS + spare + 0.5);
    if (bits < HASH_BITS_MIN)
        return HASH_BITS_MIN;
    return bits > HASH_BITS_MAX ? HASH_BITS_MAX : (unsigned)bits;
}

static ksv_status fill_file(file_run *run, file_scan_result *scanned,
                            ksv_error *error)
{
    catalog_file *file = &run->out->file;
    KSV_TRY(built_file_set_names(run->builder, run->out, run->planned,
                                 scanned->layout.data, scanned->layout.size,
                                 error));
    file_identity_record(file, &scanned->info);
    memcpy(file->fingerprint, scanned->fingerprint, sizeof file->fingerprint);
    memcpy(file->content_hash, scanned->content_hash,
           sizeof file->content_hash);
    memcpy(file->content_chain, scanned->content_chain.value,
           sizeof file->content_chain);
    file->chain_blocks = scanned->content_chain.blocks;
    file->data_kind = scanned->kind;
    file->content_bytes = scanned->content_bytes;
    return KSV_OK;
}

/* The segment is of the whole file, as its one extent. */
static ksv_status describe(file_run *run, uint64_t distinct_keys,
                           ksv_error *error)
{
    const ksv_allocator *a = run->builder->place.allocator;
    catalog_file *file = &run->out->file;
    catalog_segment *segment = &run->out->segment;
    KSV_TRY(catalog_file_make_extents(a, file, 1, error));
    KSV_TRY(catalog_segment_make_parts(a, segment, 1, error));
    file->extents[0] = (catalog_extent){.length_bytes = file->content_bytes,
                                        .entries = segment->entries,
                                        .distinct_keys = distinct_keys,
                                        .filter = segment->filter};
    segment->parts[0] = (catalog_part){.length_bytes = file->content_bytes,
                                       .entries = segment->entries};
    return KSV_OK;
}

/* Sorts with other threads, if that is worth it, and writes. */
static ksv_status sort_and_write(file_run *run, ksv_error *error)
{
    uint64_t distinct_keys;
    run->out->segment.id = run->out->id;
    bool alone =
        segment_collector_count(run->collector) < ENTRIES_WORTH_THREADS;
    if (!alone)
        open_pool(run);
    if (run->builder->may_leave_keys &&
        run->out->file.data_kind == DATAFILE_PLAIN)
        run->collector->data_limit = run->out->file.content_bytes;
    ksv_status status = segment_collector_finish(
        run->collector, alone ? NULL : run->pool, run->means->threads, error);
    if (status == KSV_OK)
        status = segment_collector_write(
            run->collector, run->out->file.content_bytes, &run->out->segment,
            &run->out->sidecars, &distinct_keys, error);
    if (status == KSV_OK)
        status = describe(run, distinct_keys, error);
    segment_collector_close(run->collector);
    run->collector = NULL;
    return status;
}

/* The table is written with those of other files; the filter is made now. */
static ksv_status sort_and_keep(file_run *run, uint64_t count, ksv_error *error)
{
    catalog_file *file = &run->out->file;
    KSV_TRY(catalog_file_make_extents(run->builder->place.allocator, file, 1,
                                      error));
    file->extents[0] = (catalog_extent){.length_bytes = file->content_bytes};
    return file_output_keep(&run->output, run->collector, count,
                            &file->extents[0], error);
}

static ksv_status write_segment(file_run *run, ksv_error *error)
{
    file_builder *builder = run->builder;
    uint64_t entries = segment_collector_count(run->collector);
    if (entries == 0)
        return KSV_OK;
    if (builder->parameters->hash_bits == 0)
        builder->parameters->hash_bits =
            choose_hash_bits(builder, run->out, entries);
    if (file_output_collects(&run->output, entries))
        KSV_TRY(sort_and_keep(run, entries, error));
    else
        KSV_TRY(sort_and_write(run, error));
    return file_output_finish_points(&run->output, error);
}

/* Adds up what the workers have counted; whether adding an entry failed. */
static bool sum_up(file_run *run)
{
    record_counts sum;
    bool adding_failed = false;
    record_counts_init(&sum);
    for (unsigned i = 0; i < run->workers; i++) {
        record_counts_add(&sum, &run->takers[i].counts);
        adding_failed = adding_failed || run->takers[i].adding_failed;
    }
    built_file *out = run->out;
    out->file.records = sum.records;
    out->file.records_without_key = sum.records_without_key;
    out->file.bad_records = sum.bad_records;
    out->file.longest_record_bytes = sum.longest_record_bytes;
    if (sum.last_offset != KSV_NO_OFFSET)
        out->file.complete_bytes = sum.last_offset;
    out->first_without_key = sum.first_without_key;
    out->first_bad = sum.first_bad;
    return adding_failed;
}

static ksv_status scan_and_write(file_run *run, ksv_error *error)
{
    file_builder *builder = run->builder;
    built_file *out = run->out;
    file_scan scan = {.fs = builder->place.fs,
                      .path = run->planned->open_path,
                      .given_path = run->planned->given_path,
                      .spec = builder->spec,
                      .skip_bad_records = builder->options->skip_bad_records,
                      .allocator = builder->place.allocator,
                      .ignore_trailing_garbage =
                          builder->options->ignore_trailing_garbage,
                      .threads = run->means->threads,
                      .pool = run->pool,
                      .chunk_records = take_records,
                      .chunk_workers = run->workers,
                      .progress = take_progress,
                      .points = open_points,
                      .ctx = run};
    file_scan_result scanned;
    ksv_status status = file_scan_run(&scan, &scanned, error);
    bool adding_failed = sum_up(run);
    out->failed_alone = status != KSV_OK && status != KSV_ERROR_MEMORY &&
                        status != KSV_ERROR_CANCELLED && !adding_failed;
    if (status == KSV_OK)
        status = fill_file(run, &scanned, error);
    out->warnings = scanned.warnings;
    buffer_release(&scanned.layout);
    if (status == KSV_OK)
        status =
            tell_progress(run, run->told_bytes,
                          out->file.records + out->file.bad_records, error);
    if (status == KSV_OK)
        status = write_segment(run, error);
    return status;
}

/* As many workers as the file and the memory are worth. */
static unsigned choose_workers(const file_run *run)
{
    uint64_t most = run->planned->size_bytes / WORKER_CONTENT_BYTES;
    uint64_t room = run->means->memory_bytes / WORKER_MEMORY_BYTES;
    if (most > room)
        most = room;
    if (most > run->means->threads)
        most = run->means->threads;
    return most > 1 ? (unsigned)most : 1;
}

static ksv_status open_takers(file_run *run, ksv_error *error)
{
    const file_builder *builder = run->builder;
    run->takers = memory_zalloc_array(builder->place.allocator, run->workers,
                                      sizeof *run->takers);
    if (run->takers == NULL)
        return error_set_memory(error);
    collector_options options = {.place = &builder->place,
                                 .id = run->out->id,
                                 .memory_bytes = run->means->memory_bytes,
                                 .data_bytes = run->planned->size_bytes,
                                 .adders = run->workers};
    KSV_TRY(segment_collector_open(&options, &run->collector, error));
    for (unsigned i = 0; i < run->workers; i++) {
        run->takers[i] = (record_taker){.hasher = &builder->parameters->hasher,
                                        .given_path = run->planned->given_path,
                                        .collector = run->collector,
                                        .adder = i,
                                        .strict = builder->options->strict};
        record_counts_init(&run->takers[i].counts);
    }
    return KSV_OK;
}

static ksv_status run_whole(file_builder *builder, const planned_file *planned,
                            uint64_t id, const file_means *means,
                            built_file *out, ksv_error *error)
{
    memset(out, 0, sizeof *out);
    out->first_without_key = KSV_NO_OFFSET;
    out->first_bad = KSV_NO_OFFSET;
    file_run run = {
        .builder = builder, .planned = planned, .means = means, .out = out};
    out->id = id;
    file_output_init(&run.output, builder, means, out,
                     planned->size_bytes <= COLLECTOR_FILE_BYTES);
    run.workers = choose_workers(&run);
    if (run.workers > 1)
        open_pool(&run);
    ksv_status status = open_takers(&run, error);
    if (status == KSV_OK)
        status = scan_and_write(&run, error);
    file_output_close(&run.output);
    /* Access points are of use only to records with keys. */
    if (out->file.extent_count == 0)
        segment_files_abandon(&out->sidecars);
    uint64_t told = run.told_bytes;
    build_progress_end_file(builder->progress, planned->size_bytes > told
                                                   ? planned->size_bytes - told
                                                   : 0);
    segment_collector_close(run.collector);
    thread_pool_close(run.pool);
    memory_free(builder->place.allocator, run.takers,
                run.workers * sizeof *run.takers);
    if (status != KSV_OK)
        built_file_release(builder, out);
    return status;
}

ksv_status file_builder_run(file_builder *builder, const planned_file *planned,
                            uint64_t id, const file_means *means,
                            built_file *out, ksv_error *error)
{
    file_means whole = *means;
    if (planned->action == PLAN_EXTEND) {
        bool is_done;
        ksv_status extended = file_extender_run(builder, planned, id, means,
                                                out, &is_done, error);
        if (is_done || extended != KSV_OK)
            return extended;
        whole.collects =
            whole.collects && planned->info.size_bytes <= COLLECTOR_FILE_BYTES;
    }
    return run_whole(builder, planned, id, &whole, out, error);
}

ksv_status built_file_set_names(const file_builder *builder, built_file *built,
                                const planned_file *planned,
                                const uint8_t *layout, size_t layout_bytes,
                                ksv_error *error)
{
    const ksv_allocator *a = builder->place.allocator;
    catalog_file *file = &built->file;
    file->given_path =
        memory_copy_string(a, planned->given_path, strlen(planned->given_path));
    file->relative_path = memory_copy_string(a, planned->relative_path,
                                             strlen(planned->relative_path));
    file->layout_bytes = layout_bytes;
    file->layout = memory_alloc(a, layout_bytes);
    if (file->given_path == NULL || file->relative_path == NULL ||
        file->layout == NULL)
        return error_set_memory(error);
    if (layout_bytes > 0)
        memcpy(file->layout, layout, layout_bytes);
    return KSV_OK;
}

void built_file_forget_entries(const file_builder *builder, built_file *built)
{
    file_growth *growth = &built->growth;
    kept_entries_release(builder->place.allocator, &built->kept);
    memory_free(builder->place.allocator, growth->lost_key,
                growth->lost_key_bytes);
    growth->lost_key = NULL;
    growth->lost_key_bytes = 0;
}

void built_file_release(const file_builder *builder, built_file *built)
{
    segment_files_abandon(&built->sidecars);
    if (built->is_loose)
        segment_remove(&builder->place, built->id);
    built->is_loose = false;
    catalog_file_release(builder->place.allocator, &built->file);
    catalog_segment_release(builder->place.allocator, &built->segment);
    built_file_forget_entries(builder, built);
}
