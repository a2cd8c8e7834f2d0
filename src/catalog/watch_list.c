/* SPDX-License-Identifier: MIT */
/* The patterns whose matches an update takes in, as the catalog stores them. */
#include "catalog/watch_list.h"

#include <string.h>

#include "base/error.h"
#include "base/path_pattern.h"
#include "io/file.h"

/* The string at `*at`, which moves behind it; NULL when there is none. */
static const char *next_string(const catalog_parameters *p, size_t *at)
{
    const uint8_t *text = p->watch + *at;
    const uint8_t *end =
        *at < p->watch_bytes ? memchr(text, '\0', p->watch_bytes - *at) : NULL;
    if (end == NULL)
        return NULL;
    *at += (size_t)(end - text) + 1;
    return (const char *)text;
}

bool watch_list_next(const catalog_parameters *parameters, size_t *at,
                     watch_entry *entry)
{
    entry->given_directory = next_string(parameters, at);
    entry->relative_directory = next_string(parameters, at);
    entry->pattern = next_string(parameters, at);
    return entry->given_directory != NULL &&
           entry->relative_directory != NULL && entry->pattern != NULL;
}

ksv_status watch_list_check(const catalog_parameters *parameters,
                            ksv_error *error)
{
    size_t at = 0;
    watch_entry entry;
    path_pattern parsed;
    bool is_good = true;
    while (is_good && at < parameters->watch_bytes)
        is_good = watch_list_next(parameters, &at, &entry) &&
                  path_pattern_parse(&parsed, entry.pattern) == NULL;
    if (is_good)
        return KSV_OK;
    error_set(error, KSV_ERROR_CORRUPT, NULL,
              "the patterns of the index are malformed");
    error_add_remedy(error, KSV_REMEDY_BUILD);
    return KSV_ERROR_CORRUPT;
}

/* The bytes of `given` before its last literal directory ends. */
static size_t literal_length(const char *given)
{
    size_t length = 0;
    for (;;) {
        size_t part = strcspn(given + length, "/");
        if (given[length + part] == '\0' ||
            !path_pattern_is_literal(given + length, part))
            return length;
        length += part + 1;
    }
}

/* `directory` is "" or ends with a slash. */
static ksv_status relative_to(const char *real_directory, const char *directory,
                              const ksv_allocator *a, char **out,
                              ksv_error *error)
{
    char *real = NULL;
    KSV_TRY(path_real_directory(directory[0] != '\0' ? directory : ".", a,
                                &real, error));
    ksv_status status = path_relative(real_directory, real, a, out, error);
    memory_free_string(a, real);
    return status;
}

static bool is_known(const catalog_parameters *p, const char *relative,
                     const char *pattern)
{
    size_t at = 0;
    watch_entry entry;
    while (watch_list_next(p, &at, &entry))
        if (strcmp(entry.relative_directory, relative) == 0 &&
            strcmp(entry.pattern, pattern) == 0)
            return true;
    return false;
}

static ksv_status append(catalog_parameters *p, const char *const strings[3],
                         const ksv_allocator *a, ksv_error *error)
{
    size_t old_bytes = p->watch_bytes;
    size_t new_bytes = old_bytes;
    for (int i = 0; i < 3; i++)
        new_bytes += strlen(strings[i]) + 1;
    uint8_t *watch = memory_realloc(a, p->watch, old_bytes, new_bytes);
    if (watch == NULL)
        return error_set_memory(error);
    uint8_t *next = watch + old_bytes;
    for (int i = 0; i < 3; i++) {
        size_t size = strlen(strings[i]) + 1;
        memcpy(next, strings[i], size);
        next += size;
    }
    p->watch = watch;
    p->watch_bytes = new_bytes;
    return KSV_OK;
}

ksv_status watch_list_add(catalog_parameters *parameters,
                          const char *real_directory, const char *given,
                          const ksv_allocator *allocator, bool *changed,
                          ksv_error *error)
{
    size_t length = literal_length(given);
    const char *pattern = given + length;
    path_pattern parsed;
    const char *wrong = path_pattern_parse(&parsed, pattern);
    if (wrong != NULL)
        return error_set(error, KSV_ERROR_ARGUMENT, given, "the pattern %s",
                         wrong);
    char *relative = NULL;
    char *directory = memory_copy_string(allocator, given, length);
    ksv_status status = directory != NULL
                            ? relative_to(real_directory, directory, allocator,
                                          &relative, error)
                            : error_set_memory(error);
    if (status == KSV_OK && !is_known(parameters, relative, pattern)) {
        const char *const strings[3] = {directory, relative, pattern};
        status = append(parameters, strings, allocator, error);
        *changed = *changed || status == KSV_OK;
    }
    memory_free_string(allocator, relative);
    memory_free_string(allocator, directory);
    return status;
}

void watch_list_clear(catalog_parameters *parameters,
                      const ksv_allocator *allocator, bool *changed)
{
    *changed = *changed || parameters->watch_bytes > 0;
    memory_free(allocator, parameters->watch, parameters->watch_bytes);
    parameters->watch = NULL;
    parameters->watch_bytes = 0;
}
