/* SPDX-License-Identifier: MIT */
/* The codec of a journal's header and frames. */
#ifndef KSV_DEDUP_JOURNAL_FRAME_H
#define KSV_DEDUP_JOURNAL_FRAME_H

#include "dedup/journal.h"

void journal_header_encode(const journal_info *info,
                           uint8_t out[JOURNAL_HEADER_BYTES]);
/* KSV_ERROR_CORRUPT unless it is that header; or KSV_ERROR_VERSION. */
ksv_status journal_header_check(const journal_info *info,
                                const uint8_t header[JOURNAL_HEADER_BYTES],
                                ksv_error *error);

typedef struct journal_frame {
    journal_frame_kind kind;
    uint64_t payload_bytes;
    uint64_t sequence; /* of the frame in its file, from 0 */
} journal_frame;

/* Fills the head of a frame whose payload stands behind it. */
void journal_frame_seal(const journal_info *info, const journal_frame *frame,
                        uint8_t *bytes);
/* Whether `head` may be that of a frame, with no more payload than there is;
 * then, given the payload behind it, whether it is one. */
bool journal_frame_decode(const uint8_t head[JOURNAL_FRAME_BYTES],
                          uint64_t bytes_left, journal_frame *frame);
bool journal_frame_is_whole(const journal_info *info, const uint8_t *bytes,
                            const journal_frame *frame);

#endif
