/* SPDX-License-Identifier: MIT */
/* JSON text: strings in UTF-8, other bytes in base64. */
#ifndef KSV_TOOLS_JSON_H
#define KSV_TOOLS_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "output.h"

/* A check for UTF-8 that takes its bytes in pieces; all zero at the start. */
typedef struct json_utf8 {
    unsigned left;       /* bytes that the character still needs */
    unsigned char least; /* of the next byte, when `left` > 0 */
    unsigned char most;
    bool is_bad;
} json_utf8;

void json_utf8_add(json_utf8 *check, const void *data, size_t size_bytes);
/* Whether all bytes were well-formed and the last character is whole. */
bool json_utf8_is_good(const json_utf8 *check);

/* A string's content, without the quotes; in pieces of any size. */
void json_add_escaped(output *out, const void *data, size_t size_bytes);

/* Base64 in pieces: all zero at the start. */
typedef struct json_base64 {
    unsigned char kept[3];
    unsigned kept_bytes;
} json_base64;

void json_base64_add(json_base64 *state, output *out, const void *data,
                     size_t size_bytes);
void json_base64_finish(json_base64 *state, output *out);

/* "NAME":"..." or "NAME_base64":"...", after a comma unless `is_first`. */
void json_add_bytes(output *out, bool is_first, const char *name,
                    const void *data, size_t size_bytes);
void json_add_text(output *out, bool is_first, const char *name,
                   const char *text);
void json_add_number(output *out, bool is_first, const char *name,
                     uint64_t number);

#endif
