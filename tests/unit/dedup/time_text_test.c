/* SPDX-License-Identifier: MIT */
/* Times as they stand in records. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "dedup/time_text.h"

static bool parse(const char *text, int64_t *time_ms)
{
    return time_text_parse((const uint8_t *)text, strlen(text), time_ms);
}

static void test_times(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t ms;
    } times[] = {
        {"1970-01-01T00:00:00Z", 0},
        {"1970-01-01t00:00:00.001z", 1},
        {"1969-12-31 23:59:59.9999Z", -1},
        {"2026-03-01T12:00:00Z", 1772366400000},
        {"2026-03-01T13:30:00+01:30", 1772366400000},
        {"2026-03-01T00:00:00-12:00", 1772366400000},
        {"2024-02-29T00:00:00Z", 1709164800000},
        {"2016-12-31T23:59:60Z", 1483228800000},
        {"0000-01-01T00:00:00Z", -62167219200000},
        {"9999-12-31T23:59:59.999Z", 253402300799999},
        {"0", 0},
        {"-1", -1000},
        {"-0.5", -500},
        {"1772366400", 1772366400000},
        {"1772366400.5", 1772366400500},
        {"99999999999", 99999999999000},
        {"100000000000", 100000000000},
        {"1772366400123", 1772366400123},
        {"1772366400123.9", 1772366400123},
        {"1772366400123456", 1772366400123},
        {"-1772366400123456", -1772366400124},
        {"1772366400123456789", 1772366400123},
    };
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        int64_t ms = 12345;
        if (!parse(times[i].text, &ms) || ms != times[i].ms)
            fail_msg("%s: %lld, not %lld", times[i].text, (long long)ms,
                     (long long)times[i].ms);
    }
}

static void test_no_times(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",
        "x",
        "-",
        "+1",
        " 1",
        "1 ",
        "1.",
        ".5",
        "1e9",
        "0x10",
        "99999999999999999999",
        "2026-03-01",
        "2026-03-01T12:00:00",
        "2026-03-01T12:00Z",
        "2026-3-01T12:00:00Z",
        "2026-02-29T12:00:00Z",
        "2026-13-01T12:00:00Z",
        "2026-00-01T12:00:00Z",
        "2026-03-32T12:00:00Z",
        "2026-03-01T24:00:00Z",
        "2026-03-01T12:60:00Z",
        "2026-03-01T12:00:61Z",
        "2026-03-01T12:00:00.Z",
        "2026-03-01T12:00:00Z ",
        "2026-03-01T12:00:00+1:00",
        "2026-03-01T12:00:00+01",
        "2026-03-01T12:00:00+24:00",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        int64_t ms;
        if (parse(texts[i], &ms))
            fail_msg("'%s' is no time", texts[i]);
    }
}

/* Each day of five centuries, against the C library. */
static void test_days(void **state)
{
    (void)state;
    for (int64_t day = -150000; day < 40000; day += 1) {
        time_t seconds = (time_t)(day * 86400);
        struct tm tm;
        char text[64];
        int64_t ms;
        assert_non_null(gmtime_r(&seconds, &tm));
        snprintf(text, sizeof text, "%04d-%02d-%02dT00:00:00Z",
                 tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday);
        assert_true(parse(text, &ms));
        assert_true(ms == day * 86400000);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_no_times),
        cmocka_unit_test(test_days),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
