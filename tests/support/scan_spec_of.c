/* SPDX-License-Identifier: MIT */
/* Specifications for tests, in one line. */
#include "support/scan_spec_of.h"

#include <stdio.h>
#include <stdlib.h>

ksv_format_options options_of(ksv_format format, const char *const *key)
{
    ksv_format_options o;
    ksv_format_options_init(&o);
    o.format = format;
    o.keys = key;
    o.key_count = *key != NULL ? 1 : 0;
    return o;
}

scan_spec *scan_spec_of(const ksv_format_options *options)
{
    scan_spec *spec;
    ksv_error error;
    if (scan_spec_create(options, NULL, &spec, &error) != KSV_OK) {
        fprintf(stderr, "no specification: %s\n", error.text);
        abort();
    }
    return spec;
}
