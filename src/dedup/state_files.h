/* SPDX-License-Identifier: MIT */
/* The files of a state directory: names, strangers, what is left over. */
#ifndef KSV_DEDUP_STATE_FILES_H
#define KSV_DEDUP_STATE_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <keysieve/io.h>
#include <keysieve/memory.h>

#define STATE_FILE "state"
#define STATE_LOCK_FILE "lock"
#define STATE_NAME_BYTES 32

typedef enum state_file_kind {
    STATE_RUN,        /* "0000000000000007.run" */
    STATE_GENERATION, /* ".generation" */
    STATE_JOURNAL     /* ".journal" */
} state_file_kind;

void state_file_name(state_file_kind kind, uint64_t number,
                     char name[STATE_NAME_BYTES]);

/* The path of such a file; freed with memory_free_string(). */
ksv_status state_file_path(const char *directory, state_file_kind kind,
                           uint64_t number, const ksv_allocator *allocator,
                           char **path, ksv_error *error);

/* KSV_ERROR_ARGUMENT when an existing directory has files of others, and no
 * state. */
ksv_status state_files_check(const ksv_file_system *fs, const char *directory,
                             ksv_error *error);

/* Whether the file of that kind and number belongs to the state. */
typedef bool (*state_file_is_used_fn)(const void *ctx, state_file_kind kind,
                                      uint64_t number);

/* Removes temporary files and those that are not used. What cannot be removed
 * stays. */
void state_files_clean(const ksv_file_system *fs, const char *directory,
                       const ksv_allocator *allocator,
                       state_file_is_used_fn is_used, const void *ctx);

#endif
