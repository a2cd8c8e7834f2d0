/* SPDX-License-Identifier: MIT */
/* What each system that keysieve is measured against has to do: store a place
 * under each key, and find it again. */
#ifndef KSV_BENCHMARKS_PEER_H
#define KSV_BENCHMARKS_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All keys are as long as a UUID is as text. */
#define PEER_KEY_BYTES 36

/* Records of a data file: the key stands first in each. */
typedef struct peer_data {
    const char *bytes;
    uint64_t size;
    const uint64_t *offsets; /* of records, in the order that the peer wants */
    size_t count;
} peer_data;

/* Failures of a peer end the program by bench_fail(). */
typedef struct peer {
    const char *name;
    bool sorted; /* wants the records in the order of keys */
    /* Stores the offsets as values of 8 bytes in the empty `directory`. */
    void (*build)(const peer_data *data, const char *directory);
    void *(*open)(const char *directory);
    bool (*find)(void *handle, const char *key, uint64_t *offset);
    void (*close)(void *handle);
} peer;

extern const peer peer_cdb, peer_leveldb, peer_lmdb, peer_mtbl, peer_rocksdb,
    peer_rocksdb_unsorted, peer_sqlite;

/* Rates and times of libbloom; prints. */
void peer_bloom_measure(uint64_t keys, unsigned rounds);

#endif
