/* SPDX-License-Identifier: MIT */
/* Writing filters: the contract of the writer and of the builder, and what
 * happens when disk or memory is full. */
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

static void test_distinct_keys_are_counted(void **state)
{
    (void)state;
    ksv_filter_options o = test_filter_options(10, 0.01, 40, 1);
    byte_file f;
    byte_file_init(&f);
    ksv_filter_writer *w;
    assert_int_equal(ksv_filter_writer_open(&f.base, &o, NULL, &w, NULL),
                     KSV_OK);
    static const uint64_t hashes[] = {0, 0, 1, 1, 1, 7};
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(ksv_filter_writer_add(w, hashes[i] << 24, NULL),
                         KSV_OK);
    uint64_t keys = 0;
    assert_int_equal(ksv_filter_writer_finish(w, &keys, NULL), KSV_OK);
    assert_true(keys == 3);
    assert_int_equal(ksv_filter_writer_add(w, UINT64_MAX << 24, NULL),
                     KSV_ERROR_ARGUMENT);
    assert_int_equal(ksv_filter_writer_finish(w, &keys, NULL),
                     KSV_ERROR_ARGUMENT);
    ksv_filter_writer_close(w);
    ksv_filter_writer_close(NULL);
    assert_true(f.size_bytes == o.plan.file_bytes);
    byte_file_release(&f);
}

static void test_wrong_hashes_are_refused(void **state)
{
    (void)state;
    ksv_filter_options o = test_filter_options(10, 0.01, 40, 1);
    byte_file f;
    byte_file_init(&f);
    ksv_filter_writer *w;
    ksv_error error;
    assert_int_equal(ksv_filter_writer_open(&f.base, &o, NULL, &w, NULL),
                     KSV_OK);
    assert_int_equal(ksv_filter_writer_add(w, 1, &error), KSV_ERROR_ARGUMENT);
    assert_string_equal(error.text, "a hash has more than 40 bits");
    assert_int_equal(ksv_filter_writer_add(w, UINT64_C(9) << 24, NULL), KSV_OK);
    assert_int_equal(ksv_filter_writer_add(w, UINT64_C(8) << 24, &error),
                     KSV_ERROR_ARGUMENT);
    assert_string_equal(error.text, "hashes are not in ascending order");
    /* Neither of them ends the writing. */
    uint64_t keys = 0;
    assert_int_equal(ksv_filter_writer_finish(w, &keys, NULL), KSV_OK);
    assert_true(keys == 1);
    ksv_filter_writer_close(w);
    byte_file_release(&f);
}

static void test_wrong_options_are_refused(void **state)
{
    (void)state;
    for (int i = 0; i < 8; i++) {
        ksv_filter_options o = test_filter_options(10, 0.01, 40, 1);
        o.plan.blocks = i == 0 ? 0 : i == 1 ? UINT64_MAX : 1;
        o.plan.hash_functions = i == 2 ? 0 : i == 3 ? 17 : 7;
        o.hash_bits = i == 4 ? 31 : i == 5 ? 65 : 40;
        o.hasher.kind = i == 6 ? (ksv_hash_kind)9 : KSV_HASH_XXH3;
        o.plan.fpr = i == 7 ? 1.5 : 0.01;
        byte_file f;
        byte_file_init(&f);
        ksv_filter_writer *w = (ksv_filter_writer *)&f;
        ksv_filter_builder *b = (ksv_filter_builder *)&f;
        assert_int_equal(ksv_filter_writer_open(&f.base, &o, NULL, &w, NULL),
                         KSV_ERROR_ARGUMENT);
        assert_null(w);
        assert_int_equal(ksv_filter_builder_open(&o, NULL, &b, NULL),
                         KSV_ERROR_ARGUMENT);
        assert_null(b);
        assert_int_equal(f.size_bytes, 0);
        byte_file_release(&f);
    }
}

/* Enough keys for several windows and two checksum pages. */
#define MANY 2000000
#define FEW 500

static ksv_status write_all(byte_file *f, const ksv_filter_options *o,
                            const uint64_t *hashes, size_t count,
                            const ksv_allocator *allocator)
{
    ksv_filter_writer *w;
    ksv_status status =
        ksv_filter_writer_open(&f->base, o, allocator, &w, NULL);
    if (status != KSV_OK) {
        assert_null(w);
        return status;
    }
    for (size_t i = 0; i < count && status == KSV_OK; i++)
        status = ksv_filter_writer_add(w, hashes[i], NULL);
    if (status == KSV_OK)
        status = ksv_filter_writer_finish(w, NULL, NULL);
    if (status != KSV_OK) {
        /* A failed write is not forgotten. */
        assert_int_equal(ksv_filter_writer_add(w, UINT64_MAX << 24, NULL),
                         status);
        assert_int_equal(ksv_filter_writer_finish(w, NULL, NULL), status);
    }
    ksv_filter_writer_close(w);
    return status;
}

static ksv_status build_all(byte_file *f, const ksv_filter_options *o,
                            const uint64_t *hashes, size_t count,
                            const ksv_allocator *allocator)
{
    ksv_filter_builder *b;
    ksv_status status = ksv_filter_builder_open(o, allocator, &b, NULL);
    if (status != KSV_OK) {
        assert_null(b);
        return status;
    }
    for (size_t i = count; i-- > 0;)
        ksv_filter_builder_add(b, hashes[i]);
    status = ksv_filter_builder_write(b, count, &f->base, NULL);
    ksv_filter_builder_close(b);
    return status;
}

typedef ksv_status (*make_fn)(byte_file *, const ksv_filter_options *,
                              const uint64_t *, size_t, const ksv_allocator *);
static const make_fn MAKERS[] = {write_all, build_all};

static void test_writer_and_builder_write_the_same(void **state)
{
    (void)state;
    uint64_t *hashes = test_sorted_hashes(3, MANY, 40);
    ksv_filter_options o = test_filter_options(MANY, 0.0001, 40, 3);
    byte_file files[2];
    for (int i = 0; i < 2; i++) {
        byte_file_init(&files[i]);
        assert_int_equal(MAKERS[i](&files[i], &o, hashes, MANY, NULL), KSV_OK);
        assert_true(files[i].size_bytes == o.plan.file_bytes);
    }
    assert_true(files[0].size_bytes > 4096 + 1016 * 4096 + 4096);
    /* The builder was told of MANY keys, the writer counts distinct hashes. */
    size_t footer = files[0].size_bytes - 64;
    assert_memory_equal(files[0].data, files[1].data, footer);
    byte_file_release(&files[0]);
    byte_file_release(&files[1]);
    free(hashes);
}

static void test_full_disk(void **state)
{
    (void)state;
    uint64_t *hashes = test_sorted_hashes(3, FEW, 40);
    /* Sparse: windows without a key have to be written as well. */
    ksv_filter_options o = test_filter_options(60000, 0.001, 40, 3);
    for (int m = 0; m < 2; m++) {
        byte_file f;
        byte_file_init(&f);
        assert_int_equal(MAKERS[m](&f, &o, hashes, FEW, NULL), KSV_OK);
        uint64_t appends = f.appends;
        byte_file_release(&f);
        for (uint64_t i = 0; i < appends; i++) {
            byte_file_init(&f);
            f.failing_append = i;
            assert_int_equal(MAKERS[m](&f, &o, hashes, FEW, NULL),
                             KSV_ERROR_IO);
            byte_file_release(&f);
        }
    }
    free(hashes);
}

static void test_no_memory(void **state)
{
    (void)state;
    uint64_t *hashes = test_sorted_hashes(3, FEW, 40);
    ksv_filter_options o = test_filter_options(60000, 0.001, 40, 3);
    for (int m = 0; m < 2; m++) {
        test_allocator a;
        ksv_status status = KSV_ERROR_MEMORY;
        uint64_t failing = 0;
        for (; status != KSV_OK; failing++) {
            byte_file f;
            byte_file_init(&f);
            test_allocator_init(&a);
            a.failing = failing;
            status = MAKERS[m](&f, &o, hashes, FEW, &a.allocator);
            if (status != KSV_OK)
                assert_int_equal(status, KSV_ERROR_MEMORY);
            assert_true(a.live_bytes == 0 && !a.wrong_size);
            byte_file_release(&f);
        }
        assert_true(failing > 2);
    }
    free(hashes);
}

static void test_writer_needs_little_memory(void **state)
{
    (void)state;
    uint64_t *hashes = test_sorted_hashes(3, FEW, 40);
    ksv_filter_options o = test_filter_options(1000000, 0.001, 40, 3);
    test_allocator a;
    test_allocator_init(&a);
    byte_file f;
    byte_file_init(&f);
    assert_int_equal(write_all(&f, &o, hashes, FEW, &a.allocator), KSV_OK);
    assert_true(a.peak_bytes < 70000 + 2 * f.size_bytes / 1000);
    byte_file_release(&f);
    free(hashes);
}

static void test_builder_answers(void **state)
{
    (void)state;
    ksv_filter_options o = test_filter_options(1000, 0.001, 40, 1);
    ksv_filter_builder *b;
    assert_int_equal(ksv_filter_builder_open(&o, NULL, &b, NULL), KSV_OK);
    for (uint64_t i = 0; i < 1000; i++)
        ksv_filter_builder_add(b, test_hash(1, i));
    unsigned wrong = 0;
    for (uint64_t i = 0; i < 1000; i++) {
        assert_true(ksv_filter_builder_may_contain(b, test_hash(1, i)));
        wrong += ksv_filter_builder_may_contain(b, test_hash(2, i));
    }
    assert_true(wrong < 10);
    ksv_filter_builder_close(b);
    ksv_filter_builder_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_distinct_keys_are_counted),
        cmocka_unit_test(test_wrong_hashes_are_refused),
        cmocka_unit_test(test_wrong_options_are_refused),
        cmocka_unit_test(test_writer_and_builder_write_the_same),
        cmocka_unit_test(test_full_disk),
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_writer_needs_little_memory),
        cmocka_unit_test(test_builder_answers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
