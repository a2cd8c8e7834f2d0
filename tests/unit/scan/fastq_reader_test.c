/* SPDX-License-Identifier: MIT */
/* The fastq reader: records told apart by length, faults, skipping. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <string.h>

#include "support/scan_expect.h"
#include "support/scan_spec_of.h"

static const char *const NO_KEY = NULL;

static void test_records(void **state)
{
    (void)state;
    ksv_format_options o = options_of(KSV_FORMAT_FASTQ, &NO_KEY);
    SCAN_EXPECT(&o,
                "@r1 x\nACGT\n+\n@+@!\n"
                "\n"
                "@r2\r\nAC\r\nGT\r\n+r2\r\nII\r\n@I\r\n"
                "@r3\n\n+\n\n"
                "@r4\n+\n\n"
                "@ \nA\n+\nI",
                "0+17 r1\n19+24 r2\n45+7 r3\n53+6 r4\n60+8 -\n");
    SCAN_EXPECT(&o, "", "");
    SCAN_EXPECT(&o, "\r\n\n", "");
}

static void test_faults(void **state)
{
    (void)state;
    ksv_format_options o = options_of(KSV_FORMAT_FASTQ, &NO_KEY);
    SCAN_EXPECT(&o, ">c1\nAC\n",
                "error 0: the FASTQ record does not begin with '@'; it looks "
                "like FASTA\n");
    SCAN_EXPECT(&o, "@a\nA\n+\nI\nACGT\n",
                "0+8 a\nerror 9: the FASTQ record does not begin with '@'\n");
    SCAN_EXPECT(&o, "@a\nA\n+\nI\n@b\nACGT\n+\n",
                "0+8 a\nerror 9: the FASTQ record ends before its quality does "
                "(4 bases and 0 qualities)\n");
    SCAN_EXPECT(&o, "@a\nA\n+\nI\n@b\nACGT",
                "0+8 a\nerror 9: the FASTQ record ends before its quality does "
                "(4 bases and 0 qualities)\n");
    SCAN_EXPECT(&o, "@a\nAC\n+\nIII\n@b\nA\n+\nI\n",
                "error 0: the FASTQ record has 2 bases and 3 qualities\n");
    SCAN_EXPECT(&o, "@a\rA\r+\rI\r",
                "error 2: there is no LF line end but there are lone CR\n");
}

/* One record in the middle loses a line or a byte; its neighbours stay. */
static void test_skipping(void **state)
{
    (void)state;
    static const char *const BROKEN[] = {
        "@b\nACGT\n+\nIII\n",
        "@b\nACGT\n+\nIIIII\n",
        "@b\nACGT\n+\n",
        "@b\nACGT\nIIII\n",
        "ACGT\n+\nIIII\n",
        "@b\n+\nIIII\n",
        "@b\n",
        "junk\n",
        "+\n",
    };
    ksv_format_options o = options_of(KSV_FORMAT_FASTQ, &NO_KEY);
    for (size_t i = 0; i < sizeof BROKEN / sizeof BROKEN[0]; i++) {
        char content[128];
        char expected[128];
        size_t broken = strlen(BROKEN[i]);
        snprintf(content, sizeof content,
                 "@a\nACGT\n+\nIIII\n%s@cats\nACGT\n+\nI@II\n@d\nACGT\n+\n"
                 "IIII\n",
                 BROKEN[i]);
        snprintf(expected, sizeof expected,
                 "0+14 a\n15+%zu !\n%zu+17 cats\n%zu+14 d\n", broken - 1,
                 15 + broken, 33 + broken);
        scan_expect(&o, true, content, strlen(content), expected);
    }
}

static void test_skipping_to_the_end(void **state)
{
    (void)state;
    ksv_format_options o = options_of(KSV_FORMAT_FASTQ, &NO_KEY);
    static const char CUT[] = "@a\nA\n+\nI\n@b\nACGT\n+\n";
    scan_expect(&o, true, CUT, sizeof CUT - 1, "0+8 a\n9+9 !\n");
    scan_expect(&o, true, ">a\nAC\n", 6, "0+5 !\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_records),
        cmocka_unit_test(test_faults),
        cmocka_unit_test(test_skipping),
        cmocka_unit_test(test_skipping_to_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
