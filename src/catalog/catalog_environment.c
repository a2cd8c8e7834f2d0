/* SPDX-License-Identifier: MIT */
/* New environments that take the place of catalog.mdb as a whole. */
#include "catalog/catalog_environment.h"

#include <string.h>

#include "base/coding.h"
#include "base/error.h"
#include "catalog/catalog_names.h"
#include "catalog/catalog_store.h"
#include "hash/hash.h"
#include "io/atomic_file.h"
#include "io/file.h"
#include "mdb/lmdb_layout.h"

#define CHUNK_BYTES 65536

/* LMDB numbers the commits of a new environment from 1, and knows no name for
 * an environment. So it is made under another name, and its meta pages are
 * changed on the way into catalog.mdb: nothing else in it depends on the ids of
 * its transactions. */

typedef struct new_environment {
    const ksv_file_system *fs;
    const char *directory;
    ksv_allocator allocator;
    char *scratch_path;
    catalog_mark mark; /* of the commit in it */
    atomic_file *file; /* written, not yet published */
} new_environment;

static uint64_t make_environment_id(void)
{
    uint8_t random[16];
    hash_random_id(random);
    return lmdb_environment_id(load_u64(random));
}

static ksv_status begin(new_environment *e, const ksv_file_system *fs,
                        const char *directory, const ksv_allocator *allocator,
                        ksv_error *error)
{
    *e = (new_environment){.fs = fs,
                           .directory = directory,
                           .allocator = allocator_or_default(allocator)};
    e->mark.environment_id = make_environment_id();
    e->scratch_path = path_join(&e->allocator, directory, CATALOG_SCRATCH_NAME);
    if (e->scratch_path == NULL)
        return error_set_memory(error);
    return name_remove(fs, directory, CATALOG_SCRATCH_NAME, &e->allocator,
                       error);
}

static void end(new_environment *e)
{
    atomic_file_abandon(e->file);
    /* A scratch file that stays is removed by the next builder. */
    ksv_status ignored = name_remove(e->fs, e->directory, CATALOG_SCRATCH_NAME,
                                     &e->allocator, NULL);
    (void)ignored;
    memory_free_string(&e->allocator, e->scratch_path);
}

/* Where the meta pages are and what their ids become. The first commit of an
 * environment is in page 1, the one before it in page 0. */
typedef struct meta_change {
    uint64_t environment_id;
    uint64_t txn_ids[2];
    uint32_t page_bytes;
} meta_change;

/* The id that page 0 gets. */
static uint64_t id_before(const catalog_mark *mark)
{
    return mark->generation > 0 ? mark->generation - 1 : 0;
}

static ksv_status copy_patched(ksv_file *from, ksv_file *to, uint8_t *chunk,
                               const meta_change *change, ksv_error *error)
{
    uint64_t offset = 0;
    size_t got;
    do {
        KSV_TRY(
            from->ops->read_at(from, offset, chunk, CHUNK_BYTES, &got, error));
        for (unsigned i = 0; i < 2; i++) {
            uint64_t place = (uint64_t)i * change->page_bytes;
            if (place >= offset && place + LMDB_META_BYTES <= offset + got)
                lmdb_meta_patch(chunk + (place - offset),
                                change->environment_id, change->txn_ids[i]);
        }
        KSV_TRY(to->ops->append(to, chunk, got, error));
        offset += got;
    } while (got == CHUNK_BYTES);
    return KSV_OK;
}

/* LMDB and the file system given are at odds about what there is. */
static ksv_status explain_missing(const new_environment *e, ksv_status status,
                                  const ksv_error *problem, ksv_error *error)
{
    if (status != KSV_OK && file_error_is_missing(problem))
        return error_set(error, KSV_ERROR_UNSUPPORTED, e->directory,
                         "an index can be built in the file system of the "
                         "operating system only");
    if (status != KSV_OK && error != NULL)
        *error = *problem;
    return status;
}

static ksv_status open_scratch(const new_environment *e, ksv_file **file,
                               lmdb_head *head, ksv_error *error)
{
    ksv_error problem;
    error_clear(&problem);
    ksv_status status =
        e->fs->open_read(e->fs->ctx, e->scratch_path, file, &problem);
    KSV_TRY(explain_missing(e, status, &problem, error));
    return lmdb_head_read(*file, e->scratch_path, head, error);
}

/* Copies the scratch file to the temporary name of catalog.mdb. */
static ksv_status copy_scratch(new_environment *e, ksv_error *error)
{
    ksv_file *file = NULL;
    uint8_t *chunk = NULL;
    lmdb_head head;
    ksv_status status = open_scratch(e, &file, &head, error);
    if (status != KSV_OK)
        goto cleanup;
    meta_change change = {e->mark.environment_id,
                          {id_before(&e->mark), e->mark.generation},
                          head.page_bytes};
    chunk = memory_alloc(&e->allocator, CHUNK_BYTES);
    if (chunk == NULL) {
        status = error_set_memory(error);
        goto cleanup;
    }
    status = atomic_file_create(e->fs, e->directory, CATALOG_FILE_NAME,
                                &e->allocator, &e->file, error);
    if (status == KSV_OK)
        status = copy_patched(file, atomic_file_handle(e->file), chunk, &change,
                              error);
cleanup:
    memory_free(&e->allocator, chunk, CHUNK_BYTES);
    file_close_quietly(file);
    return status;
}

/* Makes the scratch file, without a commit. Its page 0 stays as it is when the
 * first commit goes to page 1, so that its checksum is known now. */
static ksv_status make_scratch(new_environment *e, ksv_error *error)
{
    ksv_error problem;
    error_clear(&problem);
    ksv_status status = store_create(e->scratch_path, &problem);
    KSV_TRY(explain_missing(e, status, &problem, error));
    ksv_file *file = NULL;
    lmdb_head head;
    status = open_scratch(e, &file, &head, error);
    file_close_quietly(file);
    KSV_TRY(status);
    lmdb_meta_patch(head.raw[0], e->mark.environment_id, id_before(&e->mark));
    e->mark.other_checksum = lmdb_meta_checksum(head.raw[0]);
    return KSV_OK;
}

static ksv_status publish(new_environment *e, ksv_error *error)
{
    KSV_TRY(copy_scratch(e, error));
    atomic_file *file = e->file;
    e->file = NULL;
    return atomic_file_publish(file, error);
}

ksv_status environment_start(const ksv_file_system *fs, const char *directory,
                             const ksv_allocator *allocator, ksv_error *error)
{
    new_environment e;
    ksv_status status = begin(&e, fs, directory, allocator, error);
    if (status == KSV_OK)
        status = make_scratch(&e, error);
    if (status == KSV_OK)
        status = publish(&e, error);
    if (status == KSV_OK)
        status = fs->sync_directory(fs->ctx, directory, error);
    end(&e);
    return status;
}

/* The first commit of an environment goes to page 1, where LMDB looks for odd
 * ids. A floor near the end of all numbers is damage; copies of other
 * environments than the new one are told from its own by its id. */
static uint64_t generation_above(uint64_t floor)
{
    return floor >= UINT64_MAX / 4 || floor >= SIZE_MAX / 4 ? 1
                                                            : (floor + 1) | 1;
}

ksv_status environment_replace(const ksv_file_system *fs, const char *directory,
                               catalog_state *state, uint64_t floor,
                               ksv_error *error)
{
    new_environment e;
    uint64_t body_checksum = 0;
    ksv_status status = begin(&e, fs, directory, &state->allocator, error);
    e.mark.generation = generation_above(floor);
    if (status == KSV_OK)
        status = make_scratch(&e, error);
    if (status == KSV_OK)
        status =
            copy_write(fs, directory, state, &e.mark, &body_checksum, error);
    if (status == KSV_OK)
        status =
            store_fill(e.scratch_path, state, &e.mark, body_checksum, error);
    if (status == KSV_OK)
        status = publish(&e, error);
    if (status == KSV_OK) {
        state->generation = e.mark.generation;
        /* It is done, for all to see. Should it be lost, then what was there
         * before is repaired again from the copy, which is on the disk. */
        ksv_status ignored = fs->sync_directory(fs->ctx, directory, NULL);
        (void)ignored;
    } else {
        copy_remove(fs, directory, e.mark.generation, &e.allocator);
    }
    end(&e);
    return status;
}
