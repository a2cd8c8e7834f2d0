/* SPDX-License-Identifier: MIT */
/* The jsonl reader: lines, faults with their places, skipping. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "support/scan_expect.h"
#include "support/scan_run.h"
#include "support/scan_spec_of.h"

static const char *const ID = "id";

static void test_lines(void **state)
{
    (void)state;
    ksv_format_options o = options_of(KSV_FORMAT_JSONL, &ID);
    SCAN_EXPECT(&o,
                "\xef\xbb\xbf{\"id\":\"a\"}\r\n"
                " {\"id\": 2 } \n"
                " \t\r\n"
                "{}\n"
                "[\"id\", 1]\n"
                "\n"
                "{\"id\":\"last\"}",
                "3+10 a\n15+12 2\n32+2 -\n35+9 -\n46+13 last\n");
    SCAN_EXPECT(&o, "", "");
    SCAN_EXPECT(&o, " \n\t\r\n ", "");
}

static void test_composite(void **state)
{
    (void)state;
    const char *const keys[] = {"user.id", "/at"};
    ksv_format_options o = options_of(KSV_FORMAT_JSONL, keys);
    o.key_count = 2;
    SCAN_EXPECT(&o,
                "{\"at\":\"x\",\"user\":{\"id\":5}}\n"
                "{\"at\":\"x\",\"user\":{}}\n"
                "{\"user\":{\"id\":\"\\u0041\"}, \"at\" : true}  \n",
                "0+26 5\tx\n27+20 -\n48+39 A\ttrue\n");
}

static const char BROKEN[] = "{\"id\":1}\n"
                             "id\n"
                             "\n"
                             "{\"id\":2\r\n"
                             "{\"id\":3}";

static void test_skipping(void **state)
{
    (void)state;
    ksv_format_options o = options_of(KSV_FORMAT_JSONL, &ID);
    scan_expect(&o, true, BROKEN, sizeof BROKEN - 1,
                "0+8 1\n9+2 !\n13+7 !\n22+8 3\n");
}

#define ONE_A_LINE "; one JSON value a line is needed (`jq -c"

static void test_faults(void **state)
{
    (void)state;
    ksv_format_options o = options_of(KSV_FORMAT_JSONL, &ID);
    SCAN_EXPECT(&o, BROKEN,
                "0+8 1\nerror 9: malformed JSON: expected a value, found 'i', "
                "0 bytes into the line\n");
    SCAN_EXPECT(&o, "{\n  \"id\": 1\n}\n",
                "error 0: malformed JSON: the line ends within an "
                "object" ONE_A_LINE "\n");
    SCAN_EXPECT(&o, "[\n{\"id\":1}\n]\n",
                "error 0: malformed JSON: the line ends within an "
                "array" ONE_A_LINE "\n");
    SCAN_EXPECT(&o, "{\"id\":1}\r\n  \r\n{\"id\":\"x",
                "0+8 1\nerror 14: malformed JSON: the line ends within a "
                "string" ONE_A_LINE "\n");
    SCAN_EXPECT(&o, "{\"id\":1}\r{\"id\":2}\r",
                "error 8: there is no LF line end but there are lone CR\n");
}

/* A key far longer than a window, and a value to pass over likewise. */
static void test_long_values(void **state)
{
    (void)state;
    enum { LONG = 300000 };
    ksv_format_options o = options_of(KSV_FORMAT_JSONL, &ID);
    scan_spec *spec = scan_spec_of(&o);
    char *content = malloc(2 * LONG + 32);
    assert_non_null(content);
    memcpy(content, "{\"x\":\"", 6);
    memset(content + 6, 'x', LONG);
    memcpy(content + 6 + LONG, "\",\"id\":\"", 8);
    memset(content + 14 + LONG, 'k', LONG);
    memcpy(content + 14 + 2 * LONG, "\"}\n{}", 5);
    for (size_t largest = 999; largest < 2000000; largest *= 5) {
        scan_result found;
        scan_run(spec, false, content, 2 * LONG + 19,
                 (scan_windows){largest, largest}, &found);
        assert_int_equal(found.status, KSV_OK);
        assert_int_equal(found.count, 2);
        assert_int_equal(found.records[0].length, 2 * LONG + 16);
        assert_int_equal(found.records[0].key_bytes, LONG);
        assert_memory_equal(found.keys, content + 14 + LONG, LONG);
        scan_result_release(&found);
    }
    free(content);
    scan_spec_destroy(spec);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),       cmocka_unit_test(test_composite),
        cmocka_unit_test(test_skipping),    cmocka_unit_test(test_faults),
        cmocka_unit_test(test_long_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
