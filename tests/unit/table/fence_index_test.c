/* SPDX-License-Identifier: MIT */
/* The search over fences against a plain array. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "support/random.h"
#include "support/table_fixture.h"
#include "table/fence_index.h"

#define TAG 42

typedef struct fixture {
    ksv_allocator allocator;
    table_bytes file;
    uint32_t *fences;
    size_t count;
    fence_index index;
} fixture;

static int compare(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a;
    uint32_t y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* A file that has nothing but the fences. */
static void open_fixture(fixture *f, size_t count)
{
    f->allocator = allocator_or_default(NULL);
    f->count = count;
    qsort(f->fences, count, sizeof *f->fences, compare);
    table_meta meta = {.info.pages = count,
                       .fence_pages = table_fence_page_count(count),
                       .tag = TAG};
    size_t size = (size_t)meta.fence_pages * TABLE_PAGE_BYTES;
    uint8_t *data = calloc(1, size + 1);
    assert_non_null(data);
    for (uint64_t i = 0; i < meta.fence_pages; i++) {
        uint64_t first = i * TABLE_FENCES_PER_PAGE;
        uint64_t left = count - first;
        table_encode_fence_page(
            f->fences + first,
            left < TABLE_FENCES_PER_PAGE ? left : TABLE_FENCES_PER_PAGE,
            (uint32_t)i, TAG, data + i * TABLE_PAGE_BYTES);
    }
    table_bytes_init(&f->file);
    byte_file_set(&f->file, data, size);
    f->file.missing = table_page_offset(count);
    free(data);
    assert_int_equal(
        fence_index_init(&f->index, &f->file.base, &meta, &f->allocator, NULL),
        KSV_OK);
}

static void close_fixture(fixture *f)
{
    fence_index_release(&f->index);
    table_bytes_release(&f->file);
    free(f->fences);
}

static size_t below(const fixture *f, uint64_t bound)
{
    size_t low = 0;
    size_t high = f->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (f->fences[middle] < bound)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void check_find(fixture *f, uint32_t fence)
{
    uint64_t begin = 0, end = 0;
    assert_int_equal(fence_index_find(&f->index, fence, &begin, &end, NULL),
                     KSV_OK);
    assert_int_equal(begin, below(f, fence));
    assert_int_equal(end, below(f, (uint64_t)fence + 1));
}

/* With a fresh index for each, so that every search begins without fences. */
static void check_all(uint32_t (*make)(random_source *r, size_t i, size_t n),
                      uint64_t seed)
{
    static const size_t counts[] = {0,    1,    2,    1019, 1020,
                                    1021, 2040, 5000, 40000};
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        random_source random = {seed};
        size_t n = counts[c];
        fixture f;
        f.fences = calloc(n + 1, sizeof *f.fences);
        assert_non_null(f.fences);
        for (size_t i = 0; i < n; i++)
            f.fences[i] = make(&random, i, n);
        open_fixture(&f, n);
        for (size_t i = 0; i < n; i += n / 500 + 1)
            for (uint32_t d = 0; d < 3; d++)
                check_find(&f, f.fences[i] + d - 1);
        for (int i = 0; i < 500; i++)
            check_find(&f, (uint32_t)random_next(&random));
        check_find(&f, 0);
        check_find(&f, UINT32_MAX);
        close_fixture(&f);
    }
}

static uint32_t even(random_source *r, size_t i, size_t n)
{
    (void)i;
    (void)n;
    return (uint32_t)random_next(r);
}

static uint32_t low(random_source *r, size_t i, size_t n)
{
    (void)i;
    (void)n;
    return (uint32_t)random_below(r, 10000);
}

static uint32_t high(random_source *r, size_t i, size_t n)
{
    return UINT32_MAX - low(r, i, n);
}

static uint32_t equal(random_source *r, size_t i, size_t n)
{
    (void)r;
    return i < n / 10 ? 5 : i < n - n / 10 ? 0x80000000 : 0x80000001;
}

static uint32_t extreme(random_source *r, size_t i, size_t n)
{
    (void)r;
    return i < n / 2 ? 0 : UINT32_MAX;
}

static void test_search(void **state)
{
    (void)state;
    check_all(even, 1);
    check_all(low, 2);
    check_all(high, 3);
    check_all(equal, 4);
    check_all(extreme, 5);
}

/* Evenly spread fences: the guess is right or next to it. */
static void test_few_reads(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        random_source random = {seed};
        fixture f;
        f.fences = calloc(100000, sizeof *f.fences);
        assert_non_null(f.fences);
        for (size_t i = 0; i < 100000; i++)
            f.fences[i] = (uint32_t)random_next(&random);
        open_fixture(&f, 100000);
        assert_int_equal(f.file.reads, 0);
        check_find(&f, (uint32_t)random_next(&random));
        assert_in_range(f.file.reads, 1, 3);
        for (int i = 0; i < 3000; i++)
            check_find(&f, (uint32_t)random_next(&random));
        assert_in_range(f.file.reads, 1, table_fence_page_count(100000));
        close_fixture(&f);
    }
}

/* One end of the hashes only: a logarithm of reads. */
static void test_uneven_reads(void **state)
{
    (void)state;
    fixture f;
    f.fences = calloc(100000, sizeof *f.fences);
    assert_non_null(f.fences);
    for (uint32_t i = 0; i < 100000; i++)
        f.fences[i] = i;
    open_fixture(&f, 100000);
    check_find(&f, 3);
    check_find(&f, 99000);
    check_find(&f, 0xf0000000);
    assert_in_range(f.file.reads, 1, 24);
    close_fixture(&f);
}

static void test_damage_and_failed_reads(void **state)
{
    (void)state;
    uint64_t begin, end;
    ksv_error error;
    fixture f;
    f.fences = calloc(3000, sizeof *f.fences);
    assert_non_null(f.fences);
    for (uint32_t i = 0; i < 3000; i++)
        f.fences[i] = i << 20;
    open_fixture(&f, 3000);
    f.file.failing_read = 0;
    assert_int_equal(fence_index_find(&f.index, 9 << 20, &begin, &end, &error),
                     KSV_ERROR_IO);
    check_find(&f, 9 << 20); /* the failure is not kept */
    f.file.data[2 * TABLE_PAGE_BYTES + 1000] ^= 1;
    assert_int_equal(
        fence_index_find(&f.index, 2900u << 20, &begin, &end, &error),
        KSV_ERROR_CORRUPT);
    assert_true(error.byte_offset == table_page_offset(3000 + 2));
    check_find(&f, 9 << 20);
    close_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_search),
        cmocka_unit_test(test_few_reads),
        cmocka_unit_test(test_uneven_reads),
        cmocka_unit_test(test_damage_and_failed_reads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
