/* SPDX-License-Identifier: MIT */
/* What lookups in an index of any organisation cost, warm and cold, one key at
 * a time and many at once, and what they read: bench_organisation INDEX DATA
 * PRESENT_KEYS ABSENT_KEYS [ROUNDS [COLD_KEYS]]
 * An index whose filter was taken away is one without a filter: lookups go on
 * without it. */
#include <stdio.h>
#include <stdlib.h>

#include "harness.h"

#define SINGLE_KEYS 5000
#define BATCH_KEYS 20000
#define WARM_UP_KEYS 64

typedef struct lookups {
    bench_lookups of;
    const char *directory;
    const char *data;
} lookups;

static void print(const char *which, const char *what, double value,
                  const char *unit)
{
    char name[64];
    snprintf(name, sizeof name, "%s.%s", which, what);
    bench_print(name, value, unit);
}

static void measure_warm(lookups *l, const char *which, bench_keys keys,
                         size_t at_once, const char *what, bool present,
                         unsigned rounds)
{
    size_t most = at_once == 1 ? SINGLE_KEYS : BATCH_KEYS;
    char name[64];
    snprintf(name, sizeof name, "%s.%s", which, what);
    l->of.keys = keys.keys;
    l->of.count = keys.count < most ? keys.count : most;
    l->of.at_once = at_once;
    bench_run(name, bench_look_up, &l->of, (double)l->of.count, rounds);
    bench_check_found(&l->of, present);
}

/* The filters and what a table keeps in memory, by keys that are not measured.
 */
static void warm_up(lookups *l, bench_keys keys)
{
    bench_warm_filters(l->of.index);
    l->of.keys = keys.keys;
    for (size_t i = 0; i < WARM_UP_KEYS && i < keys.count / 2; i++)
        bench_get(&l->of, keys.count - 1 - i, 1, NULL);
}

/* Each key with nothing of index and data in the page cache. */
static void measure_cold(lookups *l, const char *which, bench_keys keys,
                         bool present, size_t count)
{
    ksv_receipt receipt = {0};
    bench_io sum = {0};
    double *times = calloc(count, sizeof *times);
    if (times == NULL)
        bench_fail("out of memory");
    l->of.keys = keys.keys;
    l->of.count = keys.count < count ? keys.count : count;
    l->of.found = 0;
    for (size_t i = 0; i < l->of.count; i++) {
        bench_evict_directory(l->directory);
        bench_evict(l->data);
        bench_io io = bench_io_now();
        double start = bench_now_ns();
        bench_get(&l->of, i, 1, &receipt);
        times[i] = bench_now_ns() - start;
        sum.read_calls += bench_io_since(io).read_calls;
    }
    bench_check_found(&l->of, present);
    double asked = (double)l->of.count;
    print(which, "cold", bench_median(times, l->of.count), "ns");
    print(which, "pages", (double)receipt.table_pages_read / asked, "reads");
    print(which, "data_reads", (double)receipt.data_reads / asked, "reads");
    print(which, "read_calls", (double)sum.read_calls / asked, "calls");
    print(which, "bytes_read", (double)receipt.bytes_read / asked, "B");
    free(times);
}

int main(int argc, char **argv)
{
    if (argc < 5)
        bench_fail("usage: bench_organisation INDEX DATA PRESENT_KEYS "
                   "ABSENT_KEYS [ROUNDS [COLD_KEYS]]");
    lookups l = {.directory = argv[1], .data = argv[2]};
    bench_keys keys[2] = {bench_read_keys(argv[4]), bench_read_keys(argv[3])};
    unsigned rounds = argc > 5 ? (unsigned)atoi(argv[5]) : 3;
    size_t cold = argc > 6 ? (size_t)atoi(argv[6]) : 300;
    ksv_error error;
    if (rounds == 0 || cold == 0)
        bench_fail("one round and one key at least");
    bench_check(ksv_index_open(l.directory, NULL, &l.of.index, &error), &error);
    for (int present = 1; present >= 0; present--) {
        const char *which = present ? "present" : "absent";
        bench_keys asked = keys[present];
        measure_warm(&l, which, asked, 1, "single", present, rounds);
        measure_warm(&l, which, asked, BATCH_KEYS, "batch", present, rounds);
        warm_up(&l, asked);
        measure_cold(&l, which, asked, present, cold);
    }
    ksv_index_close(l.of.index);
    return 0;
}
