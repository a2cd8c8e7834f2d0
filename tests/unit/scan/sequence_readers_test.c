/* SPDX-License-Identifier: MIT */
/* The fasta and fastq readers: keys, faults and their words, skipping. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "scan/scan_spec.h"
#include "support/scan_run.h"

static scan_spec *make_spec(ksv_format format, const char *first,
                            const char *second)
{
    ksv_format_options options;
    ksv_format_options_init(&options);
    const char *keys[] = {first, second};
    options.format = format;
    options.keys = keys;
    options.key_count = (size_t)(first != NULL) + (second != NULL);
    scan_spec *spec;
    assert_int_equal(scan_spec_create(&options, NULL, &spec, NULL), KSV_OK);
    return spec;
}

typedef struct expected_record {
    scan_record_kind kind;
    uint64_t offset;
    uint64_t length;
    const char *key;
} expected_record;

#define COUNT(records) (sizeof(records) / sizeof(records)[0])

/* Frees `spec`. */
static void check(scan_spec *spec, bool skip_bad, const char *content,
                  const expected_record *records, size_t count)
{
    scan_result expected;
    scan_result_init(&expected);
    for (size_t i = 0; i < count; i++)
        scan_result_add(&expected, records[i].offset, records[i].length,
                        records[i].kind, records[i].key,
                        strlen(records[i].key));
    for (uint64_t seed = 0; seed < 8; seed++) {
        scan_result found;
        char why[256];
        scan_run(spec, skip_bad, content, strlen(content),
                 (scan_windows){seed, 12}, &found);
        if (!scan_results_agree(&expected, &found, why))
            fail_msg("seed %d: %s", (int)seed, why);
        scan_result_release(&found);
    }
    scan_result_release(&expected);
    scan_spec_destroy(spec);
}

static void check_fault(ksv_format format, const char *content, size_t records,
                        uint64_t offset, const char *text)
{
    scan_spec *spec = make_spec(format, NULL, NULL);
    for (uint64_t seed = 0; seed < 8; seed++) {
        scan_result found;
        scan_run(spec, false, content, strlen(content),
                 (scan_windows){seed, 12}, &found);
        assert_int_equal(found.count, records);
        assert_int_equal(found.status, KSV_ERROR_DATA);
        assert_int_equal(found.error.byte_offset, offset);
        assert_string_equal(found.error.text, text);
        scan_result_release(&found);
    }
    scan_spec_destroy(spec);
}

static const char FASTA[] = "\n"
                            ">s1 first one\r\n"
                            "ACGT\r\n"
                            "\n"
                            "AC > \n"
                            "  \n"
                            ">\ts2\n"
                            "> \n"
                            "\n"
                            ">>s3";

static void test_fasta(void **state)
{
    (void)state;
    static const expected_record by_name[] = {
        {SCAN_RECORD_KEYED, 1, 27, "s1"},
        {SCAN_RECORD_KEYED, 32, 4, "s2"},
        {SCAN_RECORD_WITHOUT_KEY, 37, 2, ""},
        {SCAN_RECORD_KEYED, 41, 4, ">s3"},
    };
    static const expected_record by_header[] = {
        {SCAN_RECORD_KEYED, 1, 27, "s1 first one"},
        {SCAN_RECORD_KEYED, 32, 4, "\ts2"},
        {SCAN_RECORD_KEYED, 37, 2, " "},
        {SCAN_RECORD_KEYED, 41, 4, ">s3"},
    };
    static const expected_record by_both[] = {
        {SCAN_RECORD_KEYED, 1, 27, "s1 first one\ts1"},
        {SCAN_RECORD_KEYED, 32, 4, "\ts2\ts2"},
        {SCAN_RECORD_WITHOUT_KEY, 37, 2, ""},
        {SCAN_RECORD_KEYED, 41, 4, ">s3\t>s3"},
    };
    check(make_spec(KSV_FORMAT_FASTA, NULL, NULL), false, FASTA, by_name,
          COUNT(by_name));
    check(make_spec(KSV_FORMAT_FASTA, "header", NULL), false, FASTA, by_header,
          COUNT(by_header));
    check(make_spec(KSV_FORMAT_FASTA, "header", "name"), false, FASTA, by_both,
          COUNT(by_both));
}

static void test_fasta_leading_text(void **state)
{
    (void)state;
    static const char CONTENT[] = "\n;x\nACGT \n\n>a\nA\n";
    static const expected_record records[] = {
        {SCAN_RECORD_BAD, 1, 8, ""},
        {SCAN_RECORD_KEYED, 11, 4, "a"},
    };
    check_fault(KSV_FORMAT_FASTA, CONTENT, 0, 1,
                "text before the first '>': this is not FASTA");
    check(make_spec(KSV_FORMAT_FASTA, NULL, NULL), true, CONTENT, records,
          COUNT(records));
    check(make_spec(KSV_FORMAT_FASTA, NULL, NULL), true, "AC\nGT\n\n",
          (expected_record[]){{SCAN_RECORD_BAD, 0, 5, ""}}, 1);
}

static void test_fastq(void **state)
{
    (void)state;
    static const char CONTENT[] = "@r1 x\nACGT\n+\n@+@!\n"
                                  "\n"
                                  "@r2\r\nAC\r\nGT\r\n+r2\r\nII\r\n@I\r\n"
                                  "@r3\n\n+\n\n"
                                  "@r4\n+\n\n"
                                  "@ \nA\n+\nI";
    static const expected_record records[] = {
        {SCAN_RECORD_KEYED, 0, 17, "r1"},     {SCAN_RECORD_KEYED, 19, 24, "r2"},
        {SCAN_RECORD_KEYED, 45, 7, "r3"},     {SCAN_RECORD_KEYED, 53, 6, "r4"},
        {SCAN_RECORD_WITHOUT_KEY, 60, 8, ""},
    };
    check(make_spec(KSV_FORMAT_FASTQ, NULL, NULL), false, CONTENT, records,
          COUNT(records));
}

static void test_fastq_faults(void **state)
{
    (void)state;
    check_fault(KSV_FORMAT_FASTQ, ">c1\nAC\n", 0, 0,
                "the FASTQ record does not begin with '@'; it looks like "
                "FASTA");
    check_fault(KSV_FORMAT_FASTQ, "@a\nA\n+\nI\nACGT\n", 1, 9,
                "the FASTQ record does not begin with '@'");
    check_fault(KSV_FORMAT_FASTQ, "@a\nA\n+\nI\n@b\nACGT\n+\n", 1, 9,
                "the FASTQ record ends before its quality does (4 bases and 0 "
                "qualities)");
    check_fault(KSV_FORMAT_FASTQ, "@a\nA\n+\nI\n@b\nACGT", 1, 9,
                "the FASTQ record ends before its quality does (4 bases and 0 "
                "qualities)");
    check_fault(KSV_FORMAT_FASTQ, "@a\nAC\n+\nIII\n@b\nA\n+\nI\n", 0, 0,
                "the FASTQ record has 2 bases and 3 qualities");
}

/* One record in the middle loses a line or a byte; its neighbours stay. */
static void test_fastq_skipping(void **state)
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
    for (size_t i = 0; i < COUNT(BROKEN); i++) {
        char content[128] = "@a\nACGT\n+\nIIII\n";
        size_t broken = strlen(BROKEN[i]);
        strcat(content, BROKEN[i]);
        strcat(content, "@cats\nACGT\n+\nI@II\n@d\nACGT\n+\nIIII\n");
        const expected_record records[] = {
            {SCAN_RECORD_KEYED, 0, 14, "a"},
            {SCAN_RECORD_BAD, 15, broken - 1, ""},
            {SCAN_RECORD_KEYED, 15 + broken, 17, "cats"},
            {SCAN_RECORD_KEYED, 33 + broken, 14, "d"},
        };
        check(make_spec(KSV_FORMAT_FASTQ, NULL, NULL), true, content, records,
              COUNT(records));
    }
    check(make_spec(KSV_FORMAT_FASTQ, NULL, NULL), true,
          "@a\nA\n+\nI\n@b\nACGT\n+\n",
          (expected_record[]){{SCAN_RECORD_KEYED, 0, 8, "a"},
                              {SCAN_RECORD_BAD, 9, 9, ""}},
          2);
}

static void test_old_line_ends(void **state)
{
    (void)state;
    static const char TEXT[] =
        "there is no LF line end but there are lone CR bytes; if records end "
        "at CR, use --record-end cr";
    check_fault(KSV_FORMAT_FASTA, ">a\rAC\r>b\r", 0, 2, TEXT);
    check_fault(KSV_FORMAT_FASTQ, "@a\rA\r+\rI\r", 0, 2, TEXT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fasta),
        cmocka_unit_test(test_fasta_leading_text),
        cmocka_unit_test(test_fastq),
        cmocka_unit_test(test_fastq_faults),
        cmocka_unit_test(test_fastq_skipping),
        cmocka_unit_test(test_old_line_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
