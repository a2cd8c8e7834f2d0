/* SPDX-License-Identifier: MIT */
/* What filters cost by the key, beside libbloom where it is installed:
 * bench_filter_keys [KEYS [FPR]]. Keys are 16 bytes; hashing is counted. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <keysieve/filter.h>

#ifdef HAVE_LIBBLOOM
#include <bloom.h>
#endif

#define BATCH 1024
#define ROUNDS 3

typedef struct bench {
    uint64_t keys;
    double fpr;
    ksv_hasher hasher;
    ksv_filter_builder *filter;
    uint64_t positives;
} bench;

typedef void (*work_fn)(bench *b);

static void fail(const char *what)
{
    fprintf(stderr, "bench_filter_keys: %s\n", what);
    exit(1);
}

static double cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

typedef struct key {
    uint64_t parts[2];
} key;

/* Present ones are even, absent ones odd. */
static key make_key(uint64_t number)
{
    key k = {{number, number * UINT64_C(0x9e3779b97f4a7c15)}};
    return k;
}

static uint64_t hash_key(const bench *b, uint64_t number)
{
    key k = make_key(number);
    return ksv_hash(&b->hasher, &k, sizeof k);
}

/* Prints the processor time of the best round, by the key. */
static void report(const char *kind, const char *name, work_fn work, bench *b)
{
    double best = 0;
    for (int i = 0; i < ROUNDS; i++) {
        double start = cpu_ns();
        work(b);
        double took = cpu_ns() - start;
        if (i == 0 || took < best)
            best = took;
    }
    printf("%s_%s %.1f ns/key\n", kind, name, best / (double)b->keys);
    fflush(stdout);
}

static void hash_only(bench *b)
{
    for (uint64_t i = 0; i < b->keys; i++)
        b->positives += hash_key(b, 2 * i) == 0;
}

static void add_batch(bench *b)
{
    uint64_t hashes[BATCH];
    ksv_filter_builder_reset(b->filter);
    for (uint64_t i = 0; i < b->keys; i += BATCH) {
        size_t n = b->keys - i < BATCH ? (size_t)(b->keys - i) : BATCH;
        for (size_t k = 0; k < n; k++)
            hashes[k] = hash_key(b, 2 * (i + k));
        ksv_filter_builder_add_batch(b->filter, hashes, n);
    }
}

static void probe_batches(bench *b, uint64_t odd)
{
    uint64_t hashes[BATCH];
    bool answers[BATCH];
    b->positives = 0;
    for (uint64_t i = 0; i < b->keys; i += BATCH) {
        size_t n = b->keys - i < BATCH ? (size_t)(b->keys - i) : BATCH;
        for (size_t k = 0; k < n; k++)
            hashes[k] = hash_key(b, 2 * (i + k) + odd);
        ksv_filter_builder_may_contain_batch(b->filter, hashes, n, answers);
        for (size_t k = 0; k < n; k++)
            b->positives += answers[k];
    }
}

static void probe_present(bench *b)
{
    probe_batches(b, 0);
}

static void probe_absent(bench *b)
{
    probe_batches(b, 1);
}

static void probe_single(bench *b)
{
    b->positives = 0;
    for (uint64_t i = 0; i < b->keys; i++)
        b->positives +=
            ksv_filter_builder_may_contain(b->filter, hash_key(b, 2 * i + 1));
}

/* The rate measured of the last round of absent keys, in percent. */
static void report_rate(const char *kind, const bench *b)
{
    printf("%s_rate %.4f %%\n", kind,
           100 * (double)b->positives / (double)b->keys);
}

static void run_kind(const char *kind, bench *b, const ksv_filter_plan *plan)
{
    ksv_filter_options o;
    ksv_filter_options_init(&o);
    o.plan = *plan;
    if (ksv_filter_builder_open(&o, NULL, &b->filter, NULL) != KSV_OK)
        fail("out of memory");
    printf("%s_size %.2f bits/key\n", kind,
           (double)plan->bits / (double)b->keys);
    report(kind, "add_batch", add_batch, b);
    report(kind, "probe_present_batch", probe_present, b);
    if (b->positives != b->keys)
        fail("a key is lost");
    report(kind, "probe_absent_batch", probe_absent, b);
    report_rate(kind, b);
    report(kind, "probe_absent_single", probe_single, b);
    ksv_filter_builder_close(b->filter);
}

#ifdef HAVE_LIBBLOOM
static struct bloom peer;

static void peer_add(bench *b)
{
    bloom_reset(&peer);
    for (uint64_t i = 0; i < b->keys; i++) {
        key k = make_key(2 * i);
        bloom_add(&peer, &k, sizeof k);
    }
}

static void peer_probe(bench *b, uint64_t odd)
{
    b->positives = 0;
    for (uint64_t i = 0; i < b->keys; i++) {
        key k = make_key(2 * i + odd);
        b->positives += bloom_check(&peer, &k, sizeof k) == 1;
    }
}

static void peer_present(bench *b)
{
    peer_probe(b, 0);
}

static void peer_absent(bench *b)
{
    peer_probe(b, 1);
}

/* Its numbers of keys and bits are ints. */
static void run_peer(bench *b)
{
    if (b->keys > 100000000 || bloom_init(&peer, (int)b->keys, b->fpr) != 0) {
        printf("libbloom_too_many_keys 1 flag\n");
        return;
    }
    printf("libbloom_size %.2f bits/key\n",
           (double)peer.bits / (double)b->keys);
    report("libbloom", "add", peer_add, b);
    report("libbloom", "probe_present", peer_present, b);
    report("libbloom", "probe_absent", peer_absent, b);
    report_rate("libbloom", b);
    bloom_free(&peer);
}
#else
static void run_peer(bench *b)
{
    (void)b;
    printf("libbloom_not_installed 1 flag\n");
}
#endif

/* As many bits as the textbook's formula gives for the rate. */
static void plan_classic(const bench *b, ksv_filter_plan *plan)
{
    unsigned functions = 1;
    for (double part = b->fpr; part < 0.35; part *= 2)
        functions++;
    uint64_t bits = b->keys;
    do {
        bits += bits / 64 + 1;
        if (ksv_filter_make_classic_plan(bits, functions, b->keys, plan,
                                         NULL) != KSV_OK)
            fail("no such filter");
    } while (plan->fpr > b->fpr);
}

int main(int argc, char **argv)
{
    bench b = {.keys = argc > 1 ? strtoull(argv[1], NULL, 10) : 4000000,
               .fpr = argc > 2 ? strtod(argv[2], NULL) : 0.005,
               .hasher = {.kind = KSV_HASH_XXH3}};
    ksv_filter_plan plan;
    if (b.keys == 0 ||
        ksv_filter_make_plan(b.keys, b.fpr, 64, &plan, NULL) != KSV_OK)
        fail("usage: bench_filter_keys [KEYS [FPR]]");
    report("hash", "only", hash_only, &b);
    run_kind("blocked", &b, &plan);
    plan_classic(&b, &plan);
    run_kind("classic", &b, &plan);
    run_peer(&b);
    return 0;
}
