/* SPDX-License-Identifier: MIT */
/* Lines of JSON that differ from an earlier one in nothing but their strings,
 * numbers, true, false and null. */
#ifndef KSV_SCAN_JSON_SHAPE_H
#define KSV_SCAN_JSON_SHAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "scan/json_scanner.h"

/* All else of a valid line, between its scalars: another line that has it, too,
 * byte for byte, and scalars between, is as valid, and its keys are the same
 * scalars. One thread at a time. */
typedef struct json_shape json_shape;

/* For values with `part_count` parts of a key. */
ksv_status json_shape_open(size_t part_count, const ksv_allocator *allocator,
                           json_shape **out, ksv_error *error);
void json_shape_close(json_shape *shape); /* NULL is allowed */

/* Whether a line certainly has the shape, and no key in it takes more care. A
 * line that has not may still be valid. */
bool json_shape_match(json_shape *shape, const uint8_t *line, size_t size);

/* After a match, as json_scanner_text(); borrowed from the line. */
json_text json_shape_text(const json_shape *shape, size_t part);

/* After a line that did not match but is a value to `scanner`: the shape may
 * become that of this line. */
void json_shape_note(json_shape *shape, const json_scanner *scanner,
                     const uint8_t *line, size_t size);

#endif
