/* SPDX-License-Identifier: MIT */
/* A directory of its own for a test. */
#include "support/temp_dir.h"

#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static void give_up(const char *doing)
{
    perror(doing);
    exit(99);
}

void temp_dir_make(temp_dir *dir)
{
    const char *parent = getenv("TMPDIR");
    char template[sizeof dir->path];
    int length = snprintf(template, sizeof template, "%s/keysieve-test-XXXXXX",
                          parent != NULL ? parent : "/tmp");
    if (length < 0 || (size_t)length >= sizeof template ||
        mkdtemp(template) == NULL)
        give_up("mkdtemp");
    char resolved[PATH_MAX];
    if (realpath(template, resolved) == NULL ||
        strlen(resolved) >= sizeof dir->path)
        give_up("realpath");
    memcpy(dir->path, resolved, strlen(resolved) + 1);
}

const char *temp_dir_path(const temp_dir *dir, const char *name,
                          char out[TEMP_DIR_PATH_BYTES])
{
    snprintf(out, TEMP_DIR_PATH_BYTES, "%s/%s", dir->path, name);
    return out;
}

static int remove_entry(const char *path, const struct stat *st, int type,
                        struct FTW *ftw)
{
    (void)st;
    (void)ftw;
    /* A test may have taken the permissions away. */
    if (type == FTW_DNR)
        chmod(path, 0700);
    return remove(path) == 0 ? 0 : 1;
}

void temp_dir_remove(temp_dir *dir)
{
    if (dir->path[0] == '\0')
        return;
    nftw(dir->path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    dir->path[0] = '\0';
}

void temp_dir_write(const temp_dir *dir, const char *name, const void *data,
                    size_t size_bytes)
{
    char path[TEMP_DIR_PATH_BYTES];
    FILE *file = fopen(temp_dir_path(dir, name, path), "wb");
    if (file == NULL || fwrite(data, 1, size_bytes, file) != size_bytes ||
        fclose(file) != 0)
        give_up(path);
}
