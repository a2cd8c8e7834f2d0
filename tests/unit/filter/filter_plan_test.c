/* SPDX-License-Identifier: MIT */
/* Sizes of filters: reference points, minimality, order, refusals. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <keysieve/filter.h>

static ksv_filter_plan plan_of(uint64_t keys, double fpr, unsigned hash_bits)
{
    ksv_filter_plan plan;
    ksv_error error = {0};
    if (ksv_filter_make_plan(keys, fpr, hash_bits, &plan, &error) != KSV_OK)
        fail_msg("%llu keys at %g: %s", (unsigned long long)keys, fpr,
                 error.text);
    return plan;
}

/* The sum over Poisson loads of mean^k gives these bits a key; the mean of the
 * k-th power needs up to 0.6 % more. */
static void test_reference_points(void **state)
{
    (void)state;
    static const struct {
        double fpr, bits_per_key;
        unsigned functions;
    } points[] = {{0.02, 8.33, 6},
                  {0.01, 9.90, 6},
                  {0.005, 11.50, 7},
                  {0.001, 15.49, 9},
                  {0.0001, 21.91, 12}};
    for (size_t i = 0; i < sizeof points / sizeof points[0]; i++) {
        ksv_filter_plan p = plan_of(10000000, points[i].fpr, 64);
        double bits_per_key = (double)p.bits / 1e7;
        assert_true(bits_per_key >= points[i].bits_per_key - 0.005);
        assert_true(bits_per_key <= points[i].bits_per_key * 1.006 + 0.005);
        assert_int_equal(p.hash_functions, points[i].functions);
        assert_true(p.fpr <= points[i].fpr && p.fpr > 0.999 * points[i].fpr);
    }
    ksv_filter_plan p = plan_of(10000000, 0.005, 64);
    assert_true(8.0 * (double)p.file_bytes / 1e7 < 11.6);
    assert_true(p.bits == p.blocks * 512);
}

static double best_rate(uint64_t blocks, uint64_t keys, unsigned hash_bits)
{
    double best = 1;
    for (unsigned k = 1; k <= 16; k++)
        best = fmin(best, ksv_filter_expected_fpr(blocks, k, keys, hash_bits));
    return best;
}

static const uint64_t KEYS[] = {0,     1,     2,      3,      10,      47,
                                100,   500,   1000,   4096,   65535,   65536,
                                65537, 70000, 100000, 999999, 12345678};
#define KEY_COUNT (sizeof KEYS / sizeof KEYS[0])
static const double RATES[] = {0.9999, 0.9,  0.5,  0.1,  0.02,
                               0.005,  1e-3, 1e-4, 1e-6, 1e-9};
#define RATE_COUNT (sizeof RATES / sizeof RATES[0])

static void test_plans_are_the_smallest(void **state)
{
    (void)state;
    for (size_t k = 0; k < KEY_COUNT; k++)
        for (size_t r = 0; r < RATE_COUNT; r++) {
            ksv_filter_plan p = plan_of(KEYS[k], RATES[r], 64);
            assert_true(p.blocks >= 1);
            assert_in_range(p.hash_functions, 1, 16);
            assert_true(p.fpr <= RATES[r] * (1 + 1e-9));
            assert_true(fabs(p.fpr - best_rate(p.blocks, KEYS[k], 64)) <=
                        1e-12 * p.fpr);
            assert_true(p.fpr == ksv_filter_expected_fpr(
                                     p.blocks, p.hash_functions, KEYS[k], 64));
            if (p.blocks > 1)
                assert_true(best_rate(p.blocks - 1, KEYS[k], 64) >
                            RATES[r] * (1 - 1e-9));
        }
}

static void test_sizes_never_fall(void **state)
{
    (void)state;
    for (unsigned hash_bits = 32; hash_bits <= 64; hash_bits += 16)
        for (size_t r = 0; r < RATE_COUNT; r++) {
            uint64_t last = 0;
            for (size_t k = 0; k < KEY_COUNT; k++) {
                uint64_t bytes =
                    plan_of(KEYS[k], RATES[r], hash_bits).file_bytes;
                assert_true(bytes >= last);
                last = bytes;
            }
        }
    uint64_t last = 0;
    for (uint64_t keys = 0; keys < 1500; keys++) {
        uint64_t bytes = plan_of(keys, 0.005, 64).file_bytes;
        assert_true(bytes >= last);
        last = bytes;
    }
    last = 0;
    for (uint64_t keys = 65400; keys < 65700; keys++) {
        uint64_t bytes = plan_of(keys, 0.005, 40).file_bytes;
        assert_true(bytes >= last);
        last = bytes;
    }
    last = 0;
    for (double fpr = 0.99; fpr > 1e-8; fpr *= 0.97) {
        uint64_t bytes = plan_of(1000000, fpr, 44).file_bytes;
        assert_true(bytes >= last);
        last = bytes;
    }
}

static void test_no_key_and_few_keys(void **state)
{
    (void)state;
    ksv_filter_plan none = plan_of(0, 0.005, 64);
    assert_int_equal(none.blocks, 1);
    assert_true(none.fpr == 0);
    assert_true(none.file_bytes < 512);
    assert_int_equal(plan_of(1, 0.005, 64).blocks, 1);
    assert_int_equal(plan_of(10, 0.005, 64).blocks, 1);
    /* One block holds all keys: at 44 keys the Poisson sum would want two. */
    assert_int_equal(plan_of(44, 0.005, 64).blocks, 1);
    assert_int_equal(plan_of(100, 0.005, 64).blocks, 3);
}

static void test_huge_plans(void **state)
{
    (void)state;
    ksv_filter_plan p = plan_of(UINT64_C(1000000000000), 0.005, 64);
    double bits_per_key = (double)p.bits / 1e12;
    assert_true(bits_per_key > 11.50 && bits_per_key < 11.57);
    p = plan_of(UINT64_C(1000000000000), 1e-6, 64);
    assert_true(p.fpr <= 1e-6 && p.fpr > 0.99e-6);
    ksv_error error;
    assert_int_equal(ksv_filter_make_plan(UINT64_MAX, 0.005, 64, &p, &error),
                     KSV_ERROR_ARGUMENT);
    assert_non_null(strstr(error.text, "2^57"));
    assert_int_equal(ksv_filter_make_plan(1000000, 1e-300, 64, &p, &error),
                     KSV_ERROR_ARGUMENT);
    assert_int_equal(ksv_filter_make_plan(100, 1e-300, 64, &p, &error),
                     KSV_ERROR_ARGUMENT);
    assert_int_equal(p.blocks, 0);
}

static void test_colliding_hashes_take_their_share(void **state)
{
    (void)state;
    /* 1e6 / 2^32 is 0.023 %. */
    ksv_filter_plan wide = plan_of(1000000, 0.001, 64);
    ksv_filter_plan narrow = plan_of(1000000, 0.001, 32);
    assert_true(narrow.bits > wide.bits);
    assert_true(narrow.fpr <= 0.001 && narrow.fpr > 0.000999);
    /* More than asked for: the plan says what to expect. */
    ksv_filter_plan hopeless = plan_of(1000000, 0.0001, 32);
    assert_true(hopeless.fpr > 1e6 / 4294967296.0);
    assert_true(hopeless.fpr < 1e6 / 4294967296.0 + 0.0001);
}

static void test_refusals(void **state)
{
    (void)state;
    static const double bad[] = {0, 1, -0.5, 1.5};
    ksv_filter_plan p;
    ksv_error error;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(ksv_filter_make_plan(10, bad[i], 64, &p, &error),
                         KSV_ERROR_ARGUMENT);
    assert_int_equal(ksv_filter_make_plan(10, NAN, 64, &p, &error),
                     KSV_ERROR_ARGUMENT);
    assert_non_null(strstr(error.text, "between 0 and 1"));
    assert_int_equal(ksv_filter_make_plan(10, 0.1, 31, &p, NULL),
                     KSV_ERROR_ARGUMENT);
    assert_int_equal(ksv_filter_make_plan(10, 0.1, 65, &p, NULL),
                     KSV_ERROR_ARGUMENT);
}

static void test_expected_rate_of_any_shape(void **state)
{
    (void)state;
    assert_true(ksv_filter_expected_fpr(5, 7, 0, 64) == 0);
    assert_true(ksv_filter_expected_fpr(0, 7, 1, 64) == 1);
    assert_true(ksv_filter_expected_fpr(5, 0, 1, 64) == 1);
    assert_true(ksv_filter_expected_fpr(1, 7, UINT64_MAX, 64) == 1);
    assert_true(ksv_filter_expected_fpr(5, 99, 100, 64) ==
                ksv_filter_expected_fpr(5, 16, 100, 64));
    /* Twice the keys that a filter was made for. */
    double rate = ksv_filter_expected_fpr(22531, 7, 2000000, 64);
    assert_true(rate > 0.05 && rate < 0.15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reference_points),
        cmocka_unit_test(test_plans_are_the_smallest),
        cmocka_unit_test(test_sizes_never_fall),
        cmocka_unit_test(test_no_key_and_few_keys),
        cmocka_unit_test(test_huge_plans),
        cmocka_unit_test(test_colliding_hashes_take_their_share),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_expected_rate_of_any_shape),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
