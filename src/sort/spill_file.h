/* SPDX-License-Identifier: MIT */
/* A temporary file of entries: runs, each ordered by partition. */
#ifndef KSV_SORT_SPILL_FILE_H
#define KSV_SORT_SPILL_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <keysieve/io.h>
#include <keysieve/memory.h>

#include "base/mutex.h"
#include "hash/hash_entry.h"

/* A record is the low bytes of the hash that its partition does not tell, and
 * as many bytes of the payload as the highest one of its run needs. */
typedef struct spill_run {
    uint64_t offset;
    unsigned payload_bytes;
    uint32_t *ends; /* records up to the end of each partition */
} spill_run;

typedef struct spill_file {
    const ksv_file_system *fs;      /* borrowed, as all of these */
    const ksv_allocator *allocator; /* may be used by several threads */
    const char *directory;
    const char *name;
    unsigned partition_bits;
    unsigned hash_bytes; /* of a record */
    mutex lock;          /* held while a run is written */
    bool has_lock;
    bool created;
    char *path;
    ksv_file *writer;
    ksv_file *reader;
    uint64_t written_bytes;
    spill_run *runs;
    size_t run_count;
    size_t run_capacity;
    uint8_t *buffer;
    size_t buffered_bytes;
} spill_file;

/* Memory that a spill file needs beside a few bytes a run and partition. */
#define SPILL_MEMORY_BYTES ((size_t)256 << 10)

/* Creates nothing yet. `directory`/`name` is to be a name that a later build
 * removes; `partition_bits` 0: all is one partition. To be released in every
 * case. */
ksv_status spill_file_init(spill_file *spill, const ksv_file_system *fs,
                           const ksv_allocator *allocator,
                           const char *directory, const char *name,
                           unsigned partition_bits, ksv_error *error);
/* Removes the file. */
void spill_file_release(spill_file *spill);

/* Begins a run: other threads wait until it ends. No payload of it has bits
 * beyond those of `payload_bits_of`. */
ksv_status spill_file_begin_run(spill_file *spill, uint64_t payload_bits_of,
                                ksv_error *error);
/* Entries of the run; partitions in ascending order. */
ksv_status spill_file_put(spill_file *spill, size_t partition,
                          const hash_entry *entries, size_t count,
                          ksv_error *error);
/* Ends it; `status` is that of the puts, and returned if it is a failure. */
ksv_status spill_file_end_run(spill_file *spill, ksv_status status,
                              ksv_error *error);

/* Nothing more will be written. */
ksv_status spill_file_start_reading(spill_file *spill, ksv_error *error);

/* Entries of a partition in one run, and in all. */
size_t spill_file_run_count(const spill_run *run, size_t partition);
uint64_t spill_file_count(const spill_file *spill, size_t partition);

/* Reads `count` entries from the one numbered `first` of a partition in a run.
 * `scratch` has room for spill_file_scratch_bytes(count). Any thread. */
ksv_status spill_file_read(const spill_file *spill, const spill_run *run,
                           size_t partition, size_t first, size_t count,
                           uint8_t *scratch, hash_entry *out, ksv_error *error);
size_t spill_file_scratch_bytes(size_t count);

#endif
