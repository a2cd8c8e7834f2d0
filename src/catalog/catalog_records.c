/* SPDX-License-Identifier: MIT */
/* A state as the records of an LMDB environment, and back. */
#include "catalog/catalog_records.h"

#include <string.h>

#include "base/coding.h"
#include "base/error.h"
#include "catalog/catalog_check.h"
#include "catalog/catalog_codec.h"
#include "hash/hash.h"
#include "mdb/lmdb_walker.h"

#define CHECKSUM_BYTES 8

static ksv_status corrupt(ksv_error *error, const char *what)
{
    error_set(error, KSV_ERROR_CORRUPT, NULL, "%s", what);
    error_add_remedy(error, KSV_REMEDY_BUILD);
    return KSV_ERROR_CORRUPT;
}

static void put_key(catalog_record *record, char kind, uint64_t number)
{
    record->key[0] = (uint8_t)kind;
    for (int i = 0; i < 8; i++)
        record->key[1 + i] = (uint8_t)(number >> (56 - 8 * i));
    record->key_bytes = kind == 'P' ? 1 : RECORD_KEY_BYTES;
}

/* False for a key that no record has. */
static bool parse_key(const uint8_t *key, size_t key_bytes, char *kind,
                      uint64_t *number)
{
    *kind = key_bytes > 0 ? (char)key[0] : '\0';
    *number = 0;
    if (*kind == 'P')
        return key_bytes == 1;
    if ((*kind != 'F' && *kind != 'S') || key_bytes != RECORD_KEY_BYTES)
        return false;
    for (int i = 0; i < 8; i++)
        *number = *number << 8 | key[1 + i];
    return true;
}

size_t records_count(const catalog_state *state)
{
    return state->file_count + 1 + state->segment_count;
}

static ksv_status put_parameters(byte_buffer *out, const catalog_state *state,
                                 const catalog_mark *mark,
                                 uint64_t body_checksum, ksv_error *error)
{
    const uint64_t numbers[] = {mark->generation,       mark->environment_id,
                                mark->other_checksum,   state->next_ordinal,
                                state->next_segment_id, state->file_count,
                                state->segment_count,   body_checksum};
    KSV_TRY(buffer_put_u16(out, CATALOG_FORMAT_VERSION, error));
    KSV_TRY(buffer_put_u16(out, 0, error));
    KSV_TRY(buffer_put_u32(out, CATALOG_FEATURES, error));
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        KSV_TRY(buffer_put_u64(out, numbers[i], error));
    return codec_put_parameters(out, &state->parameters, error);
}

ksv_status records_get(const catalog_state *state, const catalog_mark *mark,
                       uint64_t body_checksum, size_t index,
                       byte_buffer *buffer, catalog_record *record,
                       ksv_error *error)
{
    const catalog_file *file = NULL;
    const catalog_segment *segment = NULL;
    if (index < state->file_count) {
        file = &state->files[index];
        put_key(record, 'F', file->ordinal);
    } else if (index > state->file_count) {
        segment = &state->segments[index - state->file_count - 1];
        put_key(record, 'S', segment->id);
    } else {
        put_key(record, 'P', 0);
    }
    /* The checksum is over key and value, so that a value cannot stand under
     * another key. */
    buffer_clear(buffer);
    KSV_TRY(buffer_append(buffer, record->key, record->key_bytes, error));
    if (file != NULL)
        KSV_TRY(codec_put_file(buffer, file, error));
    else if (segment != NULL)
        KSV_TRY(codec_put_segment(buffer, segment, error));
    else
        KSV_TRY(put_parameters(buffer, state, mark, body_checksum, error));
    KSV_TRY(buffer_put_u64(buffer, hash_checksum64(buffer->data, buffer->size),
                           error));
    record->value = buffer->data + record->key_bytes;
    record->value_bytes = buffer->size - record->key_bytes;
    return KSV_OK;
}

bool records_has(const catalog_state *state, const uint8_t *key,
                 size_t key_bytes)
{
    char kind;
    uint64_t number;
    if (!parse_key(key, key_bytes, &kind, &number))
        return false;
    if (kind == 'F')
        return catalog_find_file(state, number) != NULL;
    return kind == 'P' || catalog_find_segment(state, number) != NULL;
}

void record_reader_init(record_reader *reader, catalog_state *state)
{
    memset(reader, 0, sizeof *reader);
    reader->state = state;
    buffer_init(&reader->buffer, &state->allocator);
}

void record_reader_release(record_reader *reader)
{
    buffer_release(&reader->buffer);
}

static ksv_status add_parameters(record_reader *reader, byte_cursor *in,
                                 ksv_error *error)
{
    catalog_state *state = reader->state;
    unsigned version = cursor_u16(in);
    bool reserved_used = cursor_u16(in) != 0;
    uint32_t features = cursor_u32(in);
    if (version > CATALOG_FORMAT_VERSION)
        return error_set(error, KSV_ERROR_VERSION, NULL,
                         "has format version %u; this program reads version %d",
                         version, CATALOG_FORMAT_VERSION);
    if ((features & ~(uint32_t)CATALOG_FEATURES) != 0)
        return error_set(error, KSV_ERROR_VERSION, NULL,
                         "uses features of a later format version");
    if (version != CATALOG_FORMAT_VERSION || reserved_used ||
        reader->has_parameters)
        return corrupt(error, "has malformed parameters");
    reader->mark.generation = cursor_u64(in);
    reader->mark.environment_id = cursor_u64(in);
    reader->mark.other_checksum = cursor_u64(in);
    state->next_ordinal = cursor_u64(in);
    state->next_segment_id = cursor_u64(in);
    reader->file_count = cursor_u64(in);
    reader->segment_count = cursor_u64(in);
    reader->body_checksum = cursor_u64(in);
    KSV_TRY(
        codec_get_parameters(in, &state->allocator, &state->parameters, error));
    reader->has_parameters = true;
    return KSV_OK;
}

static ksv_status add_file(record_reader *reader, byte_cursor *in,
                           uint64_t ordinal, ksv_error *error)
{
    catalog_file file;
    KSV_TRY(codec_get_file(in, &reader->state->allocator, &file, error));
    if (file.ordinal != ordinal) {
        catalog_file_release(&reader->state->allocator, &file);
        return corrupt(error, "has a data file under a wrong number");
    }
    return catalog_state_add_file(reader->state, &file, error);
}

static ksv_status add_segment(record_reader *reader, byte_cursor *in,
                              uint64_t id, ksv_error *error)
{
    catalog_segment segment;
    const ksv_allocator *a = &reader->state->allocator;
    KSV_TRY(codec_get_segment(in, a, &segment, error));
    if (segment.id != id) {
        catalog_segment_release(a, &segment);
        return corrupt(error, "has a segment under a wrong id");
    }
    return catalog_state_add_segment(reader->state, &segment, error);
}

ksv_status record_reader_add(void *ctx, const uint8_t *key, size_t key_bytes,
                             const uint8_t *value, size_t value_bytes,
                             ksv_error *error)
{
    record_reader *reader = ctx;
    char kind;
    uint64_t number;
    if (!parse_key(key, key_bytes, &kind, &number))
        return corrupt(error, "has a record of an unknown kind");
    byte_buffer *b = &reader->buffer;
    buffer_clear(b);
    KSV_TRY(buffer_append(b, key, key_bytes, error));
    KSV_TRY(buffer_append(b, value, value_bytes, error));
    if (value_bytes < CHECKSUM_BYTES)
        return corrupt(error, "has a record that is cut short");
    size_t checked = b->size - CHECKSUM_BYTES;
    if (load_u64(b->data + checked) != hash_checksum64(b->data, checked))
        return corrupt(error, "has a damaged record");
    byte_cursor in = cursor_over(b->data + key_bytes, checked - key_bytes);
    ksv_status status = kind == 'F'   ? add_file(reader, &in, number, error)
                        : kind == 'S' ? add_segment(reader, &in, number, error)
                                      : add_parameters(reader, &in, error);
    KSV_TRY(status);
    return cursor_at_end(&in) ? KSV_OK
                              : corrupt(error, "has a record that is too long");
}

ksv_status record_reader_finish(record_reader *reader, ksv_error *error)
{
    catalog_state *state = reader->state;
    if (!reader->has_parameters)
        return corrupt(error, "has no parameters");
    if (state->file_count != reader->file_count ||
        state->segment_count != reader->segment_count ||
        catalog_check_state(state) != NULL)
        return corrupt(error, "lacks records");
    buffer_clear(&reader->buffer);
    KSV_TRY(codec_put_state(&reader->buffer, state, error));
    if (hash_checksum64(reader->buffer.data, reader->buffer.size) !=
        reader->body_checksum)
        return corrupt(error, "has records of two commits");
    state->generation = reader->mark.generation;
    return KSV_OK;
}

catalog_mark records_mark(const lmdb_head *head)
{
    return (catalog_mark){head->txn_id, head->environment_id,
                          head->other_checksum};
}

static ksv_status read_records(ksv_file *file, const char *path,
                               const lmdb_head *head, record_reader *reader,
                               uint64_t *bytes_read, ksv_error *error)
{
    lmdb_walk_options options = {.visit = record_reader_add, .ctx = reader};
    KSV_TRY(lmdb_walk(file, path, head, &reader->state->allocator, &options,
                      bytes_read, error));
    KSV_TRY(record_reader_finish(reader, error));
    catalog_mark mark = records_mark(head);
    if (reader->mark.generation != mark.generation ||
        reader->mark.environment_id != mark.environment_id ||
        reader->mark.other_checksum != mark.other_checksum)
        return corrupt(error, "has records of another commit");
    return KSV_OK;
}

ksv_status records_read(ksv_file *file, const char *path, const lmdb_head *head,
                        const ksv_allocator *allocator, catalog_state *state,
                        uint64_t *body_checksum, uint64_t *bytes_read,
                        ksv_error *error)
{
    catalog_state_init(state, allocator);
    record_reader reader;
    record_reader_init(&reader, state);
    ksv_status status =
        read_records(file, path, head, &reader, bytes_read, error);
    *body_checksum = reader.body_checksum;
    record_reader_release(&reader);
    if (status != KSV_OK) {
        error_add_path(error, path);
        catalog_state_release(state);
    }
    return status;
}
