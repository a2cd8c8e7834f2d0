/* SPDX-License-Identifier: MIT */
/* The jsonl reader: lines, faults with their places, skipping. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "scan/scan_spec.h"
#include "support/scan_run.h"

static scan_spec *make_spec(const char *first, const char *second)
{
    ksv_format_options options;
    ksv_format_options_init(&options);
    const char *keys[] = {first, second};
    options.format = KSV_FORMAT_JSONL;
    options.keys = keys;
    options.key_count = second != NULL ? 2 : 1;
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

static void check(const scan_spec *spec, bool skip_bad, const char *content,
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
}

#define COUNT(records) (sizeof(records) / sizeof(records)[0])

static void test_lines(void **state)
{
    (void)state;
    scan_spec *spec = make_spec("id", NULL);
    static const expected_record records[] = {
        {SCAN_RECORD_KEYED, 3, 10, "a"},
        {SCAN_RECORD_KEYED, 15, 12, "2"},
        {SCAN_RECORD_WITHOUT_KEY, 32, 2, ""},
        {SCAN_RECORD_WITHOUT_KEY, 35, 9, ""},
        {SCAN_RECORD_KEYED, 46, 13, "last"},
    };
    check(spec, false,
          "\xef\xbb\xbf{\"id\":\"a\"}\r\n"
          " {\"id\": 2 } \n"
          " \t\r\n"
          "{}\n"
          "[\"id\", 1]\n"
          "\n"
          "{\"id\":\"last\"}",
          records, COUNT(records));
    scan_spec_destroy(spec);
}

static void test_composite(void **state)
{
    (void)state;
    scan_spec *spec = make_spec("user.id", "/at");
    static const expected_record records[] = {
        {SCAN_RECORD_KEYED, 0, 26, "5\tx"},
        {SCAN_RECORD_WITHOUT_KEY, 27, 20, ""},
        {SCAN_RECORD_KEYED, 48, 39, "A\ttrue"},
    };
    check(spec, false,
          "{\"at\":\"x\",\"user\":{\"id\":5}}\n"
          "{\"at\":\"x\",\"user\":{}}\n"
          "{\"user\":{\"id\":\"\\u0041\"}, \"at\" : true}  \n",
          records, COUNT(records));
    scan_spec_destroy(spec);
}

static const char BROKEN[] = "{\"id\":1}\n"
                             "id\n"
                             "\n"
                             "{\"id\":2\r\n"
                             "{\"id\":3}";

static void test_skipping(void **state)
{
    (void)state;
    scan_spec *spec = make_spec("id", NULL);
    static const expected_record records[] = {
        {SCAN_RECORD_KEYED, 0, 8, "1"},
        {SCAN_RECORD_BAD, 9, 2, ""},
        {SCAN_RECORD_BAD, 13, 7, ""},
        {SCAN_RECORD_KEYED, 22, 8, "3"},
    };
    check(spec, true, BROKEN, records, COUNT(records));
    scan_spec_destroy(spec);
}

static void check_fault(const char *content, size_t records, uint64_t offset,
                        const char *text)
{
    scan_spec *spec = make_spec("id", NULL);
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

#define ONE_A_LINE                                                    \
    "; one JSON value a line is needed (`jq -c .` writes a document " \
    "so, `jq -c '.[]'` an array)"

static void test_faults(void **state)
{
    (void)state;
    check_fault(BROKEN, 1, 9,
                "malformed JSON: expected a value, found 'i', 0 bytes into the "
                "line");
    check_fault("{\n  \"id\": 1\n}\n", 0, 0,
                "malformed JSON: the line ends within an object" ONE_A_LINE);
    check_fault("[\n{\"id\":1}\n]\n", 0, 0,
                "malformed JSON: the line ends within an array" ONE_A_LINE);
    check_fault("{\"id\":1}\r\n  \r\n{\"id\":\"x", 1, 14,
                "malformed JSON: the line ends within a string" ONE_A_LINE);
    check_fault("{\"id\":1}\r{\"id\":2}\r", 0, 8,
                "there is no LF line end but there are lone CR bytes; if "
                "records end at CR, use --record-end cr");
}

/* A key far longer than a window, and a value to pass over likewise. */
static void test_long_values(void **state)
{
    (void)state;
    enum { LONG = 300000 };
    scan_spec *spec = make_spec("id", NULL);
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
