/* SPDX-License-Identifier: MIT */
/* Which names are ours. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "catalog/catalog_names.h"

static void need_kind(const char *name, name_kind kind)
{
    uint64_t number;
    if (name_parse(name, &number) != kind)
        fail_msg("%s is not of kind %d", name, (int)kind);
}

static void test_kinds_of_names(void **unused)
{
    (void)unused;
    need_kind("catalog.mdb", NAME_CATALOG);
    need_kind("lock", NAME_LOCK);
    need_kind("catalog.mdb.tmp", NAME_TEMPORARY);
    need_kind("catalog.new.tmp", NAME_TEMPORARY);
    need_kind("0123456789abcdef.ksc", NAME_COPY);
    need_kind("0123456789abcdef.ksf", NAME_SIDECAR);
    need_kind("0123456789abcdef.kst", NAME_SIDECAR);
    need_kind("0123456789abcdef.ksc.tmp", NAME_TEMPORARY);
    need_kind("0123456789abcdef.run.tmp", NAME_TEMPORARY);
    static const char *const foreign[] = {
        "",
        "notes.txt",
        "lock.bak",
        "data.tmp",
        "catalog.mdb.bak",
        "0123456789abcdef",
        "0123456789abcdef.csv",
        "0123456789abcdef.ks",
        "0123456789abcdef.ks1",
        "0123456789abcdef.ksff",
        "0123456789abcdef.tmp",
        "0123456789abcdef..tmp",
        "0123456789abcdef.a.b.tmp",
        "0123456789ABCDEF.ksf",
        "123456789abcdef.ksf",
        "00123456789abcdef.ksf",
        "x123456789abcdef.ksf",
    };
    for (size_t i = 0; i < sizeof foreign / sizeof foreign[0]; i++)
        need_kind(foreign[i], NAME_FOREIGN);
}

static void test_numbers_come_back(void **unused)
{
    (void)unused;
    static const uint64_t numbers[] = {0, 1, 255, 0x123456789abcdef0u,
                                       UINT64_MAX};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        char name[CATALOG_NAME_BYTES];
        uint64_t number;
        catalog_sidecar_name(numbers[i], CATALOG_COPY_ENDING, name);
        assert_int_equal(name_parse(name, &number), NAME_COPY);
        assert_true(number == numbers[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds_of_names),
        cmocka_unit_test(test_numbers_come_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
