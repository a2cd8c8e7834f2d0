/* SPDX-License-Identifier: MIT */
/* What lookups cost when neither table nor data are in memory, counted by the
 * library and by the kernel, beside raw reads of the same files:
 * bench_cold INDEX DATA PRESENT_KEYS [ROUNDS [KEYS]] */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness.h"

#define RAW_READ_BYTES 4096
#define RAW_THREADS 32
#define BATCH_TIMES 10
#define BLOCK_KEYS 100

typedef struct cold {
    const char *directory;
    const char *data;
    char table[4096];
    bench_keys keys;
    size_t count;
    int table_fd;
    int data_fd;
    uint64_t table_pages;
    uint64_t data_pages;
    uint64_t found;
} cold;

static bool take(void *ctx, size_t key_number, const ksv_record *record)
{
    (void)key_number;
    ((cold *)ctx)->found += record != NULL;
    return true;
}

static void evict(const cold *c)
{
    bench_evict(c->table);
    bench_evict(c->data);
}

static void get(cold *c, ksv_index *index, const ksv_key *keys, size_t count,
                ksv_receipt *receipt)
{
    ksv_error error;
    bench_check(
        ksv_get(index, keys, count, NULL, take, c, receipt, NULL, &error),
        &error);
}

/* Opens the index and has it read what serves all keys: all of the filter, and
 * the fences, by keys that are not measured. */
static ksv_index *open_warm(cold *c)
{
    ksv_index *index;
    ksv_error error;
    size_t last = c->keys.count;
    bench_check(ksv_index_open(c->directory, NULL, &index, &error), &error);
    bench_warm_filters(index);
    for (size_t i = 0; i < 64 && i < last / 2; i++)
        get(c, index, &c->keys.keys[last - 1 - i], 1, NULL);
    return index;
}

static uint64_t pages_of(int fd)
{
    struct stat st;
    if (fd < 0 || fstat(fd, &st) != 0 || st.st_size < RAW_READ_BYTES)
        bench_fail("a file cannot be read");
    return (uint64_t)st.st_size / RAW_READ_BYTES;
}

static void raw_read(int fd, uint64_t page)
{
    char buffer[RAW_READ_BYTES];
    if (pread(fd, buffer, sizeof buffer, (off_t)(page * RAW_READ_BYTES)) < 0)
        bench_fail("pread");
}

static void raw_pair(const cold *c, uint64_t number)
{
    raw_read(c->table_fd, bench_random(number * 2) % c->table_pages);
    raw_read(c->data_fd, bench_random(number * 2 + 1) % c->data_pages);
}

typedef struct single_times {
    double get_ns[64];
    double raw_ns[64];
    double ratio[64];
} single_times;

/* Sums of one round. */
typedef struct round_sums {
    double get_ns;
    double raw_ns;
    bench_io get_io;
    bench_io raw_io;
} round_sums;

static void add_io(bench_io *sum, bench_io io)
{
    sum->read_calls += io.read_calls;
    sum->disk_bytes += io.disk_bytes;
}

/* Some keys one by one, then as many pairs of raw reads, from cold files: near
 * to each other, so that both meet the same other load of the machine. */
static void single_block(cold *c, ksv_index *index, size_t first, size_t count,
                         ksv_receipt *receipt, round_sums *sums)
{
    evict(c);
    bench_io io = bench_io_now();
    double start = bench_now_ns();
    for (size_t i = 0; i < count; i++)
        get(c, index, &c->keys.keys[first + i], 1, receipt);
    sums->get_ns += bench_now_ns() - start;
    add_io(&sums->get_io, bench_io_since(io));
    evict(c);
    io = bench_io_now();
    start = bench_now_ns();
    for (size_t i = 0; i < count; i++)
        raw_pair(c, first + i);
    sums->raw_ns += bench_now_ns() - start;
    add_io(&sums->raw_io, bench_io_since(io));
}

static void print_counts(const ksv_receipt *receipt, const round_sums *sums,
                         double keys)
{
    bench_print("cold.table_pages_a_key",
                (double)receipt->table_pages_read / keys, "reads");
    bench_print("cold.data_reads_a_key", (double)receipt->data_reads / keys,
                "reads");
    bench_print("cold.read_calls_a_key", (double)sums->get_io.read_calls / keys,
                "calls");
    bench_print("cold.disk_bytes_a_key", (double)sums->get_io.disk_bytes / keys,
                "B");
    bench_print("cold.raw.disk_bytes_a_key",
                (double)sums->raw_io.disk_bytes / keys, "B");
}

static void single_round(cold *c, unsigned round, single_times *times)
{
    ksv_receipt receipt = {0};
    round_sums sums = {0};
    double keys = (double)c->count;
    ksv_index *index = open_warm(c);
    c->found = 0;
    for (size_t i = 0; i < c->count; i += BLOCK_KEYS) {
        size_t left = c->count - i;
        single_block(c, index, round * c->count + i,
                     left < BLOCK_KEYS ? left : BLOCK_KEYS, &receipt, &sums);
    }
    ksv_index_close(index);
    if (c->found < c->count)
        bench_fail("a key was not found");
    times->get_ns[round] = sums.get_ns / keys;
    times->raw_ns[round] = sums.raw_ns / keys;
    times->ratio[round] = sums.get_ns / sums.raw_ns;
    if (round == 0)
        print_counts(&receipt, &sums, keys);
}

static void measure_single(cold *c, unsigned rounds)
{
    single_times times;
    for (unsigned round = 0; round < rounds; round++)
        single_round(c, round, &times);
    bench_print("cold.get.single", bench_median(times.get_ns, rounds), "ns");
    bench_print("cold.raw.two_preads", bench_median(times.raw_ns, rounds),
                "ns");
    bench_print("cold.get.single.against_raw",
                bench_median(times.ratio, rounds), "x");
}

typedef struct raw_worker {
    const cold *c;
    uint64_t first;
    uint64_t count;
    pthread_t thread;
} raw_worker;

static void *raw_work(void *ctx)
{
    const raw_worker *w = ctx;
    for (uint64_t i = 0; i < w->count; i++)
        raw_pair(w->c, w->first + i);
    return NULL;
}

static void raw_many(const cold *c, size_t count)
{
    static raw_worker workers[RAW_THREADS];
    for (size_t i = 0; i < RAW_THREADS; i++) {
        raw_worker *w = &workers[i];
        *w = (raw_worker){
            .c = c, .first = 1000000 + i * count, .count = count / RAW_THREADS};
        if (pthread_create(&w->thread, NULL, raw_work, w) != 0)
            bench_fail("no thread");
    }
    for (size_t i = 0; i < RAW_THREADS; i++)
        pthread_join(workers[i].thread, NULL);
}

static void print_batch(const char *name, size_t count, double ns,
                        bench_depth depth)
{
    char text[96];
    bench_print(name, ns / (double)count, "ns");
    snprintf(text, sizeof text, "%s.in_flight", name);
    bench_print(text, depth.average, "requests");
    snprintf(text, sizeof text, "%s.in_flight_at_most", name);
    bench_print(text, depth.most, "requests");
}

/* Many keys in one call, and as many raw pairs of reads by many threads. */
static void measure_batch(cold *c, size_t count)
{
    evict(c);
    ksv_index *index = open_warm(c);
    bench_watch *watch = bench_watch_start(c->data);
    double start = bench_now_ns();
    get(c, index, c->keys.keys, count, NULL);
    double ns = bench_now_ns() - start;
    print_batch("cold.get.batch", count, ns, bench_watch_stop(watch));
    ksv_index_close(index);
    evict(c);
    watch = bench_watch_start(c->data);
    start = bench_now_ns();
    raw_many(c, count);
    ns = bench_now_ns() - start;
    print_batch("cold.raw.32_threads", count, ns, bench_watch_stop(watch));
}

int main(int argc, char **argv)
{
    static cold c;
    if (argc < 4)
        bench_fail("usage: bench_cold INDEX DATA KEYS [ROUNDS [KEYS]]");
    unsigned rounds = argc > 4 ? (unsigned)atoi(argv[4]) : 5;
    c.directory = argv[1];
    c.data = argv[2];
    c.keys = bench_read_keys(argv[3]);
    c.count = argc > 5 ? (size_t)atoi(argv[5]) : 1000;
    if (rounds == 0 || rounds > 64 || c.keys.count < rounds * c.count + 128)
        bench_fail("too few keys for so many rounds");
    snprintf(c.table, sizeof c.table, "%s/0000000000000001.kst", c.directory);
    c.table_fd = open(c.table, O_RDONLY | O_CLOEXEC);
    c.data_fd = open(c.data, O_RDONLY | O_CLOEXEC);
    c.table_pages = pages_of(c.table_fd);
    c.data_pages = pages_of(c.data_fd);
    if (posix_fadvise(c.table_fd, 0, 0, POSIX_FADV_RANDOM) != 0 ||
        posix_fadvise(c.data_fd, 0, 0, POSIX_FADV_RANDOM) != 0)
        bench_fail("posix_fadvise");
    measure_single(&c, rounds);
    size_t batch = c.count * BATCH_TIMES;
    measure_batch(&c, batch < c.keys.count ? batch : c.keys.count);
    return 0;
}
