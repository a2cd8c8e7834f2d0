/* SPDX-License-Identifier: MIT */
/* Keys offered one by one: what the public header says of time and failure. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include <keysieve/dedup.h>

#define WINDOW_MS 100

static ksv_dedup *open_with(const ksv_dedup_options *options)
{
    ksv_dedup *dedup;
    ksv_error error;
    assert_int_equal(ksv_dedup_open(options, &dedup, &error), KSV_OK);
    return dedup;
}

static bool is_fresh(ksv_dedup *dedup, const char *key, int64_t time_ms)
{
    bool fresh;
    ksv_error error;
    assert_int_equal(
        ksv_dedup_offer(dedup, key, strlen(key), time_ms, &fresh, &error),
        KSV_OK);
    return fresh;
}

static void test_window(void **state)
{
    (void)state;
    ksv_dedup_options options;
    ksv_dedup_info info;
    ksv_dedup_options_init(&options);
    options.window_ms = WINDOW_MS;
    ksv_dedup *dedup = open_with(&options);
    assert_true(is_fresh(dedup, "a", 1000));
    assert_false(is_fresh(dedup, "a", 1000 + WINDOW_MS - 1));
    assert_true(is_fresh(dedup, "a", 1000 + WINDOW_MS));
    /* The stream does not go back: "b" is kept from 1100 on. */
    assert_true(is_fresh(dedup, "b", 1000));
    assert_false(is_fresh(dedup, "b", KSV_DEDUP_TIME_LATEST));
    assert_false(is_fresh(dedup, "b", 1100 + WINDOW_MS - 1));
    assert_true(is_fresh(dedup, "b", 1100 + WINDOW_MS));
    ksv_dedup_get_info(dedup, &info);
    assert_int_equal(info.offered, 7);
    assert_int_equal(info.passed, 4);
    assert_int_equal(info.late, 1);
    assert_int_equal(info.stream_time_ms, 1100 + WINDOW_MS);
    ksv_dedup_close(dedup);
}

static void test_refused_options(void **state)
{
    (void)state;
    const ksv_dedup_options wrong[] = {
        {.window_ms = -1},
        {.approximate = true},
        {.approximate = true, .expected_keys = 1, .fpr = 1},
        {.generations = 33},
        {.time_key = "t"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        ksv_dedup *dedup;
        ksv_error error;
        assert_int_equal(ksv_dedup_open(&wrong[i], &dedup, &error),
                         KSV_ERROR_ARGUMENT);
        assert_null(dedup);
    }
}

/* More keys than fit, and nowhere to put them: that error is the answer to all
 * that is asked afterwards. */
static void test_failure_stays(void **state)
{
    (void)state;
    char key[4096] = {0};
    bool fresh;
    ksv_error first;
    ksv_error error;
    ksv_dedup_options options;
    ksv_dedup_options_init(&options);
    options.memory_bytes = 1; /* as little as there may be: 16 MiB */
    ksv_dedup *dedup = open_with(&options);
    ksv_status status = KSV_OK;
    for (uint32_t i = 0; i < 5000 && status == KSV_OK; i++) {
        memcpy(key, &i, sizeof i);
        status = ksv_dedup_offer(dedup, key, sizeof key, 0, &fresh, &first);
    }
    assert_int_equal(status, KSV_ERROR_ARGUMENT);
    assert_int_equal(ksv_dedup_offer(dedup, "a", 1, 0, &fresh, &error), status);
    assert_string_equal(error.text, first.text);
    assert_int_equal(ksv_dedup_checkpoint(dedup, &error), status);
    assert_string_equal(error.text, first.text);
    ksv_dedup_close(dedup);
}

static void test_without_state_or_format(void **state)
{
    (void)state;
    ksv_error error;
    ksv_dedup_options options;
    ksv_dedup_stream stream = {.write = NULL};
    ksv_dedup_options_init(&options);
    ksv_dedup *dedup = open_with(&options);
    assert_int_equal(ksv_dedup_checkpoint(dedup, &error), KSV_OK);
    assert_int_equal(ksv_dedup_run(dedup, NULL, 0, &stream, NULL, &error),
                     KSV_ERROR_ARGUMENT);
    ksv_dedup_close(dedup);
    ksv_dedup_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_window),
        cmocka_unit_test(test_refused_options),
        cmocka_unit_test(test_failure_stays),
        cmocka_unit_test(test_without_state_or_format),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
