/* SPDX-License-Identifier: MIT */
/* Paths are found among many, and no others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/memory.h"
#include "build/path_table.h"

#define PATHS 3000

static void test_many_paths(void **state)
{
    (void)state;
    static char paths[PATHS][24];
    ksv_allocator a = allocator_or_default(NULL);
    path_table table = {.allocator = &a};
    assert_true(path_table_find(&table, "a") == PATH_TABLE_NONE);
    for (size_t i = 0; i < PATHS; i++) {
        snprintf(paths[i], sizeof paths[i], "../data/%zu.csv", i);
        assert_true(path_table_find(&table, paths[i]) == PATH_TABLE_NONE);
        assert_int_equal(path_table_add(&table, paths[i], i, NULL), KSV_OK);
    }
    assert_int_equal(path_table_add(&table, "../data/7.csv", 99, NULL), KSV_OK);
    for (size_t i = 0; i < PATHS; i++)
        assert_int_equal(path_table_find(&table, paths[i]), i);
    assert_true(path_table_find(&table, "../data/") == PATH_TABLE_NONE);
    assert_int_equal(table.count, PATHS);
    path_table_close(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_many_paths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
