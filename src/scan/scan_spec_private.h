/* SPDX-License-Identifier: MIT */
/* What making a specification and reading a stored one have in common. */
#ifndef KSV_SCAN_SCAN_SPEC_PRIVATE_H
#define KSV_SCAN_SCAN_SPEC_PRIVATE_H

#include "scan/scan_spec.h"

#define SCAN_SPEC_SEPARATOR "\t"

static inline bool format_has_columns(ksv_format format)
{
    return format == KSV_FORMAT_CSV || format == KSV_FORMAT_TSV;
}

/* Columns, or fields of lines. */
bool scan_spec_uses_delimiter(const scan_spec *spec);

/* An empty one with room for `part_count` parts; scan_spec_destroy() takes it
 * in any state. */
ksv_status scan_spec_new(const ksv_allocator *allocator, size_t part_count,
                         scan_spec **out, ksv_error *error);

/* Whether its members go together, each being valid alone. */
ksv_status scan_spec_check(const scan_spec *spec, ksv_error *error);

/* Fills in `key_text`. */
ksv_status scan_spec_describe(scan_spec *spec, ksv_error *error);

#endif
