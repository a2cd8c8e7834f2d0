/* SPDX-License-Identifier: MIT */
/* A file system that fails, ends the process or loses power when it is told
 * to. */
#ifndef KSV_TESTS_SUPPORT_FAULT_FILE_SYSTEM_H
#define KSV_TESTS_SUPPORT_FAULT_FILE_SYSTEM_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include <keysieve/io.h>

#include "support/power_loss.h"

/* The operations, as bits for a choice of them. */
typedef enum fault_operation {
    FAULT_OPEN_READ = 1 << 0,
    FAULT_CREATE = 1 << 1,
    FAULT_INFO = 1 << 2, /* of a path or an open file */
    FAULT_RENAME = 1 << 3,
    FAULT_REMOVE = 1 << 4,
    FAULT_MAKE_DIRECTORY = 1 << 5,
    FAULT_REMOVE_DIRECTORY = 1 << 6,
    FAULT_SYNC_DIRECTORY = 1 << 7,
    FAULT_LIST = 1 << 8,
    FAULT_LOCK = 1 << 9,
    FAULT_READ = 1 << 10,
    FAULT_APPEND = 1 << 11,
    FAULT_SYNC = 1 << 12,
    FAULT_CLOSE = 1 << 13
} fault_operation;

#define FAULT_ALL ((1u << 14) - 1)
/* Those that change what is on the disk, or what will stay on it. */
#define FAULT_CHANGES                                           \
    ((unsigned)(FAULT_CREATE | FAULT_RENAME | FAULT_REMOVE |    \
                FAULT_MAKE_DIRECTORY | FAULT_REMOVE_DIRECTORY | \
                FAULT_SYNC_DIRECTORY | FAULT_APPEND | FAULT_SYNC))

/* How the process ends at a kill point. */
#define FAULT_EXIT_CODE 77

typedef struct fault_plan {
    unsigned operations; /* that are counted */
    uint64_t at;         /* the counted one that fails, from 1; 0: none */
    int os_errno;        /* with which it fails; 0 with `kill` */
    bool and_later;      /* the counted ones after it fail as well */
    bool partial_append; /* an append writes its first half before that */
    bool kill;           /* ends the process instead of failing */
} fault_plan;

/* Safe to use from many threads. The counts and the log are in memory that is
 * shared with forked processes: a parent reads what a child did. */
typedef struct fault_file_system {
    ksv_file_system fs; /* to be handed to what is tested */
    const ksv_file_system *inner;
    fault_plan plan; /* may be changed between operations */
    /* Of one process: one that was killed leaves none locked. */
    pthread_mutex_t mutex;
    struct fault_shared *shared;
} fault_file_system;

/* `inner` is borrowed. `fault` must not be moved afterwards. Ends the test
 * program when memory is out. */
void fault_file_system_open(fault_file_system *fault,
                            const ksv_file_system *inner);

/* Operations of the plan's kinds since it was opened or reset. */
uint64_t fault_file_system_count(const fault_file_system *fault);
/* Forgets counts and log. */
void fault_file_system_reset(fault_file_system *fault);

/* Files that were opened through it and are not closed. */
uint64_t fault_file_system_open_files(const fault_file_system *fault);

/* Writes down from now on what power_loss_apply() needs; only over the file
 * system of the operating system. `keep_directory` is an existing directory on
 * the same device that nothing else uses. */
void fault_file_system_track(fault_file_system *fault,
                             const char *keep_directory);

/* Does to the disk what a loss of power after the last tracked operation could
 * have done at worst: see power_loss.h. */
void fault_file_system_lose_power(fault_file_system *fault);

void fault_file_system_close(fault_file_system *fault);

/* Runs `body` in a forked process and returns its exit code (what `body`
 * returned, or FAULT_EXIT_CODE at a kill point), or minus the signal. */
int fault_run_forked(int (*body)(void *ctx), void *ctx);

#endif
