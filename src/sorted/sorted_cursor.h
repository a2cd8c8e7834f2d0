/* SPDX-License-Identifier: MIT */
/* A place between the entries of a sorted table: finds keys, goes both ways. */
#ifndef KSV_SORTED_SORTED_CURSOR_H
#define KSV_SORTED_SORTED_CURSOR_H

#include "sorted/sorted_reader.h"

/* One thread at a time; several may use one reader. Keeps the block that it
 * read last: keys that are near each other cost one read. */
typedef struct sorted_cursor sorted_cursor;

/* `reader` has to outlive the cursor. */
ksv_status sorted_cursor_open(sorted_reader *reader, sorted_cursor **out,
                              ksv_error *error);
void sorted_cursor_close(sorted_cursor *cursor); /* NULL is allowed */

/* Each goes to an entry; `*found` false: there is none, and the cursor is at
 * none. After a failure it is at none, too. */
ksv_status sorted_cursor_first(sorted_cursor *cursor, bool *found,
                               ksv_error *error);
ksv_status sorted_cursor_last(sorted_cursor *cursor, bool *found,
                              ksv_error *error);
/* The first entry whose key is `key` or comes after it. */
ksv_status sorted_cursor_seek(sorted_cursor *cursor, sorted_key key,
                              bool *found, ksv_error *error);
/* The last entry whose key comes before `key`. */
ksv_status sorted_cursor_seek_before(sorted_cursor *cursor, sorted_key key,
                                     bool *found, ksv_error *error);
/* The neighbours of the entry that the cursor is at. */
ksv_status sorted_cursor_next(sorted_cursor *cursor, bool *found,
                              ksv_error *error);
ksv_status sorted_cursor_previous(sorted_cursor *cursor, bool *found,
                                  ksv_error *error);

/* Of the entry that the cursor is at; the key is valid until it moves. */
sorted_key sorted_cursor_key(const sorted_cursor *cursor);
uint64_t sorted_cursor_payload(const sorted_cursor *cursor);

/* Called for each payload, in ascending order; returning false stops. */
typedef bool (*sorted_payload_fn)(void *ctx, uint64_t payload);

/* Visits the payloads of `key`; none is no error. The cursor is at none
 * afterwards. A block that cannot be read or is damaged is an error, never an
 * answer; payloads that were visited before it stay valid. */
ksv_status sorted_cursor_find(sorted_cursor *cursor, sorted_key key,
                              sorted_payload_fn visit, void *ctx,
                              ksv_error *error);

/* Where a block of data stands: `size_bytes` bytes at `offset`. */
typedef struct sorted_place {
    uint64_t offset;
    size_t size_bytes;
    uint64_t number; /* of the block, for the order of reads and answers */
} sorted_place;

/* So many bytes behind a block in memory have to be readable; their values do
 * not matter. */
#define SORTED_READ_PADDING 32

/* The one block in which the entries of `key` begin, if there are any: for
 * those who read many blocks at once. `*found` is false in a table without
 * entries. Reads index blocks that were not read before, nothing else. The
 * cursor is at none afterwards. */
ksv_status sorted_cursor_locate(sorted_cursor *cursor, sorted_key key,
                                sorted_place *place, bool *found,
                                ksv_error *error);

/* As sorted_cursor_find(), with the bytes of the block that
 * sorted_cursor_locate() has told for `key`, and padding. Only a key whose
 * entries go on in other blocks costs reads. A block that the next call gives
 * again, at the same address, is not checked and inflated again: keys of one
 * block best come together. */
ksv_status sorted_cursor_find_in(sorted_cursor *cursor, sorted_key key,
                                 const uint8_t *block, sorted_payload_fn visit,
                                 void *ctx, ksv_error *error);

/* Keeps nothing of what it has read: the next key costs what a first one does.
 * The cursor is at none afterwards. */
void sorted_cursor_forget(sorted_cursor *cursor);

/* Blocks of data that it has read so far, and their bytes. */
uint64_t sorted_cursor_blocks_read(const sorted_cursor *cursor);
uint64_t sorted_cursor_bytes_read(const sorted_cursor *cursor);

#endif
