/* SPDX-License-Identifier: MIT */
/* The bytes of an index do not depend on threads or memory, and working memory
 * keeps its bound. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <keysieve/keysieve.h>

#include "io/file.h"
#include "support/fault_allocator.h"
#include "support/organisations.h"
#include "support/pace.h"
#include "support/random.h"
#include "support/temp_dir.h"

/* Smaller bounds are taken as this one. */
#define LEAST_MEMORY ((uint64_t)32 << 20)

static const uint8_t SEED[16] = "any seed will do";

typedef struct build_case {
    unsigned threads;
    uint64_t memory_bytes;
} build_case;

typedef struct input {
    temp_dir dir;
    char paths[40][TEMP_DIR_PATH_BYTES];
    const char *files[40];
    size_t file_count;
} input;

/* A file of `lines` lines with keys of `keys` different ones (0: any). */
static void write_file(input *in, size_t lines, uint64_t keys,
                       random_source *random)
{
    size_t number = in->file_count++;
    char name[32];
    snprintf(name, sizeof name, "%zu.txt", number);
    in->files[number] = temp_dir_path(&in->dir, name, in->paths[number]);
    FILE *f = fopen(in->files[number], "w");
    assert_non_null(f);
    for (size_t i = 0; i < lines; i++)
        fprintf(f, "%llx\n",
                (unsigned long long)(keys > 0 ? random_below(random, keys)
                                              : random_next(random)));
    assert_int_equal(fclose(f), 0);
}

static void build(const input *in, const char *directory, const build_case *how,
                  const uint8_t *seed)
{
    fault_allocator counted;
    fault_allocator_init(&counted, 0);
    ksv_format_options format;
    ksv_format_options_init(&format);
    format.format = KSV_FORMAT_LINES;
    ksv_build_options options;
    ksv_build_options_init(&options);
    options.format = &format;
    options.organisation = organisation_tried;
    options.threads = how->threads;
    options.memory_bytes = how->memory_bytes;
    options.index_seed = seed;
    options.allocator = &counted.allocator;
    ksv_error error;
    ksv_build_report report;
    if (ksv_build(directory, in->files, in->file_count, &options, &report,
                  &error) != KSV_OK)
        fail_msg("%s: %s", error.path, error.text);
    assert_true(fault_allocator_is_clean(&counted));
    uint64_t bound =
        how->memory_bytes > LEAST_MEMORY ? how->memory_bytes : LEAST_MEMORY;
    if (how->memory_bytes > 0 && counted.peak_bytes > bound)
        fail_msg("%zu bytes were allocated at once", counted.peak_bytes);
}

typedef struct comparison {
    const char *one;
    const char *other;
    int sidecars;
    int different;
} comparison;

static byte_buffer read_file(const char *directory, const char *name,
                             const ksv_allocator *a)
{
    byte_buffer out;
    buffer_init(&out, a);
    char *path = path_join(a, directory, name);
    assert_int_equal(file_read_all(ksv_posix_file_system(), path,
                                   UINT64_C(1) << 30, &out, NULL),
                     KSV_OK);
    memory_free_string(a, path);
    return out;
}

static bool compare_file(void *ctx, const char *name)
{
    comparison *c = ctx;
    assert_null(strstr(name, ".tmp"));
    const char *ending = strrchr(name, '.');
    if (ending == NULL || strncmp(ending, ".ks", 3) != 0 || ending[3] == 'c')
        return true;
    ksv_allocator a = allocator_or_default(NULL);
    byte_buffer x = read_file(c->one, name, &a);
    byte_buffer y = read_file(c->other, name, &a);
    c->sidecars++;
    c->different += x.size != y.size || memcmp(x.data, y.data, x.size) != 0;
    buffer_release(&x);
    buffer_release(&y);
    return true;
}

static comparison compare(const char *one, const char *other)
{
    comparison c = {one, other, 0, 0};
    const ksv_file_system *fs = ksv_posix_file_system();
    assert_int_equal(fs->list(fs->ctx, one, compare_file, &c, NULL), KSV_OK);
    return c;
}

static void check_cases(input *in, const build_case *cases, size_t count,
                        int sidecars)
{
    char first[TEMP_DIR_PATH_BYTES], next[TEMP_DIR_PATH_BYTES];
    temp_dir_path(&in->dir, "first", first);
    build(in, first, &cases[0], SEED);
    for (size_t i = 1; i < count; i++) {
        char name[32];
        snprintf(name, sizeof name, "next%zu", i);
        temp_dir_path(&in->dir, name, next);
        build(in, next, &cases[i], SEED);
        comparison c = compare(first, next);
        assert_int_equal(c.sidecars, sidecars);
        if (c.different != 0)
            fail_msg("case %zu: %d sidecars differ", i, c.different);
    }
}

static void test_many_small_files(void **state)
{
    (void)state;
    random_source random = {1};
    input in = {.file_count = 0};
    temp_dir_make(&in.dir);
    write_file(&in, 0, 0, &random); /* decides nothing */
    for (int i = 1; i < 40; i++)
        write_file(&in, random_below(&random, i % 7 == 0 ? 20000 : 300),
                   i % 3 == 0 ? 50 : 0, &random);
    static const build_case cases[] = {{1, 0}, {2, 0},        {4, 0},
                                       {0, 0}, {4, 64 << 20}, {3, 1}};
    /* A filter a file that has keys, and the segment of all. */
    check_cases(&in, cases, 1 + PACE_ROUNDS(5), 39 + 2);
    char first[TEMP_DIR_PATH_BYTES], other[TEMP_DIR_PATH_BYTES];
    temp_dir_path(&in.dir, "first", first);
    temp_dir_path(&in.dir, "other", other);
    static const uint8_t seed[16] = "another one";
    build(&in, other, &cases[0], seed);
    assert_int_equal(compare(first, other).different, 39 + 2);
    temp_dir_remove(&in.dir);
}

/* Enough for a limit of 32 MiB to be passed. */
static void test_large_file(void **state)
{
    (void)state;
    random_source random = {2};
    input in = {.file_count = 0};
    temp_dir_make(&in.dir);
    write_file(&in, 10, 0, &random);
    write_file(&in, 1400000, 0, &random);
    write_file(&in, 300000, 2, &random);
    static const build_case cases[] = {
        {1, 0}, {2, 32 << 20}, {4, 0}, {1, 32 << 20}, {2, 64 << 20}};
    check_cases(&in, cases, 1 + PACE_ROUNDS(4), 6);
    temp_dir_remove(&in.dir);
}

/* What a killed build has left goes. */
static void test_leftovers(void **state)
{
    (void)state;
    random_source random = {3};
    input in = {.file_count = 0};
    temp_dir_make(&in.dir);
    write_file(&in, 100, 0, &random);
    static const build_case how = {1, 0};
    char directory[TEMP_DIR_PATH_BYTES], path[TEMP_DIR_PATH_BYTES + 64];
    temp_dir_path(&in.dir, "ix", directory);
    build(&in, directory, &how, SEED);
    static const char *const names[] = {"00000000000000ff.spill.tmp",
                                        "0000000000000001.merge.tmp",
                                        "0000000000000002.kst.tmp"};
    for (size_t i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s", directory, names[i]);
        FILE *f = fopen(path, "w");
        assert_non_null(f);
        fclose(f);
    }
    build(&in, directory, &how, NULL);
    assert_int_equal(compare(directory, directory).sidecars, 2);
    temp_dir_remove(&in.dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_many_small_files),
        cmocka_unit_test(test_large_file),
        cmocka_unit_test(test_leftovers),
    };
    int failures = 0;
    ORGANISATIONS_RUN_THREADS(tests, failures);
    return failures;
}
