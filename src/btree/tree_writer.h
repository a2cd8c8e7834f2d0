/* SPDX-License-Identifier: MIT */
/* Changes a tree in place, in short transactions beside readers. */
#ifndef KSV_BTREE_TREE_WRITER_H
#define KSV_BTREE_TREE_WRITER_H

#include <keysieve/io.h>
#include <keysieve/memory.h>

#include "btree/tree.h"

/* One thread at a time, and one writer a tree in all processes: who opens it
 * holds the lock of the index.
 *
 * The commit of the catalog is what counts: entries of a new part are inserted
 * and tree_writer_commit() called; then the catalog commits that the part is
 * there, with the id of the tree's transaction; then parts that are dead in
 * that state are swept away. Killed at any moment, what is in the tree and in
 * no state of the catalog is listed by tree_writer_parts() the next time, and
 * swept as dead parts are. Dead entries do no harm but for the room: whoever
 * sweeps when they are a quarter of all does work in proportion to the changes.
 */
typedef struct tree_writer tree_writer;

/* Opens the tree at `path`. Checks LMDB's pages above the blocks before LMDB
 * maps them, about one byte in 150 of the file; blocks are checked when they
 * are touched. KSV_ERROR_CORRUPT, KSV_ERROR_VERSION; KSV_ERROR_UNSUPPORTED as
 * tree_loader_open(). */
ksv_status tree_writer_open(const ksv_file_system *fs, const char *path,
                            const uint8_t id[16],
                            const ksv_allocator *allocator, tree_writer **out,
                            ksv_error *error);

/* As of the last commit. */
void tree_writer_get_info(const tree_writer *writer, tree_info *info);

/* All parts with entries, by number; borrowed until the next call. */
const tree_part *tree_writer_parts(const tree_writer *writer, size_t *count);

/* Puts an entry in, or takes it out; one that is there already or is not there
 * is no error. Entries come in any order; neighbours that come one after the
 * other in ascending order of (key, place) cost one change of their block.
 * What was done may be committed at any time. After a failure every call fails
 * in the same way, and what was not committed is lost. */
ksv_status tree_writer_insert(tree_writer *writer, tree_key key,
                              tree_place place, ksv_error *error);
ksv_status tree_writer_delete(tree_writer *writer, tree_key key,
                              tree_place place, ksv_error *error);

/* Makes all that was done durable. `*txn_id` (may be NULL): that of the tree,
 * which readers of a state that names it are to give. */
ksv_status tree_writer_commit(tree_writer *writer, uint64_t *txn_id,
                              ksv_error *error);

typedef bool (*tree_part_fn)(void *ctx, uint64_t part);

/* Takes out all entries of parts for which `is_dead` is true, in one walk over
 * all blocks in short transactions; commits. `generation` is that of the state
 * of the catalog, which is committed, in which they are dead. */
ksv_status tree_writer_sweep(tree_writer *writer, tree_part_fn is_dead,
                             void *ctx, uint64_t generation, ksv_error *error);

/* NULL is allowed. What was not committed may be lost. */
void tree_writer_close(tree_writer *writer);

#endif
