/* SPDX-License-Identifier: MIT */
/* Many reads of files of the operating system at once. */
#include "io/read_many.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/uio.h>

#include "base/error.h"
#include "io/posix_file.h"
#include "io/uring_reads.h"

/* Fewer are not worth a queue. */
#define QUEUE_LEAST 4

/* So many take a millisecond, much longer than to start a thread. */
#define HALVES_LEAST 1024

/* Without waiting for a disk; false when that cannot be done, for this read or
 * at all. Where nothing may be waited for, Linux begins to read what is missing
 * all the same. */
static bool read_cached(const posix_file *file, ksv_read *r)
{
#ifdef RWF_NOWAIT
    size_t wanted = posix_clamp_read(r->offset, r->size_bytes);
    size_t done = 0;
    while (done < wanted) {
        struct iovec piece = {(char *)r->buffer + done, wanted - done};
        ssize_t got =
            preadv2(file->fd, &piece, 1, (off_t)(r->offset + done), RWF_NOWAIT);
        if (got < 0)
            return false;
        if (got == 0)
            break;
        done += (size_t)got;
    }
    r->got_bytes = done;
    return true;
#else
    (void)file;
    (void)r;
    return false;
#endif
}

/* Has the kernel begin to read what is left, so that reading it in order waits
 * for all of it at once. */
static void announce(const ksv_read *reads, size_t count)
{
#ifdef POSIX_FADV_WILLNEED
    for (size_t i = 0; i < count; i++) {
        const ksv_read *r = &reads[i];
        posix_file *file = posix_file_to_read(r->file);
        if (r->got_bytes != READ_TO_DO || file == NULL)
            continue;
        size_t size_bytes = posix_clamp_read(r->offset, r->size_bytes);
        int ignored = posix_fadvise(file->fd, (off_t)r->offset,
                                    (off_t)size_bytes, POSIX_FADV_WILLNEED);
        (void)ignored;
    }
#else
    (void)reads;
    (void)count;
#endif
}

static ksv_status read_in_order(ksv_read *reads, size_t count, ksv_error *error)
{
    for (size_t i = 0; i < count; i++) {
        ksv_read *r = &reads[i];
        if (r->got_bytes == READ_TO_DO)
            KSV_TRY(r->file->ops->read_at(r->file, r->offset, r->buffer,
                                          r->size_bytes, &r->got_bytes, error));
    }
    return KSV_OK;
}

/* Reads what is cached; how many reads are left. */
static size_t read_part(ksv_read *reads, size_t count)
{
    size_t left = 0;
    for (size_t i = 0; i < count; i++) {
        ksv_read *r = &reads[i];
        posix_file *file = posix_file_to_read(r->file);
        r->got_bytes = READ_TO_DO;
        if (file == NULL || !read_cached(file, r))
            left++;
    }
    return left;
}

/* Half of the reads, done by a thread of its own. */
typedef struct read_half {
    ksv_read *reads;
    size_t count;
    size_t left;
} read_half;

static void *run_half(void *ctx)
{
    read_half *half = ctx;
    half->left = read_part(half->reads, half->count);
    return NULL;
}

/* Signals are for the threads of the program. */
static bool start_quietly(pthread_t *thread, read_half *half)
{
    sigset_t all, before;
    sigfillset(&all);
    if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0)
        return false;
    bool started = pthread_create(thread, NULL, run_half, half) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

/* What is cached is waiting for memory more than for the processor: two threads
 * do it in little more than half of the time. */
static size_t read_in_halves(ksv_read *reads, size_t count)
{
    size_t middle = count / 2;
    read_half half = {reads + middle, count - middle, 0};
    pthread_t thread;
    if (!start_quietly(&thread, &half))
        return read_part(reads, count);
    size_t left = read_part(reads, middle);
    (void)pthread_join(thread, NULL);
    return left + half.left;
}

ksv_status posix_read_many(void *ctx, ksv_read *reads, size_t count,
                           ksv_error *error)
{
    (void)ctx;
    size_t left = count >= HALVES_LEAST ? read_in_halves(reads, count)
                                        : read_part(reads, count);
    if (left >= QUEUE_LEAST && !uring_reads(reads, count))
        announce(reads, count);
    return left > 0 ? read_in_order(reads, count, error) : KSV_OK;
}
