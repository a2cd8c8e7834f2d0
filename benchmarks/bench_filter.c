/* SPDX-License-Identifier: MIT */
/* Filters in memory that are probed with absent keys, 12 MB by default, and
 * rates of filters, asked for and measured:
 * bench_filter [ROUNDS [KEYS [RATE_KEYS]]] */
#include <stdio.h>
#include <stdlib.h>

#include "harness.h"
#include "io/memory_file_system.h"

#define PROBES ((size_t)1 << 20)
#define HASH_BITS 40

static const ksv_hasher HASHER = {KSV_HASH_XXH3, {1, 2, 3}};

/* Hashes of keys that were added, and of others. */
static uint64_t member(uint64_t number)
{
    return bench_random(number * 2);
}

static uint64_t stranger(uint64_t number)
{
    return bench_random(number * 2 + 1);
}

typedef struct probing {
    ksv_filter *filter;
    uint64_t *hashes;
    bool *maybe;
    uint64_t positives;
} probing;

static void probe_batch(void *ctx)
{
    probing *p = ctx;
    bench_check(ksv_filter_may_contain_batch(p->filter, p->hashes, PROBES,
                                             p->maybe, NULL),
                NULL);
}

static void probe_single(void *ctx)
{
    probing *p = ctx;
    for (size_t i = 0; i < PROBES; i++) {
        bool maybe = false;
        bench_check(
            ksv_filter_may_contain(p->filter, p->hashes[i], &maybe, NULL),
            NULL);
        p->positives += maybe;
    }
}

/* Where filters live: memory. */
typedef struct store {
    ksv_file_system fs;
    ksv_file *file;
} store;

static void store_open(store *s)
{
    ksv_error error;
    bench_check(memory_file_system_open(NULL, &s->fs, &error), &error);
}

static void store_close(store *s)
{
    ksv_error error;
    bench_check(s->file->ops->close(s->file, &error), &error);
    memory_file_system_close(&s->fs);
}

/* A filter over `keys` members at rate `fpr`, all of it in memory. */
static ksv_filter *make_filter(store *s, uint64_t keys, double fpr,
                               double *build_ns)
{
    ksv_filter_options options = {.hash_bits = HASH_BITS, .hasher = HASHER};
    ksv_filter_builder *builder;
    ksv_filter *filter;
    ksv_error error;
    store_open(s);
    bench_check(
        ksv_filter_make_plan(keys, fpr, HASH_BITS, &options.plan, &error),
        &error);
    bench_check(ksv_filter_builder_open(&options, NULL, &builder, &error),
                &error);
    double start = bench_now_ns();
    for (uint64_t i = 0; i < keys; i++)
        ksv_filter_builder_add(builder, member(i));
    *build_ns = (bench_now_ns() - start) / (double)keys;
    bench_check(s->fs.create(s->fs.ctx, "filter", &s->file, &error), &error);
    bench_check(ksv_filter_builder_write(builder, keys, s->file, &error),
                &error);
    bench_check(s->file->ops->close(s->file, &error), &error);
    ksv_filter_builder_close(builder);
    bench_check(s->fs.open_read(s->fs.ctx, "filter", &s->file, &error), &error);
    bench_check(ksv_filter_open(s->file, NULL, &filter, &error), &error);
    bench_check(ksv_filter_load(filter, &error), &error);
    return filter;
}

static void measure_filter(unsigned rounds, uint64_t keys)
{
    store s;
    double build_ns;
    ksv_filter_info info;
    probing p = {.filter = make_filter(&s, keys, 0.005, &build_ns),
                 .hashes = malloc(PROBES * sizeof *p.hashes),
                 .maybe = malloc(PROBES * sizeof *p.maybe)};
    if (p.hashes == NULL || p.maybe == NULL)
        bench_fail("out of memory");
    for (size_t i = 0; i < PROBES; i++)
        p.hashes[i] = stranger(i);
    ksv_filter_get_info(p.filter, &info);
    bench_print("filter.bytes", (double)info.file_bytes, "B");
    bench_print("filter.add", build_ns, "ns");
    bench_run("filter.absent.batch", probe_batch, &p, PROBES, rounds);
    bench_run("filter.absent.single", probe_single, &p, PROBES, rounds);
    ksv_filter_close(p.filter);
    store_close(&s);
    free(p.hashes);
    free(p.maybe);
}

/* Bits a key and the rate that strangers meet, for each rate asked for. */
static void measure_rates(uint64_t keys)
{
    static const double RATES[] = {0.1, 0.03, 0.01, 0.005, 0.001, 0.0001};
    for (size_t i = 0; i < sizeof RATES / sizeof RATES[0]; i++) {
        store s;
        double build_ns;
        ksv_filter *filter = make_filter(&s, keys, RATES[i], &build_ns);
        ksv_filter_info info;
        uint64_t positives = 0, asked = 8 * keys;
        char name[64];
        for (uint64_t n = 0; n < asked; n++) {
            bool maybe = false;
            bench_check(
                ksv_filter_may_contain(filter, stranger(n), &maybe, NULL),
                NULL);
            positives += maybe;
        }
        ksv_filter_get_info(filter, &info);
        snprintf(name, sizeof name, "rate.measured_for_%g", RATES[i]);
        bench_print(name, (double)positives / (double)asked, "rate");
        snprintf(name, sizeof name, "rate.bits_a_key_for_%g", RATES[i]);
        bench_print(name, (double)info.options.plan.bits / (double)keys,
                    "bits");
        ksv_filter_close(filter);
        store_close(&s);
    }
}

int main(int argc, char **argv)
{
    unsigned rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 5;
    uint64_t keys = argc > 2 ? strtoull(argv[2], NULL, 10) : 8300000;
    uint64_t rate_keys = argc > 3 ? strtoull(argv[3], NULL, 10) : 1000000;
    measure_filter(rounds, keys);
    measure_rates(rate_keys);
    return 0;
}
