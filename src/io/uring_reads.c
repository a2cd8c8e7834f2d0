/* SPDX-License-Identifier: MIT */
/* Reads through an io_uring, where there is one: the only file that knows
 * liburing. */
#include "io/uring_reads.h"

#ifdef KSV_HAVE_URING

#include <liburing.h>

#include "io/posix_file.h"

#define QUEUE_DEPTH 64

typedef struct uring_wave {
    struct io_uring ring;
    ksv_read *reads;
    size_t count;
    size_t next;      /* the first one that was not looked at */
    unsigned flying;  /* handed over, not yet answered */
    unsigned waiting; /* prepared, not yet handed over */
} uring_wave;

/* The longest that fits an answer. */
static bool fits(const ksv_read *r)
{
    return r->size_bytes <= INT32_MAX &&
           posix_clamp_read(r->offset, r->size_bytes) == r->size_bytes;
}

static void prepare_some(uring_wave *w)
{
    for (; w->next < w->count && w->flying + w->waiting < QUEUE_DEPTH;
         w->next++) {
        ksv_read *r = &w->reads[w->next];
        posix_file *file = posix_file_to_read(r->file);
        if (r->got_bytes != READ_TO_DO || file == NULL || !fits(r))
            continue;
        struct io_uring_sqe *entry = io_uring_get_sqe(&w->ring);
        if (entry == NULL)
            return;
        io_uring_prep_read(entry, file->fd, r->buffer, (unsigned)r->size_bytes,
                           r->offset);
        io_uring_sqe_set_data(entry, r);
        w->waiting++;
    }
}

/* A short read may be the end of the file or not: it is read again. */
static void take_answers(uring_wave *w)
{
    struct io_uring_cqe *answer;
    while (w->flying > 0 && io_uring_peek_cqe(&w->ring, &answer) == 0) {
        ksv_read *r = io_uring_cqe_get_data(answer);
        if (answer->res >= 0 && (size_t)answer->res == r->size_bytes)
            r->got_bytes = r->size_bytes;
        io_uring_cqe_seen(&w->ring, answer);
        w->flying--;
    }
}

/* The kernel writes to the buffers until all that fly have answered. */
static void run(uring_wave *w)
{
    bool works = true;
    while (works || w->flying > 0) {
        if (works)
            prepare_some(w);
        if (w->flying + w->waiting == 0)
            return;
        int handed_over = io_uring_submit_and_wait(&w->ring, 1);
        if (handed_over > 0) {
            w->flying += (unsigned)handed_over;
            w->waiting -= (unsigned)handed_over;
        }
        if (handed_over < 0 && handed_over != -EINTR) {
            works = false;
            if (w->flying == 0)
                return;
        }
        take_answers(w);
    }
}

bool uring_reads(ksv_read *reads, size_t count)
{
    uring_wave w = {.reads = reads, .count = count};
    if (io_uring_queue_init(QUEUE_DEPTH, &w.ring, 0) != 0)
        return false;
    run(&w);
    io_uring_queue_exit(&w.ring);
    return true;
}

#else

bool uring_reads(ksv_read *reads, size_t count)
{
    (void)reads;
    (void)count;
    return false;
}

#endif
