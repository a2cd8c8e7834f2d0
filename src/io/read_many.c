/* SPDX-License-Identifier: MIT */
/* Many reads of files of the operating system at once. */
#include "io/read_many.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/uio.h>

#include "base/error.h"
#include "io/posix_file.h"
#include "io/uring_reads.h"

/* The `got_bytes` of a read that is still to be done. */
#define TO_DO READ_TO_DO

/* Fewer are not worth a queue. */
#define QUEUE_LEAST 4

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
        if (r->got_bytes != TO_DO || file == NULL)
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
        if (r->got_bytes == TO_DO)
            KSV_TRY(r->file->ops->read_at(r->file, r->offset, r->buffer,
                                          r->size_bytes, &r->got_bytes, error));
    }
    return KSV_OK;
}

ksv_status posix_read_many(void *ctx, ksv_read *reads, size_t count,
                           ksv_error *error)
{
    (void)ctx;
    size_t left = 0;
    for (size_t i = 0; i < count; i++) {
        ksv_read *r = &reads[i];
        posix_file *file = posix_file_to_read(r->file);
        r->got_bytes = TO_DO;
        if (file == NULL || !read_cached(file, r))
            left++;
    }
    if (left >= QUEUE_LEAST && !uring_reads(reads, count))
        announce(reads, count);
    return left > 0 ? read_in_order(reads, count, error) : KSV_OK;
}
