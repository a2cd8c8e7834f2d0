/* SPDX-License-Identifier: MIT */
/* A builder's side: open and repair, commit, clean, close. */
#include "catalog/catalog.h"

#include <string.h>

#include "base/error.h"
#include "catalog/catalog_copy.h"
#include "catalog/catalog_environment.h"
#include "catalog/catalog_hold.h"
#include "catalog/catalog_inspect.h"
#include "catalog/catalog_reader.h"
#include "catalog/catalog_records.h"
#include "catalog/catalog_store.h"
#include "io/file.h"

struct catalog {
    ksv_file_system fs;
    catalog_hold hold;
    char *path; /* of catalog.mdb */
    /* As this builder left it; meaningless while `is_lost`. */
    lmdb_head head;
    uint64_t environment_bytes;
    /* Both were beyond repair: nothing is touched until a commit replaces them.
     */
    bool is_lost;
    bool was_empty;   /* there was no index when it was opened */
    uint64_t highest; /* generation claimed by what is lost */
};

static bool has_commit(const catalog *c)
{
    return c->is_lost || c->head.txn_id > 0;
}

static ksv_status read_head(const catalog *c, catalog_view *view,
                            ksv_error *error)
{
    ksv_file *file;
    KSV_TRY(view_open(&c->fs, c->path, view, &file, error));
    if (file == NULL)
        return error_set(error, KSV_ERROR_CORRUPT, c->path, "is missing");
    file_close_quietly(file);
    return KSV_OK;
}

static ksv_status refresh_head(catalog *c, ksv_error *error)
{
    catalog_view view;
    KSV_TRY(read_head(c, &view, error));
    c->head = view.head;
    c->environment_bytes = view.size_bytes;
    return KSV_OK;
}

/* Makes the directory what `found` says that it should be. */
static ksv_status repair(catalog *c, inspection *found, ksv_error *error)
{
    const ksv_file_system *fs = &c->fs;
    const char *directory = c->hold.directory;
    catalog_mark mark = records_mark(&found->head);
    switch (found->finding) {
    case INSPECT_LOST:
        c->is_lost = true;
        c->highest = found->highest;
        return KSV_OK;
    case INSPECT_NOTHING:
        c->was_empty = true;
        KSV_TRY(environment_start(fs, directory, &c->hold.allocator, error));
        break;
    case INSPECT_ENVIRONMENT_DAMAGED:
        KSV_TRY(environment_replace(fs, directory, &found->state,
                                    found->highest, error));
        break;
    case INSPECT_COPY_DAMAGED:
        KSV_TRY(copy_write(fs, directory, &found->state, &mark, NULL, error));
        break;
    default:
        break;
    }
    KSV_TRY(refresh_head(c, error));
    /* Copies that were never committed must not outlive their sidecars. */
    return hold_clean(&c->hold, c->head.txn_id, NULL, error);
}

static ksv_status inspect_and_repair(catalog *c, catalog_state *state,
                                     bool *repaired, ksv_error *damage,
                                     ksv_error *error)
{
    inspection found;
    KSV_TRY(inspect_index(&c->fs, c->hold.directory, &c->hold.allocator, &found,
                          error));
    ksv_status status = repair(c, &found, error);
    if (status != KSV_OK) {
        catalog_state_release(&found.state);
        return hold_blame_directory(c->hold.directory, status, error);
    }
    *state = found.state;
    *repaired = found.damage.status != KSV_OK;
    if (damage != NULL)
        *damage = found.damage;
    return KSV_OK;
}

static void free_catalog(catalog *c)
{
    ksv_allocator a = c->hold.allocator;
    memory_free_string(&a, c->path);
    memory_free(&a, c, sizeof *c);
}

ksv_status catalog_open(const ksv_file_system *fs, const char *directory,
                        const ksv_allocator *allocator, catalog **out,
                        catalog_state *state, bool *repaired, ksv_error *damage,
                        ksv_error *error)
{
    *out = NULL;
    *repaired = false;
    error_clear(damage);
    catalog_state_init(state, allocator);
    ksv_allocator a = state->allocator;
    catalog *c = memory_zalloc(&a, sizeof *c);
    if (c == NULL)
        return error_set_memory(error);
    c->fs = *fs;
    c->hold.allocator = a;
    c->path = path_join(&a, directory, CATALOG_FILE_NAME);
    ksv_status status = c->path != NULL
                            ? hold_take(&c->hold, &c->fs, directory, &a, error)
                            : error_set_memory(error);
    if (status == KSV_OK) {
        status = inspect_and_repair(c, state, repaired, damage, error);
        if (status != KSV_OK)
            hold_release(&c->hold, c->was_empty);
    }
    if (status != KSV_OK) {
        free_catalog(c);
        return status;
    }
    *out = c;
    return KSV_OK;
}

/* Only this builder writes, so that the file is as it was left; what another
 * program did to it would be taken for good by LMDB. */
static ksv_status check_unchanged(const catalog *c, ksv_error *error)
{
    catalog_view view;
    KSV_TRY(read_head(c, &view, error));
    if (memcmp(view.head.raw, c->head.raw, sizeof view.head.raw) == 0 &&
        view.size_bytes >= c->environment_bytes)
        return KSV_OK;
    error_set(error, KSV_ERROR_CORRUPT, c->path,
              "was changed by another program");
    error_add_remedy(error, KSV_REMEDY_BUILD);
    return KSV_ERROR_CORRUPT;
}

/* The copy of a commit that failed is of no use, unless the commit can be seen
 * all the same. */
static void forget_copy(const catalog *c, uint64_t generation)
{
    catalog_view view;
    if (read_head(c, &view, NULL) == KSV_OK && view.head.txn_id < generation)
        copy_remove(&c->fs, c->hold.directory, generation, &c->hold.allocator);
}

/* The copy comes first, under the id that the transaction is going to have: at
 * the moment of the commit everything that a reader needs is there. */
static ksv_status commit_to_environment(catalog *c, catalog_state *state,
                                        ksv_error *error)
{
    uint64_t before = c->head.txn_id;
    catalog_mark mark = {before + 1, c->head.environment_id,
                         lmdb_meta_checksum(c->head.raw[before & 1])};
    uint64_t body_checksum = 0;
    KSV_TRY(check_unchanged(c, error));
    KSV_TRY(copy_write(&c->fs, c->hold.directory, state, &mark, &body_checksum,
                       error));
    ksv_status status = store_commit(c->path, c->environment_bytes, state,
                                     &mark, body_checksum, error);
    if (status != KSV_OK) {
        forget_copy(c, mark.generation);
        return status;
    }
    state->generation = mark.generation;
    return refresh_head(c, error);
}

static ksv_status commit_in_place_of_damage(catalog *c, catalog_state *state,
                                            ksv_error *error)
{
    KSV_TRY(environment_replace(&c->fs, c->hold.directory, state, c->highest,
                                error));
    c->is_lost = false;
    return refresh_head(c, error);
}

ksv_status catalog_commit(catalog *c, catalog_state *state, ksv_error *error)
{
    uint64_t before = c->head.txn_id;
    if (c->is_lost)
        return commit_in_place_of_damage(c, state, error);
    KSV_TRY(commit_to_environment(c, state, error));
    if (before > 0)
        copy_remove(&c->fs, c->hold.directory, before, &c->hold.allocator);
    return KSV_OK;
}

ksv_status catalog_clean(catalog *c, const catalog_state *state,
                         ksv_error *error)
{
    if (c->is_lost || state->generation != c->head.txn_id)
        return error_set(error, KSV_ERROR_ARGUMENT, c->hold.directory,
                         "the state is not the committed one");
    return hold_clean(&c->hold, c->head.txn_id, state, error);
}

void catalog_close(catalog *c)
{
    if (c == NULL)
        return;
    bool nothing = !has_commit(c);
    /* With a commit, what was made for the lock stays. */
    if (!nothing) {
        c->hold.made_directory = false;
        c->hold.made_lock = false;
    }
    hold_release(&c->hold, nothing);
    free_catalog(c);
}
