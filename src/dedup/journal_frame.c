/* SPDX-License-Identifier: MIT */
/* The codec of a journal's header and frames. */
#include "dedup/journal_frame.h"

#include <string.h>

#include "base/coding.h"
#include "base/error.h"
#include "hash/hash.h"

/* Offsets in the header. */
enum {
    HEADER_VERSION = 8,
    HEADER_CONTENT = 12,
    HEADER_ID = 16,
    HEADER_CHECKSUM = 56
};

/* Offsets in the head of a frame. */
enum {
    FRAME_MAGIC = 0,
    FRAME_KIND = 4,
    FRAME_PAYLOAD = 8,
    FRAME_SEQUENCE = 16,
    FRAME_CHECKSUM = 24
};

void journal_header_encode(const journal_info *info,
                           uint8_t out[JOURNAL_HEADER_BYTES])
{
    memset(out, 0, JOURNAL_HEADER_BYTES);
    memcpy(out, JOURNAL_MAGIC, JOURNAL_MAGIC_BYTES);
    store_u32(out + HEADER_VERSION, JOURNAL_VERSION);
    store_u32(out + HEADER_CONTENT, info->content);
    memcpy(out + HEADER_ID, info->id, sizeof info->id);
    store_u64(out + HEADER_CHECKSUM, hash_checksum64(out, HEADER_CHECKSUM));
}

ksv_status journal_header_check(const journal_info *info,
                                const uint8_t header[JOURNAL_HEADER_BYTES],
                                ksv_error *error)
{
    uint8_t expected[JOURNAL_HEADER_BYTES];
    uint32_t version = load_u32(header + HEADER_VERSION);
    journal_header_encode(info, expected);
    if (memcmp(header, JOURNAL_MAGIC, JOURNAL_MAGIC_BYTES) == 0 &&
        version > JOURNAL_VERSION)
        return error_set(error, KSV_ERROR_VERSION, NULL,
                         "has format version %u; this program knows up to %d",
                         version, JOURNAL_VERSION);
    if (memcmp(header, expected, sizeof expected) != 0)
        return error_set_at(error, KSV_ERROR_CORRUPT, NULL, 0,
                            "is not the journal that belongs here");
    return KSV_OK;
}

static uint64_t checksum(const journal_info *info, const uint8_t *bytes,
                         uint64_t payload_bytes)
{
    uint8_t parts[FRAME_CHECKSUM + 8 + sizeof info->id];
    memcpy(parts, bytes, FRAME_CHECKSUM);
    store_u64(
        parts + FRAME_CHECKSUM,
        hash_checksum64(bytes + JOURNAL_FRAME_BYTES, (size_t)payload_bytes));
    memcpy(parts + FRAME_CHECKSUM + 8, info->id, sizeof info->id);
    return hash_checksum64(parts, sizeof parts);
}

void journal_frame_seal(const journal_info *info, const journal_frame *frame,
                        uint8_t *bytes)
{
    store_u32(bytes + FRAME_MAGIC, JOURNAL_FRAME_MAGIC);
    store_u32(bytes + FRAME_KIND, (uint32_t)frame->kind);
    store_u64(bytes + FRAME_PAYLOAD, frame->payload_bytes);
    store_u64(bytes + FRAME_SEQUENCE, frame->sequence);
    store_u64(bytes + FRAME_CHECKSUM,
              checksum(info, bytes, frame->payload_bytes));
}

bool journal_frame_decode(const uint8_t head[JOURNAL_FRAME_BYTES],
                          uint64_t bytes_left, journal_frame *frame)
{
    frame->kind = (journal_frame_kind)load_u32(head + FRAME_KIND);
    frame->payload_bytes = load_u64(head + FRAME_PAYLOAD);
    frame->sequence = load_u64(head + FRAME_SEQUENCE);
    return load_u32(head + FRAME_MAGIC) == JOURNAL_FRAME_MAGIC &&
           (frame->kind == JOURNAL_KEYS || frame->kind == JOURNAL_COMMIT) &&
           frame->payload_bytes <= bytes_left;
}

bool journal_frame_is_whole(const journal_info *info, const uint8_t *bytes,
                            const journal_frame *frame)
{
    return load_u64(bytes + FRAME_CHECKSUM) ==
           checksum(info, bytes, frame->payload_bytes);
}
