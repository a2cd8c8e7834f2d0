/* SPDX-License-Identifier: MIT */
/* Filter files of version 1 are read forever, and written the same way. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <keysieve/filter.h>

#include "support/filter_support.h"

/* What tests/format/golden/filter_v1_*.ksf hold: the keys "key0", "key1", ...
 * hashed with XXH3 or SipHash, in a filter planned for 1 % with 40 bits a hash
 * (small) or for 0.01 % with 64 bits (large, whose blocks begin at a page); or
 * standalone ones. The id is 0, 1, 2 ... 15, the hash key 15, 14, 13 ... 0. */
typedef struct golden {
    const char *name;
    ksv_hash_kind kind;
    unsigned keys;
    double fpr;
    unsigned hash_bits;
    ksv_filter_plan plan;
    bool is_standalone;
} golden;

/* Plans are written out: how filters are sized may change. */
static const golden GOLDEN[] = {
    {"filter_v1_small.ksf",
     KSV_HASH_XXH3,
     100,
     0.01,
     40,
     {.blocks = 2, .hash_functions = 7, .fpr = 0.0078125},
     false},
    {"filter_v1_large.ksf",
     KSV_HASH_SIPHASH,
     300,
     0.0001,
     64,
     {.blocks = 1030, .hash_functions = 16, .fpr = 0.00006103515625},
     false},
    {"filter_v1_standalone.ksf",
     KSV_HASH_XXH3,
     200,
     0.01,
     64,
     {.blocks = 4, .hash_functions = 6, .fpr = 0.0078125},
     true},
    {"filter_v1_classic.ksf",
     KSV_HASH_SIPHASH,
     200,
     0.01,
     64,
     {.blocks = 5,
      .hash_functions = 8,
      .bits = 2345,
      .fpr = 0.0078125,
      .kind = KSV_FILTER_CLASSIC},
     true},
};
#define GOLDEN_COUNT (sizeof GOLDEN / sizeof GOLDEN[0])

static ksv_filter_options options_of(const golden *g)
{
    ksv_filter_options o = {.plan = g->plan,
                            .hash_bits = g->hash_bits,
                            .hasher = {.kind = g->kind},
                            .is_standalone = g->is_standalone};
    for (unsigned i = 0; i < 16; i++) {
        o.id[i] = (uint8_t)i;
        o.hasher.key[i] = (uint8_t)(15 - i);
    }
    return o;
}

static uint64_t hash_of(const ksv_hasher *hasher, unsigned number)
{
    char key[16];
    int length = snprintf(key, sizeof key, "key%u", number);
    return ksv_hash(hasher, key, (size_t)length);
}

static void write_filter(const golden *g, byte_file *f)
{
    ksv_filter_options o = options_of(g);
    ksv_filter_builder *b;
    assert_int_equal(ksv_filter_builder_open(&o, NULL, &b, NULL), KSV_OK);
    for (unsigned i = 0; i < g->keys; i++)
        ksv_filter_builder_add(b, hash_of(&o.hasher, i));
    byte_file_init(f);
    assert_int_equal(ksv_filter_builder_write(b, g->keys, &f->base, NULL),
                     KSV_OK);
    ksv_filter_builder_close(b);
}

static void read_golden(const golden *g, byte_file *f)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/format/golden/%s", KSV_TEST_DIR, g->name);
    FILE *in = fopen(path, "rb");
    if (in == NULL)
        fail_msg("%s cannot be read", path);
    static uint8_t data[200000];
    size_t size = fread(data, 1, sizeof data, in);
    fclose(in);
    byte_file_init_with(f, data, size);
}

static void test_golden_files_are_read(void **state)
{
    (void)state;
    for (size_t n = 0; n < GOLDEN_COUNT; n++) {
        const golden *g = &GOLDEN[n];
        ksv_filter_options wanted = options_of(g);
        byte_file f;
        read_golden(g, &f);
        ksv_filter *filter;
        assert_int_equal(ksv_filter_open(&f.base, NULL, &filter, NULL), KSV_OK);
        ksv_filter_info info;
        ksv_filter_get_info(filter, &info);
        assert_true(info.keys == g->keys);
        assert_true(info.options.plan.blocks == g->plan.blocks);
        assert_int_equal(info.options.plan.hash_functions,
                         g->plan.hash_functions);
        assert_true(info.options.plan.fpr == g->plan.fpr);
        assert_int_equal(info.options.plan.kind, g->plan.kind);
        assert_true(g->plan.bits == 0 ||
                    info.options.plan.bits == g->plan.bits);
        assert_true(info.options.is_standalone == g->is_standalone);
        assert_int_equal(info.options.hash_bits, g->hash_bits);
        assert_int_equal(info.options.hasher.kind, g->kind);
        assert_memory_equal(info.options.hasher.key, wanted.hasher.key, 16);
        assert_memory_equal(info.options.id, wanted.id, 16);
        unsigned wrong = 0;
        for (unsigned i = 0; i < 10000; i++) {
            bool answer = false;
            uint64_t hash = hash_of(&info.options.hasher, i);
            assert_int_equal(
                ksv_filter_may_contain(filter, hash, &answer, NULL), KSV_OK);
            assert_true(i >= g->keys || answer);
            wrong += i >= g->keys && answer;
        }
        assert_true(wrong < 10000 * 1.5 * g->fpr);
        ksv_filter_close(filter);
        byte_file_release(&f);
    }
}

static void test_golden_files_are_written(void **state)
{
    (void)state;
    for (size_t n = 0; n < GOLDEN_COUNT; n++) {
        byte_file wanted;
        byte_file got;
        read_golden(&GOLDEN[n], &wanted);
        write_filter(&GOLDEN[n], &got);
        assert_int_equal(got.size_bytes, wanted.size_bytes);
        assert_memory_equal(got.data, wanted.data, got.size_bytes);
        byte_file_release(&wanted);
        byte_file_release(&got);
    }
}

/* `--write DIRECTORY` makes the golden files of a new version. */
static int write_golden(const char *directory)
{
    for (size_t n = 0; n < GOLDEN_COUNT; n++) {
        byte_file f;
        write_filter(&GOLDEN[n], &f);
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", directory, GOLDEN[n].name);
        FILE *out = fopen(path, "wb");
        if (out == NULL)
            return 1;
        fwrite(f.data, 1, f.size_bytes, out);
        fclose(out);
        byte_file_release(&f);
    }
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "--write") == 0)
        return write_golden(argv[2]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden_files_are_read),
        cmocka_unit_test(test_golden_files_are_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
