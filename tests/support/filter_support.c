/* SPDX-License-Identifier: MIT */
/* Filters for tests: options, hashes that look random, files. */
#include "support/filter_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint64_t test_hash(uint64_t seed, uint64_t i)
{
    uint64_t z = (seed * UINT64_C(0xd1342543de82ef95)) +
                 (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static void must(ksv_status status, const char *what)
{
    if (status == KSV_OK)
        return;
    fprintf(stderr, "%s: %s\n", what, ksv_status_text(status));
    abort();
}

ksv_filter_options test_filter_options(uint64_t keys, double fpr,
                                       unsigned hash_bits, uint64_t seed)
{
    ksv_filter_options o = {.hash_bits = hash_bits,
                            .hasher = {.kind = KSV_HASH_XXH3}};
    must(ksv_filter_make_plan(keys, fpr, hash_bits, &o.plan, NULL), "plan");
    for (size_t i = 0; i < sizeof o.id; i++)
        o.id[i] = (uint8_t)test_hash(seed, i);
    for (size_t i = 0; i < sizeof o.hasher.key; i++)
        o.hasher.key[i] = (uint8_t)test_hash(seed, 100 + i);
    return o;
}

ksv_filter_options test_blocked_options(uint64_t keys, double fpr)
{
    ksv_filter_options o;
    ksv_filter_options_init(&o);
    must(ksv_filter_make_plan(keys, fpr, o.hash_bits, &o.plan, NULL), "plan");
    return o;
}

ksv_filter_options test_classic_options(uint64_t bits, unsigned functions,
                                        uint64_t keys)
{
    ksv_filter_options o;
    ksv_filter_options_init(&o);
    must(ksv_filter_make_classic_plan(bits, functions, keys, &o.plan, NULL),
         "plan");
    return o;
}

ksv_filter_builder *test_open_builder(const ksv_filter_options *options)
{
    ksv_filter_builder *builder;
    must(ksv_filter_builder_open(options, NULL, &builder, NULL), "builder");
    return builder;
}

void test_add_range(ksv_filter_builder *builder, uint64_t seed, uint64_t first,
                    uint64_t end)
{
    uint64_t hashes[1000];
    const size_t most = sizeof hashes / sizeof hashes[0];
    for (uint64_t i = first; i < end; i += most) {
        size_t n = end - i < most ? (size_t)(end - i) : most;
        for (size_t k = 0; k < n; k++)
            hashes[k] = test_hash(seed, i + k);
        ksv_filter_builder_add_batch(builder, hashes, n);
    }
}

static int compare(const void *a, const void *b)
{
    uint64_t x;
    uint64_t y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

uint64_t *test_sorted_hashes(uint64_t seed, size_t count, unsigned hash_bits)
{
    uint64_t *hashes = malloc((count + 1) * sizeof *hashes);
    if (hashes == NULL)
        abort();
    for (size_t i = 0; i < count; i++)
        hashes[i] = ksv_hash_truncate(test_hash(seed, i), hash_bits);
    qsort(hashes, count, sizeof *hashes, compare);
    return hashes;
}

void test_write_filter(byte_file *f, const ksv_filter_options *options,
                       const uint64_t *hashes, size_t count)
{
    byte_file_init(f);
    ksv_filter_writer *w;
    must(ksv_filter_writer_open(&f->base, options, NULL, &w, NULL), "open");
    for (size_t i = 0; i < count; i++)
        must(ksv_filter_writer_add(w, hashes[i], NULL), "add");
    must(ksv_filter_writer_finish(w, NULL, NULL), "finish");
    ksv_filter_writer_close(w);
}
