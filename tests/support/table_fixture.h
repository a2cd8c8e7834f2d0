/* SPDX-License-Identifier: MIT */
/* What tests of tables share: a file in memory with faults, models, builders.
 */
#ifndef TESTS_SUPPORT_TABLE_FIXTURE_H
#define TESTS_SUPPORT_TABLE_FIXTURE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <keysieve/table.h>

/* A file in memory that can be told to fail. Closing it does nothing. */
typedef struct byte_file {
    ksv_file base; /* first: it is the file */
    uint8_t *data;
    size_t size;
    size_t capacity;
    atomic_long reads;   /* so far */
    long failing_read;   /* the number (from 0) of the read that fails */
    long appends;        /* so far */
    long failing_append; /* likewise */
} byte_file;

void byte_file_init(byte_file *file);
void byte_file_release(byte_file *file);
/* A copy of `size` bytes. */
void byte_file_set(byte_file *file, const void *data, size_t size);

/* An allocator that can be told to fail, and that checks sizes at free. */
typedef struct fault_allocator {
    ksv_allocator functions;
    long allocations; /* so far */
    long failing;     /* the number (from 0) of the allocation that fails */
    size_t live;      /* allocations not yet freed */
} fault_allocator;

void fault_allocator_init(fault_allocator *allocator);

typedef struct table_entry {
    uint64_t hash;
    uint64_t payload;
} table_entry;

/* A table in memory and what is in it. */
typedef struct table_fixture {
    ksv_table_options options;
    table_entry *entries; /* sorted, owned */
    size_t count;
    byte_file file;
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

/* The next number of a fixed sequence (Steele, Lea, Flood, "Fast splittable
 * pseudorandom number generators", 2014). */
uint64_t next_random(uint64_t *state);

ksv_status table_write(byte_file *file, const ksv_table_options *options,
                       const table_entry *entries, size_t count,
                       const ksv_allocator *allocator, ksv_table_info *info,
                       ksv_error *error);

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
