/* SPDX-License-Identifier: MIT */
/* tinycdb: a constant hash file, up to 4 GiB, in the order of the data. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cdb.h>

#include "harness.h"
#include "peers/peer.h"

static int open_file(const char *directory, int flags)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/keys.cdb", directory);
    int fd = open(path, flags, 0666);
    if (fd < 0)
        bench_fail(path);
    return fd;
}

static void build(const peer_data *data, const char *directory)
{
    struct cdb_make make;
    int fd = open_file(directory, O_RDWR | O_CREAT | O_TRUNC);
    bool fine = cdb_make_start(&make, fd) == 0;
    for (size_t i = 0; i < data->count && fine; i++)
        fine = cdb_make_add(&make, data->bytes + data->offsets[i],
                            PEER_KEY_BYTES, &data->offsets[i], 8) == 0;
    if (!fine || cdb_make_finish(&make) != 0 || fdatasync(fd) != 0)
        bench_fail("tinycdb cannot hold it");
    close(fd);
}

static void *open_cdb(const char *directory)
{
    struct cdb *cdb = calloc(1, sizeof *cdb);
    if (cdb == NULL || cdb_init(cdb, open_file(directory, O_RDONLY)) != 0)
        bench_fail("tinycdb");
    return cdb;
}

static bool find(void *handle, const char *key, uint64_t *offset)
{
    struct cdb *cdb = handle;
    if (cdb_find(cdb, key, PEER_KEY_BYTES) <= 0)
        return false;
    return cdb_readdata(cdb, offset) == 0;
}

static void close_cdb(void *handle)
{
    struct cdb *cdb = handle;
    close(cdb_fileno(cdb));
    cdb_free(cdb);
    free(cdb);
}

const peer peer_cdb = {"tinycdb", false, build, open_cdb, find, close_cdb};
