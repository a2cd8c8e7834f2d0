/* SPDX-License-Identifier: MIT */
/* What a disk may look like after power was lost: all that was not synced is
 * gone. */
#include "support/power_loss.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct tracked_file {
    const char *path; /* now; NULL when its name is gone */
    uint64_t durable_bytes;
    uint64_t closed_bytes;
} tracked_file;

static void forget_path(tracked_file *files, uint32_t count, const char *path,
                        const char *now)
{
    for (uint32_t i = 1; i <= count; i++) {
        if (files[i].path != NULL && strcmp(files[i].path, path) == 0)
            files[i].path = now;
    }
}

static const char *path_or_null(const char *path)
{
    return path[0] != '\0' ? path : NULL;
}

static void follow(tracked_file *files, uint32_t count,
                   const power_event *event)
{
    switch (event->kind) {
    case POWER_CREATED:
        forget_path(files, count, event->path, NULL);
        files[event->file].path = event->path;
        break;
    case POWER_SYNCED:
        files[event->file].durable_bytes = event->size_bytes;
        break;
    case POWER_CLOSED:
        files[event->file].closed_bytes = event->size_bytes;
        break;
    case POWER_SYNCED_FILES:
        for (uint32_t i = 1; i <= count; i++)
            if (files[i].closed_bytes > files[i].durable_bytes)
                files[i].durable_bytes = files[i].closed_bytes;
        break;
    case POWER_RENAMED:
        forget_path(files, count, event->other, path_or_null(event->kept));
        forget_path(files, count, event->path, event->other);
        break;
    case POWER_REMOVED:
        forget_path(files, count, event->path, path_or_null(event->kept));
        break;
    default:
        break;
    }
}

static void drop_unsynced_bytes(const power_log *log)
{
    tracked_file *files = calloc((size_t)log->files + 1, sizeof *files);
    if (files == NULL)
        abort();
    for (uint64_t i = 0; i < log->count; i++)
        follow(files, log->files, &log->events[i]);
    for (uint32_t i = 1; i <= log->files; i++) {
        struct stat st;
        uint64_t durable = files[i].durable_bytes;
        if (files[i].path == NULL || stat(files[i].path, &st) != 0 ||
            (uint64_t)st.st_size <= durable)
            continue;
        if (truncate(files[i].path, (off_t)durable) != 0)
            perror(files[i].path);
    }
    free(files);
}

static size_t trimmed_length(const char *path, size_t length)
{
    while (length > 1 && path[length - 1] == '/')
        length--;
    return length;
}

/* Whether `directory` is the one that holds `path`. */
static bool holds(const char *directory, const char *path)
{
    size_t length = trimmed_length(path, strlen(path));
    while (length > 0 && path[length - 1] != '/')
        length--;
    length = trimmed_length(path, length);
    if (length == 0)
        return strcmp(directory, ".") == 0;
    return trimmed_length(directory, strlen(directory)) == length &&
           memcmp(directory, path, length) == 0;
}

static bool is_durable(const power_log *log, uint64_t at)
{
    const power_event *event = &log->events[at];
    const char *path =
        event->kind == POWER_RENAMED ? event->other : event->path;
    for (uint64_t i = at + 1; i < log->count; i++) {
        if (log->events[i].kind == POWER_SYNCED_DIRECTORY &&
            holds(log->events[i].path, path))
            return true;
    }
    return false;
}

static void check(int result, const char *path)
{
    if (result != 0)
        perror(path);
}

static void undo(const power_event *event)
{
    switch (event->kind) {
    case POWER_CREATED:
        if (!event->existed)
            check(unlink(event->path), event->path);
        break;
    case POWER_RENAMED:
        check(rename(event->other, event->path), event->other);
        if (event->kept[0] != '\0')
            check(rename(event->kept, event->other), event->kept);
        break;
    case POWER_REMOVED:
        check(rename(event->kept, event->path), event->kept);
        break;
    case POWER_MADE_DIRECTORY:
        /* Not empty: something of another program is in it. */
        rmdir(event->path);
        break;
    case POWER_REMOVED_DIRECTORY:
        check(mkdir(event->path, 0777), event->path);
        break;
    default:
        break;
    }
}

void power_loss_apply(power_log *log)
{
    if (log->count > POWER_EVENTS_MAX) {
        fprintf(stderr, "the log of file operations is too short\n");
        exit(99);
    }
    drop_unsynced_bytes(log);
    for (uint64_t i = log->count; i-- > 0;) {
        if (!is_durable(log, i))
            undo(&log->events[i]);
    }
    log->count = 0;
    log->files = 0;
}
