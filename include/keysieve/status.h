/* SPDX-License-Identifier: MIT */
/* What every fallible function returns, and the details that it can leave. */
#ifndef KEYSIEVE_STATUS_H
#define KEYSIEVE_STATUS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(KSV_BUILDING) && defined(__GNUC__)
#define KSV_API __attribute__((visibility("default")))
#else
#define KSV_API
#endif

#if defined(__GNUC__)
#define KSV_CHECK_RESULT __attribute__((warn_unused_result))
#else
#define KSV_CHECK_RESULT
#endif

/* "Not found" and "end of input" are results, never errors: functions that can
 * meet them say so with an out-parameter. */
typedef enum ksv_status {
    KSV_OK = 0,
    /* The caller broke the contract, or an option cannot be used. */
    KSV_ERROR_ARGUMENT = 1,
    /* An allocation failed. */
    KSV_ERROR_MEMORY = 2,
    /* The operating system refused; os_errno says why. */
    KSV_ERROR_IO = 3,
    /* There is no index at this place. */
    KSV_ERROR_NO_INDEX = 4,
    /* Bytes of the index are damaged, missing or belong to something else. */
    KSV_ERROR_CORRUPT = 5,
    /* A file was written by a later version of the format. */
    KSV_ERROR_VERSION = 6,
    /* A data file changed or vanished after it was indexed. */
    KSV_ERROR_STALE = 7,
    /* Data cannot be split into records or read as its format. */
    KSV_ERROR_DATA = 8,
    /* Another builder holds the index. */
    KSV_ERROR_BUSY = 9,
    /* Options contradict those that the index was built with. */
    KSV_ERROR_MISMATCH = 10,
    /* A key that has to be unique occurs twice. */
    KSV_ERROR_DUPLICATE = 11,
    /* This version cannot do it (yet): a format, a compression. */
    KSV_ERROR_UNSUPPORTED = 12,
    /* A callback asked to stop. */
    KSV_ERROR_CANCELLED = 13
} ksv_status;

/* What the user can do about an error; a front end turns it into a command. */
typedef enum ksv_remedy {
    KSV_REMEDY_NONE = 0,
    /* Bring the index up to date with its data files. */
    KSV_REMEDY_UPDATE = 1,
    /* Build the index (again) from its data files. */
    KSV_REMEDY_BUILD = 2,
    /* Choose another index directory. */
    KSV_REMEDY_OTHER_DIRECTORY = 3
} ksv_remedy;

/* "No byte offset is known". */
#define KSV_NO_OFFSET UINT64_MAX

/* Details of the last error. Owned by the caller, who may put it on the stack;
 * every function that takes a `ksv_error *` also takes NULL and writes to it
 * only when it fails. Not to be shared between threads during a call. */
typedef struct ksv_error {
    ksv_status status;
    /* errno of the failed system call, or 0. */
    int os_errno;
    ksv_remedy remedy;
    /* Line in `path`, from 1; 0 when unknown. */
    uint64_t line;
    /* Byte in `path`, from 0; KSV_NO_OFFSET when unknown. */
    uint64_t byte_offset;
    /* The file that the error is about, or "". NUL-terminated. */
    char path[4096];
    /* What is wrong, as a phrase without the path. NUL-terminated. */
    char text[1024];
} ksv_error;

/* A constant English phrase for a status. Never NULL; never freed. Thread-safe.
 */
KSV_API const char *ksv_status_text(ksv_status status);

/* The version of the library at run time, as in version.h. Thread-safe. */
KSV_API const char *ksv_version(void);

#ifdef __cplusplus
}
#endif

#endif
