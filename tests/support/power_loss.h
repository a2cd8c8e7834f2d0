/* SPDX-License-Identifier: MIT */
/* What a disk may look like after power was lost: all that was not synced is
 * gone. */
#ifndef KSV_TESTS_SUPPORT_POWER_LOSS_H
#define KSV_TESTS_SUPPORT_POWER_LOSS_H

#include <stdbool.h>
#include <stdint.h>

/* The model:
 * - bytes appended to a file since its last sync are dropped;
 * - creations, renames, removals and directories made or removed are undone,
 * the latest first, unless their directory was synced after them;
 * - an old file that was emptied by creating it again stays empty.
 * Files of other programs, and those written past the file system, stay. Paths
 * are compared as they were spelled; files in a renamed directory are lost from
 * sight. */
typedef enum power_event_kind {
    POWER_CREATED,
    POWER_SYNCED, /* `size_bytes` bytes of file `file` are durable */
    POWER_RENAMED,
    POWER_REMOVED,
    POWER_MADE_DIRECTORY,
    POWER_REMOVED_DIRECTORY,
    POWER_SYNCED_DIRECTORY,
    POWER_CLOSED,      /* `file` has `size_bytes` bytes */
    POWER_SYNCED_FILES /* all files that were closed before are durable */
} power_event_kind;

#define POWER_PATH_BYTES 512

typedef struct power_event {
    power_event_kind kind;
    uint32_t file; /* number of a created file, from 1 */
    bool existed;  /* the name of a created file was there before */
    uint64_t size_bytes;
    char path[POWER_PATH_BYTES];
    char other[POWER_PATH_BYTES]; /* the new name of a rename */
    /* A second name of the file that a removal or rename took away; "". */
    char kept[POWER_PATH_BYTES];
} power_event;

#define POWER_EVENTS_MAX 16384

/* In the order of the events. */
typedef struct power_log {
    uint64_t count;
    uint32_t files;
    power_event events[POWER_EVENTS_MAX];
} power_log;

/* Changes the disk; the log is then used up. Ends the test program when the
 * log was too short. */
void power_loss_apply(power_log *log);

#endif
