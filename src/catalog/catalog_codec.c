/* SPDX-License-Identifier: MIT */
/* Parameters and whole states as bytes. */
#include "catalog/catalog_codec.h"

#include <string.h>

#include "base/error.h"
#include "catalog/catalog_check.h"
#include "catalog/codec_bytes.h"

/* Of one with empty paths and layout, and of one without parts. */
#define FILE_BYTES_LEAST 196
#define SEGMENT_BYTES_LEAST 64

ksv_status codec_put_parameters(byte_buffer *out,
                                const catalog_parameters *parameters,
                                ksv_error *error)
{
    const char *wrong = catalog_check_parameters(parameters);
    if (wrong != NULL)
        return codec_unusable(error, wrong);
    uint8_t fixed[8] = {(uint8_t)parameters->hasher.kind,
                        (uint8_t)parameters->hash_bits,
                        (uint8_t)parameters->organisation};
    uint8_t fpr[8];
    store_f64(fpr, parameters->fpr);
    KSV_TRY(codec_put_id(out, parameters->index_id, error));
    KSV_TRY(buffer_append(out, fixed, sizeof fixed, error));
    KSV_TRY(codec_put_id(out, parameters->hasher.key, error));
    KSV_TRY(buffer_append(out, fpr, sizeof fpr, error));
    KSV_TRY(buffer_put_bytes(out, parameters->format, parameters->format_bytes,
                             error));
    return buffer_put_bytes(out, parameters->watch, parameters->watch_bytes,
                            error);
}

ksv_status codec_get_parameters(byte_cursor *in, const ksv_allocator *allocator,
                                catalog_parameters *parameters,
                                ksv_error *error)
{
    memset(parameters, 0, sizeof *parameters);
    bool no_memory = false;
    codec_get_id(in, parameters->index_id);
    parameters->hasher.kind = (ksv_hash_kind)cursor_u8(in);
    parameters->hash_bits = cursor_u8(in);
    parameters->organisation = (ksv_organisation)cursor_u8(in);
    bool reserved_used = cursor_u8(in) != 0;
    reserved_used |= cursor_u32(in) != 0;
    codec_get_id(in, parameters->hasher.key);
    const uint8_t *fpr = cursor_take(in, 8);
    if (fpr != NULL)
        parameters->fpr = load_f64(fpr);
    parameters->format =
        codec_copy_blob(in, allocator, &parameters->format_bytes, &no_memory);
    parameters->watch =
        codec_copy_blob(in, allocator, &parameters->watch_bytes, &no_memory);
    const char *wrong = in->failed || reserved_used
                            ? "the parameters of the index are cut or malformed"
                            : catalog_check_parameters(parameters);
    if (wrong == NULL && !no_memory)
        return KSV_OK;
    memory_free(allocator, parameters->format, parameters->format_bytes);
    memory_free(allocator, parameters->watch, parameters->watch_bytes);
    memset(parameters, 0, sizeof *parameters);
    return no_memory ? error_set_memory(error) : codec_corrupt(error, wrong);
}

ksv_status codec_put_state(byte_buffer *out, const catalog_state *state,
                           ksv_error *error)
{
    const char *wrong = catalog_check_state(state);
    if (wrong != NULL)
        return codec_unusable(error, wrong);
    const uint64_t counts[] = {state->next_ordinal, state->next_segment_id,
                               state->file_count, state->segment_count};
    KSV_TRY(codec_put_parameters(out, &state->parameters, error));
    KSV_TRY(codec_put_numbers(out, counts, sizeof counts / sizeof counts[0],
                              error));
    for (size_t i = 0; i < state->file_count; i++)
        KSV_TRY(codec_put_file(out, &state->files[i], error));
    for (size_t i = 0; i < state->segment_count; i++)
        KSV_TRY(codec_put_segment(out, &state->segments[i], error));
    return KSV_OK;
}

static ksv_status expect_files(catalog_state *state, uint64_t files,
                               ksv_error *error)
{
    void *items = state->files;
    ksv_status status =
        memory_grow(&state->allocator, &items, &state->file_capacity,
                    (size_t)files, sizeof *state->files, error);
    state->files = items;
    return status;
}

static ksv_status get_lists(byte_cursor *in, catalog_state *state,
                            uint64_t files, uint64_t segments, ksv_error *error)
{
    const ksv_allocator *a = &state->allocator;
    KSV_TRY(expect_files(state, files, error));
    for (uint64_t i = 0; i < files; i++) {
        catalog_file file;
        KSV_TRY(codec_get_file(in, a, &file, error));
        KSV_TRY(catalog_state_add_file(state, &file, error));
    }
    for (uint64_t i = 0; i < segments; i++) {
        catalog_segment segment;
        KSV_TRY(codec_get_segment(in, a, &segment, error));
        KSV_TRY(catalog_state_add_segment(state, &segment, error));
    }
    const char *wrong = cursor_at_end(in) ? catalog_check_state(state)
                                          : "bytes follow the last segment";
    return wrong == NULL ? KSV_OK : codec_corrupt(error, wrong);
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
        segments > left / SEGMENT_BYTES_LEAST)
        return codec_corrupt(error,
                             "counts more files and segments than it holds");
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
