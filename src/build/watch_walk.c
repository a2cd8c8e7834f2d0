/* SPDX-License-Identifier: MIT */
/* Finds the regular files that a watched pattern matches. */
#include "build/watch_walk.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/path_pattern.h"
#include "catalog/catalog_names.h"
#include "io/file.h"

/* Deeper is a circle of links. */
#define DEPTH_MOST 200

typedef struct walker {
    const watch_walk *walk;
    path_pattern pattern;
} walker;

/* A directory on the way: the same place spelled in three ways. */
typedef struct walked_directory {
    const char *open_path;
    const char *given_path;    /* "" for the working directory */
    const char *relative_path; /* "." for the index directory */
    unsigned depth;
} walked_directory;

typedef struct name_array {
    const ksv_allocator *allocator;
    char **names;
    size_t count;
    size_t capacity;
    bool no_memory;
} name_array;

static bool collect(void *ctx, const char *name)
{
    name_array *list = ctx;
    void *items = list->names;
    if (memory_grow(list->allocator, &items, &list->capacity, list->count + 1,
                    sizeof *list->names, NULL) != KSV_OK)
        list->no_memory = true;
    list->names = items;
    char *copy = list->no_memory
                     ? NULL
                     : memory_copy_string(list->allocator, name, strlen(name));
    list->no_memory = copy == NULL;
    if (copy != NULL)
        list->names[list->count++] = copy;
    return copy != NULL;
}

static void release_names(name_array *list)
{
    for (size_t i = 0; i < list->count; i++)
        memory_free_string(list->allocator, list->names[i]);
    memory_free(list->allocator, list->names,
                list->capacity * sizeof *list->names);
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* A directory that is not there has no matches; another trouble is told. */
static ksv_status list_sorted(const walker *w, const walked_directory *at,
                              name_array *list, ksv_error *error)
{
    const watch_walk *walk = w->walk;
    ksv_error problem;
    error_clear(&problem);
    ksv_status status =
        walk->fs->list(walk->fs->ctx, at->open_path, collect, list, &problem);
    if (list->no_memory || status == KSV_ERROR_MEMORY)
        return error_set_memory(error);
    if (status != KSV_OK && !file_error_is_missing(&problem) &&
        walk->problem != NULL) {
        if (at->given_path[0] != '\0')
            error_replace_path(&problem, at->given_path);
        walk->problem(walk->ctx, &problem, true);
    }
    if (list->count > 1)
        qsort(list->names, list->count, sizeof *list->names, compare_names);
    return KSV_OK;
}

/* The files of the index itself are no data. */
static bool is_own(const walked_directory *at, const char *name)
{
    uint64_t number;
    return strcmp(at->relative_path, ".") == 0 &&
           name_parse(name, &number) != NAME_FOREIGN;
}

static bool needs_any_directories(const walker *w, path_positions positions)
{
    for (size_t i = 0; i < w->pattern.count; i++)
        if ((positions >> i & 1) != 0 && w->pattern.parts[i].any_directories)
            return true;
    return false;
}

/* The positions that stay when the pattern must not choose the directory. */
static path_positions without_any_directories(const walker *w,
                                              path_positions before,
                                              const char *name)
{
    path_positions left = 0;
    for (size_t i = 0; i < w->pattern.count; i++) {
        bool is_whole;
        const path_pattern_part *part = &w->pattern.parts[i];
        if ((before >> i & 1) != 0 && !part->any_directories)
            left |= path_pattern_step(&w->pattern, (path_positions)1 << i, name,
                                      &is_whole);
    }
    return left;
}

static ksv_status visit_directory(const walker *w, const walked_directory *at,
                                  path_positions positions, ksv_error *error);

/* A link is followed only where the pattern names it. */
static ksv_status enter(const walker *w, const walked_directory *inner,
                        path_positions before, path_positions after,
                        const char *name, ksv_error *error)
{
    const ksv_allocator *a = w->walk->allocator;
    char *real = NULL;
    char *spelled = NULL;
    char *relative = NULL;
    ksv_status status = KSV_OK;
    /* Either may have vanished. */
    bool exists =
        path_real_directory(inner->open_path, a, &real, NULL) == KSV_OK &&
        path_canonical(inner->open_path, a, &spelled, NULL) == KSV_OK;
    bool is_link = exists && strcmp(real, spelled) != 0;
    if (is_link && needs_any_directories(w, before))
        after = without_any_directories(w, before, name);
    if (exists && after != 0) {
        status =
            path_relative(w->walk->real_directory, real, a, &relative, error);
        walked_directory real_inner = *inner;
        real_inner.relative_path = relative;
        if (status == KSV_OK)
            status = visit_directory(w, &real_inner, after, error);
    }
    memory_free_string(a, relative);
    memory_free_string(a, spelled);
    memory_free_string(a, real);
    return status;
}

static ksv_status visit_entry(const walker *w, const walked_directory *inner,
                              path_positions before, const char *name,
                              ksv_error *error)
{
    bool is_whole;
    path_positions after =
        path_pattern_step(&w->pattern, before, name, &is_whole);
    const ksv_file_system *fs = w->walk->fs;
    ksv_file_info info;
    if ((!is_whole && after == 0) ||
        fs->info(fs->ctx, inner->open_path, &info, NULL) != KSV_OK)
        return KSV_OK;
    if (info.kind == KSV_FILE_DIRECTORY && after != 0 &&
        inner->depth < DEPTH_MOST)
        return enter(w, inner, before, after, name, error);
    if (info.kind != KSV_FILE_REGULAR || !is_whole)
        return KSV_OK;
    const watch_match match = {inner->open_path, inner->given_path,
                               inner->relative_path};
    return w->walk->match(w->walk->ctx, &match, error);
}

/* "" and "." are directories that need not be written. */
static char *join(const ksv_allocator *a, const char *directory,
                  const char *name)
{
    if (directory[0] == '\0' || strcmp(directory, ".") == 0)
        return memory_copy_string(a, name, strlen(name));
    return path_join(a, directory, name);
}

static ksv_status visit_name(const walker *w, const walked_directory *at,
                             path_positions positions, const char *name,
                             ksv_error *error)
{
    const ksv_allocator *a = w->walk->allocator;
    char *open_path = path_join(a, at->open_path, name);
    char *given_path = join(a, at->given_path, name);
    char *relative_path = join(a, at->relative_path, name);
    ksv_status status = KSV_OK;
    if (open_path == NULL || given_path == NULL || relative_path == NULL) {
        status = error_set_memory(error);
    } else {
        walked_directory inner = {open_path, given_path, relative_path,
                                  at->depth + 1};
        status = visit_entry(w, &inner, positions, name, error);
    }
    memory_free_string(a, relative_path);
    memory_free_string(a, given_path);
    memory_free_string(a, open_path);
    return status;
}

static ksv_status visit_directory(const walker *w, const walked_directory *at,
                                  path_positions positions, ksv_error *error)
{
    name_array list = {.allocator = w->walk->allocator};
    ksv_status status = list_sorted(w, at, &list, error);
    for (size_t i = 0; i < list.count && status == KSV_OK; i++)
        if (!is_own(at, list.names[i]))
            status = visit_name(w, at, positions, list.names[i], error);
    release_names(&list);
    return status;
}

/* Where a pattern begins: its directory as seen from the index, or as it was
 * given when that was absolute and the former is not there any more. */
static ksv_status find_start(const watch_walk *walk, const watch_entry *entry,
                             char **open_path, ksv_error *error)
{
    const ksv_allocator *a = walk->allocator;
    ksv_file_info info;
    *open_path = path_join(a, walk->real_directory, entry->relative_directory);
    if (*open_path == NULL)
        return error_set_memory(error);
    if (entry->given_directory[0] != '/' ||
        walk->fs->info(walk->fs->ctx, *open_path, &info, NULL) == KSV_OK)
        return KSV_OK;
    memory_free_string(a, *open_path);
    *open_path = memory_copy_string(a, entry->given_directory,
                                    strlen(entry->given_directory));
    return *open_path != NULL ? KSV_OK : error_set_memory(error);
}

ksv_status watch_walk_run(const watch_walk *walk, const watch_entry *entry,
                          ksv_error *error)
{
    const ksv_allocator *a = walk->allocator;
    walker w = {.walk = walk};
    char *open_path = NULL;
    char *real = NULL;
    char *relative = NULL;
    if (path_pattern_parse(&w.pattern, entry->pattern) != NULL)
        return error_set(error, KSV_ERROR_CORRUPT, NULL,
                         "the patterns of the index are malformed");
    ksv_status status = find_start(walk, entry, &open_path, error);
    /* A directory that is gone has no files. */
    if (status == KSV_OK &&
        path_real_directory(open_path, a, &real, NULL) == KSV_OK) {
        status = path_relative(walk->real_directory, real, a, &relative, error);
        walked_directory start = {open_path, entry->given_directory, relative,
                                  0};
        if (status == KSV_OK)
            status = visit_directory(&w, &start, path_pattern_start(&w.pattern),
                                     error);
    }
    memory_free_string(a, relative);
    memory_free_string(a, real);
    memory_free_string(a, open_path);
    return status;
}
