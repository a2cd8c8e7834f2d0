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

static void measure(ksv_index *index, const char *how, bench_keys keys,
                    bool present, unsigned rounds)
{
    static const size_t AT_ONCE[] = {1, 64, 1024, 1000000};
    static const char *const NAMES[] = {"single", "of_64", "of_1024", "batch"};
    for (size_t i = 0; i < sizeof AT_ONCE / sizeof AT_ONCE[0]; i++) {
        bench_lookups l = {
            .index = index, .keys = keys.keys, .at_once = AT_ONCE[i]};
        char name[96];
        l.count = keys.count;
        if (AT_ONCE[i] < 1024 && l.count > SINGLE_KEYS)
            l.count = SINGLE_KEYS;
        snprintf(name, sizeof name, "get.%s.%s.%s",
                 present ? "present" : "absent", NAMES[i], how);
        if (strstr(name, wanted) == NULL)
            continue;
        bench_run(name, bench_look_up, &l, (double)l.count, rounds);
        bench_check_found(&l, present);
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
