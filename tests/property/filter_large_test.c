/* SPDX-License-Identifier: MIT */
/* Filters around and past 2^32 bits: their sizes, the bits that keys set, and
 * files, of which only the pages that are not empty are kept. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include <keysieve/filter.h>

#include "filter/bloom_block.h"
#include "support/filter_support.h"
#include "support/sparse_file.h"

#define POW32 (UINT64_C(1) << 32)

/* Sanitizers keep a byte of shadow for eight, and look at each. */
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define IS_SLOW 1
#else
#define IS_SLOW 0
#endif

static uint64_t high_half(uint64_t a, uint64_t b)
{
    return (uint64_t)((unsigned __int128)a * b >> 64);
}

/* From docs/format.md: header and zeros, blocks, checksum pages, footer. */
static uint64_t file_bytes_of(uint64_t blocks)
{
    uint64_t pages = (blocks + 63) / 64;
    uint64_t checksum_pages = (pages + 1015) / 1016;
    return (blocks > 1024 ? 4096 : 128) + 64 * blocks + 32 * checksum_pages +
           4 * pages + 64;
}

static void test_sizes_around_4g_bits(void **state)
{
    (void)state;
    for (unsigned power = 31; power <= 59; power++) {
        for (int64_t d = -513; d <= 513; d++) {
            uint64_t bits = (UINT64_C(1) << power) + (uint64_t)d;
            ksv_filter_plan p;
            assert_int_equal(
                ksv_filter_make_classic_plan(bits, 7, bits / 10, &p, NULL),
                KSV_OK);
            assert_true(p.bits == bits);
            assert_true(p.blocks == (bits + 511) / 512);
            assert_true(p.file_bytes == file_bytes_of(p.blocks));
            double collisions = (double)(bits / 10) / 0x1p64;
            assert_true(p.fpr > 0.00818 && p.fpr < 0.0082 + collisions);
        }
    }
}

/* Numbers of keys whose blocked filters have about 2^32 bits. */
static void test_plans_around_4g_bits(void **state)
{
    (void)state;
    uint64_t before = 0;
    ksv_filter_plan p;
    for (uint64_t keys = 432600000; keys <= 433200000; keys += 20011) {
        assert_int_equal(ksv_filter_make_plan(keys, 0.01, 64, &p, NULL),
                         KSV_OK);
        assert_true(p.bits == p.blocks * 512 && p.bits > before);
        assert_true(p.file_bytes == file_bytes_of(p.blocks));
        double a_key = (double)p.bits / (double)keys;
        assert_true(a_key > 9.91 && a_key < 9.93);
        double rate =
            ksv_filter_expected_fpr(p.blocks, p.hash_functions, keys, 64);
        assert_true(rate <= 0.01 && rate > 0.00999);
        assert_true(ksv_filter_plan_capacity(&p, 0.01, 64) >= keys);
        if (before > 0 && before < POW32)
            assert_true(p.bits < POW32 + 300000);
        before = p.bits;
    }
    assert_true(before > POW32);
}

/* Memory that takes room only where it is used. */
static uint8_t *get_memory(size_t bytes)
{
    uint8_t *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_true(memory != MAP_FAILED);
    /* A key would take a large page each. */
    (void)madvise(memory, bytes, MADV_NOHUGEPAGE);
    return memory;
}

static ksv_filter_builder *open_over(const ksv_filter_options *o,
                                     uint8_t *memory, size_t bytes)
{
    ksv_filter_builder *b;
    assert_int_equal(
        ksv_filter_builder_open_over(o, memory, bytes, true, 0, NULL, &b, NULL),
        KSV_OK);
    return b;
}

/* The bit of hash function `i`, as docs/format.md has it. */
static uint64_t classic_bit(uint64_t hash, uint64_t i, uint64_t bits)
{
    uint64_t h1 = bloom_mix(hash);
    uint64_t h2 = bloom_mix(hash ^ UINT64_C(0xd6e8feb86659fd93));
    uint64_t g =
        h1 + i * h2 + (i * i * i - i) / 6 * UINT64_C(0x9e3779b97f4a7c15);
    return high_half(g, bits);
}

static bool has_bit(const uint8_t *memory, uint64_t bit)
{
    return (memory[bit / 8] >> bit % 8 & 1) != 0;
}

/* Each bit is where the format wants it, also those past 2^32; a key of which
 * one such bit is cleared is not there any more. */
static void check_classic(uint64_t bits)
{
    enum { KEYS = 300, FUNCTIONS = 5 };
    ksv_filter_options o;
    ksv_filter_options_init(&o);
    assert_int_equal(
        ksv_filter_make_classic_plan(bits, FUNCTIONS, KEYS, &o.plan, NULL),
        KSV_OK);
    size_t bytes = (size_t)o.plan.blocks * 64;
    uint8_t *memory = get_memory(bytes);
    ksv_filter_builder *b = open_over(&o, memory, bytes);
    for (uint64_t i = 0; i < KEYS; i++)
        ksv_filter_builder_add(b, test_hash(1, i));
    ksv_filter_info info;
    ksv_filter_builder_get_info(b, &info);
    assert_true(info.keys == KEYS);
    unsigned past = 0;
    for (uint64_t i = 0; i < KEYS; i++) {
        uint64_t hash = test_hash(1, i);
        assert_true(ksv_filter_builder_may_contain(b, hash));
        for (uint64_t k = 0; k < FUNCTIONS; k++) {
            uint64_t bit = classic_bit(hash, k, bits);
            assert_true(bit < bits && has_bit(memory, bit));
            if (bit < POW32 || past++ % 4 > 0)
                continue;
            memory[bit / 8] &= (uint8_t) ~(1u << bit % 8);
            assert_false(ksv_filter_builder_may_contain(b, hash));
            memory[bit / 8] |= (uint8_t)(1u << bit % 8);
        }
        assert_false(ksv_filter_builder_may_contain(b, test_hash(2, i)));
    }
    if (bits > POW32 + POW32 / 4)
        assert_true(past > KEYS * FUNCTIONS / 6);
    ksv_filter_builder_close(b);
    munmap(memory, bytes);
}

static void test_classic_bits(void **state)
{
    (void)state;
    check_classic(POW32 - 1);
    check_classic(POW32);
    check_classic(POW32 + 1);
    check_classic(POW32 + POW32 / 3 + 7);
    check_classic(12 * POW32 + 5);
}

/* The highest hash there is has the last block; each key has its own. */
static void check_blocked(uint64_t blocks)
{
    enum { KEYS = 500 };
    ksv_filter_options o;
    ksv_filter_options_init(&o);
    o.plan.blocks = blocks;
    o.plan.hash_functions = 7;
    size_t bytes = (size_t)blocks * 64;
    uint8_t *memory = get_memory(bytes);
    ksv_filter_builder *b = open_over(&o, memory, bytes);
    ksv_filter_builder_add(b, UINT64_MAX);
    for (uint64_t i = 0; i < KEYS; i++)
        ksv_filter_builder_add(b, test_hash(3, i));
    ksv_filter_info info;
    ksv_filter_builder_get_info(b, &info);
    assert_true(info.keys == KEYS + 1);
    assert_true(info.options.plan.bits == blocks * 512);
    static const uint8_t empty[64] = {0};
    assert_memory_not_equal(memory + bytes - 64, empty, 64);
    for (uint64_t i = 0; i < KEYS; i++) {
        uint64_t hash = test_hash(3, i);
        uint8_t *block = memory + high_half(hash, blocks) * 64;
        uint8_t kept[64];
        assert_true(ksv_filter_builder_may_contain(b, hash));
        memcpy(kept, block, sizeof kept);
        memset(block, 0, sizeof kept);
        assert_false(ksv_filter_builder_may_contain(b, hash));
        memcpy(block, kept, sizeof kept);
        assert_false(ksv_filter_builder_may_contain(b, test_hash(4, i)));
    }
    ksv_filter_builder_close(b);
    munmap(memory, bytes);
}

static void test_blocked_bits(void **state)
{
    (void)state;
    check_blocked(POW32 / 512 - 1);
    check_blocked(POW32 / 512);
    check_blocked(POW32 / 512 + 1);
    check_blocked(POW32 / 512 * 12 + 5);
}

static void check_answers(ksv_filter *reader, uint64_t keys)
{
    for (uint64_t i = 0; i < keys; i++) {
        bool answer;
        assert_int_equal(
            ksv_filter_may_contain(reader, test_hash(5, i), &answer, NULL),
            KSV_OK);
        assert_true(answer);
        assert_int_equal(
            ksv_filter_may_contain(reader, test_hash(6, i), &answer, NULL),
            KSV_OK);
        assert_false(answer);
    }
}

/* A bit that turned over past 2^32 is noticed where it is asked for. */
static void check_damage(sparse_file *file, ksv_filter *reader)
{
    ksv_error error = {0};
    bool answer;
    uint64_t offset = sparse_file_last_page(file, POW32 / 8 * 9 / 8);
    assert_true(offset > POW32 / 8);
    sparse_file_flip(file, offset + 5);
    ksv_status status = KSV_OK;
    for (uint64_t i = 0; i < 400 && status == KSV_OK; i++)
        status =
            ksv_filter_may_contain(reader, test_hash(5, i), &answer, &error);
    assert_int_equal(status, KSV_ERROR_CORRUPT);
    sparse_file_flip(file, offset + 5);
}

static void check_file(ksv_filter_options o)
{
    enum { KEYS = 400 };
    size_t bytes = (size_t)o.plan.blocks * 64;
    uint8_t *memory = get_memory(bytes);
    ksv_filter_builder *b = open_over(&o, memory, bytes);
    for (uint64_t i = 0; i < KEYS; i++)
        ksv_filter_builder_add(b, test_hash(5, i));
    sparse_file file;
    ksv_filter *reader;
    sparse_file_init(&file);
    assert_int_equal(ksv_filter_builder_write(b, KEYS, &file.base, NULL),
                     KSV_OK);
    ksv_filter_builder_close(b);
    munmap(memory, bytes);
    assert_true(file.size_bytes == file_bytes_of(o.plan.blocks));
    assert_int_equal(ksv_filter_open(&file.base, NULL, &reader, NULL), KSV_OK);
    check_damage(&file, reader);
    ksv_filter_close(reader);
    assert_int_equal(ksv_filter_open(&file.base, NULL, &reader, NULL), KSV_OK);
    check_answers(reader, KEYS);
    ksv_filter_info info;
    ksv_filter_get_info(reader, &info);
    assert_true(info.keys == KEYS && info.options.plan.bits > POW32);
    ksv_filter_close(reader);
    sparse_file_release(&file);
}

static void test_files_past_4g_bits(void **state)
{
    (void)state;
    if (IS_SLOW)
        return;
    ksv_filter_options o;
    ksv_filter_options_init(&o);
    o.plan.blocks = POW32 / 512 * 9 / 8;
    o.plan.hash_functions = 8;
    check_file(o);
    assert_int_equal(
        ksv_filter_make_classic_plan(POW32 / 8 * 9 + 9, 6, 0, &o.plan, NULL),
        KSV_OK);
    check_file(o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes_around_4g_bits),
        cmocka_unit_test(test_plans_around_4g_bits),
        cmocka_unit_test(test_classic_bits),
        cmocka_unit_test(test_blocked_bits),
        cmocka_unit_test(test_files_past_4g_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
