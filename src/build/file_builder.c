/* SPDX-License-Identifier: MIT */
/* One data file -> its sidecars. */
#include "build/file_builder.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/thread_pool.h"
#include "build/build_sorter.h"
#include "build/file_extender.h"
#include "build/record_taker.h"
#include "catalog/file_identity.h"
#include "datafile/points_writer.h"
#include "io/atomic_file.h"
#include "io/buffer_file.h"
#include "scan/file_scan.h"
#include "segment/extent_filter.h"

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
    entry_sorter *sorter;
    points_writer *points;    /* when the data file is compressed */
    buffer_file points_bytes; /* of a file that is written at once */
    uint64_t told_bytes;      /* of progress */
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

/* More entries than these are not collected: they have to stay in memory. */
#define COLLECTED_ENTRIES_MOST ((uint64_t)1 << 18)

/* How far apart access points are: a read inflates half of it on average. */
#define POINTS_SPACING_BYTES (1024u * 1024)

static ksv_status open_points(void *ctx, datafile_kind kind,
                              points_writer **writer, ksv_error *error)
{
    file_run *run = ctx;
    const segment_place *place = &run->builder->place;
    atomic_file **file = &run->out->sidecars.points;
    char name[CATALOG_NAME_BYTES];
    uint8_t id[16];
    catalog_sidecar_name(run->out->id, CATALOG_POINTS_ENDING, name);
    segment_sidecar_id(place->parameters, run->out->id, CATALOG_POINTS_ENDING,
                       id);
    ksv_file *made = &run->points_bytes.base;
    if (!run->means->leaves_loose) {
        KSV_TRY(atomic_file_create(place->fs, place->directory, name,
                                   place->allocator, file, error));
        made = atomic_file_handle(*file);
    }
    KSV_TRY(points_writer_open(made, kind, id, POINTS_SPACING_BYTES,
                               place->allocator, &run->points, error));
    *writer = run->points;
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
    file_builder *builder = run->builder;
    uint64_t distinct_keys;
    run->out->segment.id = run->out->id;
    bool alone = entry_sorter_count(run->sorter) < ENTRIES_WORTH_THREADS;
    if (!alone)
        open_pool(run);
    ksv_status status = entry_sorter_finish(
        run->sorter, builder->parameters->hash_bits, alone ? NULL : run->pool,
        run->means->threads, error);
    if (status == KSV_OK)
        status = segment_write(&builder->place, run->sorter,
                               run->out->file.content_bytes, &run->out->segment,
                               &run->out->sidecars, &distinct_keys, error);
    if (status == KSV_OK)
        status = describe(run, distinct_keys, error);
    entry_sorter_close(run->sorter);
    run->sorter = NULL;
    return status;
}

/* Keeps the entries, in order of their hashes. */
static ksv_status keep_entries(file_run *run, uint64_t count, ksv_error *error)
{
    built_file *out = run->out;
    out->entries = memory_zalloc_array(run->builder->place.allocator, count,
                                       sizeof *out->entries);
    if (out->entries == NULL)
        return error_set_memory(error);
    out->entry_count = (size_t)count;
    size_t kept = 0;
    for (;;) {
        const hash_entry *entries;
        size_t some;
        KSV_TRY(entry_sorter_next(run->sorter, &entries, &some, error));
        if (some == 0)
            return KSV_OK;
        memcpy(out->entries + kept, entries, some * sizeof *entries);
        kept += some;
    }
}

/* Small files are written at once, and not synced when there are very many. */
static ksv_status write_at_once(file_run *run, const buffer_file *bytes,
                                const char *ending, atomic_file **file,
                                ksv_error *error)
{
    const segment_place *place = &run->builder->place;
    char name[CATALOG_NAME_BYTES];
    catalog_sidecar_name(run->out->id, ending, name);
    if (run->means->leaves_loose) {
        run->out->is_loose = true;
        return buffer_file_write(bytes, place->fs, place->directory, name,
                                 error);
    }
    KSV_TRY(atomic_file_create(place->fs, place->directory, name,
                               place->allocator, file, error));
    ksv_file *made = atomic_file_handle(*file);
    return made->ops->append(made, bytes->bytes.data, bytes->bytes.size, error);
}

static ksv_status finish_points(file_run *run, ksv_error *error)
{
    if (run->points == NULL)
        return KSV_OK;
    KSV_TRY(points_writer_finish(run->points, run->out->file.size_bytes,
                                 run->out->file.fingerprint, error));
    ksv_file_info info = {.size_bytes = run->points_bytes.bytes.size};
    if (run->means->leaves_loose) {
        KSV_TRY(write_at_once(run, &run->points_bytes, CATALOG_POINTS_ENDING,
                              &run->out->sidecars.points, error));
    } else {
        ksv_file *file = atomic_file_handle(run->out->sidecars.points);
        KSV_TRY(file->ops->info(file, &info, error));
    }
    run->out->file.points_id = run->out->id;
    run->out->file.points_bytes = info.size_bytes;
    return KSV_OK;
}

static ksv_status write_extent_filter(file_run *run, uint64_t distinct,
                                      ksv_error *error)
{
    const segment_place *place = &run->builder->place;
    built_file *out = run->out;
    ksv_filter_plan plan;
    KSV_TRY(plan_memo_make(run->builder->plans, place->parameters, distinct,
                           &plan, error));
    buffer_file bytes;
    buffer_file_init(&bytes, place->allocator);
    ksv_status status =
        extent_filter_write(place, out->entries, out->entry_count, &plan,
                            &out->file.extents[0].filter, &bytes.base, error);
    if (status == KSV_OK)
        status = write_at_once(run, &bytes, CATALOG_FILTER_ENDING,
                               &out->sidecars.filter, error);
    buffer_file_release(&bytes);
    return status;
}

/* The table is written with those of other files; the filter is made now. */
static ksv_status sort_and_keep(file_run *run, uint64_t count, ksv_error *error)
{
    file_builder *builder = run->builder;
    built_file *out = run->out;
    KSV_TRY(entry_sorter_finish(run->sorter, builder->parameters->hash_bits,
                                NULL, 1, error));
    KSV_TRY(keep_entries(run, count, error));
    sorter_distinct distinct;
    entry_sorter_distinct(run->sorter, &distinct);
    catalog_file *file = &out->file;
    KSV_TRY(
        catalog_file_make_extents(builder->place.allocator, file, 1, error));
    file->extents[0] = (catalog_extent){.length_bytes = file->content_bytes,
                                        .entries = count,
                                        .distinct_keys = distinct.whole,
                                        .filter = {.id = out->id}};
    return write_extent_filter(run, distinct.truncated, error);
}

static ksv_status write_segment(file_run *run, ksv_error *error)
{
    file_builder *builder = run->builder;
    uint64_t entries = entry_sorter_count(run->sorter);
    if (entries == 0)
        return KSV_OK;
    if (builder->parameters->hash_bits == 0)
        builder->parameters->hash_bits =
            choose_hash_bits(builder, run->out, entries);
    if (run->means->collects && entries <= COLLECTED_ENTRIES_MOST)
        KSV_TRY(sort_and_keep(run, entries, error));
    else
        KSV_TRY(sort_and_write(run, error));
    return finish_points(run, error);
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
    KSV_TRY(build_sorter_open(
        &builder->place, run->out->id, run->means->memory_bytes,
        run->planned->size_bytes, run->workers, &run->sorter, error));
    for (unsigned i = 0; i < run->workers; i++) {
        run->takers[i] =
            (record_taker){.hasher = &builder->parameters->hasher,
                           .given_path = run->planned->given_path,
                           .adder = entry_sorter_adder(run->sorter, i),
                           .strict = builder->options->strict};
        record_counts_init(&run->takers[i].counts);
    }
    return KSV_OK;
}

ksv_status file_builder_run(file_builder *builder, const planned_file *planned,
                            uint64_t id, const file_means *means,
                            built_file *out, ksv_error *error)
{
    if (planned->action == PLAN_EXTEND) {
        bool is_done;
        ksv_status extended = file_extender_run(builder, planned, id, means,
                                                out, &is_done, error);
        if (is_done || extended != KSV_OK)
            return extended;
    }
    memset(out, 0, sizeof *out);
    out->first_without_key = KSV_NO_OFFSET;
    out->first_bad = KSV_NO_OFFSET;
    file_run run = {
        .builder = builder, .planned = planned, .means = means, .out = out};
    out->id = id;
    buffer_file_init(&run.points_bytes, builder->place.allocator);
    run.workers = choose_workers(&run);
    if (run.workers > 1)
        open_pool(&run);
    ksv_status status = open_takers(&run, error);
    if (status == KSV_OK)
        status = scan_and_write(&run, error);
    points_writer_close(run.points);
    buffer_file_release(&run.points_bytes);
    /* Access points are of use only to records with keys. */
    if (out->file.extent_count == 0)
        segment_files_abandon(&out->sidecars);
    uint64_t told = run.told_bytes;
    build_progress_end_file(builder->progress, planned->size_bytes > told
                                                   ? planned->size_bytes - told
                                                   : 0);
    entry_sorter_close(run.sorter);
    thread_pool_close(run.pool);
    memory_free(builder->place.allocator, run.takers,
                run.workers * sizeof *run.takers);
    if (status != KSV_OK)
        built_file_release(builder, out);
    return status;
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
    memory_free(builder->place.allocator, built->entries,
                built->entry_count * sizeof *built->entries);
    built->entries = NULL;
    built->entry_count = 0;
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
