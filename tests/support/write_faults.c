/* SPDX-License-Identifier: MIT */
/* Stops or fails this process at its n-th change to the file system. */

/* pwrite() and pwrite64() are two functions here. */
#undef _FILE_OFFSET_BITS

#include "support/write_faults.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static write_fault armed;
static long target;
static int failure;
static atomic_long operations;
static const char *watched_ending;
static atomic_long watched;

void write_faults_arm(write_fault fault, long at_operation, int error_number)
{
    armed = fault;
    target = at_operation;
    failure = error_number;
    operations = 0;
    watched = 0;
}

long write_faults_count(void)
{
    return operations;
}

void write_faults_watch(const char *ending)
{
    watched_ending = ending;
}

long write_faults_watched(void)
{
    return watched;
}

static void look_at(int fd)
{
    char link[64], path[4096];
    if (watched_ending == NULL)
        return;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    const ssize_t length = readlink(link, path, sizeof path);
    const size_t size = strlen(watched_ending);
    if (length >= (ssize_t)size &&
        memcmp(path + length - size, watched_ending, size) == 0)
        watched++;
}

/* Whether this operation has to be done in half before the end. */
static bool is_half(long n)
{
    return armed == WRITE_FAULT_KILL_HALF && n == target;
}

static void die(void)
{
    kill(getpid(), SIGKILL);
    for (;;)
        pause();
}

/* Counts; false: the operation has to fail. */
static bool begin(bool is_write, long *n)
{
    *n = ++operations;
    if (armed == WRITE_FAULT_KILL && *n == target)
        die();
    if ((armed == WRITE_FAULT_FAIL_ONE && *n == target) ||
        (armed == WRITE_FAULT_FULL && *n >= target && is_write)) {
        errno = failure;
        return false;
    }
    if (is_half(*n) && !is_write)
        die();
    return true;
}

/* What a process wrote outlives it without: syncs only take time here. */
static int sync_nothing(int fd)
{
    long n;
    look_at(fd);
    return begin(true, &n) ? 0 : -1;
}

/* Seen by shared libraries too. */
#pragma GCC visibility push(default)

ssize_t write(int fd, const void *data, size_t size)
{
    long n;
    look_at(fd);
    if (!begin(true, &n))
        return -1;
    if (!is_half(n))
        return syscall(SYS_write, fd, data, size);
    syscall(SYS_write, fd, data, size / 2);
    die();
    return -1;
}

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t offset)
{
    long n;
    look_at(fd);
    if (!begin(true, &n))
        return -1;
    if (!is_half(n))
        return syscall(SYS_pwrite64, fd, data, size, offset);
    /* A write of less than a sector is whole or not at all. */
    if (size > 512)
        syscall(SYS_pwrite64, fd, data, size / 2, offset);
    die();
    return -1;
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t offset)
{
    return pwrite64(fd, data, size, offset);
}

ssize_t writev(int fd, const struct iovec *parts, int count)
{
    long n;
    look_at(fd);
    if (!begin(true, &n))
        return -1;
    if (!is_half(n))
        return syscall(SYS_writev, fd, parts, count);
    syscall(SYS_write, fd, parts[0].iov_base, parts[0].iov_len / 2);
    die();
    return -1;
}

int fsync(int fd)
{
    return sync_nothing(fd);
}

int fdatasync(int fd)
{
    return sync_nothing(fd);
}

int rename(const char *from, const char *to)
{
    long n;
    return begin(false, &n)
               ? (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0)
               : -1;
}

int unlink(const char *path)
{
    long n;
    return begin(false, &n) ? (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0)
                            : -1;
}

int mkdir(const char *path, mode_t mode)
{
    long n;
    return begin(false, &n) ? (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode)
                            : -1;
}

int rmdir(const char *path)
{
    long n;
    return begin(false, &n)
               ? (int)syscall(SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR)
               : -1;
}

#pragma GCC visibility pop
