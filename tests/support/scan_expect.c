/* SPDX-License-Identifier: MIT */
/* Reads a text and compares what comes out with a line a record. */
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

static void describe(const scan_result *result, size_t i, char *text,
                     size_t size)
{
    const scan_found *f = &result->records[i];
    int n = snprintf(text, size, "%lu+%lu ", (unsigned long)f->offset,
                     (unsigned long)f->length);
    if (f->kind == SCAN_RECORD_KEYED)
        snprintf(text + n, size - (size_t)n, "%.*s\n", (int)f->key_bytes,
                 (const char *)result->keys + f->key_at);
    else
        snprintf(text + n, size - (size_t)n, "%s\n",
                 f->kind == SCAN_RECORD_BAD ? "!" : "-");
}

static void compare_error(const scan_result *result, const char *expected)
{
    if (strncmp(expected, "error ", 6) != 0) {
        assert_string_equal(expected, "");
        assert_int_equal(result->status, KSV_OK);
        return;
    }
    assert_int_equal(result->status, KSV_ERROR_DATA);
    char byte[32];
    snprintf(byte, sizeof byte,
             "error %lu: ", (unsigned long)result->error.byte_offset);
    assert_memory_equal(expected, byte, strlen(byte));
    char says[256];
    snprintf(says, sizeof says, "%s", expected + strlen(byte));
    says[strcspn(says, "\n")] = '\0';
    if (strstr(result->error.text, says) == NULL)
        fail_msg("'%s' does not say '%s'", result->error.text, says);
    assert_int_equal(result->error.line, 0);
}

static void compare_all(const scan_result *result, const char *expected)
{
    for (size_t i = 0; i < result->count; i++) {
        char line[512];
        describe(result, i, line, sizeof line);
        if (strncmp(expected, line, strlen(line)) != 0)
            fail_msg("record %zu is %sexpected from there:\n%s", i, line,
                     expected);
        expected += strlen(line);
    }
    compare_error(result, expected);
}

void scan_expect(const ksv_format_options *options, bool skip_bad,
                 const char *text, size_t size, const char *expected)
{
    scan_spec *spec = scan_spec_of(options);
    for (uint64_t seed = 0; seed < 3; seed++) {
        scan_result result;
        scan_run(spec, skip_bad, text, size, (scan_windows){seed, 3}, &result);
        compare_all(&result, expected);
        scan_result_release(&result);
    }
    scan_spec_destroy(spec);
}
