/* SPDX-License-Identifier: MIT */
/* The state in memory: adding, finding, releasing, without leaks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <stdlib.h>

#include "catalog/catalog.h"

static void test_files_and_segments_are_found(void **unused)
{
    (void)unused;
    catalog_state s;
    catalog_state_init(&s, NULL);
    assert_null(catalog_find_segment(&s, 1));
    assert_null(catalog_find_file(&s, 0));
    for (uint64_t i = 0; i < 100; i++) {
        catalog_segment segment = {.id = 3 * i + 1, .entries = i};
        catalog_file file = {.ordinal = 2 * i, .records = i};
        file.given_path = memory_copy_string(&s.allocator, "a", 1);
        assert_int_equal(catalog_state_add_segment(&s, &segment, NULL), KSV_OK);
        assert_int_equal(catalog_state_add_file(&s, &file, NULL), KSV_OK);
        assert_null(file.given_path);
    }
    for (uint64_t i = 0; i < 100; i++) {
        assert_int_equal(catalog_find_segment(&s, 3 * i + 1)->entries, i);
        assert_null(catalog_find_segment(&s, 3 * i + 2));
        assert_int_equal(catalog_find_file(&s, 2 * i)->records, i);
        assert_null(catalog_find_file(&s, 2 * i + 1));
    }
    catalog_state_release(&s);
    assert_int_equal(s.file_count, 0);
}

/* Counts bytes and fails at the n-th allocation. */
typedef struct counting {
    long left;
    size_t bytes;
} counting;

static void *count_alloc(void *ctx, size_t size)
{
    counting *c = ctx;
    if (c->left-- <= 0)
        return NULL;
    c->bytes += size;
    return malloc(size);
}

static void *count_realloc(void *ctx, void *p, size_t old, size_t size)
{
    counting *c = ctx;
    if (c->left-- <= 0)
        return NULL;
    c->bytes += size - old;
    return realloc(p, size);
}

static void count_free(void *ctx, void *p, size_t size)
{
    ((counting *)ctx)->bytes -= size;
    free(p);
}

static void test_a_file_is_owned_in_failure_too(void **unused)
{
    (void)unused;
    counting c = {2, 0};
    ksv_allocator a = {&c, count_alloc, count_realloc, count_free};
    catalog_state s;
    catalog_state_init(&s, &a);
    catalog_file file = {.layout_bytes = 5};
    file.given_path = memory_copy_string(&a, "name", 4);
    file.layout = memory_alloc(&a, 5);
    assert_int_equal(catalog_state_add_file(&s, &file, NULL), KSV_ERROR_MEMORY);
    assert_int_equal(c.bytes, 0);
    catalog_state_release(&s);
}

static void test_sidecar_names(void **unused)
{
    (void)unused;
    char name[CATALOG_NAME_BYTES];
    catalog_sidecar_name(7, CATALOG_FILTER_ENDING, name);
    assert_string_equal(name, "0000000000000007.ksf");
    catalog_sidecar_name(UINT64_MAX, CATALOG_TABLE_ENDING, name);
    assert_string_equal(name, "ffffffffffffffff.kst");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files_and_segments_are_found),
        cmocka_unit_test(test_a_file_is_owned_in_failure_too),
        cmocka_unit_test(test_sidecar_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
