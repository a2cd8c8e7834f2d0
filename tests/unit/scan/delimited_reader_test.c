/* SPDX-License-Identifier: MIT */
/* csv and tsv: headers, quotes, line ends and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "support/scan_expect.h"
#include "support/scan_run.h"
#include "support/scan_spec_of.h"

static const char *const ID = "id";
static const char *const FIRST = "1";

static void test_header_resolves_names(void **state)
{
    (void)state;
    ksv_format_options o = options_of(KSV_FORMAT_CSV, &ID);
    SCAN_EXPECT(&o, "a,id\nx,1\ny,2", "5+3 1\n9+3 2\n");
    SCAN_EXPECT(&o, "\xef\xbb\xbf\"id\",ID\n1,x\n", "11+3 1\n");
    SCAN_EXPECT(&o, "\n\r\nid\n\n1\n", "7+1 1\n");
    SCAN_EXPECT(&o, "", "");
    SCAN_EXPECT(&o, "id", "");
    SCAN_EXPECT(&o, "id\n", "");
}

static void test_columns_that_are_not_there(void **state)
{
    (void)state;
    static const char *const FOURTH = "4";
    ksv_format_options o = options_of(KSV_FORMAT_CSV, &ID);
    SCAN_EXPECT(&o, "ident,name\n1,2\n",
                "error 0: no column 'id'; the columns are: ident, name\n");
    SCAN_EXPECT(&o, "id,name,id\n",
                "error 0: column 'id' is ambiguous: it stands at the "
                "positions 1 and 3\n");
    o = options_of(KSV_FORMAT_CSV, &FOURTH);
    SCAN_EXPECT(&o, "\na,b,c\n1,2,3,4\n",
                "error 1: no column 4: the header has 3 columns\n");
    o.no_header = true;
    SCAN_EXPECT(&o, "a\n1,2,3,4\n",
                "error 0: no column 4: the first record has 1 column\n");
    SCAN_EXPECT(&o, "1,2,3,4\na\n", "0+7 4\n8+1 -\n");
}

static void test_long_headers_are_shortened(void **state)
{
    (void)state;
    ksv_format_options o = options_of(KSV_FORMAT_CSV, &ID);
    static char header[20000];
    size_t size = 0;
    for (unsigned i = 0; i < 1000; i++)
        size += (size_t)snprintf(header + size, sizeof header - size,
                                 "column%u,", i);
    scan_expect(&o, false, header, size,
                "error 0: the columns are: column0, column1, column2, ");
    scan_spec *spec = scan_spec_of(&o);
    scan_result r;
    scan_run(spec, false, header, size, (scan_windows){0}, &r);
    assert_string_equal(r.error.text + strlen(r.error.text) - 3, "...");
    scan_result_release(&r);
    memset(header, 'x', size);
    scan_run(spec, false, header, size, (scan_windows){0}, &r);
    assert_string_equal(r.error.text + strlen(r.error.text) - 6, "xxx...");
    assert_true(strlen(r.error.text) < 200);
    scan_result_release(&r);
    scan_spec_destroy(spec);
}

static void test_quotes(void **state)
{
    (void)state;
    ksv_format_options o = options_of(KSV_FORMAT_CSV, &ID);
    SCAN_EXPECT(&o, "id,b\n\"a,\"\"b\"\"\",\"x\ny\"\n\"c\"d\"\",1\n e\"f,\n",
                "5+15 a,\"b\"\n21+8 cd\"\"\n30+5  e\"f\n");
    SCAN_EXPECT(&o, "id,b\n\"\",1\n\" \",2\n", "5+4 -\n10+5  \n");
    SCAN_EXPECT(&o, "id,n\n1,x\n2,\"y\nz,1\n",
                "5+3 1\nerror 11: quoted field is not closed before the end "
                "of the file\n");
    scan_expect(&o, true, "id,n\n1,x\n2,\"y\nz,1\n", 19, "5+3 1\n9+10 !\n");
    o.quote = '\'';
    o.delimiter = '|';
    SCAN_EXPECT(&o, "id|x\n'a|''b'|2\n\"c|1\n", "5+9 a|'b\n15+4 \"c\n");
    o.quote = KSV_BYTE_NONE;
    SCAN_EXPECT(&o, "id|x\n'a|b'\n", "5+5 'a\n");
}

static void test_backslash_escapes(void **state)
{
    (void)state;
    ksv_format_options o = options_of(KSV_FORMAT_CSV, &ID);
    o.escape_backslash = true;
    SCAN_EXPECT(&o, "id,b\n\"a\\\"b\\\\\",1\nc\\,d,2\ne\\\nf\\",
                "5+10 a\"b\\\n16+6 c,d\n23+2 e\\\n26+2 f\\\n");
    SCAN_EXPECT(&o, "id\n\"a\"\"b\"\n", "3+6 a\"b\"\n");
    SCAN_EXPECT(&o, "id\n\"a\\", "error 3: quoted field\n");
}

static void test_line_ends(void **state)
{
    (void)state;
    ksv_format_options o = options_of(KSV_FORMAT_CSV, &ID);
    SCAN_EXPECT(&o, "x,id\r\n1,a\r\n\r\n2,b\n3,c\r\r\n4,d",
                "6+3 a\n13+3 b\n17+4 c\r\n23+3 d\n");
    SCAN_EXPECT(&o, "x,id\r1,a\r",
                "error 4: no LF line end but there are lone CR bytes; if "
                "records end at CR, use --record-end cr\n");
    SCAN_EXPECT(&o, "id\n\"a\r\nb\"\r\n\"c\rd\",\r", "3+6 a\r\nb\n11+7 c\rd\n");
    SCAN_EXPECT(&o, "\"a\rb\",id", "");
    o.record_end_cr = true;
    SCAN_EXPECT(&o, "x,id\r1,a\r\r2,\nb\r3,c", "5+3 a\n10+4 \nb\n15+3 c\n");
}

static void test_encodings(void **state)
{
    (void)state;
    ksv_format_options o = options_of(KSV_FORMAT_CSV, &FIRST);
    o.no_header = true;
    SCAN_EXPECT(&o, "\xff\xfei\0d\0",
                "error 0: UTF-16 (it begins with FF FE)\n");
    SCAN_EXPECT(&o, "\xfe\xff\0i", "error 0: UTF-16 (it begins with FE FF)\n");
    SCAN_EXPECT(&o, "\xff\xfb,x\n", "0+4 \xff\xfb\n");
    SCAN_EXPECT(&o, "\xef\xbb\xbfk,x\n\xef\xbb\xbfk\n",
                "3+3 k\n7+4 \xef\xbb\xbfk\n");
    SCAN_EXPECT(&o, "\xef\xbb", "0+2 \xef\xbb\n");
    SCAN_EXPECT(&o, "\xef\xbb\xbf", "");
}

static void test_tsv_has_no_quotes(void **state)
{
    (void)state;
    ksv_format_options o = options_of(KSV_FORMAT_TSV, &ID);
    SCAN_EXPECT(&o, "\tid\n\"\ta\\\t\"\n\t\t\nx\n",
                "4+6 a\\\n11+2 -\n14+1 -\n");
}

static void test_composite_keys(void **state)
{
    (void)state;
    static const char *const KEYS[] = {"c", "1", "c"};
    ksv_format_options o = options_of(KSV_FORMAT_CSV, KEYS);
    o.key_count = 3;
    o.key_separator = "::";
    SCAN_EXPECT(&o, "a,b,c\n1,2,3\n\"x\"\"y\",2,z\n1,2,\n1,2\n,2,3\n",
                "6+5 3::1::3\n12+10 z::x\"y::z\n23+4 -\n28+3 -\n32+4 -\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_header_resolves_names),
        cmocka_unit_test(test_columns_that_are_not_there),
        cmocka_unit_test(test_long_headers_are_shortened),
        cmocka_unit_test(test_quotes),
        cmocka_unit_test(test_backslash_escapes),
        cmocka_unit_test(test_line_ends),
        cmocka_unit_test(test_encodings),
        cmocka_unit_test(test_tsv_has_no_quotes),
        cmocka_unit_test(test_composite_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
