/* SPDX-License-Identifier: MIT */
/* A temporary file of entries: runs, each ordered by partition. */
#include "sort/spill_file.h"

#include <string.h>

#include "base/coding.h"
#include "base/error.h"
#include "base/memory.h"
#include "io/file.h"

/* Whole words are stored and loaded: a record may reach so far beyond its end.
 */
#define PADDING_BYTES 8
#define MOST_RECORD_BYTES 16

ksv_status spill_file_init(spill_file *spill, const ksv_file_system *fs,
                           const ksv_allocator *allocator,
                           const char *directory, const char *name,
                           unsigned partition_bits, ksv_error *error)
{
    *spill = (spill_file){.fs = fs,
                          .allocator = allocator,
                          .directory = directory,
                          .name = name,
                          .partition_bits = partition_bits,
                          .hash_bytes = partition_bits >= 8 ? 7 : 8};
    KSV_TRY(mutex_init(&spill->lock, error));
    spill->has_lock = true;
    return KSV_OK;
}

static size_t partition_count(const spill_file *spill)
{
    return (size_t)1 << spill->partition_bits;
}

static void release_runs(spill_file *spill)
{
    for (size_t i = 0; i < spill->run_count; i++)
        memory_free(spill->allocator, spill->runs[i].ends,
                    partition_count(spill) * sizeof(uint32_t));
    memory_free(spill->allocator, spill->runs,
                spill->run_capacity * sizeof *spill->runs);
}

static void free_buffer(spill_file *spill)
{
    memory_free(spill->allocator, spill->buffer, SPILL_MEMORY_BYTES);
    spill->buffer = NULL;
}

void spill_file_release(spill_file *spill)
{
    file_close_quietly(spill->writer);
    file_close_quietly(spill->reader);
    if (spill->created) {
        /* A name that cannot be removed now is found by its ending later. */
        ksv_status ignored =
            spill->fs->remove(spill->fs->ctx, spill->path, NULL);
        (void)ignored;
    }
    memory_free_string(spill->allocator, spill->path);
    release_runs(spill);
    free_buffer(spill);
    if (spill->has_lock)
        mutex_release(&spill->lock);
    *spill = (spill_file){0};
}

static ksv_status create(spill_file *spill, ksv_error *error)
{
    if (spill->buffer == NULL)
        spill->buffer = memory_alloc(spill->allocator, SPILL_MEMORY_BYTES);
    if (spill->path == NULL)
        spill->path =
            path_join(spill->allocator, spill->directory, spill->name);
    if (spill->buffer == NULL || spill->path == NULL)
        return error_set_memory(error);
    KSV_TRY(
        spill->fs->create(spill->fs->ctx, spill->path, &spill->writer, error));
    spill->created = true;
    return KSV_OK;
}

static unsigned bytes_of(uint64_t value)
{
    unsigned bytes = 1;
    while (bytes < 8 && value >> (8 * bytes) != 0)
        bytes++;
    return bytes;
}

static ksv_status add_run(spill_file *spill, uint64_t payload_bits_of,
                          ksv_error *error)
{
    if (!spill->created)
        KSV_TRY(create(spill, error));
    void *runs = spill->runs;
    ksv_status status =
        memory_grow(spill->allocator, &runs, &spill->run_capacity,
                    spill->run_count + 1, sizeof *spill->runs, error);
    spill->runs = runs;
    KSV_TRY(status);
    uint32_t *ends = memory_zalloc_array(spill->allocator,
                                         partition_count(spill), sizeof *ends);
    if (ends == NULL)
        return error_set_memory(error);
    spill->runs[spill->run_count++] =
        (spill_run){spill->written_bytes, bytes_of(payload_bits_of), ends};
    return KSV_OK;
}

ksv_status spill_file_begin_run(spill_file *spill, uint64_t payload_bits_of,
                                ksv_error *error)
{
    mutex_lock(&spill->lock);
    ksv_status status = add_run(spill, payload_bits_of, error);
    if (status != KSV_OK)
        mutex_unlock(&spill->lock);
    return status;
}

static ksv_status flush(spill_file *spill, ksv_error *error)
{
    size_t bytes = spill->buffered_bytes;
    spill->buffered_bytes = 0;
    ksv_file *writer = spill->writer;
    KSV_TRY(writer->ops->append(writer, spill->buffer, bytes, error));
    spill->written_bytes += bytes;
    return KSV_OK;
}

ksv_status spill_file_put(spill_file *spill, size_t partition,
                          const hash_entry *entries, size_t count,
                          ksv_error *error)
{
    const spill_run *run = &spill->runs[spill->run_count - 1];
    unsigned hash_bytes = spill->hash_bytes;
    unsigned record_bytes = hash_bytes + run->payload_bytes;
    size_t room = SPILL_MEMORY_BYTES - PADDING_BYTES - record_bytes;
    for (size_t i = 0; i < count; i++) {
        if (spill->buffered_bytes > room)
            KSV_TRY(flush(spill, error));
        uint8_t *record = spill->buffer + spill->buffered_bytes;
        store_u64(record, entries[i].hash);
        store_u64(record + hash_bytes, entries[i].payload);
        spill->buffered_bytes += record_bytes;
    }
    run->ends[partition] += (uint32_t)count;
    return KSV_OK;
}

ksv_status spill_file_end_run(spill_file *spill, ksv_status status,
                              ksv_error *error)
{
    if (status == KSV_OK)
        status = flush(spill, error);
    const spill_run *run = &spill->runs[spill->run_count - 1];
    for (size_t p = 1; p < partition_count(spill); p++)
        run->ends[p] += run->ends[p - 1];
    mutex_unlock(&spill->lock);
    return status;
}

ksv_status spill_file_start_reading(spill_file *spill, ksv_error *error)
{
    free_buffer(spill);
    ksv_file *writer = spill->writer;
    spill->writer = NULL;
    KSV_TRY(writer->ops->close(writer, error));
    return spill->fs->open_read(spill->fs->ctx, spill->path, &spill->reader,
                                error);
}

static size_t start_of(const spill_run *run, size_t partition)
{
    return partition > 0 ? run->ends[partition - 1] : 0;
}

size_t spill_file_run_count(const spill_run *run, size_t partition)
{
    return run->ends[partition] - start_of(run, partition);
}

uint64_t spill_file_count(const spill_file *spill, size_t partition)
{
    uint64_t count = 0;
    for (size_t i = 0; i < spill->run_count; i++)
        count += spill_file_run_count(&spill->runs[i], partition);
    return count;
}

size_t spill_file_scratch_bytes(size_t count)
{
    return count * MOST_RECORD_BYTES + PADDING_BYTES;
}

static uint64_t low_bytes_mask(unsigned bytes)
{
    return UINT64_MAX >> (64 - 8 * bytes);
}

ksv_status spill_file_read(const spill_file *spill, const spill_run *run,
                           size_t partition, size_t first, size_t count,
                           uint8_t *scratch, hash_entry *out, ksv_error *error)
{
    unsigned hash_bytes = spill->hash_bytes;
    unsigned record_bytes = hash_bytes + run->payload_bytes;
    uint64_t offset =
        run->offset +
        (uint64_t)(start_of(run, partition) + first) * record_bytes;
    KSV_TRY(file_read_exactly(spill->reader, offset, scratch,
                              count * record_bytes, error));
    uint64_t top = spill->partition_bits == 0
                       ? 0
                       : (uint64_t)partition << (64 - spill->partition_bits);
    uint64_t hash_mask = low_bytes_mask(hash_bytes);
    uint64_t payload_mask = low_bytes_mask(run->payload_bytes);
    for (size_t i = 0; i < count; i++) {
        const uint8_t *record = scratch + i * record_bytes;
        out[i].hash = top | (load_u64(record) & hash_mask);
        out[i].payload = load_u64(record + hash_bytes) & payload_mask;
    }
    return KSV_OK;
}
