/* SPDX-License-Identifier: MIT */
/* A data file of lines in the order of their keys, which are the even numbers,
 * and its index. */
#ifndef KSV_TESTS_SUPPORT_ORDERED_LINES_H
#define KSV_TESTS_SUPPORT_ORDERED_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <keysieve/keysieve.h>

/* Appends lines `first` to `end` of `line_bytes` each; line i has the key 2i.
 */
void ordered_lines_append(const char *path, unsigned first, unsigned end,
                          int line_bytes);

/* Builds, or updates, an index of the organisation "sorted". */
ksv_status ordered_lines_build(const char *directory, const char *path,
                               bool is_update, ksv_build_report *report,
                               ksv_error *error);

typedef struct ordered_answer {
    size_t records;
    uint64_t offset; /* of the last of them */
} ordered_answer;

ksv_status ordered_lines_ask(ksv_index *index, unsigned number,
                             ordered_answer *answer);

#endif
