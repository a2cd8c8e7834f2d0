/* SPDX-License-Identifier: MIT */
/* Fuzzes the stored watch list: whatever passes the check can be gone through
 * and matched against names. */
#include <stdlib.h>
#include <string.h>

#include "base/path_pattern.h"
#include "catalog/watch_list.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void match_names(const char *text)
{
    static const char *const names[] = {"a", "data", "b.csv", ".x", "[", "*"};
    path_pattern pattern;
    if (path_pattern_parse(&pattern, text) != NULL)
        abort();
    path_positions at = path_pattern_start(&pattern);
    for (size_t i = 0; i < 4 * sizeof names / sizeof names[0]; i++) {
        bool is_whole;
        const char *name = names[i % (sizeof names / sizeof names[0])];
        at = path_pattern_step(&pattern, at, name, &is_whole);
        if (pattern.count < 63 && at >> (pattern.count + 1) != 0)
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* A copy of its own, so that reading beyond the end is noticed. */
    uint8_t *copy = malloc(size + (size == 0));
    if (copy == NULL)
        abort();
    if (size > 0)
        memcpy(copy, data, size);
    catalog_parameters parameters = {.watch = copy, .watch_bytes = size};
    watch_entry entry;
    if (watch_list_check(&parameters, NULL) == KSV_OK)
        for (size_t at = 0; watch_list_next(&parameters, &at, &entry);)
            match_names(entry.pattern);
    free(copy);
    return 0;
}
