/* SPDX-License-Identifier: MIT */
/* Key specifications and options: what they mean and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "scan/scan_spec.h"
#include "support/scan_spec_of.h"

static void assert_key(ksv_format format, const char *key, key_part_kind kind,
                       const char *key_text)
{
    ksv_format_options o = options_of(format, &key);
    scan_spec *spec = scan_spec_of(&o);
    assert_int_equal(spec->part_count, 1);
    assert_int_equal(spec->parts[0].kind, kind);
    assert_string_equal(spec->key_text, key_text);
    scan_spec_destroy(spec);
}

static void test_keys_and_their_shortest_form(void **state)
{
    (void)state;
    assert_key(KSV_FORMAT_CSV, "id", KEY_PART_COLUMN_NAME, "id");
    assert_key(KSV_FORMAT_CSV, "name:id", KEY_PART_COLUMN_NAME, "id");
    assert_key(KSV_FORMAT_CSV, "name:7", KEY_PART_COLUMN_NAME, "name:7");
    assert_key(KSV_FORMAT_CSV, "name:", KEY_PART_COLUMN_NAME, "name:");
    assert_key(KSV_FORMAT_CSV, "name:name:x", KEY_PART_COLUMN_NAME,
               "name:name:x");
    assert_key(KSV_FORMAT_TSV, "007", KEY_PART_COLUMN_NUMBER, "7");
    assert_key(KSV_FORMAT_TSV, "7 ", KEY_PART_COLUMN_NAME, "7 ");
    assert_key(KSV_FORMAT_LINES, NULL, KEY_PART_LINE, "line");
    assert_key(KSV_FORMAT_LINES, "line", KEY_PART_LINE, "line");
    assert_key(KSV_FORMAT_LINES, "field:3", KEY_PART_COLUMN_NUMBER, "field:3");
    assert_key(KSV_FORMAT_LINES, "bytes:2-18446744073709551615", KEY_PART_BYTES,
               "bytes:2-18446744073709551615");
    assert_key(KSV_FORMAT_LINES, "regex:^(a|b)", KEY_PART_REGEX,
               "regex:^(a|b)");
    assert_key(KSV_FORMAT_FIXED, "bytes:5-10", KEY_PART_BYTES, "bytes:5-10");
    assert_key(KSV_FORMAT_FASTA, NULL, KEY_PART_NAME, "name");
    assert_key(KSV_FORMAT_FASTQ, "header", KEY_PART_HEADER, "header");
    assert_key(KSV_FORMAT_JSONL, "/user/id", KEY_PART_MEMBER, "user.id");
    assert_key(KSV_FORMAT_JSONL, "a\\.b.c", KEY_PART_MEMBER, "a\\.b.c");
    assert_key(KSV_FORMAT_JSONL, "/a.b/c", KEY_PART_MEMBER, "a\\.b.c");
    assert_key(KSV_FORMAT_JSONL, "/", KEY_PART_MEMBER, "/");
    assert_key(KSV_FORMAT_JSONL, "/a//~1~0", KEY_PART_MEMBER, "/a//~1~0");
    assert_key(KSV_FORMAT_JSONL, "/~1x", KEY_PART_MEMBER, "/~1x");
}

static void test_member_steps(void **state)
{
    (void)state;
    const char *key = "/a/b.c/~1~0";
    ksv_format_options o = options_of(KSV_FORMAT_JSONL, &key);
    scan_spec *spec = scan_spec_of(&o);
    assert_int_equal(spec->parts[0].text_bytes, 9);
    assert_memory_equal(spec->parts[0].text, "a\0b.c\0/~\0", 9);
    scan_spec_destroy(spec);
}

static void assert_refused(const ksv_format_options *o, const char *says)
{
    scan_spec *spec;
    ksv_error error = {0};
    assert_int_equal(scan_spec_create(o, NULL, &spec, &error),
                     KSV_ERROR_ARGUMENT);
    assert_null(spec);
    if (strstr(error.text, says) == NULL)
        fail_msg("'%s' does not say '%s'", error.text, says);
}

static void assert_key_refused(ksv_format format, const char *key,
                               const char *says)
{
    ksv_format_options o = options_of(format, &key);
    assert_refused(&o, says);
}

static void test_bad_keys_say_what_is_right(void **state)
{
    (void)state;
    assert_key_refused(KSV_FORMAT_CSV, NULL, "a column name or a number");
    assert_key_refused(KSV_FORMAT_CSV, "", "a column name or a number");
    assert_key_refused(KSV_FORMAT_CSV, "0", "'name:0'");
    assert_key_refused(KSV_FORMAT_TSV, "18446744073709551616",
                       "'name:18446744073709551616'");
    assert_key_refused(KSV_FORMAT_LINES, "field:x",
                       "a number from 1 is needed after 'field:'");
    assert_key_refused(KSV_FORMAT_LINES, "field:0", "a number from 1");
    assert_key_refused(KSV_FORMAT_LINES, "field:1 ", "a number from 1");
    assert_key_refused(KSV_FORMAT_LINES, "bytes:5", "'bytes:5-10'");
    assert_key_refused(KSV_FORMAT_LINES, "bytes:0-5", "two numbers from 1");
    assert_key_refused(KSV_FORMAT_FIXED, "bytes:9-5", "'bytes:5-9'");
    assert_key_refused(KSV_FORMAT_LINES, "regex:(a", "'(a'");
    assert_key_refused(KSV_FORMAT_LINES, "regex:", "regular expression");
    assert_key_refused(KSV_FORMAT_LINES, "word", "'field:N'");
    assert_key_refused(KSV_FORMAT_FIXED, "line", "'bytes:A-B'");
    assert_key_refused(KSV_FORMAT_FIXED, NULL, "'bytes:A-B'");
    assert_key_refused(KSV_FORMAT_FASTA, "id", "'header'");
    assert_key_refused(KSV_FORMAT_JSONL, NULL, "member name");
    assert_key_refused(KSV_FORMAT_JSONL, "", "member name");
    assert_key_refused(KSV_FORMAT_JSONL, "a..b", "JSON Pointer");
    assert_key_refused(KSV_FORMAT_JSONL, "a.", "JSON Pointer");
    assert_key_refused(KSV_FORMAT_JSONL, "a\\", "backslash");
    assert_key_refused(KSV_FORMAT_JSONL, "/a~2", "'~0'");
    assert_key_refused(KSV_FORMAT_NONE, "id", "no format");
    assert_key_refused((ksv_format)50, "id", "50");
}

static void test_options_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    const char *id = "id";
    const char *bytes = "bytes:5-10";
    const char *none = NULL;
    ksv_format_options o = options_of(KSV_FORMAT_JSONL, &id);
    o.delimiter = ',';
    assert_refused(&o, "-d");
    o = options_of(KSV_FORMAT_LINES, &none);
    o.delimiter = ',';
    assert_refused(&o, "field:N");
    o = options_of(KSV_FORMAT_LINES, &none);
    o.quote = '"';
    assert_refused(&o, "--quote");
    o = options_of(KSV_FORMAT_FASTA, &none);
    o.no_header = true;
    assert_refused(&o, "--no-header");
    o = options_of(KSV_FORMAT_CSV, &id);
    o.record_size = 10;
    assert_refused(&o, "--record-size");
    o = options_of(KSV_FORMAT_CSV, &id);
    o.keep_padding = true;
    assert_refused(&o, "--keep-padding");
    o = options_of(KSV_FORMAT_FIXED, &bytes);
    o.record_size = 9;
    assert_refused(&o, "9 bytes");
    o.record_size = 10;
    o.record_end_cr = true;
    assert_refused(&o, "--record-end");
}

static void test_bytes_that_clash_are_refused(void **state)
{
    (void)state;
    const char *id = "id";
    ksv_format_options o = options_of(KSV_FORMAT_CSV, &id);
    o.delimiter = '\n';
    assert_refused(&o, "line end");
    o.delimiter = 256;
    assert_refused(&o, "one byte");
    o.delimiter = '"';
    assert_refused(&o, "same byte");
    o.quote = KSV_BYTE_NONE;
    o.escape_backslash = true;
    assert_refused(&o, "--quote");
    o.quote = '\'';
    o.delimiter = '\\';
    assert_refused(&o, "backslash");
    o = options_of(KSV_FORMAT_CSV, &id);
    o.no_header = true;
    assert_refused(&o, "number from 1");
    assert_refused(NULL, "no format");
}

static void test_defaults_of_formats(void **state)
{
    (void)state;
    const char *id = "id";
    ksv_format_options o = options_of(KSV_FORMAT_CSV, &id);
    scan_spec *spec = scan_spec_of(&o);
    assert_int_equal(spec->delimiter, ',');
    assert_int_equal(spec->quote, '"');
    assert_true(spec->has_header);
    assert_string_equal(spec->separator, "\t");
    scan_spec_destroy(spec);
    o.format = KSV_FORMAT_TSV;
    spec = scan_spec_of(&o);
    assert_int_equal(spec->delimiter, '\t');
    assert_int_equal(spec->quote, KSV_BYTE_NONE);
    scan_spec_destroy(spec);
    static const char *const KEYS[] = {"id", "2"};
    o.keys = KEYS;
    o.key_count = 2;
    o.key_separator = "";
    spec = scan_spec_of(&o);
    assert_string_equal(spec->key_text, "id, 2");
    assert_string_equal(spec->separator, "");
    scan_spec_destroy(spec);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keys_and_their_shortest_form),
        cmocka_unit_test(test_member_steps),
        cmocka_unit_test(test_bad_keys_say_what_is_right),
        cmocka_unit_test(test_options_that_do_not_fit_are_refused),
        cmocka_unit_test(test_bytes_that_clash_are_refused),
        cmocka_unit_test(test_defaults_of_formats),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
