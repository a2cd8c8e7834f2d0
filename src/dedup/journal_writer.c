/* SPDX-License-Identifier: MIT */
/* Appends passed keys to a journal. */
#include <string.h>

#include "base/coding.h"
#include "base/error.h"
#include "dedup/journal_frame.h"
#include "io/file.h"

/* A frame is written when it has so many bytes. */
#define FRAME_BYTES_MOST ((size_t)64 << 10)

struct journal_writer {
    ksv_allocator allocator;
    journal_info info;
    ksv_file *file;
    byte_buffer frame; /* its head, not filled in yet, and its payload */
    uint64_t sequence;
    uint64_t bytes;
    uint64_t committed;
    bool has_uncommitted;
};

static ksv_status begin_frame(journal_writer *w, ksv_error *error)
{
    static const uint8_t head[JOURNAL_FRAME_BYTES];
    buffer_clear(&w->frame);
    return buffer_append(&w->frame, head, sizeof head, error);
}

static ksv_status append(journal_writer *w, const void *data, size_t size,
                         ksv_error *error)
{
    KSV_TRY(w->file->ops->append(w->file, data, size, error));
    w->bytes += size;
    return KSV_OK;
}

static ksv_status start(journal_writer *w, const ksv_file_system *fs,
                        const char *path, ksv_error *error)
{
    uint8_t header[JOURNAL_HEADER_BYTES];
    KSV_TRY(begin_frame(w, error));
    KSV_TRY(fs->create(fs->ctx, path, &w->file, error));
    journal_header_encode(&w->info, header);
    KSV_TRY(append(w, header, sizeof header, error));
    return w->file->ops->sync(w->file, error);
}

ksv_status journal_writer_open(const ksv_file_system *fs, const char *path,
                               const journal_info *info,
                               const ksv_allocator *allocator,
                               journal_writer **out, ksv_error *error)
{
    *out = NULL;
    ksv_allocator a = allocator_or_default(allocator);
    journal_writer *w = memory_zalloc(&a, sizeof *w);
    if (w == NULL)
        return error_set_memory(error);
    w->allocator = a;
    w->info = *info;
    buffer_init(&w->frame, &w->allocator);
    ksv_status status = start(w, fs, path, error);
    if (status != KSV_OK) {
        journal_writer_close(w);
        return status;
    }
    *out = w;
    return KSV_OK;
}

void journal_writer_close(journal_writer *w)
{
    if (w == NULL)
        return;
    ksv_allocator a = w->allocator;
    file_close_quietly(w->file);
    buffer_release(&w->frame);
    memory_free(&a, w, sizeof *w);
}

/* Seals what is in the buffer from `at` on as a frame. */
static void seal(journal_writer *w, size_t at, journal_frame_kind kind)
{
    journal_frame frame = {
        .kind = kind,
        .payload_bytes = w->frame.size - at - JOURNAL_FRAME_BYTES,
        .sequence = w->sequence++,
    };
    journal_frame_seal(&w->info, &frame, w->frame.data + at);
}

static ksv_status write_frame(journal_writer *w, ksv_error *error)
{
    seal(w, 0, JOURNAL_KEYS);
    KSV_TRY(append(w, w->frame.data, w->frame.size, error));
    return begin_frame(w, error);
}

ksv_status journal_writer_add(journal_writer *w, const offered_key *key,
                              ksv_error *error)
{
    w->has_uncommitted = true;
    KSV_TRY(buffer_put_u64(&w->frame, key->hash, error));
    if ((w->info.content & JOURNAL_HAS_TIMES) != 0)
        KSV_TRY(buffer_put_u64(&w->frame, (uint64_t)key->time_ms, error));
    if ((w->info.content & JOURNAL_HAS_KEYS) != 0) {
        KSV_TRY(buffer_put_u64(&w->frame, key->key_bytes, error));
        KSV_TRY(buffer_append(&w->frame, key->key, key->key_bytes, error));
    }
    return w->frame.size >= FRAME_BYTES_MOST ? write_frame(w, error) : KSV_OK;
}

ksv_status journal_writer_commit(journal_writer *w, ksv_error *error)
{
    static const uint8_t head[JOURNAL_FRAME_BYTES];
    if (!w->has_uncommitted)
        return KSV_OK;
    size_t at = 0;
    if (w->frame.size > JOURNAL_FRAME_BYTES) {
        seal(w, 0, JOURNAL_KEYS);
        at = w->frame.size;
        KSV_TRY(buffer_append(&w->frame, head, sizeof head, error));
    }
    seal(w, at, JOURNAL_COMMIT);
    KSV_TRY(append(w, w->frame.data, w->frame.size, error));
    KSV_TRY(w->file->ops->sync(w->file, error));
    w->committed = w->bytes;
    w->has_uncommitted = false;
    return begin_frame(w, error);
}

uint64_t journal_writer_committed(const journal_writer *w)
{
    return w->committed;
}

uint64_t journal_writer_bytes(const journal_writer *w)
{
    return w->bytes;
}
