/* SPDX-License-Identifier: MIT */
/* Reads that are collected, joined where they lie near, and done at once. */
#include "lookup/read_wave.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "io/reopening_file.h"

void read_wave_init(read_wave *wave, const ksv_file_system *fs,
                    const ksv_allocator *allocator, size_t capacity_bytes,
                    size_t padding_bytes)
{
    *wave = (read_wave){.fs = fs,
                        .allocator = allocator,
                        .capacity_bytes = capacity_bytes,
                        .padding_bytes = padding_bytes};
}

void read_wave_close(read_wave *wave)
{
    if (wave->buffer != NULL)
        memory_free(wave->allocator, wave->buffer,
                    wave->capacity_bytes + wave->padding_bytes);
    memory_free(wave->allocator, wave->reads,
                wave->capacity * sizeof *wave->reads);
}

static ksv_status need_buffer(read_wave *wave, ksv_error *error)
{
    if (wave->buffer == NULL)
        wave->buffer = memory_alloc(wave->allocator,
                                    wave->capacity_bytes + wave->padding_bytes);
    return wave->buffer != NULL ? KSV_OK : error_set_memory(error);
}

void read_wave_clear(read_wave *wave)
{
    wave->count = 0;
    wave->used_bytes = 0;
}

/* Where the bytes of a read begin in the buffer. */
static size_t start_of(const read_wave *wave, const ksv_read *r)
{
    return (size_t)((uint8_t *)r->buffer - wave->buffer);
}

/* Lets the last read bring the bytes as well. */
static bool join_last(read_wave *wave, const ksv_file *file, uint64_t offset,
                      size_t size_bytes, size_t gap_bytes, wave_part *part)
{
    if (wave->count == 0 || gap_bytes == READ_WAVE_APART)
        return false;
    ksv_read *last = &wave->reads[wave->count - 1];
    uint64_t end = last->offset + last->size_bytes;
    if (last->file != file || offset < last->offset ||
        (offset > end && offset - end > gap_bytes))
        return false;
    /* Not more than a gap beyond the read. */
    size_t skip = (size_t)(offset - last->offset);
    size_t start = start_of(wave, last);
    if (start + last->size_bytes != wave->used_bytes)
        return false;
    size_t wanted = skip + size_bytes;
    if (wanted < last->size_bytes)
        wanted = last->size_bytes;
    if (wanted > wave->capacity_bytes - start)
        return false;
    last->size_bytes = wanted;
    wave->used_bytes = start + wanted;
    *part = (wave_part){(uint32_t)wave->count - 1, (uint32_t)(start + skip)};
    return true;
}

ksv_status read_wave_add(read_wave *wave, ksv_file *file, uint64_t offset,
                         size_t size_bytes, size_t gap_bytes, wave_part *part,
                         bool *added, ksv_error *error)
{
    *added = join_last(wave, file, offset, size_bytes, gap_bytes, part);
    if (*added || size_bytes > wave->capacity_bytes - wave->used_bytes)
        return KSV_OK;
    KSV_TRY(need_buffer(wave, error));
    void *items = wave->reads;
    ksv_status status =
        memory_grow(wave->allocator, &items, &wave->capacity, wave->count + 1,
                    sizeof *wave->reads, error);
    wave->reads = items;
    KSV_TRY(status);
    *part = (wave_part){(uint32_t)wave->count, (uint32_t)wave->used_bytes};
    wave->reads[wave->count++] =
        (ksv_read){.file = file,
                   .offset = offset,
                   .buffer = wave->buffer + wave->used_bytes,
                   .size_bytes = size_bytes};
    wave->used_bytes += size_bytes;
    *added = true;
    return KSV_OK;
}

ksv_status read_wave_run(read_wave *wave, ksv_error *error)
{
    return reopening_file_read_many(wave->fs, wave->reads, wave->count, error);
}

size_t read_wave_got(const read_wave *wave, const wave_part *part,
                     size_t size_bytes)
{
    const ksv_read *r = &wave->reads[part->read];
    size_t skip = part->position - start_of(wave, r);
    size_t left = r->got_bytes > skip ? r->got_bytes - skip : 0;
    return left < size_bytes ? left : size_bytes;
}

uint64_t read_wave_bytes(const read_wave *wave)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < wave->count; i++)
        bytes += wave->reads[i].got_bytes;
    return bytes;
}
