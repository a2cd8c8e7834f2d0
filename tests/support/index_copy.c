/* SPDX-License-Identifier: MIT */
/* The files of a directory in memory, to be put back as often as needed. */
#include "support/index_copy.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void give_up(const char *what, const char *name)
{
    fprintf(stderr, "%s: %s\n", what, name);
    exit(2);
}

static void join(char out[4096], const char *directory, const char *name)
{
    snprintf(out, 4096, "%s/%s", directory, name);
}

static void read_file(index_copy_file *file, const char *directory)
{
    char path[4096];
    join(path, directory, file->name);
    FILE *f = fopen(path, "rb");
    struct stat st;
    if (f == NULL || fstat(fileno(f), &st) != 0)
        give_up("cannot read", path);
    file->size = (size_t)st.st_size;
    file->data = malloc(file->size + 1);
    if (file->data == NULL || fread(file->data, 1, file->size, f) != file->size)
        give_up("cannot read", path);
    fclose(f);
}

void index_copy_take(index_copy *copy, const char *directory)
{
    memset(copy, 0, sizeof *copy);
    DIR *d = opendir(directory);
    if (d == NULL)
        return;
    copy->exists = true;
    for (struct dirent *e; (e = readdir(d)) != NULL;) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        if (copy->count == INDEX_COPY_FILES)
            give_up("too many files", directory);
        index_copy_file *file = &copy->files[copy->count++];
        snprintf(file->name, sizeof file->name, "%s", e->d_name);
        read_file(file, directory);
    }
    closedir(d);
}

static void remove_all(const char *directory)
{
    DIR *d = opendir(directory);
    if (d == NULL)
        return;
    for (struct dirent *e; (e = readdir(d)) != NULL;) {
        char path[4096];
        join(path, directory, e->d_name);
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 &&
            unlink(path) != 0)
            give_up("cannot remove", path);
    }
    closedir(d);
}

void index_copy_write(const char *directory, const char *name, const void *data,
                      size_t size)
{
    char path[4096];
    join(path, directory, name);
    FILE *f = fopen(path, "wb");
    if (f == NULL || fwrite(data, 1, size, f) != size || fclose(f) != 0)
        give_up("cannot write", path);
}

void index_copy_restore(const index_copy *copy, const char *directory)
{
    remove_all(directory);
    if (!copy->exists) {
        rmdir(directory);
        return;
    }
    mkdir(directory, 0777);
    for (size_t i = 0; i < copy->count; i++)
        index_copy_write(directory, copy->files[i].name, copy->files[i].data,
                         copy->files[i].size);
}

void index_copy_release(index_copy *copy)
{
    for (size_t i = 0; i < copy->count; i++)
        free(copy->files[i].data);
    memset(copy, 0, sizeof *copy);
}

index_copy_file *index_copy_find(index_copy *copy, const char *ending)
{
    size_t length = strlen(ending);
    for (size_t i = 0; i < copy->count; i++) {
        const char *name = copy->files[i].name;
        if (strlen(name) >= length &&
            strcmp(name + strlen(name) - length, ending) == 0)
            return &copy->files[i];
    }
    return NULL;
}

size_t index_copy_entries(const char *directory)
{
    DIR *d = opendir(directory);
    if (d == NULL)
        return 0;
    size_t count = 0;
    for (struct dirent *e; (e = readdir(d)) != NULL;)
        count += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    closedir(d);
    return count;
}

void index_copy_prefer_memory(void)
{
    if (getenv("TMPDIR") == NULL && access("/dev/shm", W_OK | X_OK) == 0)
        setenv("TMPDIR", "/dev/shm", 1);
}
