/* SPDX-License-Identifier: MIT */
/* Format names, and the format that a file name tells. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <keysieve/format.h>

static void test_names_go_both_ways(void **state)
{
    (void)state;
    for (int i = KSV_FORMAT_CSV; i <= KSV_FORMAT_FIXED; i++)
        assert_int_equal(ksv_format_from_name(ksv_format_name((ksv_format)i)),
                         i);
    assert_int_equal(ksv_format_from_name("none"), KSV_FORMAT_NONE);
    assert_int_equal(ksv_format_from_name("CSV"), KSV_FORMAT_NONE);
    assert_int_equal(ksv_format_from_name(""), KSV_FORMAT_NONE);
    assert_int_equal(ksv_format_from_name(NULL), KSV_FORMAT_NONE);
    assert_string_equal(ksv_format_name((ksv_format)99), "unknown");
    assert_string_equal(ksv_format_name((ksv_format)-1), "unknown");
}

static void test_endings(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        ksv_format format;
    } CASES[] = {
        {"a.csv", KSV_FORMAT_CSV},
        {"a.CSV", KSV_FORMAT_CSV},
        {"/x/y.csv/a.tsv.gz", KSV_FORMAT_TSV},
        {"a.txt", KSV_FORMAT_LINES},
        {"a.jsonl.bgz", KSV_FORMAT_JSONL},
        {"a.ndjson", KSV_FORMAT_JSONL},
        {"a.fa", KSV_FORMAT_FASTA},
        {"a.fasta.gz", KSV_FORMAT_FASTA},
        {"a.fna", KSV_FORMAT_FASTA},
        {"a.fq.GZ", KSV_FORMAT_FASTQ},
        {"a.fastq", KSV_FORMAT_FASTQ},
        {"a.csv.gz.gz", KSV_FORMAT_NONE},
        {"a.gz", KSV_FORMAT_NONE},
        {"a.json", KSV_FORMAT_NONE},
        {"csv", KSV_FORMAT_NONE},
        {"a.csv/b", KSV_FORMAT_NONE},
        {"", KSV_FORMAT_NONE},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++)
        assert_int_equal(ksv_format_of_name(CASES[i].name), CASES[i].format);
    assert_int_equal(ksv_format_of_name(NULL), KSV_FORMAT_NONE);
}

static void test_options_begin_as_defaults(void **state)
{
    (void)state;
    ksv_format_options o;
    memset(&o, 0x5a, sizeof o);
    ksv_format_options_init(&o);
    assert_int_equal(o.format, KSV_FORMAT_NONE);
    assert_int_equal(o.delimiter, KSV_BYTE_DEFAULT);
    assert_int_equal(o.quote, KSV_BYTE_DEFAULT);
    assert_int_equal(o.key_count, 0);
    assert_null(o.key_separator);
    assert_false(o.no_header);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_go_both_ways),
        cmocka_unit_test(test_endings),
        cmocka_unit_test(test_options_begin_as_defaults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
