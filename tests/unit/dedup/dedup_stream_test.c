/* SPDX-License-Identifier: MIT */
/* Sources that keep a stream waiting: checkpoints are made all the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include <keysieve/dedup.h>

#include "support/gzip_data.h"
#include "support/random.h"
#include "support/temp_dir.h"

#define PATIENCE_S 60
#define CHECKPOINT_MS 20

/* A source that gives half of its bytes, then none until a checkpoint was made
 * or patience has ended, then the rest. */
typedef struct slow_source {
    gzip_bytes bytes;
    size_t given;
    bool trickles; /* gives a byte now and then in the meantime */
    const ksv_dedup_report *report;
    uint64_t checkpoints; /* while it kept silent */
    time_t silent_since;  /* 0: it is not silent */
    bool stops;           /* the run is to be stopped while it is silent */
    uint64_t silent_reads;
} slow_source;

static void wait_a_little(void)
{
    struct timespec time = {.tv_nsec = 2000000};
    nanosleep(&time, NULL);
}

static bool is_silent(slow_source *s)
{
    if (s->given < s->bytes.size / 2 || (s->checkpoints > 0 && !s->stops))
        return false;
    if (s->silent_since == 0)
        s->silent_since = time(NULL);
    s->checkpoints = s->report->checkpoints;
    s->silent_reads++;
    bool is_over = s->checkpoints > 0 && !s->stops;
    return !is_over && time(NULL) - s->silent_since < PATIENCE_S;
}

static ksv_status read_slowly(void *ctx, void *buffer, size_t size_bytes,
                              size_t *got_bytes, bool *at_end, ksv_error *error)
{
    slow_source *s = ctx;
    size_t end =
        s->given < s->bytes.size / 2 ? s->bytes.size / 2 : s->bytes.size;
    (void)error;
    *got_bytes = 0;
    *at_end = false;
    if (is_silent(s)) {
        wait_a_little();
        end = s->given + (s->trickles && s->given + 1 < s->bytes.size);
    }
    *got_bytes = end - s->given < size_bytes ? end - s->given : size_bytes;
    memcpy(buffer, s->bytes.data + s->given, *got_bytes);
    s->given += *got_bytes;
    *at_end = s->given == s->bytes.size;
    return KSV_OK;
}

static ksv_status count_bytes(void *ctx, const void *data, size_t size_bytes,
                              ksv_error *error)
{
    (void)ctx;
    (void)data;
    (void)size_bytes;
    (void)error;
    return KSV_OK;
}

static bool goes_on(void *ctx)
{
    const slow_source *s = ctx;
    return !s->stops || s->silent_reads < 3;
}

/* Lines that do not become shorter by compressing, so that a part of the file
 * has whole pieces of content. */
static uint64_t make_lines(gzip_bytes *lines)
{
    random_source r = {5};
    uint64_t count = 60000;
    for (uint64_t i = 0; i < count; i++) {
        char line[40];
        int bytes = snprintf(line, sizeof line, "%016llx%016llx\n",
                             (unsigned long long)random_next(&r),
                             (unsigned long long)random_next(&r));
        gzip_bytes_add(lines, line, (size_t)bytes);
    }
    return count;
}

static ksv_status run_slowly(slow_source *source, const char *directory,
                             ksv_dedup_report *report)
{
    ksv_dedup *dedup;
    ksv_error error;
    ksv_format_options format;
    ksv_dedup_options options;
    ksv_format_options_init(&format);
    format.format = KSV_FORMAT_LINES;
    ksv_dedup_options_init(&options);
    options.format = &format;
    options.state_directory = directory;
    ksv_dedup_input input = {
        .name = "slow", .read = read_slowly, .ctx = source};
    ksv_dedup_stream stream = {.write = count_bytes,
                               .goes_on = goes_on,
                               .ctx = source,
                               .checkpoint_ms = CHECKPOINT_MS};
    source->report = report;
    assert_int_equal(ksv_dedup_open(&options, &dedup, &error), KSV_OK);
    ksv_status status =
        ksv_dedup_run(dedup, &input, 1, &stream, report, &error);
    ksv_dedup_close(dedup);
    return status;
}

static void check_slow(bool is_gzip, bool trickles, bool stops)
{
    temp_dir dir;
    slow_source source = {.trickles = trickles, .stops = stops};
    gzip_bytes lines = {NULL, 0, 0};
    ksv_dedup_report report = {0};
    gzip_how how = gzip_how_usual();
    temp_dir_make(&dir);
    uint64_t count = make_lines(&lines);
    if (is_gzip)
        gzip_member_add(&source.bytes, lines.data, lines.size, &how, NULL, 0);
    else
        gzip_bytes_add(&source.bytes, lines.data, lines.size);
    ksv_status status = run_slowly(&source, dir.path, &report);
    if (stops) {
        assert_int_equal(status, KSV_ERROR_CANCELLED);
        assert_true(report.records > 0 && report.records < count);
    } else {
        assert_int_equal(status, KSV_OK);
        assert_int_equal(report.records, count);
        assert_int_equal(report.passed, count);
        assert_true(source.checkpoints > 0);
    }
    gzip_bytes_release(&lines);
    gzip_bytes_release(&source.bytes);
    temp_dir_remove(&dir);
}

static void test_silent_pipe(void **state)
{
    (void)state;
    check_slow(false, false, false);
}

static void test_silent_gzip_pipe(void **state)
{
    (void)state;
    check_slow(true, false, false);
}

/* Bytes come, but not enough for the next piece of content. */
static void test_trickling_gzip_pipe(void **state)
{
    (void)state;
    check_slow(true, true, false);
}

static void test_stopped_while_silent(void **state)
{
    (void)state;
    check_slow(true, false, true);
    check_slow(false, false, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_silent_pipe),
        cmocka_unit_test(test_silent_gzip_pipe),
        cmocka_unit_test(test_trickling_gzip_pipe),
        cmocka_unit_test(test_stopped_while_silent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
