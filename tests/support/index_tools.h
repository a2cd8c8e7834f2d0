/* SPDX-License-Identifier: MIT */
/* What tests of whole indexes do again and again. */
#ifndef KSV_TESTS_SUPPORT_INDEX_TOOLS_H
#define KSV_TESTS_SUPPORT_INDEX_TOOLS_H

#include <keysieve/keysieve.h>

/* The usual options of a build, and what it reads: data of this format with
 * `*key` (borrowed as long as they are) as the key. `*format` becomes part of
 * `*options`. */
void index_options_of(ksv_format kind, const char *const *key,
                      ksv_format_options *format, ksv_build_options *options);

/* What an index says of itself, but for its list of files. */
ksv_index_info index_info_of(const char *directory);

#endif
