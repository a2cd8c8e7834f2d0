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
    const char *directory;
    const char *data;
    ksv_index *index;
    const ksv_key *keys;
    size_t count;
    size_t at_once;
    uint64_t found;
} lookups;

static bool take(void *ctx, size_t key_number, const ksv_record *record)
{
    (void)key_number;
    ((lookups *)ctx)->found += record != NULL;
    return true;
}

static void get(lookups *l, size_t first, size_t count, ksv_receipt *receipt)
{
    ksv_error error;
    bench_check(ksv_get(l->index, l->keys + first, count, NULL, take, l,
                        receipt, NULL, &error),
                &error);
}

static void look_up(void *ctx)
{
    lookups *l = ctx;
    l->found = 0;
    for (size_t i = 0; i < l->count; i += l->at_once) {
        size_t left = l->count - i;
        get(l, i, left < l->at_once ? left : l->at_once, NULL);
    }
}

static void check_found(const lookups *l, bool present)
{
    if (present ? l->found < l->count : l->found != 0)
        bench_fail("wrong answers");
}

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
    l->keys = keys.keys;
    l->count = keys.count < most ? keys.count : most;
    l->at_once = at_once;
    bench_run(name, look_up, l, (double)l->count, rounds);
    check_found(l, present);
}

/* The filters and what a table keeps in memory, by keys that are not measured.
 */
static void warm_up(lookups *l, bench_keys keys)
{
    bench_warm_filters(l->index);
    l->keys = keys.keys;
    for (size_t i = 0; i < WARM_UP_KEYS && i < keys.count / 2; i++)
        get(l, keys.count - 1 - i, 1, NULL);
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
    l->keys = keys.keys;
    l->count = keys.count < count ? keys.count : count;
    l->found = 0;
    for (size_t i = 0; i < l->count; i++) {
        bench_evict_directory(l->directory);
        bench_evict(l->data);
        bench_io io = bench_io_now();
        double start = bench_now_ns();
        get(l, i, 1, &receipt);
        times[i] = bench_now_ns() - start;
        sum.read_calls += bench_io_since(io).read_calls;
    }
    check_found(l, present);
    double asked = (double)l->count;
    print(which, "cold", bench_median(times, l->count), "ns");
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
    bench_check(ksv_index_open(l.directory, NULL, &l.index, &error), &error);
    for (int present = 1; present >= 0; present--) {
        const char *which = present ? "present" : "absent";
        bench_keys asked = keys[present];
        measure_warm(&l, which, asked, 1, "single", present, rounds);
        measure_warm(&l, which, asked, BATCH_KEYS, "batch", present, rounds);
        warm_up(&l, asked);
        measure_cold(&l, which, asked, present, cold);
    }
    ksv_index_close(l.index);
    return 0;
}
