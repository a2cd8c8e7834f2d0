/* SPDX-License-Identifier: MIT */
/* Watches how many requests a disk has in flight. */
#include "harness.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#define PAUSE_NS 100000

struct bench_watch {
    int stat_fd; /* -1: there is no such file */
    int inflight_fd;
    double start_ns;
    double start_ms; /* summed over the reads that ended until then */
    double most;
    atomic_bool stop;
    pthread_t thread;
};

static int open_of_disk(const char *path, const char *name)
{
    struct stat st;
    char file[128];
    if (stat(path, &st) != 0)
        bench_fail(path);
    snprintf(file, sizeof file, "/sys/dev/block/%u:%u/%s", major(st.st_dev),
             minor(st.st_dev), name);
    return open(file, O_RDONLY | O_CLOEXEC);
}

/* The number that stands `skip` numbers behind the first; 0 when it cannot be
 * read. */
static double number_at(int fd, unsigned skip)
{
    char text[512];
    ssize_t got = fd < 0 ? -1 : pread(fd, text, sizeof text - 1, 0);
    if (got <= 0)
        return 0;
    text[got] = '\0';
    char *at = text;
    unsigned long long value = strtoull(at, &at, 10);
    while (skip-- > 0)
        value = strtoull(at, &at, 10);
    return (double)value;
}

static void *watch_disk(void *ctx)
{
    bench_watch *w = ctx;
    const struct timespec pause = {0, PAUSE_NS};
    while (!atomic_load(&w->stop)) {
        double now = number_at(w->inflight_fd, 0);
        w->most = now > w->most ? now : w->most;
        nanosleep(&pause, NULL);
    }
    return NULL;
}

bench_watch *bench_watch_start(const char *path)
{
    bench_watch *w = calloc(1, sizeof *w);
    if (w == NULL)
        bench_fail("out of memory");
    w->stat_fd = open_of_disk(path, "stat");
    w->inflight_fd = open_of_disk(path, "inflight");
    w->start_ms = number_at(w->stat_fd, 3);
    w->start_ns = bench_now_ns();
    if (pthread_create(&w->thread, NULL, watch_disk, w) != 0)
        bench_fail("no thread");
    return w;
}

bench_depth bench_watch_stop(bench_watch *w)
{
    bench_depth depth;
    double ns = bench_now_ns() - w->start_ns;
    depth.average = (number_at(w->stat_fd, 3) - w->start_ms) * 1e6 / ns;
    atomic_store(&w->stop, true);
    pthread_join(w->thread, NULL);
    depth.most = w->most;
    close(w->stat_fd);
    close(w->inflight_fd);
    free(w);
    return depth;
}
