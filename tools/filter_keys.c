/* SPDX-License-Identifier: MIT */
/* The keys of a file or of standard input as hashes, in batches. */
#include "filter_keys.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "byte_buffer.h"

#define COUNT_BYTES ((size_t)1 << 18)

bool filter_keys_open(filter_keys *keys, command_line *cli, size_t argument,
                      bool nul_ended, const ksv_hasher *hasher)
{
    *keys = (filter_keys){.hasher = *hasher, .nul_ended = nul_ended};
    if (cli->argument_count > argument + 1)
        return cli_fail(cli,
                        "%s reads the keys of one file, but '%s' was "
                        "given too",
                        cli->verb->name, cli->arguments[argument + 1]);
    keylist_source source = {
        .file = cli->argument_count > argument ? cli->arguments[argument] : "-",
        .nul_ended = nul_ended,
    };
    if (keylist_open(&keys->list, &source))
        return true;
    cli->status = 2;
    return false;
}

void filter_keys_close(filter_keys *keys)
{
    keylist_close(&keys->list);
    free(keys->hashes);
    keys->hashes = NULL;
}

bool filter_keys_are_of(const filter_keys *keys, const char *path)
{
    struct stat ours;
    struct stat other;
    return keys->list.fd >= 0 && fstat(keys->list.fd, &ours) == 0 &&
           stat(path, &other) == 0 && ours.st_dev == other.st_dev &&
           ours.st_ino == other.st_ino;
}

bool filter_keys_next(filter_keys *keys)
{
    keylist *list = &keys->list;
    if (!keylist_next(list))
        return false;
    if (list->count > keys->capacity) {
        keys->capacity = list->count;
        keys->hashes =
            resize_memory(keys->hashes, keys->capacity, sizeof keys->hashes[0]);
    }
    for (size_t i = 0; i < list->count; i++)
        keys->hashes[i] =
            ksv_hash(&keys->hasher, list->words[i].data, list->words[i].bytes);
    return true;
}

static size_t count_bytes(const char *data, size_t size_bytes, char wanted)
{
    size_t count = 0;
    for (size_t i = 0; i < size_bytes; i++)
        count += data[i] == wanted;
    return count;
}

uint64_t filter_keys_count(const filter_keys *keys)
{
    struct stat file;
    int fd = keys->list.fd;
    if (fd < 0 || fstat(fd, &file) != 0 || !S_ISREG(file.st_mode))
        return UINT64_MAX;
    char *data = resize_memory(NULL, COUNT_BYTES, 1);
    uint64_t count = 1; /* the last one may lack its end */
    off_t offset = 0;
    ssize_t got;
    while ((got = pread(fd, data, COUNT_BYTES, offset)) > 0) {
        count += count_bytes(data, (size_t)got, keys->nul_ended ? '\0' : '\n');
        offset += got;
    }
    free(data);
    return got < 0 ? UINT64_MAX : count;
}
