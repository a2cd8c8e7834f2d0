/* SPDX-License-Identifier: MIT */
/* Sorted entries of whole keys on disk: runs, one after the other in a file. */
#ifndef KSV_SORT_KEY_RUN_H
#define KSV_SORT_KEY_RUN_H

#include <stdbool.h>

#include <keysieve/io.h>

#include "base/memory.h"
#include "sort/key_sorter.h"

/* An entry is the length of what its key has in common with the key before, of
 * the rest and the payload, in groups of 7 bits, and the rest. */
#define KEY_RUN_COMMON_BYTES 48

typedef struct key_run {
    uint64_t offset;
    uint64_t size_bytes;
    uint64_t entries;
    size_t common_bytes; /* that all keys begin with, as far as they are kept */
    uint8_t common[KEY_RUN_COMMON_BYTES];
} key_run;

/* A temporary file of runs. One thread at a time until it is read; then each of
 * its readers may have one. */
typedef struct key_run_file {
    const ksv_file_system *fs; /* borrowed, as the others */
    const ksv_allocator *allocator;
    char *path;
    bool created;
    ksv_file *writer;
    ksv_file *reader;
    key_run *runs;
    size_t run_count;
    size_t run_capacity;
    uint64_t written_bytes;
    byte_buffer buffer; /* not yet written */
    byte_buffer last;   /* key of the run */
} key_run_file;

/* What a file needs while it is written, beside a key. */
#define KEY_RUN_WRITE_BYTES ((size_t)256 << 10)

/* Creates nothing yet. `directory`/`name` is to be a name that a later build
 * removes. To be released in every case. */
ksv_status key_run_file_init(key_run_file *file, const ksv_file_system *fs,
                             const ksv_allocator *allocator,
                             const char *directory, const char *name,
                             ksv_error *error);
/* Removes the file. */
void key_run_file_release(key_run_file *file);

/* A run is begun, gets entries in order, and is ended. */
ksv_status key_run_begin(key_run_file *file, ksv_error *error);
ksv_status key_run_put(key_run_file *file, const key_entry *entry,
                       ksv_error *error);
ksv_status key_run_end(key_run_file *file, ksv_error *error);

/* Nothing more will be written. */
ksv_status key_run_start_reading(key_run_file *file, ksv_error *error);

/* Reads one run. All zero is one that may be closed. */
typedef struct key_run_reader {
    const key_run_file *file;
    uint64_t next_offset; /* of what is not in memory */
    uint64_t end_offset;
    uint64_t entries_left;
    uint8_t *buffer;
    size_t buffer_bytes;
    size_t at; /* the next entry in the buffer */
    size_t filled;
    byte_buffer key;
} key_run_reader;

/* Reads `buffer_bytes` at a time, some KiB at least. To be closed in every
 * case.
 */
ksv_status key_run_reader_open(key_run_reader *reader, const key_run_file *file,
                               size_t run, size_t buffer_bytes,
                               ksv_error *error);
void key_run_reader_close(key_run_reader *reader);

/* The next entry, whose key is valid until the next call, or `*end`. */
ksv_status key_run_reader_next(key_run_reader *reader, key_entry *entry,
                               bool *end, ksv_error *error);

#endif
