/* SPDX-License-Identifier: MIT */
/* What tests of tables share: a file in memory with faults, models, builders.
 */
#ifndef KSV_TESTS_SUPPORT_TABLE_FIXTURE_H
#define KSV_TESTS_SUPPORT_TABLE_FIXTURE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <keysieve/table.h>

/* A file in memory that can be told to fail. Closing it does nothing. */
typedef struct table_bytes {
    ksv_file base; /* first: it is the file */
    uint8_t *data;
    size_t size;
    size_t capacity;
    uint64_t missing;    /* bytes before `data` that no read asks for */
    atomic_long reads;   /* so far */
    long failing_read;   /* the number (from 0) of the read that fails */
    long appends;        /* so far */
    long failing_append; /* likewise */
} table_bytes;

void table_bytes_init(table_bytes *file);
void table_bytes_release(table_bytes *file);
/* A copy of `size` bytes. */
void byte_file_set(table_bytes *file, const void *data, size_t size);

typedef struct table_entry {
    uint64_t hash;
    uint64_t payload;
} table_entry;

/* A table in memory and what is in it. */
typedef struct table_fixture {
    ksv_table_options options;
    table_entry *entries; /* sorted, owned */
    size_t count;
    table_bytes file;
    ksv_table_info info;
} table_fixture;

ksv_table_options table_options(unsigned hash_bits, unsigned payload_bits,
                                uint8_t id);
/* Truncates and sorts the entries, which become the fixture's, and writes them.
 * Fails the running test when that fails. */
void table_fixture_init(table_fixture *fixture, ksv_table_options options,
                        table_entry *entries, size_t count);
void table_fixture_release(table_fixture *fixture);
/* `count` entries; exits when memory is out. */
table_entry *table_entries_alloc(size_t count);

ksv_status table_write(table_bytes *file, const ksv_table_options *options,
                       const table_entry *entries, size_t count,
                       const ksv_allocator *allocator, ksv_table_info *info,
                       ksv_error *error);

/* Makes the checksums of header, pages and footer right again after changes to
 * a whole table of `size` bytes. Too few bytes are left as they are. */
void table_reseal(uint8_t *data, size_t size);

/* Payloads that a find visited. */
typedef struct payload_list {
    const table_entry *expected; /* the entries that it has to visit */
    size_t expected_count;
    size_t visited;
    bool wrong; /* a payload was not the next one expected */
    size_t stop_after;
} payload_list;

/* A ksv_payload_fn over a payload_list. */
bool payload_list_visit(void *ctx, uint64_t payload);
/* What the model expects of a find of `hash`. */
payload_list payload_list_of(const table_fixture *fixture, uint64_t hash);

#endif
