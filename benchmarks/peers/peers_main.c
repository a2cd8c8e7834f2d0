/* SPDX-License-Identifier: MIT */
/* Runs one of the systems that were found when this was configured:
 *   peers list
 *   peers NAME build DATA DIRECTORY
 *   peers NAME get DATA DIRECTORY PRESENT_KEYS ABSENT_KEYS [ROUNDS]
 *   peers NAME cold DATA DIRECTORY KEYS COUNT
 *   peers libbloom KEYS ROUNDS */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness.h"
#include "peers/peer.h"

#define RECORD_BYTES 128

static const peer *const PEERS[] = {
#ifdef HAVE_CDB
    &peer_cdb,
#endif
#ifdef HAVE_LEVELDB
    &peer_leveldb,
#endif
#ifdef HAVE_LMDB
    &peer_lmdb,
#endif
#ifdef HAVE_MTBL
    &peer_mtbl,
#endif
#ifdef HAVE_ROCKSDB
    &peer_rocksdb, &peer_rocksdb_unsorted,
#endif
#ifdef HAVE_SQLITE
    &peer_sqlite,
#endif
    NULL};

static const peer *find_peer(const char *name)
{
    for (size_t i = 0; PEERS[i] != NULL; i++)
        if (strcmp(PEERS[i]->name, name) == 0)
            return PEERS[i];
    bench_fail("no such peer");
    return NULL;
}

static void list_peers(void)
{
    for (size_t i = 0; PEERS[i] != NULL; i++)
        puts(PEERS[i]->name);
#ifdef HAVE_BLOOM
    puts("libbloom");
#endif
}

static peer_data map_data(const char *path)
{
    struct stat st;
    peer_data data = {NULL, 0, NULL, 0};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) != 0 || st.st_size == 0)
        bench_fail(path);
    data.size = (uint64_t)st.st_size;
    void *map = mmap(NULL, data.size, PROT_READ, MAP_SHARED, fd, 0);
    if (map == MAP_FAILED)
        bench_fail("mmap");
    data.bytes = map;
    close(fd);
    return data;
}

/* The offsets of all lines but the first, as the data has them. No quotes are
 * looked at, no sums taken. */
static uint64_t *extract(peer_data *data)
{
    size_t room = 1 << 16;
    uint64_t *offsets = malloc(room * sizeof *offsets);
    const char *end = data->bytes + data->size;
    const char *at = memchr(data->bytes, '\n', data->size);
    while (offsets != NULL && at != NULL && ++at < end) {
        if (data->count == room) {
            room *= 2;
            offsets = realloc(offsets, room * sizeof *offsets);
            if (offsets == NULL)
                break;
        }
        offsets[data->count++] = (uint64_t)(at - data->bytes);
        at = memchr(at, '\n', (size_t)(end - at));
    }
    if (offsets == NULL)
        bench_fail("out of memory");
    return offsets;
}

typedef struct sort_item {
    uint64_t prefix; /* of the key, so that numbers order as keys do */
    uint64_t offset;
} sort_item;

/* By 16 bits of the prefix. */
static void sort_digit(const sort_item *from, sort_item *to, size_t count,
                       unsigned shift)
{
    static size_t starts[65537];
    memset(starts, 0, sizeof starts);
    for (size_t i = 0; i < count; i++)
        starts[(from[i].prefix >> shift & 0xffff) + 1]++;
    for (size_t i = 0; i < 65536; i++)
        starts[i + 1] += starts[i];
    for (size_t i = 0; i < count; i++)
        to[starts[from[i].prefix >> shift & 0xffff]++] = from[i];
}

/* Equal prefixes are few: put in order by hand. */
static void sort_equal(const peer_data *data, sort_item *items)
{
    for (size_t i = 1; i < data->count; i++)
        for (size_t k = i;
             k > 0 && items[k].prefix == items[k - 1].prefix &&
             memcmp(data->bytes + items[k].offset,
                    data->bytes + items[k - 1].offset, PEER_KEY_BYTES) < 0;
             k--) {
            sort_item other = items[k];
            items[k] = items[k - 1];
            items[k - 1] = other;
        }
}

static void sort_offsets(const peer_data *data, uint64_t *offsets)
{
    sort_item *items = malloc(data->count * sizeof *items);
    sort_item *spare = malloc(data->count * sizeof *spare);
    if (items == NULL || spare == NULL)
        bench_fail("out of memory");
    for (size_t i = 0; i < data->count; i++) {
        uint64_t prefix = 0;
        for (size_t k = 0; k < 8; k++)
            prefix = prefix << 8 | (uint8_t)data->bytes[offsets[i] + k];
        items[i] = (sort_item){prefix, offsets[i]};
    }
    for (unsigned shift = 0; shift < 64; shift += 32) {
        sort_digit(items, spare, data->count, shift);
        sort_digit(spare, items, data->count, shift + 16);
    }
    sort_equal(data, items);
    for (size_t i = 0; i < data->count; i++)
        offsets[i] = items[i].offset;
    free(items);
    free(spare);
}

static void build(const peer *p, const char *path, const char *directory)
{
    peer_data data = map_data(path);
    double start = bench_now_ns();
    uint64_t *offsets = extract(&data);
    double extracted = bench_now_ns();
    if (p->sorted)
        sort_offsets(&data, offsets);
    double sorted = bench_now_ns();
    data.offsets = offsets;
    p->build(&data, directory);
    double end = bench_now_ns();
    bench_print("extract", (extracted - start) / 1e9, "s");
    bench_print("sort", (sorted - extracted) / 1e9, "s");
    bench_print("build", (end - sorted) / 1e9, "s");
    bench_print("total", (end - start) / 1e9, "s");
    free(offsets);
}

typedef struct lookups {
    const peer *p;
    void *handle;
    const ksv_key *keys;
    size_t count;
    int data_fd;
    const peer_data *mapped; /* NULL: records are read by calls */
    uint64_t found;
} lookups;

/* Whether the record at an offset has the key. */
static bool check_record(const lookups *l, uint64_t offset, const char *key)
{
    char record[RECORD_BYTES];
    if (l->mapped != NULL) {
        size_t most = (size_t)(l->mapped->size - offset);
        memcpy(record, l->mapped->bytes + offset,
               most < sizeof record ? most : sizeof record);
    } else if (pread(l->data_fd, record, sizeof record, (off_t)offset) <
               PEER_KEY_BYTES) {
        return false;
    }
    return memcmp(record, key, PEER_KEY_BYTES) == 0;
}

static void look_up(void *ctx)
{
    lookups *l = ctx;
    l->found = 0;
    for (size_t i = 0; i < l->count; i++) {
        uint64_t offset;
        const char *key = l->keys[i].data;
        if (l->p->find(l->handle, key, &offset))
            l->found += check_record(l, offset, key);
    }
}

static void get(const peer *p, char **argv, unsigned rounds)
{
    peer_data data = map_data(argv[3]);
    bench_keys present = bench_read_keys(argv[5]);
    bench_keys absent = bench_read_keys(argv[6]);
    lookups l = {.p = p, .handle = p->open(argv[4])};
    l.data_fd = open(argv[3], O_RDONLY | O_CLOEXEC);
    for (int mapped = 0; mapped < 2; mapped++) {
        l.mapped = mapped ? &data : NULL;
        l.keys = present.keys;
        l.count = present.count;
        bench_run(mapped ? "present.mapped" : "present.safe", look_up, &l,
                  (double)l.count, rounds);
        if (l.found != l.count)
            bench_fail("a key was not found");
    }
    l.keys = absent.keys;
    l.count = absent.count;
    bench_run("absent", look_up, &l, (double)l.count, rounds);
    if (l.found != 0)
        bench_fail("an absent key was found");
    bench_print("peak", (double)bench_peak_bytes(), "B");
    p->close(l.handle);
}

static void cold(const peer *p, char **argv)
{
    bench_keys keys = bench_read_keys(argv[5]);
    lookups l = {.p = p, .keys = keys.keys, .count = (size_t)atoi(argv[6])};
    if (l.count > keys.count)
        l.count = keys.count;
    bench_evict_directory(argv[4]);
    bench_evict(argv[3]);
    l.handle = p->open(argv[4]);
    l.data_fd = open(argv[3], O_RDONLY | O_CLOEXEC);
    if (l.data_fd < 0 || posix_fadvise(l.data_fd, 0, 0, POSIX_FADV_RANDOM) != 0)
        bench_fail(argv[3]);
    bench_io io = bench_io_now();
    double start = bench_now_ns();
    look_up(&l);
    bench_print("cold.present", (bench_now_ns() - start) / (double)l.count,
                "ns");
    bench_print("cold.disk_bytes_a_key",
                (double)bench_io_since(io).disk_bytes / (double)l.count, "B");
    p->close(l.handle);
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "list") == 0)
        list_peers();
#ifdef HAVE_BLOOM
    else if (argc == 4 && strcmp(argv[1], "libbloom") == 0)
        peer_bloom_measure(strtoull(argv[2], NULL, 10),
                           (unsigned)atoi(argv[3]));
#endif
    else if (argc == 5 && strcmp(argv[2], "build") == 0)
        build(find_peer(argv[1]), argv[3], argv[4]);
    else if (argc >= 7 && strcmp(argv[2], "get") == 0)
        get(find_peer(argv[1]), argv, argc > 7 ? (unsigned)atoi(argv[7]) : 5);
    else if (argc == 7 && strcmp(argv[2], "cold") == 0)
        cold(find_peer(argv[1]), argv);
    else
        bench_fail(
            "usage: peers list | NAME build|get|cold DATA DIRECTORY ...");
    return 0;
}
