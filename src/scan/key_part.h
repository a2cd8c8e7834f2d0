/* SPDX-License-Identifier: MIT */
/* One part of a key specification: from text, to text, and checked. */
#ifndef KSV_SCAN_KEY_PART_H
#define KSV_SCAN_KEY_PART_H

#include <stdbool.h>

#include "base/memory.h"
#include "scan/scan_spec.h"

/* Parses what a user wrote; KSV_ERROR_ARGUMENT says what would be right. `part`
 * is to be released also after a failure. */
ksv_status key_part_parse(ksv_format format, const char *text,
                          const ksv_allocator *allocator, key_part *part,
                          ksv_error *error);

/* What a format without any key specification takes; false: it needs one. */
bool key_part_default(ksv_format format, key_part *part);

void key_part_release(const ksv_allocator *allocator, key_part *part);

/* Appends the shortest text that key_part_parse() reads as this part. */
ksv_status key_part_describe(const key_part *part, ksv_format format,
                             byte_buffer *out, ksv_error *error);

/* Whether key_part_parse() could have made it for `format`: for what was read
 * from disk. */
bool key_part_is_valid(const key_part *part, ksv_format format);

/* The member names of a jsonl key (key_part_member.c). */
ksv_status key_part_parse_member(const char *text,
                                 const ksv_allocator *allocator, key_part *part,
                                 ksv_error *error);
ksv_status key_part_describe_member(const key_part *part, byte_buffer *out,
                                    ksv_error *error);

#endif
