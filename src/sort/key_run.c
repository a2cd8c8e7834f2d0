/* SPDX-License-Identifier: MIT */
/* Sorted entries of whole keys on disk: runs, one after the other in a file. */
#include "sort/key_run.h"

#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/varint.h"
#include "io/file.h"

#define ENTRY_HEAD_BYTES ((size_t)3 * VARINT_MOST_BYTES)

ksv_status key_run_file_init(key_run_file *file, const ksv_file_system *fs,
                             const ksv_allocator *allocator,
                             const char *directory, const char *name,
                             ksv_error *error)
{
    *file = (key_run_file){.fs = fs, .allocator = allocator};
    buffer_init(&file->buffer, allocator);
    buffer_init(&file->last, allocator);
    file->path = path_join(allocator, directory, name);
    return file->path != NULL ? KSV_OK : error_set_memory(error);
}

void key_run_file_release(key_run_file *file)
{
    if (file->allocator == NULL)
        return;
    file_close_quietly(file->writer);
    file_close_quietly(file->reader);
    if (file->created) {
        /* A name that cannot be removed now is found by its ending later. */
        ksv_status ignored = file->fs->remove(file->fs->ctx, file->path, NULL);
        (void)ignored;
    }
    memory_free_string(file->allocator, file->path);
    memory_free(file->allocator, file->runs,
                file->run_capacity * sizeof *file->runs);
    buffer_release(&file->buffer);
    buffer_release(&file->last);
    *file = (key_run_file){0};
}

static ksv_status create(key_run_file *file, ksv_error *error)
{
    KSV_TRY(buffer_reserve(&file->buffer, KEY_RUN_WRITE_BYTES, error));
    KSV_TRY(file->fs->create(file->fs->ctx, file->path, &file->writer, error));
    file->created = true;
    return KSV_OK;
}

ksv_status key_run_begin(key_run_file *file, ksv_error *error)
{
    if (!file->created)
        KSV_TRY(create(file, error));
    void *runs = file->runs;
    ksv_status status =
        memory_grow(file->allocator, &runs, &file->run_capacity,
                    file->run_count + 1, sizeof *file->runs, error);
    file->runs = runs;
    KSV_TRY(status);
    file->runs[file->run_count++] = (key_run){.offset = file->written_bytes};
    buffer_clear(&file->last);
    return KSV_OK;
}

static ksv_status flush(key_run_file *file, ksv_error *error)
{
    size_t bytes = file->buffer.size;
    if (bytes == 0)
        return KSV_OK;
    buffer_clear(&file->buffer);
    KSV_TRY(file->writer->ops->append(file->writer, file->buffer.data, bytes,
                                      error));
    file->written_bytes += bytes;
    return KSV_OK;
}

static ksv_status replace_key(byte_buffer *key, size_t kept,
                              const uint8_t *rest, size_t rest_bytes,
                              ksv_error *error)
{
    key->size = kept;
    return buffer_append(key, rest, rest_bytes, error);
}

static void note_first(key_run *run, const key_entry *entry)
{
    run->common_bytes = entry->key_bytes < KEY_RUN_COMMON_BYTES
                            ? entry->key_bytes
                            : KEY_RUN_COMMON_BYTES;
    if (run->common_bytes > 0)
        memcpy(run->common, entry->key, run->common_bytes);
}

/* What the first key and the last one begin with, the others do, too. */
static void note_last(key_run *run, const byte_buffer *key)
{
    size_t most = key->size < run->common_bytes ? key->size : run->common_bytes;
    run->common_bytes = bytes_common(run->common, key->data, 0, most);
}

ksv_status key_run_put(key_run_file *file, const key_entry *entry,
                       ksv_error *error)
{
    size_t most =
        entry->key_bytes < file->last.size ? entry->key_bytes : file->last.size;
    size_t common = bytes_common(entry->key, file->last.data, 0, most);
    size_t rest_bytes = entry->key_bytes - common;
    if (file->buffer.size + ENTRY_HEAD_BYTES + rest_bytes > KEY_RUN_WRITE_BYTES)
        KSV_TRY(flush(file, error));
    KSV_TRY(
        buffer_reserve(&file->buffer, ENTRY_HEAD_BYTES + rest_bytes, error));
    uint8_t *start = file->buffer.data + file->buffer.size;
    uint8_t *p = varint_put(start, common);
    p = varint_put(p, rest_bytes);
    p = varint_put(p, entry->payload);
    file->buffer.size += (size_t)(p - start);
    const uint8_t *rest = entry->key + common;
    KSV_TRY(buffer_append(&file->buffer, rest, rest_bytes, error));
    key_run *run = &file->runs[file->run_count - 1];
    if (run->entries++ == 0)
        note_first(run, entry);
    return replace_key(&file->last, common, rest, rest_bytes, error);
}

ksv_status key_run_end(key_run_file *file, ksv_error *error)
{
    key_run *run = &file->runs[file->run_count - 1];
    note_last(run, &file->last);
    KSV_TRY(flush(file, error));
    run->size_bytes = file->written_bytes - run->offset;
    return KSV_OK;
}

ksv_status key_run_start_reading(key_run_file *file, ksv_error *error)
{
    buffer_release(&file->buffer);
    buffer_release(&file->last);
    ksv_file *writer = file->writer;
    file->writer = NULL;
    KSV_TRY(writer->ops->close(writer, error));
    return file->fs->open_read(file->fs->ctx, file->path, &file->reader, error);
}

ksv_status key_run_reader_open(key_run_reader *reader, const key_run_file *file,
                               size_t run, size_t buffer_bytes,
                               ksv_error *error)
{
    const key_run *r = &file->runs[run];
    *reader = (key_run_reader){.file = file,
                               .next_offset = r->offset,
                               .end_offset = r->offset + r->size_bytes,
                               .entries_left = r->entries,
                               .buffer_bytes = buffer_bytes};
    buffer_init(&reader->key, file->allocator);
    reader->buffer = memory_alloc(file->allocator, buffer_bytes);
    return reader->buffer != NULL ? KSV_OK : error_set_memory(error);
}

void key_run_reader_close(key_run_reader *reader)
{
    if (reader->file == NULL)
        return;
    memory_free(reader->file->allocator, reader->buffer, reader->buffer_bytes);
    buffer_release(&reader->key);
    *reader = (key_run_reader){0};
}

static ksv_status refill(key_run_reader *reader, ksv_error *error)
{
    size_t left = reader->filled - reader->at;
    memmove(reader->buffer, reader->buffer + reader->at, left);
    reader->at = 0;
    reader->filled = left;
    uint64_t more = reader->end_offset - reader->next_offset;
    size_t room = reader->buffer_bytes - left;
    size_t take = more < room ? (size_t)more : room;
    KSV_TRY(file_read_exactly(reader->file->reader, reader->next_offset,
                              reader->buffer + left, take, error));
    reader->next_offset += take;
    reader->filled += take;
    return KSV_OK;
}

static ksv_status not_what_was_written(const key_run_reader *reader,
                                       ksv_error *error)
{
    return error_set(error, KSV_ERROR_CORRUPT, reader->file->path,
                     "a temporary file is not as it was written");
}

/* The rest of a key, which may be longer than the buffer. */
static ksv_status take_rest(key_run_reader *reader, uint64_t rest_bytes,
                            ksv_error *error)
{
    KSV_TRY(buffer_reserve(&reader->key, (size_t)rest_bytes, error));
    while (rest_bytes > 0) {
        if (reader->at == reader->filled)
            KSV_TRY(refill(reader, error));
        size_t here = reader->filled - reader->at;
        size_t take = rest_bytes < here ? (size_t)rest_bytes : here;
        KSV_TRY(buffer_append(&reader->key, reader->buffer + reader->at, take,
                              error));
        reader->at += take;
        rest_bytes -= take;
    }
    return KSV_OK;
}

ksv_status key_run_reader_next(key_run_reader *reader, key_entry *entry,
                               bool *end, ksv_error *error)
{
    *end = reader->entries_left == 0;
    if (*end)
        return KSV_OK;
    reader->entries_left--;
    if (reader->filled - reader->at < ENTRY_HEAD_BYTES)
        KSV_TRY(refill(reader, error));
    size_t left = reader->filled - reader->at;
    byte_cursor c = cursor_over(reader->buffer + reader->at, left);
    uint64_t common = cursor_varint(&c);
    uint64_t rest_bytes = cursor_varint(&c);
    entry->payload = cursor_varint(&c);
    reader->at = (size_t)(c.next - reader->buffer);
    if (c.failed || common > reader->key.size ||
        rest_bytes > reader->end_offset - reader->next_offset +
                         (reader->filled - reader->at))
        return not_what_was_written(reader, error);
    reader->key.size = (size_t)common;
    KSV_TRY(take_rest(reader, rest_bytes, error));
    static const uint8_t none[1]; /* an empty key, too, has an address */
    entry->key = reader->key.size > 0 ? reader->key.data : none;
    entry->key_bytes = reader->key.size;
    return KSV_OK;
}
