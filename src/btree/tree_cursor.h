/* SPDX-License-Identifier: MIT */
/* A place between the entries of a tree: finds keys, goes both ways. */
#ifndef KSV_BTREE_TREE_CURSOR_H
#define KSV_BTREE_TREE_CURSOR_H

#include "btree/tree_reader.h"

/* One thread at a time; several may use one reader. Keeps the block that it
 * read last: keys that are near each other cost one read. */
typedef struct tree_cursor tree_cursor;

/* `reader` has to outlive the cursor. */
ksv_status tree_cursor_open(tree_reader *reader, tree_cursor **out,
                            ksv_error *error);
void tree_cursor_close(tree_cursor *cursor); /* NULL is allowed */

/* Each goes to an entry; `*found` false: there is none, and the cursor is at
 * none. After a failure it is at none, too. */
ksv_status tree_cursor_first(tree_cursor *cursor, bool *found,
                             ksv_error *error);
ksv_status tree_cursor_last(tree_cursor *cursor, bool *found, ksv_error *error);
/* The first entry whose key is `key` or comes after it. */
ksv_status tree_cursor_seek(tree_cursor *cursor, tree_key key, bool *found,
                            ksv_error *error);
/* The last entry whose key comes before `key`. */
ksv_status tree_cursor_seek_before(tree_cursor *cursor, tree_key key,
                                   bool *found, ksv_error *error);
/* The neighbours of the entry that the cursor is at. */
ksv_status tree_cursor_next(tree_cursor *cursor, bool *found, ksv_error *error);
ksv_status tree_cursor_previous(tree_cursor *cursor, bool *found,
                                ksv_error *error);

/* Of the entry that the cursor is at; the key is valid until it moves. */
tree_key tree_cursor_key(const tree_cursor *cursor);
tree_place tree_cursor_place(const tree_cursor *cursor);

/* Called for each place, in ascending order; returning false stops. */
typedef bool (*tree_place_fn)(void *ctx, tree_place place);

/* Visits the places of `key`; none is no error. The cursor is at none
 * afterwards. A page that cannot be read or is damaged is an error, never an
 * answer; places that were visited before it stay valid. */
ksv_status tree_cursor_find(tree_cursor *cursor, tree_key key,
                            tree_place_fn visit, void *ctx, ksv_error *error);

/* Lets go of the block that it keeps, so that it is read anew when it is needed
 * again. The cursor is at none. */
void tree_cursor_forget(tree_cursor *cursor);

/* What all of this has cost since the cursor was opened. */
tree_cost tree_cursor_cost(const tree_cursor *cursor);

#endif
