/* SPDX-License-Identifier: MIT */
/* Cut, flipped, swapped and foreign bytes: a status, or the right answers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <keysieve/filter.h>

#include "support/filter_support.h"
#include "support/pace.h"

#define FLIPPED_KEYS 300

typedef struct sample {
    byte_file file;
    ksv_filter_options options;
    uint64_t *hashes;
    size_t count;
} sample;

static sample make(size_t count, double fpr, uint64_t id_seed)
{
    sample s = {.count = count};
    s.hashes = test_sorted_hashes(4, count, 40);
    s.options = test_filter_options(count, fpr, 40, id_seed);
    test_write_filter(&s.file, &s.options, s.hashes, count);
    return s;
}

static void release(sample *s)
{
    byte_file_release(&s->file);
    free(s->hashes);
}

/* A textbook filter of the same keys, whose last block is used in part. */
static sample make_classic(size_t count)
{
    sample s = {.count = count};
    ksv_filter_builder *b;
    s.hashes = test_sorted_hashes(4, count, 64);
    ksv_filter_options_init(&s.options);
    assert_int_equal(
        ksv_filter_make_classic_plan(4003, 9, count, &s.options.plan, NULL),
        KSV_OK);
    assert_int_equal(ksv_filter_builder_open(&s.options, NULL, &b, NULL),
                     KSV_OK);
    ksv_filter_builder_add_batch(b, s.hashes, count);
    byte_file_init(&s.file);
    assert_int_equal(ksv_filter_builder_write(b, count, &s.file.base, NULL),
                     KSV_OK);
    ksv_filter_builder_close(b);
    return s;
}

/* The first status that is not KSV_OK of opening and asking for all keys; no
 * present key may be denied. Filters that seem whole are also loaded. */
static ksv_status use(const sample *s, uint8_t *data, size_t size)
{
    byte_file f;
    byte_file_init(&f);
    f.data = data;
    f.size_bytes = size;
    ksv_filter *filter;
    ksv_error error = {0};
    ksv_status first = ksv_filter_open(&f.base, NULL, &filter, &error);
    ksv_status loaded = KSV_OK;
    ksv_filter_builder *b;
    if (ksv_filter_builder_load(&f.base, NULL, &b, NULL) == KSV_OK) {
        for (size_t i = 0; i < s->count; i++)
            assert_true(ksv_filter_builder_may_contain(b, s->hashes[i]));
        ksv_filter_builder_close(b);
    } else {
        loaded = KSV_ERROR_CORRUPT;
    }
    if (first == KSV_OK) {
        for (size_t i = 0; i < s->count; i++) {
            bool answer = true;
            ksv_status status =
                ksv_filter_may_contain(filter, s->hashes[i], &answer, &error);
            assert_true(answer);
            if (first == KSV_OK)
                first = status;
        }
        assert_int_equal(ksv_filter_load(filter, NULL), loaded);
        ksv_filter_close(filter);
    }
    if (first != KSV_OK)
        assert_true(error.status == first && error.text[0] != '\0');
    return first != KSV_OK ? first : loaded;
}

static void test_every_truncation(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        sample s =
            i == 0 ? make(FLIPPED_KEYS, 0.001, 1) : make_classic(FLIPPED_KEYS);
        assert_int_equal(use(&s, s.file.data, s.file.size_bytes), KSV_OK);
        for (size_t size = 0; size < s.file.size_bytes; size += PACE_STEP)
            assert_int_equal(use(&s, s.file.data, size), KSV_ERROR_CORRUPT);
        release(&s);
    }
}

static void test_stray_bytes_at_the_end(void **state)
{
    (void)state;
    sample s = make(FLIPPED_KEYS, 0.001, 1);
    uint8_t *longer = calloc(1, s.file.size_bytes + 64);
    memcpy(longer, s.file.data, s.file.size_bytes);
    for (size_t more = 1; more <= 64; more++)
        assert_int_equal(use(&s, longer, s.file.size_bytes + more),
                         KSV_ERROR_CORRUPT);
    free(longer);
    release(&s);
}

/* Every byte is covered: no flip passes ksv_filter_load(). */
static void check_flips(sample s)
{
    for (size_t i = 0; i < s.file.size_bytes; i += PACE_STEP) {
        uint8_t mask = (uint8_t)(i % 3 == 0 ? 0xff : 1u << i % 8);
        s.file.data[i] ^= mask;
        ksv_status status = use(&s, s.file.data, s.file.size_bytes);
        if (status != KSV_ERROR_CORRUPT &&
            !(status == KSV_ERROR_VERSION && (i == 8 || i == 9)))
            fail_msg("byte %zu: status %d", i, status);
        s.file.data[i] ^= mask;
    }
    release(&s);
}

static void test_every_flip(void **state)
{
    (void)state;
    check_flips(make(FLIPPED_KEYS, 0.001, 1));
    check_flips(make(0, 0.001, 1));
    check_flips(make_classic(FLIPPED_KEYS));
}

/* The blocks begin at a page: few keys keep it quick. */
static void test_flips_before_the_blocks_of_a_large_filter(void **state)
{
    (void)state;
    sample s = make(60000, 0.001, 1);
    s.count = 1;
    for (size_t i = 0; i < 4096; i += PACE_STEP) {
        s.file.data[i] ^= 0x20;
        assert_int_not_equal(use(&s, s.file.data, s.file.size_bytes), KSV_OK);
        s.file.data[i] ^= 0x20;
    }
    release(&s);
}

static void swap(uint8_t *a, uint8_t *b, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        uint8_t t = a[i];
        a[i] = b[i];
        b[i] = t;
    }
}

static void test_swapped_pages(void **state)
{
    (void)state;
    sample s = make(60000, 0.001, 1);
    uint8_t *body = s.file.data + 4096;
    swap(body + 4096, body + 2 * 4096, 4096);
    assert_int_equal(use(&s, s.file.data, s.file.size_bytes),
                     KSV_ERROR_CORRUPT);
    release(&s);
}

static void test_foreign_checksum_page(void **state)
{
    (void)state;
    sample s = make(60000, 0.001, 1);
    sample other = make(60000, 0.001, 2);
    size_t body_end = 4096 + (size_t)s.options.plan.blocks * 64;
    size_t checksums = s.file.size_bytes - 64 - body_end;
    assert_memory_equal(s.file.data + 4096, other.file.data + 4096,
                        body_end - 4096);
    memcpy(s.file.data + body_end, other.file.data + body_end, checksums);
    assert_int_equal(use(&s, s.file.data, s.file.size_bytes),
                     KSV_ERROR_CORRUPT);
    release(&s);
    release(&other);
}

static void test_foreign_body_and_footer(void **state)
{
    (void)state;
    sample s = make(60000, 0.001, 1);
    sample other = make(59999, 0.001, 2);
    assert_int_equal(s.file.size_bytes, other.file.size_bytes);
    size_t size = s.file.size_bytes;
    uint8_t *mixed = malloc(size);
    memcpy(mixed, s.file.data, size);
    memcpy(mixed + size - 64, other.file.data + size - 64, 64);
    assert_int_equal(use(&s, mixed, size), KSV_ERROR_CORRUPT);
    memcpy(mixed, other.file.data, size);
    memcpy(mixed, s.file.data, 4096);
    assert_int_equal(use(&s, mixed, size), KSV_ERROR_CORRUPT);
    free(mixed);
    release(&s);
    release(&other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_truncation),
        cmocka_unit_test(test_stray_bytes_at_the_end),
        cmocka_unit_test(test_every_flip),
        cmocka_unit_test(test_flips_before_the_blocks_of_a_large_filter),
        cmocka_unit_test(test_swapped_pages),
        cmocka_unit_test(test_foreign_checksum_page),
        cmocka_unit_test(test_foreign_body_and_footer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
