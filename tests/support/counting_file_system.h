/* SPDX-License-Identifier: MIT */
/* A file system that counts what is read of some files, and can hide their
 * times. */
#ifndef KSV_TESTS_SUPPORT_COUNTING_FILE_SYSTEM_H
#define KSV_TESTS_SUPPORT_COUNTING_FILE_SYSTEM_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <keysieve/io.h>

typedef struct counted_read {
    uint64_t offset;
    uint64_t size_bytes; /* that were got */
} counted_read;

#define COUNTED_READS_MAX 4096

/* Safe to use from many threads. */
typedef struct counting_file_system {
    ksv_file_system fs; /* to be handed to what is tested */
    const ksv_file_system *inner;
    const char *ending; /* paths that end like this are counted */
    /* Their times are always the same and their inode 0. */
    bool hide_times;
    pthread_mutex_t mutex;
    uint64_t infos; /* by path */
    uint64_t opens;
    uint64_t reads;
    uint64_t bytes_read;
    counted_read log[COUNTED_READS_MAX]; /* the first ones */
} counting_file_system;

/* `inner` and `ending` are borrowed. Not to be moved afterwards. */
void counting_file_system_open(counting_file_system *counting,
                               const ksv_file_system *inner,
                               const char *ending);
void counting_file_system_reset(counting_file_system *counting);
void counting_file_system_close(counting_file_system *counting);

#endif
