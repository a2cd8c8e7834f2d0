/* SPDX-License-Identifier: MIT */
/* Reading filters: what is read when, and what happens when it cannot be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <keysieve/filter.h>

#include "support/filter_support.h"
#include "support/test_allocator.h"

#define KEYS 300000 /* 106 pages of blocks */
#define SMALL_KEYS 1000

typedef struct fixture {
    byte_file file;
    ksv_filter_options options;
    uint64_t *hashes;
    size_t count;
} fixture;

static fixture make(size_t count)
{
    fixture x = {.count = count};
    x.hashes = test_sorted_hashes(5, count, 44);
    x.options = test_filter_options(count, 0.005, 44, 5);
    test_write_filter(&x.file, &x.options, x.hashes, count);
    byte_file_reset_counters(&x.file);
    return x;
}

static void release(fixture *x)
{
    byte_file_release(&x->file);
    free(x->hashes);
}

static ksv_filter *open_filter(fixture *x)
{
    ksv_filter *filter;
    assert_int_equal(ksv_filter_open(&x->file.base, NULL, &filter, NULL),
                     KSV_OK);
    return filter;
}

static bool ask(ksv_filter *filter, uint64_t hash)
{
    bool answer = false;
    assert_int_equal(ksv_filter_may_contain(filter, hash, &answer, NULL),
                     KSV_OK);
    return answer;
}

static void test_info(void **state)
{
    (void)state;
    fixture x = make(SMALL_KEYS);
    ksv_filter *filter = open_filter(&x);
    ksv_filter_info info;
    ksv_filter_get_info(filter, &info);
    assert_true(info.keys == SMALL_KEYS);
    assert_true(info.file_bytes == x.file.size_bytes);
    assert_true(info.options.plan.blocks == x.options.plan.blocks);
    assert_true(info.options.plan.fpr == x.options.plan.fpr);
    assert_int_equal(info.options.hash_bits, 44);
    assert_memory_equal(info.options.id, x.options.id, 16);
    ksv_filter_close(filter);
    ksv_filter_close(NULL);
    release(&x);
}

static void test_opening_reads_header_and_footer(void **state)
{
    (void)state;
    fixture x = make(KEYS);
    ksv_filter *filter = open_filter(&x);
    assert_int_equal(x.file.reads, 2);
    assert_int_equal(x.file.read_bytes, 4096 + 64);
    byte_file_reset_counters(&x.file);
    assert_true(ask(filter, x.hashes[0]));
    /* One page of blocks, one of checksums. */
    assert_int_equal(x.file.reads, 2);
    assert_true(x.file.read_bytes <= 2 * 4096);
    assert_true(ask(filter, x.hashes[1]));
    assert_int_equal(x.file.reads, 2);
    ksv_filter_close(filter);
    release(&x);
}

static void test_small_filters_are_read_at_once(void **state)
{
    (void)state;
    fixture x = make(SMALL_KEYS);
    ksv_filter *filter = open_filter(&x);
    byte_file_reset_counters(&x.file);
    for (size_t i = 0; i < x.count; i++)
        assert_true(ask(filter, x.hashes[i]));
    assert_int_equal(x.file.reads, 2);
    ksv_filter_close(filter);
    release(&x);
}

static void test_each_page_is_read_once(void **state)
{
    (void)state;
    fixture x = make(KEYS);
    ksv_filter *filter = open_filter(&x);
    byte_file_reset_counters(&x.file);
    for (size_t i = 0; i < x.count; i++)
        assert_true(ask(filter, x.hashes[(i * 7919) % x.count]));
    uint64_t body = x.options.plan.blocks * 64;
    assert_true(x.file.read_bytes > body);
    assert_true(x.file.read_bytes < body + 4096);
    /* After 32 misses the gaps between pages are read whole. */
    assert_true(x.file.reads < 80);
    ksv_filter_close(filter);
    release(&x);
}

static void test_loading_needs_the_file_no_more(void **state)
{
    (void)state;
    fixture x = make(KEYS);
    ksv_filter *filter = open_filter(&x);
    assert_true(ask(filter, x.hashes[x.count / 2]));
    assert_int_equal(ksv_filter_load(filter, NULL), KSV_OK);
    uint64_t reads = x.file.reads;
    byte_file_release(&x.file);
    for (size_t i = 0; i < x.count; i++)
        assert_true(ask(filter, x.hashes[i]));
    assert_int_equal(ksv_filter_load(filter, NULL), KSV_OK);
    assert_true(reads < 10);
    ksv_filter_close(filter);
    release(&x);
}

static void test_batches_equal_single_answers(void **state)
{
    (void)state;
    fixture x = make(KEYS);
    ksv_filter *one = open_filter(&x);
    ksv_filter *many = open_filter(&x);
    enum { MOST = 1000 };
    static uint64_t hashes[MOST];
    static bool answers[MOST];
    size_t yes = 0;
    for (size_t count = 0; count <= MOST; count = count * 3 / 2 + 1) {
        for (size_t i = 0; i < count; i++)
            hashes[i] =
                i % 3 == 0 ? x.hashes[i * 31] | (i & 0xfffff) : test_hash(6, i);
        assert_int_equal(
            ksv_filter_may_contain_batch(many, hashes, count, answers, NULL),
            KSV_OK);
        for (size_t i = 0; i < count; i++) {
            assert_int_equal(answers[i], ask(one, hashes[i]));
            assert_true(i % 3 != 0 || answers[i]);
            yes += answers[i];
        }
    }
    assert_true(yes < 1500);
    ksv_filter_close(one);
    ksv_filter_close(many);
    release(&x);
}

/* Opens, asks for every key one by one, closes; false at an error. */
static bool ask_for_all(fixture *x, const ksv_allocator *a, ksv_status *status)
{
    ksv_filter *filter;
    *status = ksv_filter_open(&x->file.base, a, &filter, NULL);
    if (*status != KSV_OK) {
        assert_null(filter);
        return false;
    }
    bool answer;
    for (size_t i = 0; i < x->count && *status == KSV_OK; i++) {
        answer = false;
        *status = ksv_filter_may_contain(filter, x->hashes[i], &answer, NULL);
        assert_true(*status != KSV_OK || answer);
    }
    if (*status == KSV_OK)
        *status = ksv_filter_load(filter, NULL);
    ksv_filter_close(filter);
    return *status == KSV_OK;
}

static void test_failing_reads(void **state)
{
    (void)state;
    fixture x = make(KEYS / 3);
    ksv_status status;
    uint64_t failing = 0;
    for (;; failing++) {
        byte_file_reset_counters(&x.file);
        x.file.failing_read = failing;
        if (ask_for_all(&x, NULL, &status))
            break;
        assert_int_equal(status, KSV_ERROR_IO);
    }
    assert_true(failing > 30);
    release(&x);
}

/* A page that could not be read can be when it is asked for again. */
static void test_reads_can_be_repeated(void **state)
{
    (void)state;
    fixture x = make(KEYS);
    ksv_filter *filter = open_filter(&x);
    bool answer = false;
    for (uint64_t i = 0; i < 2; i++) {
        byte_file_reset_counters(&x.file);
        x.file.failing_read = i;
        assert_int_equal(
            ksv_filter_may_contain(filter, x.hashes[9], &answer, NULL),
            KSV_ERROR_IO);
    }
    assert_true(ask(filter, x.hashes[9]));
    byte_file_reset_counters(&x.file);
    x.file.failing_read = 0;
    assert_int_equal(ksv_filter_load(filter, NULL), KSV_ERROR_IO);
    assert_int_equal(ksv_filter_load(filter, NULL), KSV_OK);
    ksv_filter_close(filter);
    release(&x);
}

static void test_no_memory(void **state)
{
    (void)state;
    fixture x = make(SMALL_KEYS);
    ksv_status status;
    test_allocator a;
    uint64_t failing = 0;
    for (;; failing++) {
        test_allocator_init(&a);
        a.failing = failing;
        bool done = ask_for_all(&x, &a.allocator, &status);
        assert_true(a.live_bytes == 0 && !a.wrong_size);
        if (done)
            break;
        assert_int_equal(status, KSV_ERROR_MEMORY);
    }
    assert_true(failing >= 5);
    release(&x);
}

/* Damage to one page is an error for the keys of that page alone. */
static void test_damage_is_local(void **state)
{
    (void)state;
    fixture x = make(KEYS);
    uint64_t page = 50;
    uint64_t offset = 4096 + page * 4096 + 1000;
    x.file.data[offset] ^= 4;
    ksv_filter *filter = open_filter(&x);
    size_t failed = 0;
    ksv_error error;
    for (size_t i = 0; i < x.count; i++) {
        uint64_t block =
            (uint64_t)((unsigned __int128)x.hashes[i] * x.options.plan.blocks >>
                       64);
        bool answer = false;
        ksv_status status =
            ksv_filter_may_contain(filter, x.hashes[i], &answer, &error);
        assert_int_equal(status,
                         block / 64 == page ? KSV_ERROR_CORRUPT : KSV_OK);
        assert_true(status != KSV_OK || answer);
        failed += status != KSV_OK;
    }
    assert_true(failed > 0 && failed < x.count / 50);
    assert_true(error.byte_offset == 4096 + page * 4096);
    assert_int_equal(ksv_filter_load(filter, &error), KSV_ERROR_CORRUPT);
    assert_true(error.byte_offset == 4096 + page * 4096);
    bool answers[2];
    assert_int_equal(
        ksv_filter_may_contain_batch(filter, &x.hashes[0], 2, answers, NULL),
        KSV_OK);
    ksv_filter_close(filter);
    release(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_info),
        cmocka_unit_test(test_opening_reads_header_and_footer),
        cmocka_unit_test(test_small_filters_are_read_at_once),
        cmocka_unit_test(test_each_page_is_read_once),
        cmocka_unit_test(test_loading_needs_the_file_no_more),
        cmocka_unit_test(test_batches_equal_single_answers),
        cmocka_unit_test(test_failing_reads),
        cmocka_unit_test(test_reads_can_be_repeated),
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_damage_is_local),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
