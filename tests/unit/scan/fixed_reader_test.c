/* SPDX-License-Identifier: MIT */
/* Fixed records: lines and records of a size, padding and short ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "support/scan_expect.h"
#include "support/scan_spec_of.h"

static const char *const KEY = "bytes:3-5";

static void test_lines(void **state)
{
    (void)state;
    ksv_format_options o = options_of(KSV_FORMAT_FIXED, &KEY);
    SCAN_EXPECT(&o, "01abc..\n02 b \r\n\n03d\n04\n05   x\n06 a b\n",
                "0+7 abc\n8+5 b\n16+3 d\n20+2 -\n23+6 -\n30+6 a\n");
    SCAN_EXPECT(&o, "01abc\r02", "error 5: use --record-end cr\n");
    o.keep_padding = true;
    SCAN_EXPECT(&o, "02 b \r\n05   x\n", "0+5  b \n7+6    \n");
}

static void test_records_of_a_size(void **state)
{
    (void)state;
    ksv_format_options o = options_of(KSV_FORMAT_FIXED, &KEY);
    o.record_size = 6;
    SCAN_EXPECT(&o, "01abc.02 \n .03   .", "0+6 abc\n6+6 \n\n12+6 -\n");
    SCAN_EXPECT(&o,
                "\xff\xfe"
                "abc.\xef\xbb\xbf"
                "abc",
                "0+6 abc\n6+6 \xbf"
                "ab\n");
    SCAN_EXPECT(&o,
                "\xef\xbb\xbf"
                "01abc.",
                "3+6 abc\n");
    SCAN_EXPECT(&o, "01abc.0",
                "0+6 abc\nerror 6: the last record has only 1 of 6 bytes\n");
    scan_expect(&o, true, "01abc.02abc", 11, "0+6 abc\n6+5 !\n");
    SCAN_EXPECT(&o, "", "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_records_of_a_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
