/* SPDX-License-Identifier: MIT */
/* Data files in the order of their keys through build, growth and lookups: the
 * tables are small, and the answers those of a model and of a linear scan. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <keysieve/keysieve.h>

#include "support/data_set.h"
#include "support/index_check.h"
#include "support/pace.h"

/* About 1.5 MB, above which tables are of spans. */
#define RECORDS 16000
#define KEYS 12000

static const uint8_t SEED[16] = "any seed will do";

typedef struct sorted_case {
    uint64_t seed;
    data_set set;
    random_source random;
    char index[TEMP_DIR_PATH_BYTES];
    ksv_build_report report;
} sorted_case;

static void make(sorted_case *c, uint64_t seed, ksv_format format)
{
    memset(c, 0, sizeof *c);
    c->seed = seed;
    c->random.state = seed;
    data_set_make(&c->set, format, KEYS);
    c->set.in_order = true;
    temp_dir_path(&c->set.dir, "index", c->index);
}

static ksv_status build_with(sorted_case *c, const char *directory,
                             bool is_update, unsigned threads, bool unique,
                             ksv_error *error)
{
    const char *files[DATA_SET_FILES];
    size_t count = 0;
    for (size_t i = 0; i < c->set.file_count; i++)
        if (c->set.contents[i] != NULL)
            files[count++] = c->set.paths[i];
    ksv_format_options format;
    data_set_format(&c->set, &format);
    ksv_build_options options;
    ksv_build_options_init(&options);
    options.format = &format;
    options.organisation = KSV_ORGANISATION_SORTED;
    options.threads = threads;
    options.unique = unique;
    options.index_seed = SEED;
    return is_update
               ? ksv_update(directory, NULL, 0, &options, &c->report, error)
               : ksv_build(directory, files, count, &options, &c->report,
                           error);
}

static void build(sorted_case *c, bool is_update)
{
    ksv_error error;
    unsigned threads = 1 + (unsigned)random_below(&c->random, 4);
    if (build_with(c, c->index, is_update, threads, false, &error) != KSV_OK)
        fail_msg("seed %llu: %s: %s", (unsigned long long)c->seed, error.path,
                 error.text);
}

static void check_info(const sorted_case *c, uint64_t most_table_bytes)
{
    ksv_index *index;
    ksv_index_info info;
    assert_int_equal(ksv_index_open(c->index, NULL, &index, NULL), KSV_OK);
    assert_int_equal(ksv_index_get_info(index, &info, NULL), KSV_OK);
    assert_int_equal(info.records, c->set.model.count);
    key_model *model = (key_model *)(uintptr_t)&c->set.model;
    assert_int_equal(info.distinct_keys, key_model_distinct_keys(model));
    if (info.table_bytes > most_table_bytes)
        fail_msg("seed %llu: tables of %llu bytes", (unsigned long long)c->seed,
                 (unsigned long long)info.table_bytes);
    ksv_index_close(index);
}

static void verify(const sorted_case *c, bool data)
{
    ksv_verify_options options;
    ksv_verify_options_init(&options);
    options.data = data;
    ksv_verify_report report;
    ksv_error error;
    if (ksv_verify(c->index, &options, &report, &error) != KSV_OK)
        fail_msg("seed %llu: verify: %s: %s", (unsigned long long)c->seed,
                 error.path, error.text);
    assert_int_equal(report.problems, 0);
}

static void check(sorted_case *c, uint64_t most_table_bytes)
{
    /* Each key's lookup splits 64 KiB of data, and no thread helps it. */
    const char *what =
        PACE_STEP > 3 ? NULL : index_check_directory(c->index, &c->set);
    if (what != NULL)
        fail_msg("seed %llu: %s", (unsigned long long)c->seed, what);
    check_info(c, most_table_bytes);
    verify(c, false);
    verify(c, true);
}

/* Files are written, grow in order by much and by little, and lose their order;
 * one is in order only as far as its last record. */
static void run(uint64_t seed, ksv_format format)
{
    sorted_case c;
    make(&c, seed, format);
    data_set_write(&c.set, 0, RECORDS, &c.random);
    data_set_write(&c.set, 1, RECORDS, &c.random);
    build(&c, false);
    check(&c, 2 * RECORDS / 10);
    c.set.last_keys[0] = KEYS / 2 + c.set.last_keys[0] / 2;
    data_set_append(&c.set, 0, RECORDS - 2000, &c.random);
    data_set_append(&c.set, 1, 1 + random_below(&c.random, 3), &c.random);
    build(&c, true);
    check_info(&c, 4 * RECORDS / 10);
    verify(&c, true);
    c.set.last_keys[1] = 0;
    data_set_append(&c.set, 1, 1, &c.random);
    data_set_append(&c.set, 0, 1, &c.random);
    build(&c, true);
    check(&c, UINT64_MAX);
    data_set_write(&c.set, 2, RECORDS, &c.random);
    c.set.last_keys[2] = 5;
    data_set_append(&c.set, 2, 1, &c.random);
    data_set_drop(&c.set, 1);
    build(&c, false);
    build(&c, true);
    check(&c, UINT64_MAX);
    data_set_remove(&c.set);
}

static void test_csv(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= PACE_ROUNDS(1); seed++)
        run(seed, KSV_FORMAT_CSV);
}

static void test_tsv(void **state)
{
    (void)state;
    if (PACE_STEP > 3)
        skip(); /* of threads csv says as much */
    run(11, KSV_FORMAT_TSV);
}

static size_t read_table(const char *directory, uint8_t *data, size_t room)
{
    char path[TEMP_DIR_PATH_BYTES + 32];
    snprintf(path, sizeof path, "%s/0000000000000001.kss", directory);
    FILE *in = fopen(path, "rb");
    assert_non_null(in);
    size_t size = fread(data, 1, room, in);
    fclose(in);
    return size;
}

static void test_any_number_of_threads(void **state)
{
    (void)state;
    static uint8_t tables[2][1 << 16];
    sorted_case c;
    make(&c, 21, KSV_FORMAT_CSV);
    /* Workers get 2 MiB each at least. */
    data_set_write(&c.set, 0, 6 * RECORDS, &c.random);
    size_t sizes[2];
    for (unsigned i = 0; i < 2; i++) {
        char directory[TEMP_DIR_PATH_BYTES];
        temp_dir_path(&c.set.dir, i == 0 ? "one" : "many", directory);
        assert_int_equal(
            build_with(&c, directory, false, i == 0 ? 1 : 4, false, NULL),
            KSV_OK);
        assert_int_equal(c.report.distinct_keys,
                         key_model_distinct_keys(&c.set.model));
        sizes[i] = read_table(directory, tables[i], sizeof tables[i]);
    }
    assert_true(sizes[0] < sizeof tables[0]);
    assert_int_equal(sizes[0], sizes[1]);
    assert_memory_equal(tables[0], tables[1], sizes[0]);
    data_set_remove(&c.set);
}

/* A key twice in one file, and in two of them. */
static void test_unique(void **state)
{
    (void)state;
    sorted_case c;
    ksv_error error;
    make(&c, 31, KSV_FORMAT_CSV);
    data_set_write(&c.set, 0, RECORDS, &c.random);
    assert_int_equal(build_with(&c, c.index, false, 2, true, &error),
                     KSV_ERROR_DUPLICATE);
    assert_string_equal(error.path, c.set.paths[0]);
    data_set_remove(&c.set);
}

static void change(const sorted_case *c, size_t at, const char *text)
{
    FILE *f = fopen(c->set.paths[0], "r+b");
    assert_non_null(f);
    assert_int_equal(fseek(f, (long)at, SEEK_SET), 0);
    assert_int_equal(fwrite(text, 1, strlen(text), f), strlen(text));
    assert_int_equal(fclose(f), 0);
}

static ksv_status get(const sorted_case *c, const char *key, ksv_error *error)
{
    ksv_index *index;
    assert_int_equal(ksv_index_open(c->index, NULL, &index, NULL), KSV_OK);
    ksv_key wanted = {key, strlen(key)};
    bool found;
    ksv_status status =
        ksv_has(index, &wanted, 1, false, &found, NULL, NULL, error);
    ksv_index_close(index);
    return status;
}

static void test_changed_data(void **state)
{
    (void)state;
    sorted_case c;
    ksv_error error;
    make(&c, 41, KSV_FORMAT_CSV);
    data_set_write(&c.set, 0, RECORDS, &c.random);
    build(&c, false);
    assert_int_equal(get(&c, "key 00000001", &error), KSV_OK);
    change(&c, c.set.sizes[0] / 2, "\n");
    assert_int_equal(get(&c, "key 00000001", &error), KSV_ERROR_STALE);
    assert_string_equal(error.path, c.set.paths[0]);
    assert_int_equal(unlink(c.set.paths[0]), 0);
    assert_int_equal(get(&c, "key 00000001", &error), KSV_ERROR_STALE);
    data_set_remove(&c.set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_csv),
        cmocka_unit_test(test_tsv),
        cmocka_unit_test(test_any_number_of_threads),
        cmocka_unit_test(test_unique),
        cmocka_unit_test(test_changed_data),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
