/* SPDX-License-Identifier: MIT */
/* A builder's hold on an index directory: making it, locking, tidying. */
#include "catalog/catalog_hold.h"

#include <string.h>

#include "base/error.h"
#include "catalog/catalog_names.h"
#include "catalog/sidecar_set.h"
#include "io/atomic_file.h"
#include "io/file.h"
#include "io/named_lock.h"

/* How often a lock file that its holder removes at the end is taken anew. */
#define LOCK_TRIES 100

ksv_status hold_blame_directory(const char *directory, ksv_status status,
                                ksv_error *error)
{
    if (status == KSV_ERROR_IO) {
        error_replace_path(error, directory);
        error_add_remedy(error, KSV_REMEDY_OTHER_DIRECTORY);
    }
    return status;
}

/* The entry of a new directory lasts once its parent is synced. Where that is
 * not possible, the index is no worse than any new directory. */
static void sync_parent(const catalog_hold *hold)
{
    size_t length = strlen(hold->directory);
    while (length > 1 && hold->directory[length - 1] == '/')
        length--;
    while (length > 0 && hold->directory[length - 1] != '/')
        length--;
    while (length > 1 && hold->directory[length - 1] == '/')
        length--;
    char *parent = length > 0 ? memory_copy_string(&hold->allocator,
                                                   hold->directory, length)
                              : memory_copy_string(&hold->allocator, ".", 1);
    if (parent == NULL)
        return;
    ksv_status ignored = hold->fs->sync_directory(hold->fs->ctx, parent, NULL);
    (void)ignored;
    memory_free_string(&hold->allocator, parent);
}

static ksv_status make_directory(catalog_hold *hold, ksv_error *error)
{
    const ksv_file_system *fs = hold->fs;
    ksv_file_info info;
    ksv_error problem;
    ksv_status status = fs->info(fs->ctx, hold->directory, &info, &problem);
    if (status == KSV_OK && info.kind == KSV_FILE_DIRECTORY)
        return KSV_OK;
    if (status == KSV_OK)
        return error_set(error, KSV_ERROR_IO, hold->directory,
                         "is not a directory");
    if (!file_error_is_missing(&problem)) {
        if (error != NULL)
            *error = problem;
        return status;
    }
    KSV_TRY(fs->make_directory(fs->ctx, hold->directory, error));
    hold->made_directory = true;
    sync_parent(hold);
    return KSV_OK;
}

static ksv_status try_lock(catalog_hold *hold, const char *path, bool *again,
                           ksv_error *error)
{
    const ksv_file_system *fs = hold->fs;
    ksv_file_info info;
    ksv_error problem;
    *again = false;
    KSV_TRY(make_directory(hold, error));
    bool made = fs->info(fs->ctx, path, &info, NULL) != KSV_OK;
    ksv_status status = named_lock_try(fs, path, &hold->lock, &problem);
    if (hold->lock != NULL) {
        hold->made_lock = made;
        return KSV_OK;
    }
    *again = status == KSV_OK || file_error_is_missing(&problem);
    if (status == KSV_ERROR_BUSY || *again)
        return error_set(error, KSV_ERROR_BUSY, hold->directory,
                         "another build is running");
    if (error != NULL)
        *error = problem;
    return status;
}

static ksv_status take_lock(catalog_hold *hold, ksv_error *error)
{
    char *path =
        path_join(&hold->allocator, hold->directory, CATALOG_LOCK_NAME);
    if (path == NULL)
        return error_set_memory(error);
    ksv_status status = KSV_OK;
    bool again = true;
    for (int i = 0; i < LOCK_TRIES && again; i++)
        status = try_lock(hold, path, &again, error);
    memory_free_string(&hold->allocator, path);
    return status;
}

/* An old lock file can be locked in a directory that cannot be written to. */
static ksv_status try_writing(const catalog_hold *hold, ksv_error *error)
{
    const ksv_file_system *fs = hold->fs;
    const char *name = CATALOG_FILE_NAME ATOMIC_FILE_TEMPORARY;
    char *path = path_join(&hold->allocator, hold->directory, name);
    if (path == NULL)
        return error_set_memory(error);
    ksv_file *file = NULL;
    ksv_status status = fs->create(fs->ctx, path, &file, error);
    memory_free_string(&hold->allocator, path);
    KSV_TRY(status);
    file_close_quietly(file);
    return name_remove(fs, hold->directory, name, &hold->allocator, error);
}

ksv_status hold_take(catalog_hold *hold, const ksv_file_system *fs,
                     const char *directory, const ksv_allocator *allocator,
                     ksv_error *error)
{
    *hold =
        (catalog_hold){.fs = fs, .allocator = allocator_or_default(allocator)};
    hold->directory =
        memory_copy_string(&hold->allocator, directory, strlen(directory));
    if (hold->directory == NULL)
        return error_set_memory(error);
    ksv_status status = take_lock(hold, error);
    if (status == KSV_OK)
        status = try_writing(hold, error);
    if (status != KSV_OK) {
        hold_blame_directory(directory, status, error);
        hold_release(hold, false);
    }
    return status;
}

static void remove_quietly(const catalog_hold *hold, const char *name)
{
    ksv_status ignored =
        name_remove(hold->fs, hold->directory, name, &hold->allocator, NULL);
    (void)ignored;
}

/* Sidecars go first: they without catalog.mdb would be a damaged index. */
static void remove_everything(const catalog_hold *hold)
{
    static const catalog_state nothing;
    ksv_status ignored = hold_clean(hold, 0, &nothing, NULL);
    (void)ignored;
    remove_quietly(hold, CATALOG_FILE_NAME);
}

void hold_release(catalog_hold *hold, bool leave_nothing)
{
    if (hold->lock != NULL && leave_nothing)
        remove_everything(hold);
    if (hold->lock != NULL && (leave_nothing || hold->made_lock))
        remove_quietly(hold, CATALOG_LOCK_NAME);
    if (hold->made_directory) {
        /* Fails, as it should, when there is anything in it. */
        ksv_status ignored =
            hold->fs->remove_directory(hold->fs->ctx, hold->directory, NULL);
        (void)ignored;
    }
    file_close_quietly(hold->lock);
    memory_free_string(&hold->allocator, hold->directory);
    hold->lock = NULL;
    hold->directory = NULL;
}

/* Where the ending of a sidecar's name begins. */
#define SIDECAR_DIGITS 16

static bool is_kept(const char *name, uint64_t generation,
                    const sidecar_set *set)
{
    uint64_t number;
    switch (name_parse(name, &number)) {
    case NAME_COPY:
        return generation != 0 && number == generation;
    case NAME_SIDECAR:
        return set == NULL ||
               sidecar_set_has(set, number, name + SIDECAR_DIGITS);
    case NAME_TEMPORARY:
        return false;
    default:
        return true;
    }
}

static ksv_status clean_but(const catalog_hold *hold, uint64_t generation,
                            const sidecar_set *set, ksv_error *error)
{
    name_list list;
    ksv_status status = name_list_read(hold->fs, hold->directory,
                                       &hold->allocator, &list, error);
    for (size_t i = 0; i < list.count; i++) {
        if (is_kept(list.names[i], generation, set))
            continue;
        ksv_status removed =
            name_remove(hold->fs, hold->directory, list.names[i],
                        &hold->allocator, status == KSV_OK ? error : NULL);
        status = status == KSV_OK ? removed : status;
    }
    name_list_release(&list);
    return status;
}

ksv_status hold_clean(const catalog_hold *hold, uint64_t generation,
                      const catalog_state *state, ksv_error *error)
{
    if (state == NULL)
        return clean_but(hold, generation, NULL, error);
    sidecar_set set;
    ksv_status status = sidecar_set_open(&set, state, &hold->allocator, error);
    if (status == KSV_OK)
        status = clean_but(hold, generation, &set, error);
    sidecar_set_close(&set);
    return status;
}
