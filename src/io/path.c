/* SPDX-License-Identifier: MIT */
/* Joining paths, and one spelling for each. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "io/file.h"

/* `head` and `tail` in one string; NULL when memory is out. */
static char *concatenate(const ksv_allocator *a, const char *head,
                         size_t head_length, const char *separator,
                         const char *tail, size_t tail_length)
{
    size_t separator_length = strlen(separator);
    size_t length = head_length + separator_length + tail_length;
    char *joined = memory_alloc(a, length + 1);
    if (joined == NULL)
        return NULL;
    memcpy(joined, head, head_length);
    memcpy(joined + head_length, separator, separator_length);
    memcpy(joined + head_length + separator_length, tail, tail_length);
    joined[length] = '\0';
    return joined;
}

static const char *separator_after(const char *directory, size_t length)
{
    return length == 0 || directory[length - 1] == '/' ? "" : "/";
}

char *path_join(const ksv_allocator *allocator, const char *directory,
                const char *name)
{
    size_t length = strlen(directory);
    return concatenate(allocator, directory, length,
                       separator_after(directory, length), name, strlen(name));
}

char *path_append(const ksv_allocator *allocator, const char *path,
                  const char *ending)
{
    return concatenate(allocator, path, strlen(path), "", ending,
                       strlen(ending));
}

/* The real path of the directory that the first `length` bytes of `path` name.
 * "/." is put after them: it is an error for what is not a directory. */
static ksv_status resolve_directory(const char *path, size_t length,
                                    const ksv_allocator *allocator,
                                    char resolved[PATH_MAX], ksv_error *error)
{
    char *directory = concatenate(allocator, path, length,
                                  separator_after(path, length), ".", 1);
    if (directory == NULL)
        return error_set_memory(error);
    const char *found = realpath(directory, resolved);
    int reason = errno;
    memory_free_string(allocator, directory);
    if (found == NULL)
        return error_set_os(error, reason, path, "cannot resolve the path");
    return KSV_OK;
}

static bool names_directory(const char *name, size_t length)
{
    return (length == 1 && name[0] == '.') ||
           (length == 2 && name[0] == '.' && name[1] == '.');
}

ksv_status path_real_directory(const char *path, const ksv_allocator *allocator,
                               char **out, ksv_error *error)
{
    *out = NULL;
    if (path[0] == '\0')
        return error_set_os(error, ENOENT, path, "cannot resolve the path");
    char resolved[PATH_MAX];
    KSV_TRY(resolve_directory(path, strlen(path), allocator, resolved, error));
    *out = memory_copy_string(allocator, resolved, strlen(resolved));
    return *out != NULL ? KSV_OK : error_set_memory(error);
}

void path_memo_release(path_memo *memo)
{
    memory_free_string(memo->allocator, memo->given);
    memory_free_string(memo->allocator, memo->real);
    memo->given = NULL;
    memo->real = NULL;
}

/* The real path of the directory that the first `length` bytes of `path` name,
 * in `memo`. */
static ksv_status resolve_near(path_memo *memo, const char *path, size_t length,
                               ksv_error *error)
{
    if (memo->given != NULL && strlen(memo->given) == length &&
        memcmp(memo->given, path, length) == 0)
        return KSV_OK;
    char resolved[PATH_MAX];
    path_memo_release(memo);
    KSV_TRY(resolve_directory(path, length, memo->allocator, resolved, error));
    memo->real =
        memory_copy_string(memo->allocator, resolved, strlen(resolved));
    memo->given = memory_copy_string(memo->allocator, path, length);
    if (memo->real != NULL && memo->given != NULL)
        return KSV_OK;
    path_memo_release(memo);
    return error_set_memory(error);
}

ksv_status path_canonical_near(path_memo *memo, const char *path, char **out,
                               ksv_error *error)
{
    *out = NULL;
    size_t end = strlen(path);
    while (end > 0 && path[end - 1] == '/')
        end--;
    size_t start = end;
    while (start > 0 && path[start - 1] != '/')
        start--;
    /* Without a last component the whole path is that of a directory. */
    if (end == 0 || names_directory(path + start, end - start))
        return path_real_directory(path, memo->allocator, out, error);

    KSV_TRY(resolve_near(memo, path, start, error));
    size_t length = strlen(memo->real);
    *out = concatenate(memo->allocator, memo->real, length,
                       separator_after(memo->real, length), path + start,
                       end - start);
    return *out != NULL ? KSV_OK : error_set_memory(error);
}

ksv_status path_canonical(const char *path, const ksv_allocator *allocator,
                          char **out, ksv_error *error)
{
    path_memo memo = {.allocator = allocator};
    ksv_status status = path_canonical_near(&memo, path, out, error);
    path_memo_release(&memo);
    return status;
}

/* The length of the longest common directory of two absolute paths; the slash
 * after it is not counted, so that of "/" is 0. */
static size_t common_length(const char *a, const char *b)
{
    size_t common = 0;
    for (size_t i = 0;; i++) {
        bool a_ends = a[i] == '/' || a[i] == '\0';
        bool b_ends = b[i] == '/' || b[i] == '\0';
        if (a_ends && b_ends)
            common = i;
        if (a[i] != b[i] || a[i] == '\0')
            return common;
    }
}

static size_t count_components(const char *path)
{
    size_t count = 0;
    for (size_t i = 0; path[i] != '\0'; i++)
        count += path[i] == '/' && path[i + 1] != '\0';
    return count;
}

ksv_status path_relative(const char *from, const char *to,
                         const ksv_allocator *allocator, char **out,
                         ksv_error *error)
{
    *out = NULL;
    if (from[0] != '/' || to[0] != '/')
        return error_set(error, KSV_ERROR_ARGUMENT, to,
                         "is not an absolute path");
    size_t common = common_length(from, to);
    size_t ups = count_components(from + common);
    const char *rest = to + common;
    while (*rest == '/')
        rest++;
    if (ups == 0 && *rest == '\0')
        rest = ".";
    size_t rest_length = strlen(rest);
    /* No slash after the last ".." when nothing follows. */
    size_t length = 3 * ups + rest_length - (rest_length == 0);
    char *relative = memory_alloc(allocator, length + 1);
    if (relative == NULL)
        return error_set_memory(error);
    for (size_t i = 0; i < ups; i++)
        memcpy(relative + 3 * i, "../", 3 * i + 3 <= length ? 3 : 2);
    memcpy(relative + length - rest_length, rest, rest_length);
    relative[length] = '\0';
    *out = relative;
    return KSV_OK;
}
