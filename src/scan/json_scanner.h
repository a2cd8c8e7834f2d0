/* SPDX-License-Identifier: MIT */
/* Checks one JSON value while its bytes pass by, and takes the scalars at the
 * given paths. */
#ifndef KSV_SCAN_JSON_SCANNER_H
#define KSV_SCAN_JSON_SCANNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <keysieve/memory.h>
#include <keysieve/status.h>

#include "scan/scan_spec.h"

/* A push parser without a tree and without recursion: it holds the values that
 * it was asked for and one bit a level of nesting. Strict as RFC 8259, but NaN,
 * Infinity, -Infinity and control characters within strings pass, and so do
 * bytes that are not UTF-8. One thread at a time. */
typedef struct json_scanner json_scanner;

typedef enum json_outcome {
    JSON_VALUE = 0,    /* exactly one valid value */
    JSON_BLANK = 1,    /* nothing but white space */
    JSON_MALFORMED = 2 /* see json_scanner_describe_fault() */
} json_outcome;

/* `parts` (all KEY_PART_MEMBER) are borrowed and have to outlive the scanner.
 */
ksv_status json_scanner_open(const key_part *parts, size_t part_count,
                             const ksv_allocator *allocator, json_scanner **out,
                             ksv_error *error);
void json_scanner_close(json_scanner *scanner);

/* Forgets all and waits for the first byte of a value. */
void json_scanner_begin(json_scanner *scanner);

/* Takes the next piece of the value and of the white space around it. Values
 * taken lie in `data` as long as they can; with `keep` they do not any more
 * when the call returns. Bytes after a fault have no meaning. Fails only when
 * memory is out. */
ksv_status json_scanner_feed(json_scanner *scanner, const uint8_t *data,
                             size_t size_bytes, bool keep, ksv_error *error);

/* Says what all that was fed since json_scanner_begin() is. */
json_outcome json_scanner_end(json_scanner *scanner);

/* What the path of a key part has led to. */
typedef struct json_text {
    const uint8_t *data;
    size_t size_bytes; /* 0: no key */
    bool is_borrowed;  /* it lies in the bytes fed last */
} json_text;

/* After JSON_VALUE, for part `part`: the decoded string or the number, true or
 * false as written. Nothing when there is no such member or it is empty, null,
 * NaN, infinite, an array, an object, or a string without UTF-8 form. Of
 * members of one name the last counts. Valid until the next call on the
 * scanner. */
json_text json_scanner_text(const json_scanner *scanner, size_t part);

/* After JSON_MALFORMED: what is wrong and how far into the line, as a phrase.
 * Whether the value was right as far as it went. */
#define JSON_FAULT_TEXT_BYTES 160
bool json_scanner_describe_fault(const json_scanner *scanner,
                                 char text[JSON_FAULT_TEXT_BYTES]);

#endif
