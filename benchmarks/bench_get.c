/* SPDX-License-Identifier: MIT */
/* What lookups in an index cost, warm, one by one and in batches: safe, with
 * mapped files, and also trusting data files to stay for a second: bench_get
 * INDEX PRESENT_KEYS ABSENT_KEYS [ROUNDS [PART_OF_A_NAME]] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"

#define SINGLE_KEYS 20000

static const struct {
    const char *name;
    ksv_index_options options;
} WAYS[] = {{"safe", {.map_files = false}},
            {"mapped", {.map_files = true}},
            {"trusting", {.map_files = true, .trust_ns = 1000000000}}};

/* Only what has this in its name is measured. */
static const char *wanted = "";

typedef struct lookups {
    ksv_index *index;
    const ksv_key *keys;
    size_t count;
    size_t at_once;
    uint64_t found;
    uint64_t bytes;
} lookups;

static bool take(void *ctx, size_t key_number, const ksv_record *record)
{
    lookups *l = ctx;
    (void)key_number;
    if (record != NULL) {
        l->found++;
        l->bytes += record->length;
    }
    return true;
}

static void look_up(void *ctx)
{
    lookups *l = ctx;
    ksv_error error;
    l->found = 0;
    for (size_t i = 0; i < l->count; i += l->at_once) {
        size_t n = l->count - i < l->at_once ? l->count - i : l->at_once;
        bench_check(ksv_get(l->index, l->keys + i, n, NULL, take, l, NULL, NULL,
                            &error),
                    &error);
    }
}

static void measure(ksv_index *index, const char *how, bench_keys keys,
                    bool present, unsigned rounds)
{
    static const size_t AT_ONCE[] = {1, 64, 1024, 1000000};
    static const char *const NAMES[] = {"single", "of_64", "of_1024", "batch"};
    for (size_t i = 0; i < sizeof AT_ONCE / sizeof AT_ONCE[0]; i++) {
        lookups l = {.index = index, .keys = keys.keys, .at_once = AT_ONCE[i]};
        char name[96];
        l.count = keys.count;
        if (AT_ONCE[i] < 1024 && l.count > SINGLE_KEYS)
            l.count = SINGLE_KEYS;
        snprintf(name, sizeof name, "get.%s.%s.%s",
                 present ? "present" : "absent", NAMES[i], how);
        if (strstr(name, wanted) == NULL)
            continue;
        bench_run(name, look_up, &l, (double)l.count, rounds);
        if (present ? l.found < l.count : l.found != 0)
            bench_fail("wrong answers");
    }
}

int main(int argc, char **argv)
{
    if (argc < 4)
        bench_fail("usage: bench_get INDEX PRESENT_KEYS ABSENT_KEYS "
                   "[ROUNDS [PART_OF_A_NAME]]");
    bench_keys present = bench_read_keys(argv[2]);
    bench_keys absent = bench_read_keys(argv[3]);
    unsigned rounds = argc > 4 ? (unsigned)atoi(argv[4]) : 5;
    wanted = argc > 5 ? argv[5] : "";
    for (size_t i = 0; i < sizeof WAYS / sizeof WAYS[0]; i++) {
        ksv_index *index;
        ksv_error error;
        bench_check(ksv_index_open(argv[1], &WAYS[i].options, &index, &error),
                    &error);
        measure(index, WAYS[i].name, present, true, rounds);
        measure(index, WAYS[i].name, absent, false, rounds);
        ksv_index_close(index);
    }
    return 0;
}
