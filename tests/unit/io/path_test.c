/* SPDX-License-Identifier: MIT */
/* One spelling for each path, and the way from one to another. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "io/file.h"
#include "support/fault_allocator.h"
#include "support/random.h"
#include "support/temp_dir.h"

typedef struct fixture {
    temp_dir dir;
    fault_allocator memory;
    ksv_error error;
    char path[TEMP_DIR_PATH_BYTES];
    char expected[TEMP_DIR_PATH_BYTES];
} fixture;

/* d/e/, file, link -> d, d/up -> .., flink -> file, dangling -> nothing */
static int set_up(void **state)
{
    static fixture f;
    memset(&f, 0, sizeof f);
    temp_dir_make(&f.dir);
    fault_allocator_init(&f.memory, 0);
    char path[TEMP_DIR_PATH_BYTES];
    int failed = mkdir(temp_dir_path(&f.dir, "d", path), 0700);
    failed |= mkdir(temp_dir_path(&f.dir, "d/e", path), 0700);
    failed |= symlink("d", temp_dir_path(&f.dir, "link", path));
    failed |= symlink("..", temp_dir_path(&f.dir, "d/up", path));
    failed |= symlink("file", temp_dir_path(&f.dir, "flink", path));
    failed |= symlink("nothing", temp_dir_path(&f.dir, "dangling", path));
    temp_dir_write(&f.dir, "file", "", 0);
    *state = &f;
    return failed;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    temp_dir_remove(&f->dir);
    return fault_allocator_is_clean(&f->memory) ? 0 : 1;
}

static const char *at(fixture *f, const char *name)
{
    return temp_dir_path(&f->dir, name, f->path);
}

static void check_canonical(fixture *f, const char *path, const char *expected)
{
    char *canonical;
    assert_int_equal(
        path_canonical(path, &f->memory.allocator, &canonical, &f->error),
        KSV_OK);
    assert_string_equal(canonical, expected);
    memory_free_string(&f->memory.allocator, canonical);
}

static void test_spellings_become_one(void **state)
{
    fixture *f = *state;
    static const char *const CASES[][2] = {
        {"file", "file"},
        {"./file", "file"},
        {"d/../file", "file"},
        {".//d//..//file", "file"},
        {"d/e/../../file", "file"},
        {"link/e/x", "d/e/x"},
        {"link/../file", "file"},
        {"d/up/file", "file"},
        {"d/up/link/e/f", "d/e/f"},
        {"missing", "missing"},
        {"d/missing//", "d/missing"},
        /* The last component stays what it is. */
        {"flink", "flink"},
        {"link", "link"},
        {"link/", "link"},
        {"dangling", "dangling"},
        {"d/up", "d/up"},
        /* Without one, a directory is named. */
        {"d/e/.", "d/e"},
        {"d/e/..", "d"},
        {"link/.", "d"},
        {"link/e/../", "d"},
        {"d/\xff\xfe\x01 name", "d/\xff\xfe\x01 name"},
        {"..x", "..x"},
        {"...", "..."},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++)
        check_canonical(f, at(f, CASES[i][0]),
                        temp_dir_path(&f->dir, CASES[i][1], f->expected));
}

/* One memo for spellings in any order: what it remembers changes no answer, and
 * what cannot be resolved leaves nothing behind. */
static void test_near_is_the_same(void **state)
{
    fixture *f = *state;
    static const char *const NAMES[] = {
        "file",      "./file",   "d/../file", "link/e/x",   "link/e/y",
        "d/e/x",     "missing",  "missing/x", "d/up/link/", "d/e/..",
        "link/.",    "file/x",   "link/",     "d//e/f",     "d/e/f",
        "dangling/", "flink/xy", "",          "d/",         "d/e/."};
    random_source random = {11};
    path_memo memo = {.allocator = &f->memory.allocator};
    for (int i = 0; i < 2000; i++) {
        const char *path =
            at(f, NAMES[random_below(&random, sizeof NAMES / sizeof *NAMES)]);
        char *alone, *near;
        ksv_error error;
        ksv_status wanted =
            path_canonical(path, &f->memory.allocator, &alone, &f->error);
        assert_int_equal(path_canonical_near(&memo, path, &near, &error),
                         wanted);
        assert_true((alone == NULL) == (near == NULL));
        if (wanted != KSV_OK) {
            assert_int_equal(error.os_errno, f->error.os_errno);
            assert_string_equal(error.path, f->error.path);
            continue;
        }
        assert_string_equal(near, alone);
        memory_free_string(&f->memory.allocator, alone);
        memory_free_string(&f->memory.allocator, near);
    }
    path_memo_release(&memo);
    path_memo_release(&memo);
}

/* The directory of the path before is not asked about again, another one is. */
static void test_near_remembers(void **state)
{
    fixture *f = *state;
    const ksv_allocator *a = &f->memory.allocator;
    path_memo memo = {.allocator = a};
    char *out;
    char moved[TEMP_DIR_PATH_BYTES];
    assert_int_equal(path_canonical_near(&memo, at(f, "link/e/x"), &out, NULL),
                     KSV_OK);
    memory_free_string(a, out);
    assert_int_equal(rename(at(f, "d"), temp_dir_path(&f->dir, "g", moved)), 0);
    assert_int_equal(path_canonical_near(&memo, at(f, "link/e/y"), &out, NULL),
                     KSV_OK);
    assert_string_equal(out, temp_dir_path(&f->dir, "d/e/y", f->expected));
    memory_free_string(a, out);
    assert_int_equal(path_canonical_near(&memo, at(f, "link/x"), &out, NULL),
                     KSV_ERROR_IO);
    assert_null(out);
    assert_int_equal(path_canonical_near(&memo, at(f, "link/e/y"), &out, NULL),
                     KSV_ERROR_IO);
    assert_int_equal(path_canonical_near(&memo, at(f, "g/e/y"), &out, NULL),
                     KSV_OK);
    assert_string_equal(out, temp_dir_path(&f->dir, "g/e/y", f->expected));
    memory_free_string(a, out);
    path_memo_release(&memo);
}

static void test_relative_paths_begin_where_the_process_is(void **state)
{
    fixture *f = *state;
    char before[TEMP_DIR_PATH_BYTES];
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(at(f, "link/e")), 0);
    check_canonical(f, "x", temp_dir_path(&f->dir, "d/e/x", f->expected));
    check_canonical(f, "../x", temp_dir_path(&f->dir, "d/x", f->expected));
    check_canonical(f, ".", temp_dir_path(&f->dir, "d/e", f->expected));
    check_canonical(f, "../..", f->dir.path);
    assert_int_equal(chdir(before), 0);
}

static void test_the_root(void **state)
{
    fixture *f = *state;
    check_canonical(f, "/", "/");
    check_canonical(f, "///", "/");
    check_canonical(f, "/..", "/");
    check_canonical(f, "//name", "/name");
}

static void test_long_names(void **state)
{
    fixture *f = *state;
    char name[260];
    memset(name, 'n', 255);
    name[255] = '\0';
    char path[TEMP_DIR_PATH_BYTES];
    temp_dir_path(&f->dir, name, path);
    check_canonical(f, path, path);
    static char slashes[9000];
    memset(slashes, '/', sizeof slashes - 2);
    slashes[sizeof slashes - 2] = 'x';
    check_canonical(f, slashes, "/x");
    char too_long[300];
    memset(too_long, 'n', 256);
    memcpy(too_long + 256, "/x", 3);
    char *out;
    assert_int_equal(
        path_canonical(at(f, too_long), &f->memory.allocator, &out, &f->error),
        KSV_ERROR_IO);
    assert_int_equal(f->error.os_errno, ENAMETOOLONG);
    assert_null(out);
}

static void test_a_directory_has_to_exist(void **state)
{
    fixture *f = *state;
    static const struct {
        const char *path;
        int os_errno;
    } CASES[] = {{"missing/x", ENOENT},
                 {"file/x", ENOTDIR},
                 {"dangling/x", ENOENT},
                 {"d/../no/..", ENOENT},
                 {"flink/x", ENOTDIR}};
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        char *out = f->path;
        assert_int_equal(path_canonical(at(f, CASES[i].path),
                                        &f->memory.allocator, &out, &f->error),
                         KSV_ERROR_IO);
        assert_null(out);
        assert_int_equal(f->error.os_errno, CASES[i].os_errno);
        assert_string_equal(f->error.path, f->path);
    }
    char *out;
    assert_int_equal(path_canonical("", &f->memory.allocator, &out, &f->error),
                     KSV_ERROR_IO);
    assert_int_equal(f->error.os_errno, ENOENT);
}

static void test_real_directories(void **state)
{
    fixture *f = *state;
    static const char *const SPELLINGS[] = {"d", "link", "link/", "d/e/..",
                                            "d/up/link//."};
    char *out;
    for (size_t i = 0; i < sizeof SPELLINGS / sizeof SPELLINGS[0]; i++) {
        assert_int_equal(path_real_directory(at(f, SPELLINGS[i]),
                                             &f->memory.allocator, &out,
                                             &f->error),
                         KSV_OK);
        assert_string_equal(out, temp_dir_path(&f->dir, "d", f->expected));
        memory_free_string(&f->memory.allocator, out);
    }
    static const char *const NONE[] = {"file", "missing", "flink", "dangling"};
    for (size_t i = 0; i < sizeof NONE / sizeof NONE[0]; i++)
        assert_int_equal(path_real_directory(at(f, NONE[i]),
                                             &f->memory.allocator, &out,
                                             &f->error),
                         KSV_ERROR_IO);
}

static void check_relative(fixture *f, const char *from, const char *to,
                           const char *expected)
{
    char *out;
    assert_int_equal(
        path_relative(from, to, &f->memory.allocator, &out, &f->error), KSV_OK);
    assert_string_equal(out, expected);
    memory_free_string(&f->memory.allocator, out);
}

static void test_relative_paths(void **state)
{
    fixture *f = *state;
    check_relative(f, "/a/b", "/a/b/c", "c");
    check_relative(f, "/a/b", "/a/c", "../c");
    check_relative(f, "/a/b", "/a/bc", "../bc");
    check_relative(f, "/a/bc", "/a/b", "../b");
    check_relative(f, "/a/b", "/x/y/z", "../../x/y/z");
    check_relative(f, "/a/b", "/a/b", ".");
    check_relative(f, "/a/b", "/a", "..");
    check_relative(f, "/a/b/c", "/a", "../..");
    check_relative(f, "/", "/a/b", "a/b");
    check_relative(f, "/a", "/", "..");
    check_relative(f, "/", "/", ".");
    char *out;
    assert_int_equal(
        path_relative("a", "/b", &f->memory.allocator, &out, &f->error),
        KSV_ERROR_ARGUMENT);
    assert_int_equal(
        path_relative("/a", "b", &f->memory.allocator, &out, &f->error),
        KSV_ERROR_ARGUMENT);
}

static void random_absolute(random_source *r, char out[64])
{
    static const char *const NAMES[] = {"a", "b", "ab", "aa"};
    size_t components = random_below(r, 5);
    strcpy(out, components == 0 ? "/" : "");
    for (size_t i = 0; i < components; i++) {
        strcat(out, "/");
        strcat(out, NAMES[random_below(r, 4)]);
    }
}

/* Walks `relative` from `from`, one component at a time. */
static void walk(const char *from, const char *relative, char out[256])
{
    strcpy(out, strcmp(from, "/") == 0 ? "" : from);
    char copy[256];
    snprintf(copy, sizeof copy, "%s", relative);
    char *rest;
    for (char *part = strtok_r(copy, "/", &rest); part != NULL;
         part = strtok_r(NULL, "/", &rest)) {
        if (strcmp(part, "..") == 0)
            *strrchr(out, '/') = '\0';
        else if (strcmp(part, ".") != 0)
            strcat(strcat(out, "/"), part);
    }
    if (out[0] == '\0')
        strcpy(out, "/");
}

static void test_relative_paths_lead_there(void **state)
{
    fixture *f = *state;
    random_source r = {7};
    for (int i = 0; i < 20000; i++) {
        char from[64], to[64], reached[256];
        random_absolute(&r, from);
        random_absolute(&r, to);
        char *out;
        assert_int_equal(
            path_relative(from, to, &f->memory.allocator, &out, &f->error),
            KSV_OK);
        walk(from, out, reached);
        assert_string_equal(reached, to);
        memory_free_string(&f->memory.allocator, out);
    }
}

static void test_join(void **state)
{
    fixture *f = *state;
    static const char *const CASES[][3] = {{"a", "b", "a/b"},
                                           {"a/", "b", "a/b"},
                                           {"/", "b", "/b"},
                                           {"", "b", "b"},
                                           {"/a/b", "", "/a/b/"}};
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        char *out = path_join(&f->memory.allocator, CASES[i][0], CASES[i][1]);
        assert_string_equal(out, CASES[i][2]);
        memory_free_string(&f->memory.allocator, out);
    }
    char *longer = path_append(&f->memory.allocator, "a/b", ".lock");
    assert_string_equal(longer, "a/b.lock");
    memory_free_string(&f->memory.allocator, longer);
}

static void test_no_memory(void **state)
{
    fixture *f = *state;
    f->memory.fail_after = true;
    char *out;
    for (size_t fail_at = 1; fail_at <= 2; fail_at++) {
        f->memory.calls = 0;
        f->memory.fail_at = fail_at;
        assert_int_equal(
            path_canonical(at(f, "d/x"), &f->memory.allocator, &out, &f->error),
            KSV_ERROR_MEMORY);
        path_memo memo = {.allocator = &f->memory.allocator};
        f->memory.calls = 0;
        assert_int_equal(path_canonical_near(&memo, at(f, "d/x"), &out, NULL),
                         KSV_ERROR_MEMORY);
        assert_null(memo.given);
        f->memory.calls = 0;
        assert_int_equal(path_real_directory(at(f, "d"), &f->memory.allocator,
                                             &out, &f->error),
                         KSV_ERROR_MEMORY);
    }
    f->memory.calls = 0;
    f->memory.fail_at = 1;
    assert_int_equal(
        path_relative("/a", "/b", &f->memory.allocator, &out, &f->error),
        KSV_ERROR_MEMORY);
    assert_null(path_join(&f->memory.allocator, "a", "b"));
    assert_null(path_append(&f->memory.allocator, "a", "b"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_spellings_become_one),
        TEST(test_near_is_the_same),
        TEST(test_near_remembers),
        TEST(test_relative_paths_begin_where_the_process_is),
        TEST(test_the_root),
        TEST(test_long_names),
        TEST(test_a_directory_has_to_exist),
        TEST(test_real_directories),
        TEST(test_relative_paths),
        TEST(test_relative_paths_lead_there),
        TEST(test_join),
        TEST(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
