/* SPDX-License-Identifier: MIT */
/* Random contents and options: readers against the plain reading of the rules,
 * in windows of all sizes and from every record on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "support/reference_reader.h"
#include "support/scan_run.h"

#define ROUNDS 6000
#define CONTENT_BYTES 200

typedef struct trial {
    uint64_t seed;
    uint64_t state;
    ksv_format_options options;
    const char *keys[4];
    uint8_t data[CONTENT_BYTES];
    size_t size;
    bool skip_bad;
} trial;

static size_t pick(trial *t, size_t count)
{
    return (size_t)(test_random(&t->state) % count);
}

static const char *pick_of(trial *t, const char *const *words, size_t count)
{
    return words[pick(t, count)];
}

static bool one_in(trial *t, size_t count)
{
    return pick(t, count) == 0;
}

static void pick_columns(trial *t)
{
    static const char *const KEYS[] = {"a", "b",      "1",    "2",
                                       "3", "name:1", "name:"};
    static const char DELIMITERS[] = {';', '\t', 'a', '\0'};
    static const char QUOTES[] = {'\'', 'b', '"'};
    t->options.no_header = one_in(t, 3);
    for (size_t i = 0; i < t->options.key_count; i++)
        t->keys[i] = t->options.no_header
                         ? KEYS[2 + pick(t, 3)]
                         : pick_of(t, KEYS, sizeof KEYS / sizeof KEYS[0]);
    if (one_in(t, 3))
        t->options.delimiter = DELIMITERS[pick(t, sizeof DELIMITERS)];
    if (one_in(t, 3))
        t->options.quote = QUOTES[pick(t, sizeof QUOTES)];
    else if (one_in(t, 4))
        t->options.quote = KSV_BYTE_NONE;
    t->options.escape_backslash = one_in(t, 3);
}

static void pick_line_keys(trial *t)
{
    static const char *const KEYS[] = {"line",      "field:1",      "field:2",
                                       "field:3",   "regex:a(b*)",  "bytes:2-3",
                                       "bytes:1-1", "regex:[0-9a]+"};
    bool fields = false;
    for (size_t i = 0; i < t->options.key_count; i++) {
        t->keys[i] = pick_of(t, KEYS, sizeof KEYS / sizeof KEYS[0]);
        fields = fields || t->keys[i][0] == 'f';
    }
    if (fields && one_in(t, 2))
        t->options.delimiter = ',';
}

static void pick_fixed_keys(trial *t)
{
    static const char *const KEYS[] = {"bytes:1-1", "bytes:2-4", "bytes:4-5"};
    for (size_t i = 0; i < t->options.key_count; i++)
        t->keys[i] = pick_of(t, KEYS, sizeof KEYS / sizeof KEYS[0]);
    t->options.keep_padding = one_in(t, 2);
    if (one_in(t, 2))
        t->options.record_size = 5 + pick(t, 4);
}

static void pick_options(trial *t)
{
    static const ksv_format FORMATS[] = {KSV_FORMAT_CSV, KSV_FORMAT_CSV,
                                         KSV_FORMAT_TSV, KSV_FORMAT_LINES,
                                         KSV_FORMAT_FIXED};
    static const char *const SEPARATORS[] = {"\t", "", "::"};
    ksv_format_options_init(&t->options);
    t->options.format = FORMATS[pick(t, sizeof FORMATS / sizeof FORMATS[0])];
    t->options.keys = t->keys;
    t->options.key_count = one_in(t, 3) ? 1 + pick(t, 3) : 1;
    if (one_in(t, 2))
        t->options.key_separator = pick_of(t, SEPARATORS, 3);
    if (t->options.format == KSV_FORMAT_LINES)
        pick_line_keys(t);
    else if (t->options.format == KSV_FORMAT_FIXED)
        pick_fixed_keys(t);
    else
        pick_columns(t);
    t->options.record_end_cr = t->options.record_size == 0 && one_in(t, 5);
    t->skip_bad = one_in(t, 2);
}

/* Mostly a few bytes that matter, so that they meet often. */
static void pick_content(trial *t)
{
    static const char NASTY[] = "\"\",,\r\n\n\t;'\\ab1 \0\xff\xfe\xef\xbb\xbf";
    char alphabet[8];
    size_t letters = 1 + pick(t, sizeof alphabet);
    for (size_t i = 0; i < letters; i++)
        alphabet[i] = NASTY[pick(t, sizeof NASTY - 1)];
    t->size = 0;
    if (one_in(t, 6)) {
        memcpy(t->data, "\xef\xbb\xbf", 3);
        t->size = pick(t, 4);
    }
    if (one_in(t, 2)) {
        static const char *const HEADERS[] = {"a,b,1\n", "\"a\"\tb\r\n",
                                              "a,b\r", "1a2a\n", "b;;a\n\n"};
        const char *header = pick_of(t, HEADERS, 5);
        memcpy(t->data + t->size, header, strlen(header));
        t->size += strlen(header);
    }
    size_t end = t->size + pick(t, one_in(t, 2) ? 12 : CONTENT_BYTES - 20);
    while (t->size < end)
        t->data[t->size++] =
            (uint8_t)(one_in(t, 4) ? NASTY[pick(t, sizeof NASTY - 1)]
                                   : alphabet[pick(t, letters)]);
}

static void complain(const trial *t, const char *what, const char *why)
{
    printf(
        "seed %lu, format %s, key %s, %s: %s\ncontent:", (unsigned long)t->seed,
        ksv_format_name(t->options.format), t->keys[0], what, why);
    for (size_t i = 0; i < t->size; i++)
        printf(" %02x", t->data[i]);
    printf("\n");
    fail();
}

static void compare(const trial *t, const char *what, const scan_result *a,
                    const scan_result *b)
{
    char why[256];
    if (!scan_results_agree(a, b, why))
        complain(t, what, why);
}

/* From every record on, one record at a time. */
static void check_each_record(trial *t, const scan_spec *spec,
                              const scan_result *all)
{
    for (size_t i = 0; i < all->count; i++) {
        const scan_found *wanted = &all->records[i];
        if (wanted->kind == SCAN_RECORD_BAD)
            continue;
        size_t at = (size_t)wanted->offset;
        if (!record_may_start_at(spec, at, at > 0 ? t->data[at - 1] : 0))
            complain(t, "record_may_start_at", "false");
        scan_result one;
        scan_run_at(spec, &all->layout, at, t->data + at, t->size - at,
                    (scan_windows){pick(t, 4), 9}, &one);
        scan_result expected;
        scan_result_init(&expected);
        scan_result_add(&expected, wanted->offset, wanted->length, wanted->kind,
                        all->keys + wanted->key_at, wanted->key_bytes);
        compare(t, "begin_at", &expected, &one);
        scan_result_release(&expected);
        scan_result_release(&one);
    }
}

static bool check_trial(trial *t)
{
    scan_spec *spec;
    ksv_error error;
    if (scan_spec_create(&t->options, NULL, &spec, &error) != KSV_OK)
        return false;
    scan_result expected;
    reference_read(&t->options, t->skip_bad, t->data, t->size, &expected);
    for (size_t i = 0; i < 4; i++) {
        scan_result got;
        scan_windows windows = {i < 2 ? i : test_random(&t->state), 3};
        if (i == 3)
            windows.largest = 40;
        scan_run(spec, t->skip_bad, t->data, t->size, windows, &got);
        compare(t, "windows", &expected, &got);
        if (i == 3)
            check_each_record(t, spec, &got);
        scan_result_release(&got);
    }
    scan_result_release(&expected);
    scan_spec_destroy(spec);
    return true;
}

static void test_readers_follow_the_rules(void **state)
{
    (void)state;
    unsigned tried = 0;
    for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
        trial t = {.seed = seed, .state = seed * 0x9e3779b97f4a7c15u};
        pick_options(&t);
        pick_content(&t);
        tried += check_trial(&t);
    }
    /* Options that contradict each other are refused, but not often. */
    assert_true(tried > ROUNDS / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_readers_follow_the_rules),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
