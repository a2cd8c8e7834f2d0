/* SPDX-License-Identifier: MIT */
/* Extended regular expressions over the bytes of a line. */
#ifndef KSV_SCAN_LINE_REGEX_H
#define KSV_SCAN_LINE_REGEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <keysieve/memory.h>
#include <keysieve/status.h>

/* POSIX extended syntax in the C locale, whatever the locale of the program: a
 * character is a byte, NUL included (which `.` does not match). One thread at
 * a time. */
typedef struct line_regex line_regex;

/* `pattern` is NUL-terminated. KSV_ERROR_ARGUMENT says what is wrong. */
ksv_status line_regex_open(const char *pattern, const ksv_allocator *allocator,
                           line_regex **out, ksv_error *error);
void line_regex_close(line_regex *regex);

/* As line_regex_open(), without keeping anything. */
ksv_status line_regex_check(const char *pattern, ksv_error *error);

/* Where the first match has its first group, or, when the expression has none,
 * the match itself; `*matches` is false without a match or when the group took
 * no part in it. KSV_ERROR_DATA for a line beyond 2 GiB, at `line_offset`. */
ksv_status line_regex_find(line_regex *regex, const uint8_t *line,
                           size_t line_bytes, uint64_t line_offset,
                           bool *matches, size_t *start, size_t *size_bytes,
                           ksv_error *error);

#endif
