/* SPDX-License-Identifier: MIT */
/* The files of a state directory: names, strangers, what is left over. */
#include "dedup/state_files.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "io/atomic_file.h"
#include "io/file.h"

enum { NUMBER_DIGITS = 16 };

static const char *const ENDINGS[] = {".run", ".generation", ".journal"};
static const char DIGITS[] = "0123456789abcdef";

void state_file_name(state_file_kind kind, uint64_t number,
                     char name[STATE_NAME_BYTES])
{
    for (unsigned i = 0; i < NUMBER_DIGITS; i++)
        name[i] = DIGITS[number >> (60 - 4 * i) & 15];
    memcpy(name + NUMBER_DIGITS, ENDINGS[kind], strlen(ENDINGS[kind]) + 1);
}

ksv_status state_file_path(const char *directory, state_file_kind kind,
                           uint64_t number, const ksv_allocator *allocator,
                           char **path, ksv_error *error)
{
    char name[STATE_NAME_BYTES];
    state_file_name(kind, number, name);
    *path = path_join(allocator, directory, name);
    return *path != NULL ? KSV_OK : error_set_memory(error);
}

static bool parse_name(const char *name, state_file_kind *kind,
                       uint64_t *number)
{
    *number = 0;
    for (size_t i = 0; i < NUMBER_DIGITS; i++) {
        const char *digit = name[i] != '\0' ? strchr(DIGITS, name[i]) : NULL;
        if (digit == NULL)
            return false;
        *number = *number << 4 | (uint64_t)(digit - DIGITS);
    }
    for (size_t k = 0; k < sizeof ENDINGS / sizeof ENDINGS[0]; k++) {
        *kind = (state_file_kind)k;
        if (strcmp(name + NUMBER_DIGITS, ENDINGS[k]) == 0)
            return true;
    }
    return false;
}

static bool is_temporary(const char *name)
{
    return strcmp(name, STATE_FILE ATOMIC_FILE_TEMPORARY) == 0;
}

typedef struct directory_look {
    bool has_state;
    bool has_stranger;
    char stranger[64];
} directory_look;

static bool look_at(void *ctx, const char *name)
{
    directory_look *look = ctx;
    state_file_kind kind;
    uint64_t number;
    if (strcmp(name, STATE_FILE) == 0) {
        look->has_state = true;
    } else if (strcmp(name, STATE_LOCK_FILE) != 0 && !is_temporary(name) &&
               !parse_name(name, &kind, &number)) {
        look->has_stranger = true;
        size_t length = strlen(name);
        if (length >= sizeof look->stranger)
            length = sizeof look->stranger - 1;
        memcpy(look->stranger, name, length);
        look->stranger[length] = '\0';
    }
    return true;
}

ksv_status state_files_check(const ksv_file_system *fs, const char *directory,
                             ksv_error *error)
{
    directory_look look = {.has_state = false};
    ksv_error problem;
    ksv_status status = fs->list(fs->ctx, directory, look_at, &look, &problem);
    if (status != KSV_OK && file_error_is_missing(&problem))
        return KSV_OK;
    if (status != KSV_OK) {
        if (error != NULL)
            *error = problem;
        return status;
    }
    if (!look.has_state && look.has_stranger)
        return error_set(error, KSV_ERROR_ARGUMENT, directory,
                         "holds no state of dedup, but other files (%s)",
                         look.stranger);
    return KSV_OK;
}

typedef struct cleaner {
    const ksv_file_system *fs;
    const char *directory;
    const ksv_allocator *allocator;
    state_file_is_used_fn is_used;
    const void *ctx;
    byte_buffer names; /* to be removed, each with its NUL */
} cleaner;

static bool note_unused(void *ctx, const char *name)
{
    cleaner *c = ctx;
    state_file_kind kind;
    uint64_t number;
    bool is_unused = is_temporary(name) || (parse_name(name, &kind, &number) &&
                                            !c->is_used(c->ctx, kind, number));
    if (is_unused)
        (void)buffer_append(&c->names, name, strlen(name) + 1, NULL);
    return true;
}

void state_files_clean(const ksv_file_system *fs, const char *directory,
                       const ksv_allocator *allocator,
                       state_file_is_used_fn is_used, const void *ctx)
{
    cleaner c = {fs, directory, allocator, is_used, ctx, {0}};
    buffer_init(&c.names, allocator);
    (void)fs->list(fs->ctx, directory, note_unused, &c, NULL);
    for (size_t at = 0; at < c.names.size;) {
        const char *name = (const char *)c.names.data + at;
        char *path = path_join(allocator, directory, name);
        if (path != NULL)
            (void)fs->remove(fs->ctx, path, NULL);
        memory_free_string(allocator, path);
        at += strlen(name) + 1;
    }
    buffer_release(&c.names);
}
