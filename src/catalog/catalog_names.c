/* SPDX-License-Identifier: MIT */
/* Which files of an index directory are ours, by their names. */
#include "catalog/catalog_names.h"

#include <string.h>

#include "base/error.h"
#include "io/atomic_file.h"
#include "io/file.h"

#define DIGITS 16

static bool parse_digits(const char *name, uint64_t *number)
{
    *number = 0;
    for (int i = 0; i < DIGITS; i++) {
        char c = name[i];
        unsigned digit;
        if (c >= '0' && c <= '9')
            digit = (unsigned)(c - '0');
        else if (c >= 'a' && c <= 'f')
            digit = (unsigned)(c - 'a') + 10;
        else
            return false;
        *number = *number << 4 | digit;
    }
    return true;
}

/* What stands between the digits and ".tmp": a point and letters. */
static bool is_ending(const char *text, size_t length)
{
    if (length < 2 || text[0] != '.')
        return false;
    for (size_t i = 1; i < length; i++)
        if (text[i] < 'a' || text[i] > 'z')
            return false;
    return true;
}

static name_kind kind_of_ending(const char *ending)
{
    if (strcmp(ending, CATALOG_COPY_ENDING) == 0)
        return NAME_COPY;
    if (strlen(ending) == 4 && strncmp(ending, ".ks", 3) == 0 &&
        is_ending(ending, 4))
        return NAME_SIDECAR;
    size_t length = strlen(ending);
    size_t temporary = strlen(ATOMIC_FILE_TEMPORARY);
    if (length > temporary &&
        strcmp(ending + length - temporary, ATOMIC_FILE_TEMPORARY) == 0 &&
        is_ending(ending, length - temporary))
        return NAME_TEMPORARY;
    return NAME_FOREIGN;
}

name_kind name_parse(const char *name, uint64_t *number)
{
    *number = 0;
    if (strcmp(name, CATALOG_FILE_NAME) == 0)
        return NAME_CATALOG;
    if (strcmp(name, CATALOG_LOCK_NAME) == 0)
        return NAME_LOCK;
    if (strcmp(name, CATALOG_FILE_NAME ATOMIC_FILE_TEMPORARY) == 0 ||
        strcmp(name, CATALOG_SCRATCH_NAME) == 0)
        return NAME_TEMPORARY;
    if (strlen(name) <= DIGITS || !parse_digits(name, number))
        return NAME_FOREIGN;
    return kind_of_ending(name + DIGITS);
}

static bool collect(void *ctx, const char *name)
{
    name_list *list = ctx;
    uint64_t number;
    name_kind kind = name_parse(name, &number);
    if (kind == NAME_FOREIGN)
        return true;
    void *names = list->names;
    ksv_status status = memory_grow(list->allocator, &names, &list->capacity,
                                    list->count + 1, sizeof(char *), NULL);
    list->names = names;
    char *copy = status == KSV_OK
                     ? memory_copy_string(list->allocator, name, strlen(name))
                     : NULL;
    list->no_memory = copy == NULL;
    if (copy == NULL)
        return false;
    list->names[list->count++] = copy;
    list->has_sidecar |= kind == NAME_SIDECAR;
    if (kind == NAME_COPY && (!list->has_copy || number > list->highest_copy)) {
        list->has_copy = true;
        list->highest_copy = number;
    }
    return true;
}

ksv_status name_list_read(const ksv_file_system *fs, const char *directory,
                          const ksv_allocator *allocator, name_list *list,
                          ksv_error *error)
{
    memset(list, 0, sizeof *list);
    list->allocator = allocator;
    ksv_status status = fs->list(fs->ctx, directory, collect, list, error);
    if (status == KSV_OK && list->no_memory)
        status = error_set_memory(error);
    return status;
}

void name_list_release(name_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        memory_free_string(list->allocator, list->names[i]);
    memory_free(list->allocator, list->names, list->capacity * sizeof(char *));
    list->names = NULL;
    list->count = 0;
    list->capacity = 0;
}

ksv_status name_remove(const ksv_file_system *fs, const char *directory,
                       const char *name, const ksv_allocator *allocator,
                       ksv_error *error)
{
    char *path = path_join(allocator, directory, name);
    if (path == NULL)
        return error_set_memory(error);
    ksv_error problem;
    ksv_status status = fs->remove(fs->ctx, path, &problem);
    if (status != KSV_OK && file_error_is_missing(&problem))
        status = KSV_OK;
    else if (status != KSV_OK && error != NULL)
        *error = problem;
    memory_free_string(allocator, path);
    return status;
}
