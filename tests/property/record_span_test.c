/* SPDX-License-Identifier: MIT */
/* Random contents of many records: read by masks, many at once, against read
 * with care, one by one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/random.h"
#include "support/scan_run.h"

#define ROUNDS 300
#define CONTENT_BYTES 60000

typedef struct trial {
    uint64_t seed;
    random_source random;
    ksv_format_options options;
    const char *keys[3];
    uint8_t *data;
    size_t size;
} trial;

static size_t pick(trial *t, size_t count)
{
    return (size_t)random_below(&t->random, count);
}

static bool one_in(trial *t, size_t count)
{
    return pick(t, count) == 0;
}

static void pick_keys(trial *t)
{
    static const char *const COLUMNS[] = {"1", "2", "3", "9"};
    static const char *const LINES[] = {"line",    "bytes:1-3", "bytes:2-9",
                                        "field:1", "field:2",   "field:4"};
    static const char *const FIXED[] = {"bytes:1-1", "bytes:3-8"};
    t->options.key_count = one_in(t, 3) ? 2 + pick(t, 2) : 1;
    for (size_t i = 0; i < t->options.key_count; i++) {
        if (t->options.format == KSV_FORMAT_LINES)
            t->keys[i] = LINES[pick(t, 6)];
        else if (t->options.format == KSV_FORMAT_FIXED)
            t->keys[i] = FIXED[pick(t, 2)];
        else
            t->keys[i] = COLUMNS[pick(t, one_in(t, 4) ? 4 : 3)];
    }
}

static void pick_options(trial *t)
{
    static const ksv_format FORMATS[] = {KSV_FORMAT_CSV, KSV_FORMAT_CSV,
                                         KSV_FORMAT_TSV, KSV_FORMAT_LINES,
                                         KSV_FORMAT_FIXED};
    ksv_format_options_init(&t->options);
    t->options.format = FORMATS[pick(t, 5)];
    t->options.keys = t->keys;
    t->options.record_end_cr = one_in(t, 6);
    t->options.keep_padding =
        t->options.format == KSV_FORMAT_FIXED && one_in(t, 2);
    pick_keys(t);
    if (t->options.format == KSV_FORMAT_CSV ||
        t->options.format == KSV_FORMAT_TSV) {
        t->options.no_header = true;
        t->options.escape_backslash = one_in(t, 4);
        if (one_in(t, 3) || t->options.escape_backslash)
            t->options.quote = one_in(t, 2) ? '\'' : '"';
    }
}

/* A text of its own kind: few or many quotes, short or long records. */
static void pick_content(trial *t)
{
    static const char *const PIECES[] = {
        "\"",  ",",    "\n",   "\r\n", "\t",   "\\",        "\"\"",
        ",\"", "\",",  "'",    "\t'",  "'\t",  "\r",        "\"\n",
        "a",   "word", "a, b", " ",    "\\\"", "0123456789"};
    size_t kinds = sizeof PIECES / sizeof PIECES[0];
    size_t weights[sizeof PIECES / sizeof PIECES[0]];
    size_t sum = 0;
    for (size_t i = 0; i < kinds; i++) {
        weights[i] = one_in(t, 2) ? 0 : (size_t)1 << pick(t, 9);
        sum += weights[i] += i == 2;
    }
    t->size = 0;
    size_t wanted = 1000 + pick(t, CONTENT_BYTES - 1100);
    while (t->size < wanted) {
        size_t choice = pick(t, sum);
        size_t i = 0;
        while (choice >= weights[i])
            choice -= weights[i++];
        memcpy(t->data + t->size, PIECES[i], strlen(PIECES[i]));
        t->size += strlen(PIECES[i]);
    }
}

static void compare(const trial *t, const scan_result *a, const scan_result *b)
{
    char why[256];
    if (scan_results_agree(a, b, why))
        return;
    printf("seed %lu, format %s, key %s: %s\n", (unsigned long)t->seed,
           ksv_format_name(t->options.format), t->keys[0], why);
    fail();
}

/* Returns how many records there were. */
static size_t check_trial(trial *t)
{
    scan_spec *spec;
    ksv_error error;
    if (scan_spec_create(&t->options, NULL, &spec, &error) != KSV_OK)
        return 0;
    bool skip_bad = one_in(t, 2);
    scan_result careful;
    scan_run_batches(spec, skip_bad, t->data, t->size, (scan_windows){0, 0}, 1,
                     &careful);
    static const size_t WINDOWS[] = {0, 100, 5000, 40000};
    static const size_t BATCHES[] = {0, 2, 600};
    for (size_t i = 0; i < 4; i++) {
        scan_result many;
        scan_windows windows = {i == 0 ? 0 : 2 + pick(t, 1000), WINDOWS[i]};
        scan_run_batches(spec, skip_bad, t->data, t->size, windows,
                         BATCHES[pick(t, 3)], &many);
        compare(t, &careful, &many);
        scan_result_release(&many);
    }
    size_t count = careful.count;
    scan_result_release(&careful);
    scan_spec_destroy(spec);
    return count;
}

static void test_masks_change_nothing(void **state)
{
    (void)state;
    static uint8_t data[CONTENT_BYTES];
    size_t records = 0;
    for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
        trial t = {.seed = seed, .random = {seed}, .data = data};
        pick_options(&t);
        pick_content(&t);
        records += check_trial(&t);
    }
    assert_true(records > ROUNDS * 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_masks_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
