/* SPDX-License-Identifier: MIT */
/* Lines of JSON of one shape, many at once, by masks of their structure. */
#ifndef KSV_SCAN_JSON_LINES_H
#define KSV_SCAN_JSON_LINES_H

#include "scan/json_shape.h"
#include "scan/record_reader_private.h"

/* One thread at a time. */
typedef struct json_lines json_lines;

ksv_status json_lines_open(const scan_spec *spec,
                           const ksv_allocator *allocator, json_lines **out,
                           ksv_error *error);
void json_lines_close(json_lines *lines); /* NULL is allowed */

/* Forgets what was seen of a content. */
void json_lines_begin(json_lines *lines);

/* Gives the records of lines that lie in the reader's window and match the
 * shape, from the reader's position, where a line begins, until one does not,
 * or `capacity`. */
ksv_status json_lines_take(json_lines *lines, json_shape *shape,
                           record_reader *reader, scan_record *records,
                           size_t capacity, size_t *count, ksv_error *error);

#endif
