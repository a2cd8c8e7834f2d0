/* SPDX-License-Identifier: MIT */
/* Reads all of a sorted table from its front to its end and checks it. */
#ifndef KSV_SORTED_SORTED_ITERATOR_H
#define KSV_SORTED_SORTED_ITERATOR_H

#include "sorted/sorted_reader.h"

/* Gives all entries in order and checks everything that the file holds: every
 * checksum, the order of entries, what index blocks say, counts. For merges and
 * checks. One thread at a time; the reader has to outlive it. */
typedef struct sorted_iterator sorted_iterator;

/* Reads about `buffer_bytes` at a time (0: as suits one iterator). */
ksv_status sorted_iterator_open(sorted_reader *reader, size_t buffer_bytes,
                                sorted_iterator **out, ksv_error *error);
void sorted_iterator_close(sorted_iterator *iterator); /* NULL is allowed */

/* `*end` is true when there is no further entry, and all was found in order;
 * else `*key`, valid until the next call, and `*payload` are the next one. */
ksv_status sorted_iterator_next(sorted_iterator *iterator, sorted_key *key,
                                uint64_t *payload, bool *end, ksv_error *error);

#endif
