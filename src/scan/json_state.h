/* SPDX-License-Identifier: MIT */
/* What the parts of the JSON scanner share. */
#ifndef KSV_SCAN_JSON_STATE_H
#define KSV_SCAN_JSON_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <keysieve/memory.h>
#include <keysieve/status.h>

#include "base/memory.h"
#include "scan/json_paths.h"
#include "scan/json_scanner.h"

/* Where in the grammar the next byte stands. White space is allowed before the
 * first group. */
typedef enum json_place {
    JSON_AT_VALUE,
    JSON_AT_FIRST_ELEMENT, /* a value or the end of the array */
    JSON_AT_FIRST_MEMBER,  /* a name or the end of the object */
    JSON_AT_NAME,
    JSON_AT_COLON,
    JSON_AFTER_VALUE, /* a comma or the end of the container */
    JSON_AT_END,      /* the whole value is complete */

    JSON_IN_STRING,
    JSON_IN_ESCAPE, /* after the backslash */
    JSON_IN_HEX,    /* after \u and `hex_digits` digits */
    JSON_IN_NUMBER,
    JSON_IN_WORD, /* true, NaN and the like */

    JSON_AT_FAULT
} json_place;

typedef enum json_number_place {
    JSON_NUMBER_SIGN, /* after the minus sign */
    JSON_NUMBER_ZERO,
    JSON_NUMBER_INTEGER,
    JSON_NUMBER_POINT, /* after the point */
    JSON_NUMBER_FRACTION,
    JSON_NUMBER_E, /* after the e */
    JSON_NUMBER_E_SIGN,
    JSON_NUMBER_EXPONENT
} json_number_place;

typedef enum json_fault {
    JSON_FAULT_NONE,
    JSON_FAULT_VALUE,
    JSON_FAULT_NAME,
    JSON_FAULT_COLON,
    JSON_FAULT_IN_OBJECT,
    JSON_FAULT_IN_ARRAY,
    JSON_FAULT_AFTER,
    JSON_FAULT_ESCAPE,
    JSON_FAULT_HEX,
    JSON_FAULT_DIGIT,
    JSON_FAULT_WORD,
    JSON_FAULT_CUT
} json_fault;

/* What was found at a node where a path ends. */
typedef struct json_value {
    json_text text;
    byte_buffer own; /* of decoded strings and what comes in pieces */
} json_value;

/* A container that is open and on a path. */
typedef struct json_frame {
    uint32_t node;
    uint64_t next_index; /* of an array: that of the next element */
} json_frame;

struct json_scanner {
    ksv_allocator allocator;
    json_paths paths;
    json_value *values; /* one a node */
    json_frame *frames; /* of the lowest `path_depth` open containers */
    uint64_t *kinds;    /* a bit a level: 1 is an object */
    size_t kind_words;

    json_place place;
    bool in_object;         /* the innermost open container is an object */
    uint64_t depth;         /* open containers */
    uint64_t path_depth;    /* those of them that are on a path */
    uint32_t value_node;    /* of the value that is next or being read */
    uint64_t passed_bytes;  /* before the piece being read */
    const uint8_t *data;    /* the piece being read */
    byte_buffer name;       /* of the member being read */
    bool name_is_foreign;   /* it cannot be one of those looked for */
    bool string_is_name;    /* the string being read is a member's name */
    bool string_has_no_key; /* it has a lone surrogate */
    uint8_t hex_digits;
    uint16_t hex_value;
    uint16_t high_surrogate; /* one that waits for its partner, or 0 */
    json_number_place number;
    const char *word;
    size_t word_matched;

    json_fault fault;
    uint8_t fault_byte;
    uint64_t fault_at;
};

/* Whether members and elements of the innermost container can be on a path. */
static inline bool json_on_path(const json_scanner *s)
{
    return s->depth == s->path_depth;
}

/* Whether the value that is next or being read is one to keep. */
static inline bool json_takes_value(const json_scanner *s)
{
    return s->value_node != JSON_NO_NODE &&
           s->paths.nodes[s->value_node].is_key;
}

static inline bool json_is_space(uint8_t c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static inline const uint8_t *json_skip_space(const uint8_t *p,
                                             const uint8_t *end)
{
    while (p < end && json_is_space(*p))
        p++;
    return p;
}

/* Stops the scan at `at` (in the piece being read); returns `at`. */
const uint8_t *json_fail(json_scanner *s, json_fault fault, const uint8_t *at);

/* The value of `node` (not JSON_NO_NODE), and of all below it, is another one
 * from here on. */
void json_forget_values(json_scanner *s, uint32_t node);

/* The bytes in the buffer of the value being read are its text. */
void json_use_own_text(json_scanner *s);

/* A scalar is complete. */
void json_end_scalar(json_scanner *s);

/* Parsing of strings that the short cuts cannot take: with escapes that count,
 * or cut by the end of a piece. Each takes what it can of [p, end) and returns
 * where it stopped; NULL: memory is out. */
const uint8_t *json_string_begin(json_scanner *s, const uint8_t *p,
                                 bool is_name);
const uint8_t *json_string_run(json_scanner *s, const uint8_t *p,
                               const uint8_t *end, ksv_error *error);
const uint8_t *json_string_escape(json_scanner *s, const uint8_t *p,
                                  ksv_error *error);
const uint8_t *json_string_hex(json_scanner *s, const uint8_t *p,
                               ksv_error *error);

/* The same for numbers, true, false, null, NaN and infinities. */
const uint8_t *json_scalar_begin(json_scanner *s, const uint8_t *p,
                                 ksv_error *error);
const uint8_t *json_scalar_number(json_scanner *s, const uint8_t *p,
                                  const uint8_t *end, ksv_error *error);
const uint8_t *json_scalar_word(json_scanner *s, const uint8_t *p,
                                const uint8_t *end);
/* The value ends with the line; false: it is not complete. */
bool json_scalar_finish(json_scanner *s);

/* Behind the string, number, true, false or null that begins at `p`, which is
 * before `end`; NULL: there is none, it does not end before `end`, or it is no
 * easy one. Strings with escapes are easy when nobody wants their text. */
const uint8_t *json_easy_scalar_end(const uint8_t *p, const uint8_t *end,
                                    bool unwanted);

/* Whether what follows a backslash at `p`, and ends before `end`, makes an
 * escape that is allowed. */
bool json_escape_is_right(const uint8_t *p, const uint8_t *end);

/* Short cuts through tokens that lie whole in [p, end), the hot loops of the
 * scanner: whole members at JSON_AT_NAME, whole elements at JSON_AT_VALUE in an
 * array. They stop, with `place` set, where something else stands. */
const uint8_t *json_run_members(json_scanner *s, const uint8_t *p,
                                const uint8_t *end);
const uint8_t *json_run_elements(json_scanner *s, const uint8_t *p,
                                 const uint8_t *end);

#endif
