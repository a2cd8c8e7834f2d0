/* SPDX-License-Identifier: MIT */
/* JSON lines that are like the ones before them, or nearly: read together
 * against each read alone by a reader that has seen no other. */
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

#define ROUNDS 400
#define LINES_FEW 60
/* More than are looked at together. */
#define LINES_MANY 600
#define MANY_EVERY 10
#define BATCH 600
#define LINE_BYTES 400

/* A '@' stands for a scalar. */
static const char *const SHAPES[] = {
    "{\"a\":@,\"b\":@}",
    "{\"b\":@,\"a\":@ }",
    "{ \"c\" : {\"a\":@},\"a\":@, \"d\":[@,@,{\"a\":@}]}",
    "{\"a\":@,\"a\":@}",
    "{\"a\":{\"b\":@,\"c\":@},\"b\":[]}",
    "{\"a\":@,\"a\":{\"b\":@}}",
    "[@,@]",
    "@",
    "{\"\\u0061\":@,\"b\":{}}",
    "{\"a\\\"@\":1,\"b\":@}",
    "{}",
    "{\"a\":@,\"b\":@",
    "  {\"a\":@}  ",
};

static const char *const SCALARS[] = {
    "\"x\"",       "\"some longer text, with more than 16 bytes\"",
    "\"\"",        "\"q\\\"q\"",
    "\"\\u00e9\"", "12",
    "-3.25",       "1e9",
    "0",           "01",
    "true",        "false",
    "null",        "nul",
    "truex",       "\"open",
    "NaN",         "1.",
    "-",           "",
    "{}",          "\"a\" ",
    " 7",          "\"\\x\"",
};

static const char *const KEYS[] = {"a", "b", "a.b", "d.0", "c.a"};

typedef struct text {
    char bytes[LINES_MANY * LINE_BYTES];
    size_t size;
} text;

static size_t pick(random_source *r, size_t count)
{
    return (size_t)random_below(r, count);
}

static void add_scalar(text *t, random_source *r, size_t usual)
{
    size_t count = sizeof SCALARS / sizeof SCALARS[0];
    const char *s = SCALARS[pick(r, 8) > 0 ? pick(r, usual) : pick(r, count)];
    memcpy(t->bytes + t->size, s, strlen(s));
    t->size += strlen(s);
}

static void add_line(text *t, random_source *r, const char *shape, size_t usual)
{
    for (const char *c = shape; *c != '\0'; c++) {
        if (*c == '@')
            add_scalar(t, r, usual);
        else
            t->bytes[t->size++] = *c;
    }
    if (pick(r, 20) == 0)
        t->bytes[t->size - 1] = " ,}]\"x"[pick(r, 6)];
    if (pick(r, 9) == 0)
        t->bytes[t->size++] = '\r';
    t->bytes[t->size++] = '\n';
}

static void fill(text *t, random_source *r, size_t lines)
{
    size_t count = sizeof SHAPES / sizeof SHAPES[0];
    size_t first = pick(r, count);
    size_t second = pick(r, 3) > 0 ? first : pick(r, count);
    size_t usual = 1 + pick(r, sizeof SCALARS / sizeof SCALARS[0]);
    t->size = 0;
    for (size_t i = 0; i < lines; i++) {
        size_t shape = pick(r, 3) > 0 ? first : second;
        if (pick(r, 15) == 0)
            shape = pick(r, count);
        add_line(t, r, SHAPES[shape], usual);
    }
}

/* Every line with a reader of its own. */
static void read_alone(const scan_spec *spec, const text *t, scan_result *all)
{
    scan_result_init(all);
    for (size_t at = 0; at < t->size;) {
        const char *line = t->bytes + at;
        size_t size =
            (size_t)((const char *)memchr(line, '\n', t->size - at) + 1 - line);
        scan_result one;
        scan_run_batches(spec, true, line, size, (scan_windows){0, 0}, 1, &one);
        for (size_t i = 0; i < one.count; i++)
            scan_result_add(all, at + one.records[i].offset,
                            one.records[i].length, one.records[i].kind,
                            scan_result_key(&one, i), one.records[i].key_bytes);
        scan_result_release(&one);
        at += size;
    }
}

static void check_round(uint64_t seed, size_t *keyed)
{
    static text t;
    random_source r = {seed};
    const char *keys[] = {KEYS[pick(&r, 2) * pick(&r, 5)], KEYS[pick(&r, 5)]};
    ksv_format_options options;
    ksv_format_options_init(&options);
    options.format = KSV_FORMAT_JSONL;
    options.keys = keys;
    options.key_count = 1 + pick(&r, 4) / 3;
    scan_spec *spec;
    assert_int_equal(scan_spec_create(&options, NULL, &spec, NULL), KSV_OK);
    fill(&t, &r, seed % MANY_EVERY == 0 ? LINES_MANY : LINES_FEW);
    scan_result alone;
    read_alone(spec, &t, &alone);
    for (size_t i = 0; i < 2; i++) {
        scan_result together;
        char why[256];
        scan_run_batches(spec, true, t.bytes, t.size,
                         (scan_windows){i * seed + i, 700}, BATCH, &together);
        if (!scan_results_agree(&alone, &together, why)) {
            printf("seed %lu, key %s: %s\n%.*s\n", (unsigned long)seed, keys[0],
                   why, (int)t.size, t.bytes);
            fail();
        }
        scan_result_release(&together);
    }
    for (size_t i = 0; i < alone.count; i++)
        *keyed += alone.records[i].kind == SCAN_RECORD_KEYED;
    scan_result_release(&alone);
    scan_spec_destroy(spec);
}

static void test_shapes_change_nothing(void **state)
{
    (void)state;
    size_t keyed = 0;
    for (uint64_t seed = 1; seed <= ROUNDS; seed++)
        check_round(seed, &keyed);
    assert_true(keyed > ROUNDS * 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shapes_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
