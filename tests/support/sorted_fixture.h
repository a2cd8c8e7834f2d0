/* SPDX-License-Identifier: MIT */
/* Sorted tables in memory, and their answers compared with a model. */
#ifndef KSV_TESTS_SUPPORT_SORTED_FIXTURE_H
#define KSV_TESTS_SUPPORT_SORTED_FIXTURE_H

#include "sorted/sorted_cursor.h"
#include "sorted/sorted_iterator.h"
#include "sorted/sorted_writer.h"
#include "support/byte_file.h"
#include "support/key_sort_model.h"

/* A table in memory and what is in it. */
typedef struct sorted_fixture {
    sorted_options options;
    key_set set; /* sorted */
    byte_file file;
    sorted_info info;
} sorted_fixture;

/* Options with so many bits of payload and an id of equal bytes. */
sorted_options sorted_test_options(unsigned payload_bits, uint8_t id,
                                   size_t block_bytes);

/* Sorts the set, which becomes the fixture's, and writes it. */
void sorted_fixture_init(sorted_fixture *fixture, sorted_options options,
                         key_set set);
void sorted_fixture_release(sorted_fixture *fixture);

/* A set that has a bit of everything, with a key repeated for some blocks: for
 * golden files and damages. `random_bytes`: no block can be deflated. */
key_set sorted_sample_set(bool random_bytes);

ksv_status sorted_write(ksv_file *file, const sorted_options *options,
                        const key_set *set, thread_pool *pool,
                        const ksv_allocator *allocator, sorted_info *info,
                        ksv_error *error);

/* The first entry whose key is not before `key`. */
size_t sorted_lower_bound(const key_set *set, sorted_key key);
sorted_key sorted_key_of(const key_set *set, size_t entry);

/* A wrong answer fails the test; a status that is not KSV_OK is handed up. */
ksv_status sorted_check_iterator(const key_set *set, sorted_reader *reader);
ksv_status sorted_check_find(const key_set *set, sorted_cursor *cursor,
                             sorted_key key);
/* Goes to `key`, or the last before it, and some steps in both directions. */
ksv_status sorted_check_walk(const key_set *set, sorted_cursor *cursor,
                             sorted_key key, bool before, size_t steps);

/* All of them, on a file that may be damaged: `finds` random keys, present and
 * absent. The first status that is not KSV_OK. */
ksv_status sorted_check_answers(const key_set *set, ksv_file *file,
                                size_t finds, uint64_t seed);

/* Makes the checksums of header, blocks and footer right again after changes to
 * a whole table of `size_bytes` bytes. */
void sorted_reseal(uint8_t *data, size_t size_bytes);

#endif
