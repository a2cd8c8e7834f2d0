/* SPDX-License-Identifier: MIT */
/* Patterns of names and paths against what a reader expects of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/path_pattern.h"

static bool name_matches(const char *pattern, const char *name)
{
    return path_pattern_match_name(pattern, strlen(pattern), name);
}

static void test_names(void **state)
{
    (void)state;
    assert_true(name_matches("*.csv", "a.csv"));
    assert_true(name_matches("*.csv", ".csv"));
    assert_false(name_matches("*.csv", "a.csv.gz"));
    assert_true(name_matches("a*b*c", "aXbbYc"));
    assert_false(name_matches("a*b*c", "aXbbY"));
    assert_true(name_matches("?", "x"));
    assert_false(name_matches("?", ""));
    assert_false(name_matches("?", "xy"));
    assert_true(name_matches("*", ""));
    assert_true(name_matches("**", "abc"));
    assert_true(name_matches("***a", "bca"));
    assert_true(name_matches("\\*", "*"));
    assert_false(name_matches("\\*", "a"));
    assert_true(name_matches("a\\?b", "a?b"));
}

static void test_sets(void **state)
{
    (void)state;
    assert_true(name_matches("[a-c]1", "b1"));
    assert_false(name_matches("[a-c]1", "d1"));
    assert_true(name_matches("[!a-c]1", "d1"));
    assert_false(name_matches("[^a-c]1", "a1"));
    assert_true(name_matches("[]]", "]"));
    assert_true(name_matches("[!]]", "x"));
    assert_false(name_matches("[!]]", "]"));
    assert_true(name_matches("[a-]", "-"));
    assert_true(name_matches("[-a]", "-"));
    assert_true(name_matches("[\\]]", "]"));
    assert_true(name_matches("x[*?]", "x*"));
    assert_false(name_matches("x[*?]", "xy"));
    assert_true(name_matches("[\xc3-\xc4]", "\xc3"));
    assert_true(name_matches("*[0-9][0-9]", "log42"));
    assert_false(name_matches("*[0-9][0-9]", "log4"));
}

static bool path_matches(const char *pattern, const char *path)
{
    path_pattern parsed;
    assert_null(path_pattern_parse(&parsed, pattern));
    path_positions at = path_pattern_start(&parsed);
    bool is_whole = false;
    char *copy = strdup(path);
    assert_non_null(copy);
    char *rest = NULL;
    for (char *name = strtok_r(copy, "/", &rest); name != NULL;
         name = strtok_r(NULL, "/", &rest))
        at = path_pattern_step(&parsed, at, name, &is_whole);
    free(copy);
    return is_whole;
}

static void test_paths(void **state)
{
    (void)state;
    assert_true(path_matches("*.csv", "a.csv"));
    assert_false(path_matches("*.csv", "d/a.csv"));
    assert_true(path_matches("*/a.csv", "d/a.csv"));
    assert_false(path_matches("*/a.csv", "d/e/a.csv"));
    assert_true(path_matches("**/a.csv", "a.csv"));
    assert_true(path_matches("**/a.csv", "d/e/a.csv"));
    assert_true(path_matches("d/**/a.csv", "d/a.csv"));
    assert_true(path_matches("d/**/a.csv", "d/x/y/a.csv"));
    assert_false(path_matches("d/**/a.csv", "e/a.csv"));
    assert_true(path_matches("d/**", "d/x/y"));
    assert_false(path_matches("d/**", "d"));
    assert_true(path_matches("**", "d/x"));
    assert_true(path_matches("**/d/**/f", "a/d/b/d/f"));
    assert_false(path_matches("**/d/**/f", "a/b/f"));
    assert_true(path_matches("**/**/x", "x"));
    assert_true(path_matches("a**/x", "abc/x"));
    assert_false(path_matches("a**/x", "abc/d/x"));
    assert_true(path_matches("./a//./b", "a/b"));
}

static void test_wrong_ones(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "",   ".",   "a/..", "../a",  "[",    "a[b",
        "[]", "[!]", "x\\",  "a\\/b", "[\\]",
    };
    path_pattern parsed;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        if (path_pattern_parse(&parsed, wrong[i]) == NULL)
            fail_msg("%s is taken", wrong[i]);
    char long_one[2 * PATH_PATTERN_PARTS_MAX + 3];
    for (size_t i = 0; i < sizeof long_one; i++)
        long_one[i] = i % 2 == 0 ? 'a' : '/';
    long_one[2 * PATH_PATTERN_PARTS_MAX - 1] = '\0';
    assert_null(path_pattern_parse(&parsed, long_one));
    assert_true(path_matches(long_one, long_one));
    long_one[2 * PATH_PATTERN_PARTS_MAX - 1] = '/';
    long_one[2 * PATH_PATTERN_PARTS_MAX + 1] = '\0';
    assert_non_null(path_pattern_parse(&parsed, long_one));
}

static void test_literals(void **state)
{
    (void)state;
    assert_true(path_pattern_is_literal("data-1.csv", 10));
    assert_true(path_pattern_is_literal("a*", 1));
    assert_false(path_pattern_is_literal("a*", 2));
    assert_false(path_pattern_is_literal("[a]", 3));
    assert_false(path_pattern_is_literal("a?", 2));
    assert_false(path_pattern_is_literal("\\a", 2));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),    cmocka_unit_test(test_sets),
        cmocka_unit_test(test_paths),    cmocka_unit_test(test_wrong_ones),
        cmocka_unit_test(test_literals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
