/* SPDX-License-Identifier: MIT */
/* libbloom: a filter alone, at the rates that keysieve's are measured at. */
#include <stdio.h>
#include <stdlib.h>

#include <bloom.h>

#include "harness.h"
#include "peers/peer.h"

#define PROBES ((size_t)1 << 20)

typedef struct probing {
    struct bloom bloom;
    uint64_t positives;
} probing;

static void probe(void *ctx)
{
    probing *p = ctx;
    p->positives = 0;
    for (size_t i = 0; i < PROBES; i++) {
        uint64_t key = bench_random(i * 2 + 1);
        p->positives += bloom_check(&p->bloom, &key, sizeof key) == 1;
    }
}

void peer_bloom_measure(uint64_t keys, unsigned rounds)
{
    static const double RATES[] = {0.01, 0.005};
    for (size_t i = 0; i < sizeof RATES / sizeof RATES[0]; i++) {
        probing p = {.positives = 0};
        char name[64];
        if (bloom_init(&p.bloom, (int)keys, RATES[i]) != 0)
            bench_fail("bloom_init");
        double start = bench_now_ns();
        for (uint64_t n = 0; n < keys; n++) {
            uint64_t key = bench_random(n * 2);
            bloom_add(&p.bloom, &key, sizeof key);
        }
        snprintf(name, sizeof name, "libbloom.%g.add", RATES[i]);
        bench_print(name, (bench_now_ns() - start) / (double)keys, "ns");
        snprintf(name, sizeof name, "libbloom.%g.absent", RATES[i]);
        bench_run(name, probe, &p, (double)PROBES, rounds);
        snprintf(name, sizeof name, "libbloom.%g.rate", RATES[i]);
        bench_print(name, (double)p.positives / (double)PROBES, "rate");
        snprintf(name, sizeof name, "libbloom.%g.bits_a_key", RATES[i]);
        bench_print(name, p.bloom.bytes * 8.0 / (double)keys, "bits");
        bloom_free(&p.bloom);
    }
}
