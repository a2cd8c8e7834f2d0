/* SPDX-License-Identifier: MIT */
/* The JSON scanner: what is valid, what a path leads to, what a fault says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "scan/json_scanner.h"

/* Steps as in key_part.text, written with '|' for the NUL behind each. */
static key_part make_part(char *steps)
{
    size_t size = strlen(steps);
    for (size_t i = 0; i < size; i++) {
        if (steps[i] == '|')
            steps[i] = '\0';
    }
    return (key_part){
        .kind = KEY_PART_MEMBER, .text = steps, .text_bytes = size};
}

typedef struct scan {
    key_part parts[4];
    char steps[4][64];
    ksv_allocator allocator;
    json_scanner *scanner;
    json_outcome outcome;
} scan;

static void open_scan(scan *s, const char *const *paths, size_t count)
{
    s->allocator = allocator_or_default(NULL);
    for (size_t i = 0; i < count; i++) {
        snprintf(s->steps[i], sizeof s->steps[i], "%s", paths[i]);
        s->parts[i] = make_part(s->steps[i]);
    }
    assert_int_equal(
        json_scanner_open(s->parts, count, &s->allocator, &s->scanner, NULL),
        KSV_OK);
}

static void feed_piece(json_scanner *scanner, const char *text, size_t size,
                       bool keep)
{
    char *piece = malloc(size + 1);
    assert_non_null(piece);
    memcpy(piece + 1, text, size);
    assert_int_equal(json_scanner_feed(scanner, (const uint8_t *)piece + 1,
                                       size, keep, NULL),
                     KSV_OK);
    free(piece);
}

/* In pieces of `piece` bytes that are gone afterwards. */
static void run(scan *s, const char *text, size_t size, size_t piece)
{
    json_scanner_begin(s->scanner);
    for (size_t at = 0; at < size; at += piece)
        feed_piece(s->scanner, text + at, size - at < piece ? size - at : piece,
                   true);
    s->outcome = json_scanner_end(s->scanner);
}

/* `expected` NULL: no key. */
static void check_text(const scan *s, size_t part, const char *expected,
                       size_t size)
{
    json_text text = json_scanner_text(s->scanner, part);
    assert_int_equal(text.size_bytes, expected != NULL ? size : 0);
    if (expected != NULL)
        assert_memory_equal(text.data, expected, size);
}

static const size_t PIECES[] = {1, 2, 3, 5, 8, 13, 1000};

typedef struct key_case {
    const char *text;
    const char *path;
    const char *key; /* NULL: none */
} key_case;

static const key_case KEY_CASES[] = {
    {"{\"id\":\"x\"}", "id|", "x"},
    {" { \"id\"\t:\r\"x\" } ", "id|", "x"},
    {"{\"id\":\"\"}", "id|", NULL},
    {"{\"id\":\" \"}", "id|", " "},
    {"{\"id\":12345678901234567890123}", "id|", "12345678901234567890123"},
    {"{\"id\":-0}", "id|", "-0"},
    {"{\"id\":1.50e+07}", "id|", "1.50e+07"},
    {"{\"id\":1.0,\"b\":2}", "id|", "1.0"},
    {"{\"id\":true}", "id|", "true"},
    {"{\"id\":false}", "id|", "false"},
    {"{\"id\":null}", "id|", NULL},
    {"{\"id\":NaN}", "id|", NULL},
    {"{\"id\":-Infinity}", "id|", NULL},
    {"{\"id\":Infinity}", "id|", NULL},
    {"{\"id\":{}}", "id|", NULL},
    {"{\"id\":[1]}", "id|", NULL},
    {"{}", "id|", NULL},
    {"[]", "id|", NULL},
    {"\"id\"", "id|", NULL},
    {"7", "id|", NULL},
    {"7", "", "7"},
    /* names are compared decoded */
    {"{\"\\u0069d\":1}", "id|", "1"},
    {"{\"i\\u0064\":1,\"id\\u0000\":2}", "id|", "1"},
    {"{\"id \":2,\"ID\":3,\"i\":4,\"idx\":5}", "id|", NULL},
    {"{\"\":1}", "|", "1"},
    {"{\"a.b\":1,\"a\":{\"b\":2}}", "a.b|", "1"},
    {"{\"a.b\":1,\"a\":{\"b\":2}}", "a|b|", "2"},
    {"{\"\\ud83d\\ude00\":1}", "\xf0\x9f\x98\x80|", "1"},
    /* escapes */
    {"{\"id\":\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"}", "id|", "\"\\/\b\f\n\r\t"},
    {"{\"id\":\"\\u00e9\\u20AC\\uD83D\\uDE00\"}", "id|",
     "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"},
    {"{\"id\":\"a\\ud800\"}", "id|", NULL},
    {"{\"id\":\"\\ud800x\"}", "id|", NULL},
    {"{\"id\":\"\\ud800\\n\"}", "id|", NULL},
    {"{\"id\":\"\\udc00\"}", "id|", NULL},
    {"{\"id\":\"\\ud800\\ud800\\udc00\"}", "id|", NULL},
    {"{\"id\":\"\\ud800\\u0041\"}", "id|", NULL},
    {"{\"x\":\"\\ud800\",\"id\":1}", "id|", "1"},
    {"{\"id\":\"\x01\x1f\x7f\"}", "id|", "\x01\x1f\x7f"},
    {"{\"id\":\"\xff\xc0\"}", "id|", "\xff\xc0"},
    /* only at the path */
    {"{\"a\":{\"id\":1},\"b\":[{\"id\":2}]}", "id|", NULL},
    {"{\"a\":{\"id\":1},\"id\":3,\"c\":{\"id\":4}}", "id|", "3"},
    {"{\"a\":{\"a\":{\"a\":1}}}", "a|a|a|", "1"},
    {"{\"a\":{\"a\":{\"a\":1}}}", "a|a|", NULL},
    {"{\"t\":\"\\\"id\\\":9\",\"id\":1}", "id|", "1"},
    /* the last of a name counts */
    {"{\"id\":1,\"id\":2}", "id|", "2"},
    {"{\"id\":1,\"id\":null}", "id|", NULL},
    {"{\"id\":1,\"id\":[2]}", "id|", NULL},
    {"{\"id\":1,\"\\u0069d\":\"\"}", "id|", NULL},
    {"{\"a\":{\"b\":1},\"a\":{\"b\":2}}", "a|b|", "2"},
    {"{\"a\":{\"b\":1},\"a\":{}}", "a|b|", NULL},
    {"{\"a\":{\"b\":1},\"a\":7}", "a|b|", NULL},
    {"{\"a\":{\"b\":1,\"b\":{}}}", "a|b|", NULL},
    /* arrays */
    {"{\"a\":[10,20,30]}", "a|1|", "20"},
    {"{\"a\":[10,20,30]}", "a|3|", NULL},
    {"{\"a\":[10,20,30]}", "a|01|", NULL},
    {"{\"a\":{\"1\":5,\"01\":6}}", "a|1|", "5"},
    {"{\"a\":{\"1\":5,\"01\":6}}", "a|01|", "6"},
    {"{\"a\":[[],{\"b\":[0,\"x\"]}]}", "a|1|b|1|", "x"},
    {"{\"a\":[{\"b\":1},{\"b\":2}]}", "a|0|b|", "1"},
    {"[5,6]", "1|", "6"},
    {"[{\"id\":5}]", "id|", NULL},
};

static void test_keys(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof KEY_CASES / sizeof KEY_CASES[0]; i++) {
        const key_case *c = &KEY_CASES[i];
        scan s;
        open_scan(&s, &c->path, 1);
        for (size_t p = 0; p < sizeof PIECES / sizeof PIECES[0]; p++) {
            run(&s, c->text, strlen(c->text), PIECES[p]);
            if (s.outcome != JSON_VALUE)
                print_error("%s\n", c->text);
            assert_int_equal(s.outcome, JSON_VALUE);
            check_text(&s, 0, c->key, c->key != NULL ? strlen(c->key) : 0);
        }
        json_scanner_close(s.scanner);
    }
}

static void test_nul_in_key(void **state)
{
    (void)state;
    const char *path = "id|";
    scan s;
    open_scan(&s, &path, 1);
    run(&s, "{\"id\":\"a\\u0000b\"}", 17, 4);
    check_text(&s, 0, "a\0b", 3);
    json_scanner_close(s.scanner);
}

static void test_several_paths(void **state)
{
    (void)state;
    const char *paths[] = {"b|c|", "a|", "b|", "a|"};
    const char *text = "{\"b\":{\"c\":\"\\u0041\"},\"a\":12,\"c\":3}";
    scan s;
    open_scan(&s, paths, 4);
    for (size_t p = 0; p < sizeof PIECES / sizeof PIECES[0]; p++) {
        run(&s, text, strlen(text), PIECES[p]);
        assert_int_equal(s.outcome, JSON_VALUE);
        check_text(&s, 0, "A", 1);
        check_text(&s, 1, "12", 2);
        check_text(&s, 2, NULL, 0);
        check_text(&s, 3, "12", 2);
    }
    json_scanner_close(s.scanner);
}

/* A value is not copied where that can be avoided. */
static void test_borrowed(void **state)
{
    (void)state;
    const char *path = "id|";
    const char *text = "{\"id\":\"abc\"}";
    scan s;
    open_scan(&s, &path, 1);
    json_scanner_begin(s.scanner);
    assert_int_equal(
        json_scanner_feed(s.scanner, (const uint8_t *)text, 12, false, NULL),
        KSV_OK);
    assert_int_equal(json_scanner_end(s.scanner), JSON_VALUE);
    json_text found = json_scanner_text(s.scanner, 0);
    assert_true(found.is_borrowed);
    assert_ptr_equal(found.data, text + 7);
    json_scanner_close(s.scanner);
}

typedef struct fault_case {
    const char *text;
    const char *fault;
} fault_case;

static const fault_case FAULT_CASES[] = {
    {"x", "expected a value, found 'x', 0 bytes into the line"},
    {"{\"a\":}", "expected a value, found '}', 5 bytes into the line"},
    {"[1,]", "expected a value, found ']', 3 bytes into the line"},
    {"[,1]", "expected a value, found ',', 1 bytes into the line"},
    {"{\"a\":\x01}",
     "expected a value, found byte 0x01, 5 bytes into the line"},
    {"\xef\xbb\xbf{}", "expected a value, found byte 0xef, 0 bytes into the "
                       "line"},
    {"{a:1}", "expected a member name in double quotes, found 'a', 1 bytes "
              "into the line"},
    {"{\"a\":1,}", "expected a member name in double quotes, found '}', 7 "
                   "bytes into the line"},
    {"{\"a\" 1}", "expected ':' after a member name, found '1', 5 bytes into "
                  "the line"},
    {"{\"a\":1 \"b\":2}", "expected ',' or '}' after a member, found '\"', 7 "
                          "bytes into the line"},
    {"{\"a\":1]", "expected ',' or '}' after a member, found ']', 6 bytes into "
                  "the line"},
    {"[1}", "expected ',' or ']' after an element, found '}', 2 bytes into "
            "the line"},
    {"{}{}", "expected the end of the line after the value, found '{', 2 bytes "
             "into the line"},
    {"1 2", "expected the end of the line after the value, found '2', 2 bytes "
            "into the line"},
    {"01", "expected the end of the line after the value, found '1', 1 bytes "
           "into the line"},
    {"[01]", "expected ',' or ']' after an element, found '1', 2 bytes into "
             "the line"},
    {"[-]", "expected a digit, found ']', 2 bytes into the line"},
    {"[1.]", "expected a digit, found ']', 3 bytes into the line"},
    {"[.5]", "expected a value, found '.', 1 bytes into the line"},
    {"[+1]", "expected a value, found '+', 1 bytes into the line"},
    {"[1e]", "expected a digit, found ']', 3 bytes into the line"},
    {"[1e+]", "expected a digit, found ']', 4 bytes into the line"},
    {"[1.5.5]", "expected ',' or ']' after an element, found '.', 4 bytes into "
                "the line"},
    {"[truE]", "expected true, found 'E', 4 bytes into the line"},
    {"[nul]", "expected null, found ']', 4 bytes into the line"},
    {"[nan]", "expected null, found 'a', 2 bytes into the line"},
    {"[-Inf]", "expected -Infinity, found ']', 5 bytes into the line"},
    {"[truee]", "expected ',' or ']' after an element, found 'e', 5 bytes into "
                "the line"},
    {"[\"\\x\"]", "expected a known escape after a backslash, found 'x', 3 "
                  "bytes into the line"},
    {"[\"\\u00g0\"]", "expected four hexadecimal digits after \\u, found 'g', "
                      "6 bytes into the line"},
    {"{\"a\":\"\\u12\"}", "expected four hexadecimal digits after \\u, found "
                          "'\"', 10 bytes into the line"},
    {"[\"abc", "the line ends within a string"},
    {"[\"abc\\", "the line ends within a string"},
    {"[\"abc\\u00", "the line ends within a string"},
    {"[1", "the line ends within an array"},
    {"-", "the line ends within a number"},
    {"1.", "the line ends within a number"},
    {"tru", "the line ends within a word"},
    {"[", "the line ends within an array"},
    {"[1,", "the line ends within an array"},
    {"{\"a\":[1]", "the line ends within an object"},
    {"{\"a\"", "the line ends within an object"},
    {"{\"a\":", "the line ends within an object"},
};

static void test_faults(void **state)
{
    (void)state;
    const char *path = "a|";
    scan s;
    open_scan(&s, &path, 1);
    for (size_t i = 0; i < sizeof FAULT_CASES / sizeof FAULT_CASES[0]; i++) {
        const fault_case *c = &FAULT_CASES[i];
        for (size_t p = 0; p < sizeof PIECES / sizeof PIECES[0]; p++) {
            char text[JSON_FAULT_TEXT_BYTES];
            run(&s, c->text, strlen(c->text), PIECES[p]);
            assert_int_equal(s.outcome, JSON_MALFORMED);
            bool cut = json_scanner_describe_fault(s.scanner, text);
            assert_string_equal(text, c->fault);
            assert_int_equal(cut, c->fault[0] == 't');
        }
    }
    json_scanner_close(s.scanner);
}

static void test_blank(void **state)
{
    (void)state;
    const char *path = "a|";
    scan s;
    open_scan(&s, &path, 1);
    run(&s, "", 0, 1);
    assert_int_equal(s.outcome, JSON_BLANK);
    run(&s, " \t\r ", 4, 3);
    assert_int_equal(s.outcome, JSON_BLANK);
    run(&s, " \v", 2, 3);
    assert_int_equal(s.outcome, JSON_MALFORMED);
    json_scanner_close(s.scanner);
}

#define DEEP 1000000

/* Objects and arrays by turns around one value, and that at the path's end. */
static void test_deep_nesting(void **state)
{
    (void)state;
    const char *path = "id|";
    scan s;
    open_scan(&s, &path, 1);
    char *text = malloc(DEEP * 7 + 64);
    assert_non_null(text);
    size_t size = (size_t)sprintf(text, "{\"x\":");
    for (int i = 0; i < DEEP; i++)
        size += (size_t)sprintf(text + size, i % 3 == 0 ? "[" : "{\"x\":");
    size += (size_t)sprintf(text + size, "1");
    for (int i = DEEP; i-- > 0;)
        text[size++] = i % 3 == 0 ? ']' : '}';
    size += (size_t)sprintf(text + size, ",\"id\":\"deep\"}");
    run(&s, text, size, 100003);
    assert_int_equal(s.outcome, JSON_VALUE);
    check_text(&s, 0, "deep", 4);
    /* One bracket of the wrong kind in the middle of the way out. */
    size_t wrong = size - 13 - DEEP / 2;
    text[wrong] = text[wrong] == ']' ? '}' : ']';
    run(&s, text, size, 100003);
    assert_int_equal(s.outcome, JSON_MALFORMED);
    free(text);
    json_scanner_close(s.scanner);
}

/* A path as deep as the nesting. */
static void test_long_path(void **state)
{
    (void)state;
    enum { STEPS = 20000 };
    char *steps = malloc(STEPS * 2);
    char *text = malloc(STEPS * 6 + 8);
    assert_non_null(steps);
    assert_non_null(text);
    size_t size = 0;
    for (int i = 0; i < STEPS; i++) {
        steps[2 * i] = 'a';
        steps[2 * i + 1] = '\0';
        size += (size_t)sprintf(text + size, "{\"a\":");
    }
    text[size++] = '7';
    memset(text + size, '}', STEPS);
    size += STEPS;
    key_part part = {
        .kind = KEY_PART_MEMBER, .text = steps, .text_bytes = STEPS * 2};
    scan s = {.allocator = allocator_or_default(NULL)};
    assert_int_equal(
        json_scanner_open(&part, 1, &s.allocator, &s.scanner, NULL), KSV_OK);
    run(&s, text, size, 777);
    assert_int_equal(s.outcome, JSON_VALUE);
    check_text(&s, 0, "7", 1);
    json_scanner_close(s.scanner);
    free(steps);
    free(text);
}

static void *refuse(void *ctx, size_t size)
{
    size_t *left = ctx;
    if (*left == 0)
        return NULL;
    --*left;
    return malloc(size);
}

static void *refuse_more(void *ctx, void *memory, size_t old_bytes, size_t size)
{
    (void)old_bytes;
    size_t *left = ctx;
    if (*left == 0)
        return NULL;
    --*left;
    return realloc(memory, size);
}

static void release(void *ctx, void *memory, size_t size)
{
    (void)ctx;
    (void)size;
    free(memory);
}

/* Every allocation in turn fails. */
static void test_out_of_memory(void **state)
{
    (void)state;
    char steps[] = {'i', 'd', 0, 'x', 0};
    key_part part = {.kind = KEY_PART_MEMBER, .text = steps, .text_bytes = 5};
    const char *text = "{\"id\":{\"x\":\"\\n\"}}";
    bool succeeded = false;
    for (size_t n = 0; n < 40 && !succeeded; n++) {
        size_t left = n;
        ksv_allocator a = {&left, refuse, refuse_more, release};
        json_scanner *scanner;
        ksv_error error;
        ksv_status status = json_scanner_open(&part, 1, &a, &scanner, &error);
        if (status == KSV_OK) {
            status = json_scanner_feed(scanner, (const uint8_t *)text,
                                       strlen(text), true, &error);
            succeeded = status == KSV_OK;
            json_scanner_close(scanner);
        }
        if (status != KSV_OK)
            assert_int_equal(error.status, KSV_ERROR_MEMORY);
    }
    assert_true(succeeded);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keys),          cmocka_unit_test(test_nul_in_key),
        cmocka_unit_test(test_several_paths), cmocka_unit_test(test_borrowed),
        cmocka_unit_test(test_faults),        cmocka_unit_test(test_blank),
        cmocka_unit_test(test_deep_nesting),  cmocka_unit_test(test_long_path),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
