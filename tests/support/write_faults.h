/* SPDX-License-Identifier: MIT */
/* Stops or fails this process at its n-th change to the file system. */
#ifndef KSV_TESTS_SUPPORT_WRITE_FAULTS_H
#define KSV_TESTS_SUPPORT_WRITE_FAULTS_H

/* A program that calls these functions gets its own write(), pwrite(),
 * writev(), fsync(), fdatasync(), rename(), unlink(), mkdir() and rmdir(),
 * which libraries that it loads use as well: LMDB's writes count too. Syncs are
 * counted, not done. */

typedef enum write_fault {
    WRITE_FAULT_NONE,
    WRITE_FAULT_KILL,      /* SIGKILL before the operation */
    WRITE_FAULT_KILL_HALF, /* the same, after half of what is to be written */
    WRITE_FAULT_FAIL_ONE,  /* the operation fails, later ones work */
    WRITE_FAULT_FULL       /* it and all later writes and syncs fail */
} write_fault;

/* Counts from 1 from now on. `error_number` is what failures set errno to. */
void write_faults_arm(write_fault fault, long at_operation, int error_number);

/* How many operations there were since. */
long write_faults_count(void);

/* Added to the result of a process that ended before it came to its fault. */
enum { WRITE_FAULTS_UNHARMED = 100 };

/* Calls `body` in a process of its own, which meets the fault: what it returns
 * (below WRITE_FAULTS_UNHARMED), or -1 when it was killed. */
int write_faults_run(write_fault fault, long at_operation, int error_number,
                     int (*body)(void *ctx), void *ctx);

/* How many of them were writes and syncs of files whose path ends like this
 * (borrowed), which is to be set before. */
void write_faults_watch(const char *ending);
long write_faults_watched(void);

#endif
