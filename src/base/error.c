/* SPDX-License-Identifier: MIT */
/* Filling the caller's error, and handing a status up. */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const STATUS_TEXTS[] = {
    [KSV_OK] = "no error",
    [KSV_ERROR_ARGUMENT] = "invalid argument",
    [KSV_ERROR_MEMORY] = "out of memory",
    [KSV_ERROR_IO] = "input/output error",
    [KSV_ERROR_NO_INDEX] = "no index",
    [KSV_ERROR_CORRUPT] = "index is damaged",
    [KSV_ERROR_VERSION] = "later format version",
    [KSV_ERROR_STALE] = "data changed after it was indexed",
    [KSV_ERROR_DATA] = "data is malformed",
    [KSV_ERROR_BUSY] = "another build is running",
    [KSV_ERROR_MISMATCH] = "options contradict the index",
    [KSV_ERROR_DUPLICATE] = "duplicate key",
    [KSV_ERROR_UNSUPPORTED] = "not supported",
    [KSV_ERROR_CANCELLED] = "cancelled",
};

const char *ksv_status_text(ksv_status status)
{
    size_t count = sizeof STATUS_TEXTS / sizeof STATUS_TEXTS[0];
    if ((unsigned)status >= count || STATUS_TEXTS[status] == NULL)
        return "unknown status";
    return STATUS_TEXTS[status];
}

/* A path that is too long loses its beginning: the name is what helps. */
static void copy_path(ksv_error *error, const char *path)
{
    size_t length = strlen(path);
    size_t room = sizeof error->path - 1;
    if (length > room) {
        path += length - room;
        length = room;
    }
    memcpy(error->path, path, length);
    error->path[length] = '\0';
}

static void fill(ksv_error *error, ksv_status status, const char *path,
                 uint64_t byte_offset)
{
    error->status = status;
    error->os_errno = 0;
    error->remedy = KSV_REMEDY_NONE;
    error->line = 0;
    error->byte_offset = byte_offset;
    copy_path(error, path != NULL ? path : "");
}

ksv_status error_set(ksv_error *error, ksv_status status, const char *path,
                     const char *format, ...)
{
    if (error == NULL)
        return status;
    fill(error, status, path, KSV_NO_OFFSET);
    va_list args;
    va_start(args, format);
    vsnprintf(error->text, sizeof error->text, format, args);
    va_end(args);
    return status;
}

ksv_status error_set_at(ksv_error *error, ksv_status status, const char *path,
                        uint64_t byte_offset, const char *format, ...)
{
    if (error == NULL)
        return status;
    fill(error, status, path, byte_offset);
    va_list args;
    va_start(args, format);
    vsnprintf(error->text, sizeof error->text, format, args);
    va_end(args);
    return status;
}

/* There are two strerror_r(): one returns the text, the other a status. */
static inline const char *text_returned(const char *text, const char *buffer)
{
    (void)buffer;
    return text;
}

static inline const char *text_in_buffer(int failed, const char *buffer)
{
    return failed == 0 ? buffer : "unknown error";
}

static const char *os_error_text(int os_errno, char *buffer, size_t size)
{
#define GIVEN strerror_r(os_errno, buffer, size)
    return _Generic(GIVEN, char * : text_returned, int : text_in_buffer)(
        GIVEN, buffer);
#undef GIVEN
}

ksv_status error_set_os(ksv_error *error, int os_errno, const char *path,
                        const char *doing)
{
    if (error == NULL)
        return KSV_ERROR_IO;
    fill(error, KSV_ERROR_IO, path, KSV_NO_OFFSET);
    error->os_errno = os_errno;
    char buffer[128];
    snprintf(error->text, sizeof error->text, "%s: %s", doing,
             os_error_text(os_errno, buffer, sizeof buffer));
    return KSV_ERROR_IO;
}

ksv_status error_set_memory(ksv_error *error)
{
    return error_set(error, KSV_ERROR_MEMORY, NULL, "out of memory");
}

void error_add_path(ksv_error *error, const char *path)
{
    if (error != NULL && error->path[0] == '\0')
        copy_path(error, path);
}

void error_replace_path(ksv_error *error, const char *path)
{
    if (error != NULL)
        copy_path(error, path);
}

void error_add_remedy(ksv_error *error, ksv_remedy remedy)
{
    if (error != NULL)
        error->remedy = remedy;
}

void error_clear(ksv_error *error)
{
    if (error == NULL)
        return;
    fill(error, KSV_OK, NULL, KSV_NO_OFFSET);
    error->text[0] = '\0';
}
