/* SPDX-License-Identifier: MIT */
/* Specifications for tests, in one line. */
#ifndef KSV_TEST_SCAN_SPEC_OF_H
#define KSV_TEST_SCAN_SPEC_OF_H

#include "scan/scan_spec.h"

/* Options with one key, or with none for NULL; `*key` has to outlive them. */
ksv_format_options options_of(ksv_format format, const char *const *key);

/* The specification that the options make, which has to be one. */
scan_spec *scan_spec_of(const ksv_format_options *options);

#endif
