/* SPDX-License-Identifier: MIT */
/* Looks at all data files of a snapshot at once: each "not found" costs a look
 * at every one of them, so where there are many, threads share them. */
#include "lookup/data_sweep.h"

#include <string.h>

#include "base/thread_pool.h"
#include "io/file.h"
#include "io/processors.h"
#include "lookup/data_freshness.h"

/* A look takes some microseconds, and so many take longer than to start a
 * thread. */
#define GROUPS_A_THREAD 4
#define THREADS_MOST 16

/* Files with longer paths are asked about by themselves. */
#define PATH_BYTES 4096

typedef struct sweep {
    index_snapshot *snapshot;
    uint64_t since_ns;
    uint64_t start_ns;
    atomic_size_t next_group;
} sweep;

/* "`directory`/" and room for what lies below it. */
typedef struct path_writer {
    char text[PATH_BYTES];
    size_t prefix_bytes;
} path_writer;

static void start_paths(path_writer *paths, const char *directory)
{
    size_t length = strlen(directory);
    paths->prefix_bytes = 0;
    if (length >= PATH_BYTES)
        return;
    memcpy(paths->text, directory, length);
    paths->text[length] = '/';
    paths->prefix_bytes = length + 1;
}

/* Valid until the next call; NULL when it is too long. */
static const char *write_path(path_writer *paths, const snapshot_file *file)
{
    if (file->path != NULL)
        return file->path;
    const char *name = file->facts->relative_path;
    size_t bytes = strlen(name) + 1;
    if (paths->prefix_bytes == 0 || bytes > PATH_BYTES - paths->prefix_bytes)
        return NULL;
    memcpy(paths->text + paths->prefix_bytes, name, bytes);
    return paths->text;
}

/* Whether a file is as expected where it was expected. */
static bool is_as_expected(const index_snapshot *s, const snapshot_file *file,
                           path_writer *paths)
{
    ksv_file_info expected;
    ksv_file_info now;
    if (!freshness_expects(file, &expected))
        return false;
    const char *path = write_path(paths, file);
    return path != NULL &&
           s->fs->info(s->fs->ctx, path, &now, NULL) == KSV_OK &&
           file_info_is_same(&now, &expected);
}

static bool is_done(const sweep *w, size_t group)
{
    return freshness_believes(w->snapshot, w->snapshot->looked_ns[group],
                              w->since_ns, w->start_ns);
}

static void sweep_group(sweep *w, size_t group, path_writer *paths)
{
    const index_snapshot *s = w->snapshot;
    size_t first = group * SNAPSHOT_GROUP_FILES;
    for (size_t i = 0; i < SNAPSHOT_GROUP_FILES; i++) {
        if (first + i < s->state.file_count &&
            !is_as_expected(s, &s->files[first + i], paths))
            return;
    }
    s->looked_ns[group] = w->start_ns;
}

/* Threads write to different groups. */
static void sweep_groups(void *ctx)
{
    sweep *w = ctx;
    size_t count = snapshot_group_count(w->snapshot);
    path_writer paths;
    start_paths(&paths, w->snapshot->directory);
    for (;;) {
        size_t group = atomic_fetch_add(&w->next_group, 1);
        if (group >= count)
            break;
        if (!is_done(w, group))
            sweep_group(w, group, &paths);
    }
}

static unsigned count_helpers(const sweep *w)
{
    size_t count = snapshot_group_count(w->snapshot);
    size_t groups = 0;
    for (size_t i = 0; i < count; i++)
        groups += !is_done(w, i);
    size_t threads = groups / GROUPS_A_THREAD;
    if (threads <= 1)
        return 0;
    unsigned most = processor_count();
    if (most > THREADS_MOST)
        most = THREADS_MOST;
    return (threads < most ? (unsigned)threads : most) - 1;
}

uint64_t data_sweep(index_snapshot *s, uint64_t since_ns)
{
    sweep w = {
        .snapshot = s, .since_ns = since_ns, .start_ns = clock_monotonic_ns()};
    thread_task tasks[THREADS_MOST];
    thread_pool *pool = NULL;
    unsigned helpers = count_helpers(&w);
    /* Without other threads it takes longer. */
    if (helpers > 0 &&
        thread_pool_open(helpers, &s->allocator, &pool, NULL) != KSV_OK)
        helpers = 0;
    for (unsigned i = 0; i < helpers; i++) {
        tasks[i] = (thread_task){.run = sweep_groups, .ctx = &w};
        thread_pool_submit(pool, &tasks[i]);
    }
    sweep_groups(&w);
    thread_pool_close(pool);
    return w.start_ns;
}
