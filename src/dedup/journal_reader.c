/* SPDX-License-Identifier: MIT */
/* Reads the keys of a journal that count. */
#include <string.h>

#include "base/coding.h"
#include "base/error.h"
#include "dedup/journal_frame.h"
#include "io/file.h"

typedef struct journal_reader {
    const journal_info *info;
    ksv_file *file;
    uint64_t file_bytes;
    byte_buffer frame; /* the one that was read last, with its head */
    journal_entry_fn take;
    void *ctx;
} journal_reader;

/* Reads the frame at `offset`; `*is_whole` false: there is none. */
static ksv_status read_frame(journal_reader *r, uint64_t offset,
                             journal_frame *frame, bool *is_whole,
                             ksv_error *error)
{
    *is_whole = false;
    if (r->file_bytes - offset < JOURNAL_FRAME_BYTES)
        return KSV_OK;
    uint64_t left = r->file_bytes - offset - JOURNAL_FRAME_BYTES;
    buffer_clear(&r->frame);
    KSV_TRY(buffer_reserve(&r->frame, JOURNAL_FRAME_BYTES, error));
    KSV_TRY(file_read_exactly(r->file, offset, r->frame.data,
                              JOURNAL_FRAME_BYTES, error));
    if (!journal_frame_decode(r->frame.data, left, frame))
        return KSV_OK;
    r->frame.size = JOURNAL_FRAME_BYTES;
    KSV_TRY(buffer_reserve(&r->frame, (size_t)frame->payload_bytes, error));
    KSV_TRY(file_read_exactly(r->file, offset + JOURNAL_FRAME_BYTES,
                              r->frame.data + JOURNAL_FRAME_BYTES,
                              (size_t)frame->payload_bytes, error));
    r->frame.size += (size_t)frame->payload_bytes;
    *is_whole = journal_frame_is_whole(r->info, r->frame.data, frame);
    return KSV_OK;
}

/* Whether some place behind `offset` has a mark: then what is at `offset` was
 * written whole once. */
static ksv_status find_mark(journal_reader *r, uint64_t offset, bool *found,
                            ksv_error *error)
{
    uint8_t bytes[4096];
    *found = false;
    while (!*found && offset < r->file_bytes) {
        size_t got;
        KSV_TRY(r->file->ops->read_at(r->file, offset, bytes, sizeof bytes,
                                      &got, error));
        if (got < 4)
            return KSV_OK;
        for (size_t i = 0; i + 4 <= got && !*found; i++) {
            journal_frame frame;
            bool is_whole;
            if (load_u32(bytes + i) != JOURNAL_FRAME_MAGIC)
                continue;
            KSV_TRY(read_frame(r, offset + i, &frame, &is_whole, error));
            *found = is_whole && frame.kind == JOURNAL_COMMIT;
        }
        offset += got - 3;
    }
    return KSV_OK;
}

/* Where the last mark ends. */
static ksv_status find_end(journal_reader *r, uint64_t *end, ksv_error *error)
{
    uint64_t offset = JOURNAL_HEADER_BYTES;
    *end = offset;
    for (uint64_t sequence = 0;; sequence++) {
        journal_frame frame;
        bool is_whole;
        KSV_TRY(read_frame(r, offset, &frame, &is_whole, error));
        if (!is_whole || frame.sequence != sequence)
            break;
        offset += r->frame.size;
        if (frame.kind == JOURNAL_COMMIT)
            *end = offset;
    }
    bool found;
    KSV_TRY(find_mark(r, offset, &found, error));
    if (found)
        return error_set_at(error, KSV_ERROR_CORRUPT, NULL, offset,
                            "the journal is damaged");
    return KSV_OK;
}

static ksv_status take_entries(journal_reader *r, uint64_t offset,
                               ksv_error *error)
{
    byte_cursor c = cursor_over(r->frame.data + JOURNAL_FRAME_BYTES,
                                r->frame.size - JOURNAL_FRAME_BYTES);
    while (!cursor_at_end(&c)) {
        offered_key key = {.hash = cursor_u64(&c)};
        if ((r->info->content & JOURNAL_HAS_TIMES) != 0)
            key.time_ms = (int64_t)cursor_u64(&c);
        if ((r->info->content & JOURNAL_HAS_KEYS) != 0) {
            uint64_t size = cursor_u64(&c);
            key.key_bytes = size > SIZE_MAX ? SIZE_MAX : (size_t)size;
            key.key = cursor_take(&c, key.key_bytes);
        }
        if (c.failed)
            return error_set_at(error, KSV_ERROR_CORRUPT, NULL, offset,
                                "a frame of the journal is damaged");
        KSV_TRY(r->take(r->ctx, &key, error));
    }
    return KSV_OK;
}

static ksv_status take_frames(journal_reader *r, uint64_t end, ksv_error *error)
{
    for (uint64_t offset = JOURNAL_HEADER_BYTES; offset < end;) {
        journal_frame frame;
        bool is_whole;
        KSV_TRY(read_frame(r, offset, &frame, &is_whole, error));
        if (!is_whole)
            return error_set_at(error, KSV_ERROR_CORRUPT, NULL, offset,
                                "the journal changes while it is read");
        if (frame.kind == JOURNAL_KEYS)
            KSV_TRY(take_entries(r, offset, error));
        offset += r->frame.size;
    }
    return KSV_OK;
}

static ksv_status read_all(journal_reader *r, uint64_t committed_bytes,
                           ksv_error *error)
{
    uint8_t header[JOURNAL_HEADER_BYTES];
    ksv_file_info info;
    uint64_t end;
    KSV_TRY(r->file->ops->info(r->file, &info, error));
    r->file_bytes = info.size_bytes;
    KSV_TRY(file_read_exactly(r->file, 0, header, sizeof header, error));
    KSV_TRY(journal_header_check(r->info, header, error));
    KSV_TRY(find_end(r, &end, error));
    if (end < committed_bytes)
        return error_set_at(error, KSV_ERROR_CORRUPT, NULL, end,
                            "the journal is damaged or has been cut");
    return take_frames(r, end, error);
}

ksv_status journal_read(const ksv_file_system *fs, const char *path,
                        const journal_info *info, uint64_t committed_bytes,
                        const ksv_allocator *allocator, journal_entry_fn take,
                        void *ctx, ksv_error *error)
{
    journal_reader r = {.info = info, .take = take, .ctx = ctx};
    ksv_allocator a = allocator_or_default(allocator);
    buffer_init(&r.frame, &a);
    ksv_status status = fs->open_read(fs->ctx, path, &r.file, error);
    if (status == KSV_OK)
        status = read_all(&r, committed_bytes, error);
    if (status != KSV_OK)
        error_add_path(error, path);
    file_close_quietly(r.file);
    buffer_release(&r.frame);
    return status;
}
