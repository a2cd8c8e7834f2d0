/* SPDX-License-Identifier: MIT */
/* Makes a new tree from entries that come in order. */
#ifndef KSV_BTREE_TREE_LOADER_H
#define KSV_BTREE_TREE_LOADER_H

#include <keysieve/io.h>
#include <keysieve/memory.h>

#include "btree/tree.h"

/* One thread at a time. Blocks are filled and appended; memory for some MiB and
 * three times the longest key is needed, whatever the number of entries. */
typedef struct tree_loader tree_loader;

/* Begins a tree that will be file `name` of `directory`; until it is finished
 * it has ".tmp" behind its name. LMDB opens paths by itself: `fs` has to lead
 * to the file system of the operating system (else KSV_ERROR_UNSUPPORTED). */
ksv_status tree_loader_open(const ksv_file_system *fs, const char *directory,
                            const char *name, const uint8_t id[16],
                            const ksv_allocator *allocator, tree_loader **out,
                            ksv_error *error);

/* Entries come in ascending order of (key, place), else KSV_ERROR_ARGUMENT; an
 * entry that is equal to the one before is dropped. `*is_new` (may be NULL)
 * tells whether the key differs from the one before, for those who fill a
 * filter. */
ksv_status tree_loader_add(tree_loader *loader, tree_key key, tree_place place,
                           bool *is_new, ksv_error *error);

/* Writes what is left, syncs the file, gives it its name (its directory is
 * synced too) and fills `*info` (may be NULL). A tree without entries is a
 * tree.
 */
ksv_status tree_loader_finish(tree_loader *loader, tree_info *info,
                              ksv_error *error);

/* The same, but the file keeps ".tmp" behind its name and is the caller's from
 * then on. */
ksv_status tree_loader_finish_unnamed(tree_loader *loader, tree_info *info,
                                      ksv_error *error);

/* Frees the loader (NULL is allowed); an unfinished file is removed. */
void tree_loader_close(tree_loader *loader);

#endif
