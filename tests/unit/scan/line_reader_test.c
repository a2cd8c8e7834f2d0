/* SPDX-License-Identifier: MIT */
/* Lines: whole lines, fields, byte ranges and regular expressions as keys. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <locale.h>

#include "support/scan_expect.h"
#include "support/scan_spec_of.h"

static void expect(const char *key, const char *text, size_t size,
                   const char *expected)
{
    ksv_format_options o = options_of(KSV_FORMAT_LINES, &key);
    scan_expect(&o, false, text, size, expected);
}

#define EXPECT(key, text, expected) \
    expect(key, text, sizeof(text) - 1, expected)

static void test_whole_lines(void **state)
{
    (void)state;
    EXPECT(NULL,
           "\xef\xbb\xbf"
           "one\r\n\ntw\ro\r\r\nthree",
           "3+3 one\n8+0 -\n9+5 tw\ro\r\n16+5 three\n");
    EXPECT(NULL, "a\rb", "error 1: use --record-end cr\n");
    EXPECT(NULL, "\r", "error 0: use --record-end cr\n");
    EXPECT(NULL, "", "");
    EXPECT(NULL, "\n", "0+0 -\n");
    static const char *const LINE = "line";
    ksv_format_options o = options_of(KSV_FORMAT_LINES, &LINE);
    o.record_end_cr = true;
    SCAN_EXPECT(&o, "a\nb\r\rc\r", "0+3 a\nb\n4+0 -\n5+1 c\n");
}

static void test_fields(void **state)
{
    (void)state;
    EXPECT("field:2", "a\tb\tc\nd\n\te\n\t\tf\ng\t\n",
           "0+5 b\n6+1 -\n8+2 e\n11+3 -\n15+2 -\n");
    static const char *const FIELD = "field:1";
    ksv_format_options o = options_of(KSV_FORMAT_LINES, &FIELD);
    o.delimiter = ' ';
    SCAN_EXPECT(&o, "GET /x\r\nPUT\n", "0+6 GET\n8+3 PUT\n");
}

static void test_byte_ranges(void **state)
{
    (void)state;
    EXPECT("bytes:2-3", "abcd\nab\na\n\nab\r\n",
           "0+4 bc\n5+2 b\n8+1 -\n10+0 -\n11+2 b\n");
    EXPECT("bytes:2-18446744073709551615", "abcd\n", "0+4 bcd\n");
}

static void test_regular_expressions(void **state)
{
    (void)state;
    EXPECT("regex:id=([0-9]+)", "x id=17 y id=2\nid=\n\nid=3\r\n",
           "0+14 17\n15+3 -\n19+0 -\n20+4 3\n");
    EXPECT("regex:[0-9]+", "ab12cd\nab\n", "0+6 12\n7+2 -\n");
    EXPECT("regex:^(x)?y", "xy\ny\n", "0+2 x\n3+1 -\n");
    EXPECT("regex:(a*)$", "baa\nb\n", "0+3 aa\n4+1 -\n");
    EXPECT("regex:a(b|\xff)+c",
           "a\xff"
           "bc\n",
           "0+4 b\n");
}

static void test_matching_is_on_bytes(void **state)
{
    (void)state;
    static const char *const KEY = "regex:=([^;]+);";
    ksv_format_options o = options_of(KSV_FORMAT_LINES, &KEY);
    SCAN_EXPECT(&o, "k=\xc3;\nk=\xff\xfe;\n", "0+4 \xc3\n5+5 \xff\xfe\n");
    /* In a UTF-8 locale a dot would be a character, not a byte. */
    char *before = setlocale(LC_ALL, "C.UTF-8");
    static const char *const DOT = "regex:^(.)";
    o = options_of(KSV_FORMAT_LINES, &DOT);
    SCAN_EXPECT(&o, "\xc3\xa9\n", "0+2 \xc3\n");
    setlocale(LC_ALL, "C");
    assert_non_null(before);
}

static void test_a_nul_is_a_byte(void **state)
{
    (void)state;
    static const char *const KEY = "regex:=([^;]+);";
    ksv_format_options o = options_of(KSV_FORMAT_LINES, &KEY);
    /* %.*s ends at the NUL: the length is what tells. */
    SCAN_EXPECT(&o, "\0=;a\0=b;\n", "0+8 b\n");
    static const char *const FIELD = "field:2";
    o = options_of(KSV_FORMAT_LINES, &FIELD);
    o.delimiter = '\0';
    SCAN_EXPECT(&o, "a\0b\0c\n", "0+5 b\n");
}

static void test_composite_keys(void **state)
{
    (void)state;
    static const char *const KEYS[] = {"regex:([0-9]+)", "bytes:1-1", "field:2",
                                       "line"};
    ksv_format_options o = options_of(KSV_FORMAT_LINES, KEYS);
    o.key_count = 4;
    o.key_separator = "|";
    o.delimiter = ',';
    SCAN_EXPECT(&o, "a1,b\n,\n22,x,y\n",
                "0+4 1|a|b|a1,b\n5+1 -\n7+6 22|2|x|22,x,y\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole_lines),
        cmocka_unit_test(test_fields),
        cmocka_unit_test(test_byte_ranges),
        cmocka_unit_test(test_regular_expressions),
        cmocka_unit_test(test_matching_is_on_bytes),
        cmocka_unit_test(test_a_nul_is_a_byte),
        cmocka_unit_test(test_composite_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
