/* SPDX-License-Identifier: MIT */
/* The file "state" of a state directory: what belongs to it. Codec. */
#include "dedup/state_record.h"

#include <string.h>

#include "base/coding.h"
#include "base/error.h"
#include "hash/hash.h"

#define CHECKSUM_BYTES 8

void state_record_init(state_record *record, const ksv_allocator *allocator)
{
    memset(record, 0, sizeof *record);
    buffer_init(&record->specs, allocator);
    buffer_init(&record->runs, allocator);
    buffer_init(&record->generations, allocator);
    buffer_init(&record->journals, allocator);
}

void state_record_release(state_record *record)
{
    buffer_release(&record->specs);
    buffer_release(&record->runs);
    buffer_release(&record->generations);
    buffer_release(&record->journals);
}

static ksv_status put_f64(byte_buffer *out, double value, ksv_error *error)
{
    uint8_t bytes[8];
    store_f64(bytes, value);
    return buffer_append(out, bytes, sizeof bytes, error);
}

static ksv_status encode_options(const state_record *r, byte_buffer *out,
                                 ksv_error *error)
{
    KSV_TRY(buffer_append(out, STATE_MAGIC, STATE_MAGIC_BYTES, error));
    KSV_TRY(buffer_put_u32(out, STATE_VERSION, error));
    KSV_TRY(buffer_put_u32(out, (uint32_t)r->hasher.kind, error));
    KSV_TRY(buffer_append(out, r->hasher.key, sizeof r->hasher.key, error));
    KSV_TRY(buffer_put_u8(out, r->approximate, error));
    KSV_TRY(buffer_put_u8(out, r->has_time, error));
    KSV_TRY(buffer_put_u32(out, r->generation_slices, error));
    KSV_TRY(buffer_put_u64(out, (uint64_t)r->window_ms, error));
    KSV_TRY(buffer_put_u64(out, r->expected_keys, error));
    KSV_TRY(put_f64(out, r->fpr, error));
    KSV_TRY(buffer_put_bytes(out, r->specs.data, r->specs.size, error));
    KSV_TRY(buffer_put_u64(out, (uint64_t)r->stream_ms, error));
    return buffer_put_u64(out, r->next_number, error);
}

static ksv_status encode_runs(const state_record *r, byte_buffer *out,
                              ksv_error *error)
{
    size_t count = r->runs.size / sizeof(uint64_t);
    KSV_TRY(buffer_put_u32(out, (uint32_t)count, error));
    for (size_t i = 0; i < count; i++) {
        uint64_t number;
        memcpy(&number, r->runs.data + i * sizeof number, sizeof number);
        KSV_TRY(buffer_put_u64(out, number, error));
    }
    return KSV_OK;
}

static ksv_status encode_generations(const state_record *r, byte_buffer *out,
                                     ksv_error *error)
{
    size_t count = r->generations.size / sizeof(state_generation);
    KSV_TRY(buffer_put_u32(out, (uint32_t)count, error));
    for (size_t i = 0; i < count; i++) {
        state_generation g;
        memcpy(&g, r->generations.data + i * sizeof g, sizeof g);
        KSV_TRY(buffer_put_u64(out, (uint64_t)g.first_ms, error));
        KSV_TRY(buffer_put_u64(out, (uint64_t)g.newest_ms, error));
        KSV_TRY(buffer_put_u64(out, g.file_number, error));
        KSV_TRY(buffer_put_u64(out, g.file_keys, error));
    }
    return KSV_OK;
}

static ksv_status encode_journals(const state_record *r, byte_buffer *out,
                                  ksv_error *error)
{
    size_t count = r->journals.size / sizeof(state_journal);
    KSV_TRY(buffer_put_u32(out, (uint32_t)count, error));
    for (size_t i = 0; i < count; i++) {
        state_journal j;
        memcpy(&j, r->journals.data + i * sizeof j, sizeof j);
        KSV_TRY(buffer_put_u64(out, j.number, error));
        KSV_TRY(buffer_put_u64(out, j.committed_bytes, error));
        KSV_TRY(buffer_append(out, j.id, sizeof j.id, error));
    }
    return KSV_OK;
}

ksv_status state_record_encode(const state_record *r, byte_buffer *out,
                               ksv_error *error)
{
    size_t start = out->size;
    KSV_TRY(encode_options(r, out, error));
    KSV_TRY(encode_runs(r, out, error));
    KSV_TRY(encode_generations(r, out, error));
    KSV_TRY(encode_journals(r, out, error));
    return buffer_put_u64(
        out, hash_checksum64(out->data + start, out->size - start), error);
}

static void take_options(byte_cursor *c, state_record *r)
{
    r->hasher.kind = (ksv_hash_kind)cursor_u32(c);
    const uint8_t *key = cursor_take(c, sizeof r->hasher.key);
    if (key != NULL)
        memcpy(r->hasher.key, key, sizeof r->hasher.key);
    r->approximate = cursor_u8(c) != 0;
    r->has_time = cursor_u8(c) != 0;
    r->generation_slices = cursor_u32(c);
    r->window_ms = (int64_t)cursor_u64(c);
    r->expected_keys = cursor_u64(c);
    const uint8_t *fpr = cursor_take(c, 8);
    r->fpr = fpr != NULL ? load_f64(fpr) : 0;
}

static uint32_t take_count(byte_cursor *c)
{
    uint32_t count = cursor_u32(c);
    if (count > STATE_FILES_MAX)
        c->failed = true;
    return c->failed ? 0 : count;
}

static ksv_status take_lists(byte_cursor *c, state_record *r, ksv_error *error)
{
    uint32_t runs = take_count(c);
    for (uint32_t i = 0; i < runs && !c->failed; i++) {
        uint64_t number = cursor_u64(c);
        KSV_TRY(buffer_append(&r->runs, &number, sizeof number, error));
    }
    uint32_t filters = take_count(c);
    for (uint32_t i = 0; i < filters && !c->failed; i++) {
        state_generation g = {.first_ms = (int64_t)cursor_u64(c)};
        g.newest_ms = (int64_t)cursor_u64(c);
        g.file_number = cursor_u64(c);
        g.file_keys = cursor_u64(c);
        KSV_TRY(buffer_append(&r->generations, &g, sizeof g, error));
    }
    uint32_t journals = take_count(c);
    for (uint32_t i = 0; i < journals && !c->failed; i++) {
        state_journal j = {.number = cursor_u64(c)};
        j.committed_bytes = cursor_u64(c);
        const uint8_t *id = cursor_take(c, sizeof j.id);
        if (id != NULL)
            memcpy(j.id, id, sizeof j.id);
        KSV_TRY(buffer_append(&r->journals, &j, sizeof j, error));
    }
    return KSV_OK;
}

/* Numbers that an engine could not be made with. */
static bool is_sound(const state_record *r)
{
    return (r->hasher.kind == KSV_HASH_XXH3 ||
            r->hasher.kind == KSV_HASH_SIPHASH) &&
           r->generation_slices >= 1 &&
           r->generation_slices <= GENERATIONS_SLICES_MAX &&
           r->window_ms >= 0 && r->window_ms <= INT64_MAX / 4 &&
           (!r->approximate ||
            (r->expected_keys > 0 && r->fpr > 0 && r->fpr < 1)) &&
           r->stream_ms >= INT64_MIN / 4 && r->stream_ms <= INT64_MAX / 4;
}

ksv_status state_record_decode(const void *data, size_t size_bytes,
                               state_record *r, ksv_error *error)
{
    byte_cursor c = cursor_over(data, size_bytes);
    const uint8_t *magic = cursor_take(&c, STATE_MAGIC_BYTES);
    if (magic == NULL || memcmp(magic, STATE_MAGIC, STATE_MAGIC_BYTES) != 0)
        return error_set(error, KSV_ERROR_CORRUPT, NULL,
                         "is not a state of dedup");
    uint32_t version = cursor_u32(&c);
    if (!c.failed && version > STATE_VERSION)
        return error_set(error, KSV_ERROR_VERSION, NULL,
                         "has format version %u; this program knows up to %d",
                         version, STATE_VERSION);
    size_t before =
        size_bytes < CHECKSUM_BYTES ? 0 : size_bytes - CHECKSUM_BYTES;
    if (c.failed || version != STATE_VERSION ||
        hash_checksum64(data, before) !=
            load_u64((const uint8_t *)data + before))
        return error_set(error, KSV_ERROR_CORRUPT, NULL, "is damaged");
    size_t spec_bytes;
    take_options(&c, r);
    const uint8_t *specs = cursor_bytes(&c, &spec_bytes);
    if (specs != NULL && spec_bytes > 0)
        KSV_TRY(buffer_append(&r->specs, specs, spec_bytes, error));
    r->stream_ms = (int64_t)cursor_u64(&c);
    r->next_number = cursor_u64(&c);
    KSV_TRY(take_lists(&c, r, error));
    (void)cursor_u64(&c);
    if (!cursor_at_end(&c) || !is_sound(r))
        return error_set(error, KSV_ERROR_CORRUPT, NULL, "is damaged");
    return KSV_OK;
}
