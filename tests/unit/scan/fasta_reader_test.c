/* SPDX-License-Identifier: MIT */
/* The fasta reader: where records end, keys, text before the first header. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/scan_expect.h"
#include "support/scan_spec_of.h"

static const char *const NO_KEY = NULL;
static const char *const NAMES[] = {"header", "name"};

static const char CONTENT[] = "\n"
                              ">s1 first one\r\n"
                              "ACGT\r\n"
                              "\n"
                              "AC > \n"
                              "  \n"
                              ">\ts2\n"
                              "> \n"
                              "\n"
                              ">>s3";

static void test_keys(void **state)
{
    (void)state;
    ksv_format_options o = options_of(KSV_FORMAT_FASTA, &NO_KEY);
    SCAN_EXPECT(&o, CONTENT, "1+27 s1\n32+4 s2\n37+2 -\n41+4 >s3\n");
    o = options_of(KSV_FORMAT_FASTA, NAMES);
    SCAN_EXPECT(&o, CONTENT,
                "1+27 s1 first one\n32+4 \ts2\n37+2  \n41+4 >s3\n");
    o.key_count = 2;
    SCAN_EXPECT(&o, CONTENT,
                "1+27 s1 first one\ts1\n32+4 \ts2\ts2\n37+2 -\n"
                "41+4 >s3\t>s3\n");
}

static void test_record_ends(void **state)
{
    (void)state;
    ksv_format_options o = options_of(KSV_FORMAT_FASTA, &NO_KEY);
    SCAN_EXPECT(&o, "", "");
    SCAN_EXPECT(&o, "\n \r\n\t", "");
    SCAN_EXPECT(&o, ">", "0+1 -\n");
    SCAN_EXPECT(&o, "\xef\xbb\xbf>a\n", "3+2 a\n");
    SCAN_EXPECT(&o, ">a\nAC  \n\n\n", "0+7 a\n");
    SCAN_EXPECT(&o, ">a\r\nAC\r\n\r\n>b\r\n", "0+6 a\n10+2 b\n");
    SCAN_EXPECT(&o, ">a\nA\n  >b\n", "0+9 a\n");
}

static void test_leading_text(void **state)
{
    (void)state;
    static const char LEADING[] = "\n;x\nACGT \n\n>a\nA\n";
    ksv_format_options o = options_of(KSV_FORMAT_FASTA, &NO_KEY);
    SCAN_EXPECT(&o, LEADING,
                "error 1: text before the first '>': this is not FASTA\n");
    scan_expect(&o, true, LEADING, sizeof LEADING - 1, "1+8 !\n11+4 a\n");
    scan_expect(&o, true, "AC\nGT\n\n", 7, "0+5 !\n");
}

static void test_old_line_ends(void **state)
{
    (void)state;
    ksv_format_options o = options_of(KSV_FORMAT_FASTA, &NO_KEY);
    SCAN_EXPECT(&o, ">a\rAC\r>b\r",
                "error 2: there is no LF line end but there are lone CR\n");
    SCAN_EXPECT(&o, "AC\r>b\r", "error 2: there is no LF line end\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keys),
        cmocka_unit_test(test_record_ends),
        cmocka_unit_test(test_leading_text),
        cmocka_unit_test(test_old_line_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
