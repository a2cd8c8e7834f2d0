/* SPDX-License-Identifier: MIT */
/* The patterns whose matches an update takes in, as the catalog stores them. */
#ifndef KSV_CATALOG_WATCH_LIST_H
#define KSV_CATALOG_WATCH_LIST_H

#include <stdbool.h>

#include "base/memory.h"
#include "catalog/catalog.h"

/* A pattern is stored as three strings, each ended by NUL: the directory that
 * it begins in as the user gave it ("" or ending with a slash), the same as
 * seen from the index directory, and the rest, which is the pattern proper. */
typedef struct watch_entry {
    const char *given_directory;
    const char *relative_directory;
    const char *pattern;
} watch_entry;

/* Goes through the stored patterns: the next one from `*at` on, which is 0 at
 * the beginning. False at the end; KSV_ERROR_CORRUPT by watch_list_check(). */
bool watch_list_next(const catalog_parameters *parameters, size_t *at,
                     watch_entry *entry);

/* Whether what is stored can be gone through. */
ksv_status watch_list_check(const catalog_parameters *parameters,
                            ksv_error *error);

/* Adds the pattern `given`, as seen from the working directory, unless it is
 * there already. `real_directory` is that of the index. `*changed` becomes true
 * when it was added. A pattern that cannot be used is KSV_ERROR_ARGUMENT. */
ksv_status watch_list_add(catalog_parameters *parameters,
                          const char *real_directory, const char *given,
                          const ksv_allocator *allocator, bool *changed,
                          ksv_error *error);

/* Forgets all patterns. */
void watch_list_clear(catalog_parameters *parameters,
                      const ksv_allocator *allocator, bool *changed);

#endif
