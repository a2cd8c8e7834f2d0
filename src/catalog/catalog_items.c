/* SPDX-License-Identifier: MIT */
/* Data files and segments as bytes. */
#include <string.h>

#include "base/error.h"
#include "catalog/catalog_check.h"
#include "catalog/catalog_codec.h"
#include "catalog/codec_bytes.h"

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

#define EXTENT_BYTES 64
#define PART_BYTES 40
#define PART_IS_DEAD 1

static ksv_status put_extents(byte_buffer *out, const catalog_file *file,
                              ksv_error *error)
{
    KSV_TRY(buffer_put_u64(out, file->extent_count, error));
    for (size_t i = 0; i < file->extent_count; i++) {
        const catalog_extent *e = &file->extents[i];
        const uint64_t numbers[] = {
            e->first_offset, e->length_bytes, e->entries,      e->distinct_keys,
            e->filter.id,    e->filter.keys,  e->filter.bytes, e->lost_hashes};
        KSV_TRY(codec_put_numbers(out, numbers, COUNT_OF(numbers), error));
    }
    return KSV_OK;
}

ksv_status codec_put_file(byte_buffer *out, const catalog_file *file,
                          ksv_error *error)
{
    const char *wrong = catalog_check_file(file);
    if (wrong != NULL)
        return codec_unusable(error, wrong);
    const uint64_t before[] = {file->ordinal,
                               file->size_bytes,
                               (uint64_t)file->mtime_ns,
                               (uint64_t)file->ctime_ns,
                               file->inode,
                               file->device};
    const uint64_t after[] = {file->chain_blocks,  file->data_kind,
                              file->content_bytes, file->complete_bytes,
                              file->records,       file->records_without_key,
                              file->bad_records,   file->longest_record_bytes,
                              file->points_id,     file->points_bytes};
    KSV_TRY(codec_put_numbers(out, before, COUNT_OF(before), error));
    KSV_TRY(codec_put_id(out, file->fingerprint, error));
    KSV_TRY(codec_put_id(out, file->content_hash, error));
    KSV_TRY(codec_put_id(out, file->content_chain, error));
    KSV_TRY(codec_put_numbers(out, after, COUNT_OF(after), error));
    KSV_TRY(put_extents(out, file, error));
    KSV_TRY(buffer_put_bytes(out, file->given_path, strlen(file->given_path),
                             error));
    KSV_TRY(buffer_put_bytes(out, file->relative_path,
                             strlen(file->relative_path), error));
    return buffer_put_bytes(out, file->layout, file->layout_bytes, error);
}

static void get_file_numbers(byte_cursor *in, catalog_file *file)
{
    file->ordinal = cursor_u64(in);
    file->size_bytes = cursor_u64(in);
    file->mtime_ns = (int64_t)cursor_u64(in);
    file->ctime_ns = (int64_t)cursor_u64(in);
    file->inode = cursor_u64(in);
    file->device = cursor_u64(in);
    codec_get_id(in, file->fingerprint);
    codec_get_id(in, file->content_hash);
    codec_get_id(in, file->content_chain);
    file->chain_blocks = cursor_u64(in);
    file->data_kind = cursor_u32(in);
    if (cursor_u32(in) != 0)
        in->failed = true;
    file->content_bytes = cursor_u64(in);
    file->complete_bytes = cursor_u64(in);
    file->records = cursor_u64(in);
    file->records_without_key = cursor_u64(in);
    file->bad_records = cursor_u64(in);
    file->longest_record_bytes = cursor_u64(in);
    file->points_id = cursor_u64(in);
    file->points_bytes = cursor_u64(in);
}

static void get_extents(byte_cursor *in, const ksv_allocator *allocator,
                        catalog_file *file, bool *no_memory)
{
    size_t count = codec_get_count(in, EXTENT_BYTES);
    if (count == 0)
        return;
    if (catalog_file_make_extents(allocator, file, count, NULL) != KSV_OK) {
        *no_memory = true;
        return;
    }
    for (size_t i = 0; i < count; i++) {
        catalog_extent *e = &file->extents[i];
        e->first_offset = cursor_u64(in);
        e->length_bytes = cursor_u64(in);
        e->entries = cursor_u64(in);
        e->distinct_keys = cursor_u64(in);
        e->filter.id = cursor_u64(in);
        e->filter.keys = cursor_u64(in);
        e->filter.bytes = cursor_u64(in);
        e->lost_hashes = cursor_u64(in);
    }
}

ksv_status codec_get_file(byte_cursor *in, const ksv_allocator *allocator,
                          catalog_file *file, ksv_error *error)
{
    memset(file, 0, sizeof *file);
    bool no_memory = false;
    get_file_numbers(in, file);
    get_extents(in, allocator, file, &no_memory);
    if (!no_memory) {
        file->given_path = codec_copy_string(in, allocator, &no_memory);
        file->relative_path = codec_copy_string(in, allocator, &no_memory);
        file->layout =
            codec_copy_blob(in, allocator, &file->layout_bytes, &no_memory);
    }
    const char *wrong = in->failed  ? "a data file's entry is cut or malformed"
                        : no_memory ? NULL
                                    : catalog_check_file(file);
    if (wrong == NULL && !no_memory)
        return KSV_OK;
    catalog_file_release(allocator, file);
    return wrong != NULL ? codec_corrupt(error, wrong)
                         : error_set_memory(error);
}

ksv_status codec_put_segment(byte_buffer *out, const catalog_segment *segment,
                             ksv_error *error)
{
    const char *wrong = catalog_check_segment(segment);
    if (wrong != NULL)
        return codec_unusable(error, wrong);
    KSV_TRY(buffer_put_u64(out, segment->id, error));
    KSV_TRY(buffer_put_u32(out, segment->tier, error));
    KSV_TRY(buffer_put_u32(out, segment->payload_bits, error));
    const uint64_t numbers[] = {segment->entries,      segment->table_bytes,
                                segment->filter.id,    segment->filter.keys,
                                segment->filter.bytes, segment->part_count};
    KSV_TRY(codec_put_numbers(out, numbers, COUNT_OF(numbers), error));
    for (size_t i = 0; i < segment->part_count; i++) {
        const catalog_part *part = &segment->parts[i];
        const uint64_t values[] = {part->ordinal, part->first_offset,
                                   part->length_bytes, part->entries,
                                   part->is_dead ? PART_IS_DEAD : 0};
        KSV_TRY(codec_put_numbers(out, values, COUNT_OF(values), error));
    }
    return KSV_OK;
}

static ksv_status get_parts(byte_cursor *in, const ksv_allocator *allocator,
                            catalog_segment *segment, ksv_error *error)
{
    size_t count = codec_get_count(in, PART_BYTES);
    if (count == 0)
        return KSV_OK;
    KSV_TRY(catalog_segment_make_parts(allocator, segment, count, error));
    for (size_t i = 0; i < count; i++) {
        catalog_part *part = &segment->parts[i];
        part->ordinal = cursor_u64(in);
        part->first_offset = cursor_u64(in);
        part->length_bytes = cursor_u64(in);
        part->entries = cursor_u64(in);
        uint64_t flags = cursor_u64(in);
        part->is_dead = flags == PART_IS_DEAD;
        if (flags > PART_IS_DEAD)
            in->failed = true;
    }
    return KSV_OK;
}

ksv_status codec_get_segment(byte_cursor *in, const ksv_allocator *allocator,
                             catalog_segment *segment, ksv_error *error)
{
    memset(segment, 0, sizeof *segment);
    segment->id = cursor_u64(in);
    segment->tier = cursor_u32(in);
    segment->payload_bits = cursor_u32(in);
    segment->entries = cursor_u64(in);
    segment->table_bytes = cursor_u64(in);
    segment->filter.id = cursor_u64(in);
    segment->filter.keys = cursor_u64(in);
    segment->filter.bytes = cursor_u64(in);
    KSV_TRY(get_parts(in, allocator, segment, error));
    const char *wrong = in->failed ? "a segment's entry is cut or malformed"
                                   : catalog_check_segment(segment);
    if (wrong == NULL)
        return KSV_OK;
    catalog_segment_release(allocator, segment);
    return codec_corrupt(error, wrong);
}
