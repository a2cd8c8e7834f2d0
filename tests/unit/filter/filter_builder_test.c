/* SPDX-License-Identifier: MIT */
/* Filters in memory: what they refuse, whose memory they use, what they say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <keysieve/filter.h>

#include "io/memory_file_system.h"
#include "support/fault_allocator.h"
#include "support/filter_support.h"

static ksv_filter_options blocked(uint64_t blocks, unsigned functions)
{
    ksv_filter_options o;
    ksv_filter_options_init(&o);
    o.plan.blocks = blocks;
    o.plan.hash_functions = functions;
    return o;
}

static ksv_filter_builder *open_builder(ksv_filter_options o)
{
    ksv_filter_builder *b;
    assert_int_equal(ksv_filter_builder_open(&o, NULL, &b, NULL), KSV_OK);
    return b;
}

static void test_classic_plans(void **state)
{
    (void)state;
    ksv_filter_plan p;
    assert_int_equal(ksv_filter_make_classic_plan(0, 3, 1, &p, NULL),
                     KSV_ERROR_ARGUMENT);
    assert_int_equal(
        ksv_filter_make_classic_plan((UINT64_C(1) << 60) + 1, 3, 1, &p, NULL),
        KSV_ERROR_ARGUMENT);
    assert_int_equal(ksv_filter_make_classic_plan(9, 0, 1, &p, NULL),
                     KSV_ERROR_ARGUMENT);
    assert_int_equal(ksv_filter_make_classic_plan(9, 65, 1, &p, NULL),
                     KSV_ERROR_ARGUMENT);
    assert_int_equal(
        ksv_filter_make_classic_plan(UINT64_C(1) << 60, 64, 1000, &p, NULL),
        KSV_OK);
    assert_true(p.blocks == UINT64_C(1) << 51 && p.fpr < 1e-15);
    assert_int_equal(ksv_filter_make_classic_plan(513, 1, 0, &p, NULL), KSV_OK);
    assert_true(p.blocks == 2 && p.bits == 513 && p.fpr == 0);
    /* One bit and one function: the first key fills it. */
    assert_int_equal(ksv_filter_make_classic_plan(1, 1, 1, &p, NULL), KSV_OK);
    assert_true(p.fpr == 1);
    /* (1 - e^(-kn/m))^k of the textbook: 0.8194 % for 10 bits a key, k = 7. */
    assert_int_equal(ksv_filter_make_classic_plan(UINT64_C(10000000000), 7,
                                                  1000000000, &p, NULL),
                     KSV_OK);
    assert_true(p.fpr > 0.008193 && p.fpr < 0.008195);
}

static void test_capacity(void **state)
{
    (void)state;
    ksv_filter_options o = test_classic_options(9585059, 7, 0);
    uint64_t most = ksv_filter_plan_capacity(&o.plan, 0.01, 64);
    assert_true(most > 998000 && most < 1001000);
    assert_true(ksv_filter_plan_expected_fpr(&o.plan, most, 64) <= 0.01);
    assert_true(ksv_filter_plan_expected_fpr(&o.plan, most + 1, 64) > 0.01);
    assert_true(ksv_filter_plan_capacity(&o.plan, 0, 64) == 0);
    assert_int_equal(ksv_filter_make_plan(50000, 0.003, 64, &o.plan, NULL),
                     KSV_OK);
    most = ksv_filter_plan_capacity(&o.plan, 0.003, 64);
    assert_true(most >= 50000 && most < 50500);
}

static void test_shapes_that_are_refused(void **state)
{
    (void)state;
    ksv_filter_options shapes[] = {test_classic_options(1000, 3, 0),
                                   test_classic_options(1000, 3, 0),
                                   test_classic_options(1000, 3, 0),
                                   blocked(3, 17),
                                   blocked(0, 3),
                                   blocked(3, 3)};
    shapes[0].plan.bits = 512;  /* one block, where two are named */
    shapes[1].plan.bits = 1025; /* three */
    shapes[2].plan.hash_functions = 65;
    shapes[5].plan.kind = (ksv_filter_kind)2;
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        ksv_filter_builder *b = (ksv_filter_builder *)&shapes;
        ksv_error error = {0};
        assert_int_equal(ksv_filter_builder_open(&shapes[i], NULL, &b, &error),
                         KSV_ERROR_ARGUMENT);
        assert_null(b);
        assert_true(error.text[0] != '\0');
    }
    ksv_filter_writer *w;
    byte_file f;
    byte_file_init(&f);
    ksv_filter_options o = test_classic_options(1000, 3, 0);
    assert_int_equal(ksv_filter_writer_open(&f.base, &o, NULL, &w, NULL),
                     KSV_ERROR_ARGUMENT);
    byte_file_release(&f);
}

/* At every alignment, the same bits as in memory of its own; nothing beyond. */
static void check_over(ksv_filter_options o)
{
    size_t bytes = (size_t)o.plan.blocks * 64;
    uint8_t *memory = malloc(bytes + 128);
    assert_non_null(memory);
    for (size_t at = 0; at < 64; at += 7) {
        ksv_filter_builder *b;
        ksv_filter_builder *own = open_builder(o);
        memset(memory, 0xee, bytes + 128);
        assert_int_equal(ksv_filter_builder_open_over(&o, memory + at, bytes,
                                                      false, 0, NULL, &b, NULL),
                         KSV_OK);
        for (uint64_t i = 0; i < 500; i++) {
            ksv_filter_builder_add(b, test_hash(1, i));
            ksv_filter_builder_add(own, test_hash(1, i));
        }
        assert_true(ksv_filter_builder_count_bits(b) ==
                    ksv_filter_builder_count_bits(own));
        for (uint64_t i = 0; i < 2000; i++)
            assert_true(ksv_filter_builder_may_contain(b, test_hash(1, i)) ==
                        ksv_filter_builder_may_contain(own, test_hash(1, i)));
        ksv_filter_builder_close(b);
        for (size_t i = 0; i < at; i++)
            assert_int_equal(memory[i], 0xee);
        for (size_t i = at + bytes; i < bytes + 128; i++)
            assert_int_equal(memory[i], 0xee);
        /* What is in the memory stays the caller's, to be opened again. */
        assert_int_equal(ksv_filter_builder_open_over(
                             &o, memory + at, bytes, true, 500, NULL, &b, NULL),
                         KSV_OK);
        ksv_filter_info info;
        ksv_filter_builder_get_info(b, &info);
        assert_true(info.keys == 500);
        assert_int_equal(ksv_filter_builder_merge(b, own, NULL), KSV_OK);
        assert_true(ksv_filter_builder_count_bits(b) ==
                    ksv_filter_builder_count_bits(own));
        ksv_filter_builder_close(b);
        ksv_filter_builder_close(own);
    }
    free(memory);
}

static void test_memory_of_the_caller(void **state)
{
    (void)state;
    check_over(blocked(12, 6));
    check_over(test_classic_options(6001, 7, 0));
    uint8_t small[640];
    ksv_filter_options o = blocked(11, 6);
    ksv_filter_builder *b;
    ksv_error error;
    assert_int_equal(ksv_filter_builder_open_over(&o, small, sizeof small,
                                                  false, 0, NULL, &b, &error),
                     KSV_ERROR_ARGUMENT);
    assert_non_null(strstr(error.text, "704"));
}

static void expect_mismatch(ksv_filter_options a, ksv_filter_options b)
{
    ksv_filter_builder *first = open_builder(a);
    ksv_filter_builder *second = open_builder(b);
    ksv_error error = {0};
    ksv_filter_builder_add(second, 1);
    assert_int_equal(ksv_filter_builder_merge(first, second, &error),
                     KSV_ERROR_MISMATCH);
    assert_non_null(strstr(error.text, "; and "));
    assert_true(ksv_filter_builder_count_bits(first) == 0);
    ksv_filter_builder_close(first);
    ksv_filter_builder_close(second);
}

static void test_only_like_filters_are_merged(void **state)
{
    (void)state;
    ksv_filter_options o = blocked(12, 6);
    ksv_filter_options other = o;
    expect_mismatch(o, blocked(13, 6));
    expect_mismatch(o, blocked(12, 7));
    expect_mismatch(test_classic_options(12 * 512, 6, 0), o);
    expect_mismatch(test_classic_options(1000, 6, 0),
                    test_classic_options(1001, 6, 0));
    other.hash_bits = 63;
    expect_mismatch(o, other);
    other = o;
    other.hasher.key[15] = 1;
    expect_mismatch(o, other);
    other = o;
    other.hasher.kind = KSV_HASH_SIPHASH;
    expect_mismatch(o, other);
    ksv_filter_builder *c = open_builder(test_classic_options(1024, 3, 0));
    assert_int_equal(ksv_filter_builder_fold(c, 2, NULL), KSV_ERROR_ARGUMENT);
    ksv_filter_builder_close(c);
}

/* The number of keys: repeated ones count once, loaded ones stay counted. */
static void test_number_of_keys(void **state)
{
    (void)state;
    ksv_filter_info info;
    ksv_filter_builder *b = open_builder(blocked(300, 6));
    for (int round = 0; round < 20; round++)
        for (uint64_t i = 0; i < 5000; i++)
            ksv_filter_builder_add(b, test_hash(1, i));
    ksv_filter_builder_get_info(b, &info);
    assert_in_range(info.keys, 4975, 5025);
    ksv_filter_builder_set_keys(b, 5000);
    ksv_filter_builder_get_info(b, &info);
    assert_true(info.keys == 5000);
    for (uint64_t i = 5000; i < 10000; i++)
        ksv_filter_builder_add(b, test_hash(1, i));
    ksv_filter_builder_get_info(b, &info);
    assert_in_range(info.keys, 9950, 10050);
    /* Far too many: never less than there were, never more than were given. */
    for (uint64_t i = 0; i < 1000000; i++)
        ksv_filter_builder_add(b, test_hash(2, i));
    ksv_filter_builder_get_info(b, &info);
    assert_in_range(info.keys, 900000, 1010050);
    ksv_filter_builder_close(b);
}

/* Files of one content are equal, and of another are not, ids included. */
static void test_ids_follow_the_content(void **state)
{
    (void)state;
    ksv_file_system fs;
    uint8_t ids[3][16];
    assert_int_equal(memory_file_system_open(NULL, &fs, NULL), KSV_OK);
    for (size_t i = 0; i < 3; i++) {
        ksv_filter_builder *b = open_builder(blocked(12, 6));
        ksv_filter_info info;
        ksv_filter_builder_add(b, i == 2 ? 7 : 5);
        assert_int_equal(ksv_filter_builder_save(b, &fs, "f", NULL), KSV_OK);
        ksv_filter_builder_close(b);
        assert_int_equal(ksv_filter_builder_open_file(&fs, "f", NULL, &b, NULL),
                         KSV_OK);
        ksv_filter_builder_get_info(b, &info);
        memcpy(ids[i], info.options.id, 16);
        assert_true(info.options.is_standalone);
        ksv_filter_builder_close(b);
    }
    assert_memory_equal(ids[0], ids[1], 16);
    assert_memory_not_equal(ids[0], ids[2], 16);
    ksv_filter_builder *b = open_builder(blocked(12, 6));
    assert_int_not_equal(ksv_filter_builder_save(b, &fs, "dir/", NULL), KSV_OK);
    ksv_filter_builder_close(b);
    memory_file_system_close(&fs);
}

static void test_no_memory(void **state)
{
    (void)state;
    ksv_filter_options shapes[] = {blocked(12, 6),
                                   test_classic_options(5000, 3, 0)};
    for (size_t s = 0; s < 2; s++) {
        for (size_t fail_at = 1; fail_at <= 2; fail_at++) {
            fault_allocator memory;
            ksv_filter_builder *b;
            fault_allocator_init(&memory, fail_at);
            assert_int_equal(ksv_filter_builder_open(
                                 &shapes[s], &memory.allocator, &b, NULL),
                             KSV_ERROR_MEMORY);
            assert_true(fault_allocator_is_clean(&memory));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_classic_plans),
        cmocka_unit_test(test_capacity),
        cmocka_unit_test(test_shapes_that_are_refused),
        cmocka_unit_test(test_memory_of_the_caller),
        cmocka_unit_test(test_only_like_filters_are_merged),
        cmocka_unit_test(test_number_of_keys),
        cmocka_unit_test(test_ids_follow_the_content),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
