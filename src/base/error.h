/* SPDX-License-Identifier: MIT */
/* Filling the caller's error, and handing a status up. */
#ifndef KSV_BASE_ERROR_H
#define KSV_BASE_ERROR_H

#include <keysieve/status.h>

#if defined(__GNUC__)
#define KSV_PRINTF(text, args) __attribute__((format(printf, text, args)))
#else
#define KSV_PRINTF(text, args)
#endif

/* Returns the status of a failed call to the caller of this function. */
#define KSV_TRY(call)                    \
    do {                                 \
        ksv_status try_status_ = (call); \
        if (try_status_ != KSV_OK)       \
            return try_status_;          \
    } while (0)

/* Sets all members of `error` (NULL is allowed); `path` NULL means none.
 * Returns `status`, for use in a return statement. A text that does not fit is
 * cut; of a path that does not fit the end is kept. */
ksv_status error_set(ksv_error *error, ksv_status status, const char *path,
                     const char *format, ...) KSV_PRINTF(4, 5);

/* As error_set(), with a byte offset in `path`. */
ksv_status error_set_at(ksv_error *error, ksv_status status, const char *path,
                        uint64_t byte_offset, const char *format, ...)
    KSV_PRINTF(5, 6);

/* KSV_ERROR_IO for a failed system call: "`doing`: <text of os_errno>". */
ksv_status error_set_os(ksv_error *error, int os_errno, const char *path,
                        const char *doing);

/* KSV_ERROR_MEMORY. */
ksv_status error_set_memory(ksv_error *error);

/* Puts `path` into an error that names no file yet. */
void error_add_path(ksv_error *error, const char *path);

/* Replaces the path that an error names. */
void error_replace_path(ksv_error *error, const char *path);

/* Says what repairs it. */
void error_add_remedy(ksv_error *error, ksv_remedy remedy);

/* No error. */
void error_clear(ksv_error *error);

#endif
