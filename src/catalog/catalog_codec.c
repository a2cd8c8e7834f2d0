/* SPDX-License-Identifier: MIT */
/* Parameters, data files and segments as bytes: in the copy and in LMDB. */
#include "catalog/catalog_codec.h"

#include <string.h>

#include "base/error.h"

#define ID_BYTES 16
#define HASH_BITS_LEAST 36
#define HASH_BITS_MOST 48
#define PAYLOAD_BITS_MOST 57
/* Of one with empty paths and layout. */
#define FILE_BYTES_LEAST 148
#define SEGMENT_BYTES 112

static ksv_status corrupt(ksv_error *error, const char *what)
{
    error_set(error, KSV_ERROR_CORRUPT, NULL, "%s", what);
    error_add_remedy(error, KSV_REMEDY_BUILD);
    return KSV_ERROR_CORRUPT;
}

static ksv_status unusable(ksv_error *error, const char *what)
{
    return error_set(error, KSV_ERROR_ARGUMENT, NULL, "%s", what);
}

static const char *check_parameters(const catalog_parameters *p)
{
    if (p->hasher.kind != KSV_HASH_XXH3 && p->hasher.kind != KSV_HASH_SIPHASH)
        return "the index has an unknown hash";
    if (p->hash_bits < HASH_BITS_LEAST || p->hash_bits > HASH_BITS_MOST)
        return "the index has an impossible number of hash bits";
    if (p->organisation < KSV_ORGANISATION_HASH ||
        p->organisation > KSV_ORGANISATION_BTREE)
        return "the index has an unknown organisation";
    if (!(p->fpr > 0 && p->fpr < 1))
        return "the index has an impossible false-positive rate";
    return NULL;
}

static const char *check_file(const catalog_file *f)
{
    if (f->given_path == NULL || f->relative_path == NULL ||
        f->given_path[0] == '\0' || f->relative_path[0] == '\0')
        return "a data file has no path";
    if (f->records_without_key > f->records)
        return "a data file has impossible counts";
    return NULL;
}

static const char *check_segment(const catalog_segment *s)
{
    if (s->id == 0)
        return "a segment has no id";
    if (s->payload_bits < 1 || s->payload_bits > PAYLOAD_BITS_MOST ||
        s->distinct_keys > s->entries || s->filter_keys > s->distinct_keys)
        return "a segment has impossible counts";
    return NULL;
}

static ksv_status put_id(byte_buffer *out, const uint8_t id[ID_BYTES],
                         ksv_error *error)
{
    return buffer_append(out, id, ID_BYTES, error);
}

static void get_id(byte_cursor *in, uint8_t id[ID_BYTES])
{
    const uint8_t *p = cursor_take(in, ID_BYTES);
    if (p != NULL)
        memcpy(id, p, ID_BYTES);
}

static ksv_status put_numbers(byte_buffer *out, const uint64_t *numbers,
                              size_t count, ksv_error *error)
{
    for (size_t i = 0; i < count; i++)
        KSV_TRY(buffer_put_u64(out, numbers[i], error));
    return KSV_OK;
}

ksv_status codec_put_parameters(byte_buffer *out,
                                const catalog_parameters *parameters,
                                ksv_error *error)
{
    const char *wrong = check_parameters(parameters);
    if (wrong != NULL)
        return unusable(error, wrong);
    uint8_t fixed[8] = {(uint8_t)parameters->hasher.kind,
                        (uint8_t)parameters->hash_bits,
                        (uint8_t)parameters->organisation};
    uint8_t fpr[8];
    store_f64(fpr, parameters->fpr);
    KSV_TRY(put_id(out, parameters->index_id, error));
    KSV_TRY(buffer_append(out, fixed, sizeof fixed, error));
    KSV_TRY(put_id(out, parameters->hasher.key, error));
    KSV_TRY(buffer_append(out, fpr, sizeof fpr, error));
    KSV_TRY(buffer_put_bytes(out, parameters->format, parameters->format_bytes,
                             error));
    return buffer_put_bytes(out, parameters->watch, parameters->watch_bytes,
                            error);
}

/* A copy of the next string of bytes; NULL with `*failed` left alone when it
 * is empty. */
static uint8_t *copy_blob(byte_cursor *in, const ksv_allocator *allocator,
                          size_t *size_bytes, bool *no_memory)
{
    const uint8_t *p = cursor_bytes(in, size_bytes);
    if (p == NULL || *size_bytes == 0)
        return NULL;
    uint8_t *copy = memory_alloc(allocator, *size_bytes);
    if (copy == NULL) {
        *no_memory = true;
        *size_bytes = 0;
        return NULL;
    }
    memcpy(copy, p, *size_bytes);
    return copy;
}

/* A copy of the next string; one with a NUL inside is a failure of `in`. */
static char *copy_string(byte_cursor *in, const ksv_allocator *allocator,
                         bool *no_memory)
{
    size_t length;
    const uint8_t *p = cursor_bytes(in, &length);
    if (p == NULL || memchr(p, '\0', length) != NULL) {
        in->failed = true;
        return NULL;
    }
    char *copy = memory_copy_string(allocator, (const char *)p, length);
    if (copy == NULL)
        *no_memory = true;
    return copy;
}

ksv_status codec_get_parameters(byte_cursor *in, const ksv_allocator *allocator,
                                catalog_parameters *parameters,
                                ksv_error *error)
{
    memset(parameters, 0, sizeof *parameters);
    bool no_memory = false;
    get_id(in, parameters->index_id);
    parameters->hasher.kind = (ksv_hash_kind)cursor_u8(in);
    parameters->hash_bits = cursor_u8(in);
    parameters->organisation = (ksv_organisation)cursor_u8(in);
    bool reserved_used = cursor_u8(in) != 0;
    reserved_used |= cursor_u32(in) != 0;
    get_id(in, parameters->hasher.key);
    const uint8_t *fpr = cursor_take(in, 8);
    if (fpr != NULL)
        parameters->fpr = load_f64(fpr);
    parameters->format =
        copy_blob(in, allocator, &parameters->format_bytes, &no_memory);
    parameters->watch =
        copy_blob(in, allocator, &parameters->watch_bytes, &no_memory);
    const char *wrong = in->failed || reserved_used
                            ? "the parameters of the index are cut or malformed"
                            : check_parameters(parameters);
    if (wrong == NULL && !no_memory)
        return KSV_OK;
    memory_free(allocator, parameters->format, parameters->format_bytes);
    memory_free(allocator, parameters->watch, parameters->watch_bytes);
    memset(parameters, 0, sizeof *parameters);
    return no_memory ? error_set_memory(error) : corrupt(error, wrong);
}

ksv_status codec_put_file(byte_buffer *out, const catalog_file *file,
                          ksv_error *error)
{
    const char *wrong = check_file(file);
    if (wrong != NULL)
        return unusable(error, wrong);
    const uint64_t before[] = {file->ordinal,
                               file->size_bytes,
                               (uint64_t)file->mtime_ns,
                               (uint64_t)file->ctime_ns,
                               file->inode,
                               file->device};
    const uint64_t after[] = {file->data_kind,   file->content_bytes,
                              file->records,     file->records_without_key,
                              file->bad_records, file->longest_record_bytes,
                              file->segment_id};
    KSV_TRY(put_numbers(out, before, sizeof before / sizeof before[0], error));
    KSV_TRY(put_id(out, file->fingerprint, error));
    KSV_TRY(put_id(out, file->content_hash, error));
    KSV_TRY(put_numbers(out, after, sizeof after / sizeof after[0], error));
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
    get_id(in, file->fingerprint);
    get_id(in, file->content_hash);
    file->data_kind = cursor_u32(in);
    if (cursor_u32(in) != 0)
        in->failed = true;
    file->content_bytes = cursor_u64(in);
    file->records = cursor_u64(in);
    file->records_without_key = cursor_u64(in);
    file->bad_records = cursor_u64(in);
    file->longest_record_bytes = cursor_u64(in);
    file->segment_id = cursor_u64(in);
}

ksv_status codec_get_file(byte_cursor *in, const ksv_allocator *allocator,
                          catalog_file *file, ksv_error *error)
{
    memset(file, 0, sizeof *file);
    bool no_memory = false;
    get_file_numbers(in, file);
    file->given_path = copy_string(in, allocator, &no_memory);
    file->relative_path = copy_string(in, allocator, &no_memory);
    file->layout = copy_blob(in, allocator, &file->layout_bytes, &no_memory);
    const char *wrong = in->failed  ? "a data file's entry is cut or malformed"
                        : no_memory ? NULL
                                    : check_file(file);
    if (wrong == NULL && !no_memory)
        return KSV_OK;
    catalog_file_release(allocator, file);
    return wrong != NULL ? corrupt(error, wrong) : error_set_memory(error);
}

ksv_status codec_put_segment(byte_buffer *out, const catalog_segment *segment,
                             ksv_error *error)
{
    const char *wrong = check_segment(segment);
    if (wrong != NULL)
        return unusable(error, wrong);
    const uint64_t numbers[] = {segment->id, segment->entries,
                                segment->distinct_keys, segment->filter_keys,
                                segment->payload_bits};
    const uint64_t sizes[] = {segment->filter_bytes, segment->table_bytes,
                              segment->points_bytes};
    KSV_TRY(
        put_numbers(out, numbers, sizeof numbers / sizeof numbers[0], error));
    KSV_TRY(put_id(out, segment->filter_id, error));
    KSV_TRY(put_id(out, segment->table_id, error));
    KSV_TRY(put_id(out, segment->points_id, error));
    return put_numbers(out, sizes, sizeof sizes / sizeof sizes[0], error);
}

ksv_status codec_get_segment(byte_cursor *in, catalog_segment *segment,
                             ksv_error *error)
{
    memset(segment, 0, sizeof *segment);
    segment->id = cursor_u64(in);
    segment->entries = cursor_u64(in);
    segment->distinct_keys = cursor_u64(in);
    segment->filter_keys = cursor_u64(in);
    segment->payload_bits = cursor_u32(in);
    bool reserved_used = cursor_u32(in) != 0;
    get_id(in, segment->filter_id);
    get_id(in, segment->table_id);
    get_id(in, segment->points_id);
    segment->filter_bytes = cursor_u64(in);
    segment->table_bytes = cursor_u64(in);
    segment->points_bytes = cursor_u64(in);
    const char *wrong = in->failed || reserved_used
                            ? "a segment's entry is cut or malformed"
                            : check_segment(segment);
    return wrong == NULL ? KSV_OK : corrupt(error, wrong);
}

const char *codec_check_state(const catalog_state *state)
{
    for (size_t i = 0; i < state->segment_count; i++) {
        uint64_t id = state->segments[i].id;
        if (i > 0 && id <= state->segments[i - 1].id)
            return "the segments are out of order";
        if (id >= state->next_segment_id)
            return "a segment has an id that was not given yet";
    }
    for (size_t i = 0; i < state->file_count; i++) {
        const catalog_file *f = &state->files[i];
        if (i > 0 && f->ordinal <= state->files[i - 1].ordinal)
            return "the data files are out of order";
        if (f->ordinal >= state->next_ordinal)
            return "a data file has a number that was not given yet";
        if (f->segment_id != 0 &&
            catalog_find_segment(state, f->segment_id) == NULL)
            return "a data file names a segment that does not exist";
    }
    return NULL;
}

ksv_status codec_put_state(byte_buffer *out, const catalog_state *state,
                           ksv_error *error)
{
    const char *wrong = codec_check_state(state);
    if (wrong != NULL)
        return unusable(error, wrong);
    const uint64_t counts[] = {state->next_ordinal, state->next_segment_id,
                               state->file_count, state->segment_count};
    KSV_TRY(codec_put_parameters(out, &state->parameters, error));
    KSV_TRY(put_numbers(out, counts, sizeof counts / sizeof counts[0], error));
    for (size_t i = 0; i < state->file_count; i++)
        KSV_TRY(codec_put_file(out, &state->files[i], error));
    for (size_t i = 0; i < state->segment_count; i++)
        KSV_TRY(codec_put_segment(out, &state->segments[i], error));
    return KSV_OK;
}

static ksv_status get_lists(byte_cursor *in, catalog_state *state,
                            uint64_t files, uint64_t segments, ksv_error *error)
{
    const ksv_allocator *a = &state->allocator;
    for (uint64_t i = 0; i < files; i++) {
        catalog_file file;
        KSV_TRY(codec_get_file(in, a, &file, error));
        KSV_TRY(catalog_state_add_file(state, &file, error));
    }
    for (uint64_t i = 0; i < segments; i++) {
        catalog_segment segment;
        KSV_TRY(codec_get_segment(in, &segment, error));
        KSV_TRY(catalog_state_add_segment(state, &segment, error));
    }
    const char *wrong = cursor_at_end(in) ? codec_check_state(state)
                                          : "bytes follow the last segment";
    return wrong == NULL ? KSV_OK : corrupt(error, wrong);
}

static ksv_status get_state(byte_cursor *in, catalog_state *state,
                            ksv_error *error)
{
    KSV_TRY(
        codec_get_parameters(in, &state->allocator, &state->parameters, error));
    state->next_ordinal = cursor_u64(in);
    state->next_segment_id = cursor_u64(in);
    uint64_t files = cursor_u64(in);
    uint64_t segments = cursor_u64(in);
    size_t left = in->failed ? 0 : (size_t)(in->end - in->next);
    if (in->failed || files > left / FILE_BYTES_LEAST ||
        segments > left / SEGMENT_BYTES)
        return corrupt(error, "counts more files and segments than it holds");
    return get_lists(in, state, files, segments, error);
}

ksv_status codec_get_state(byte_cursor *in, catalog_state *state,
                           ksv_error *error)
{
    ksv_status status = get_state(in, state, error);
    if (status != KSV_OK)
        catalog_state_release(state);
    return status;
}
