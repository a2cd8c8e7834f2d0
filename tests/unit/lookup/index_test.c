/* SPDX-License-Identifier: MIT */
/* Lookups: buffers, threads, long records, newer states, damaged filters. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/fault_allocator.h"
#include "support/index_fixture.h"

static int setup(void **state)
{
    static index_fixture f;
    index_fixture_make(&f);
    index_fixture_write(&f, 0, "id,v\na,1\nb,2\nb,22\n");
    index_fixture_write(&f, 1, "v,id\r\n3,b\r\n4,c\r\n");
    *state = &f;
    return index_fixture_build(&f, 2) == KSV_OK ? 0 : -1;
}

static int teardown(void **state)
{
    index_fixture_remove(*state);
    return 0;
}

static ksv_index *open_index(index_fixture *f)
{
    ksv_index *index;
    assert_int_equal(ksv_index_open(f->directory, NULL, &index, &f->error),
                     KSV_OK);
    return index;
}

static void test_get_first(void **state)
{
    index_fixture *f = *state;
    ksv_index *index = open_index(f);
    char buffer[8];
    uint64_t length;
    bool found;
    ksv_receipt receipt = {0};
    assert_int_equal(ksv_get_first(index, "b", 1, buffer, sizeof buffer,
                                   &length, &found, &receipt, NULL),
                     KSV_OK);
    assert_true(found);
    assert_int_equal(length, 3);
    assert_memory_equal(buffer, "b,2", 3);
    assert_int_equal(receipt.keys, 1);
    assert_int_equal(receipt.found, 1);
    assert_int_equal(receipt.data_reads, 1);
    buffer[2] = '#';
    assert_int_equal(
        ksv_get_first(index, "b", 1, buffer, 2, &length, &found, NULL, NULL),
        KSV_OK);
    assert_int_equal(length, 3);
    assert_memory_equal(buffer, "b,#", 3);
    assert_int_equal(ksv_get_first(index, "zz", 2, buffer, sizeof buffer,
                                   &length, &found, NULL, NULL),
                     KSV_OK);
    assert_false(found);
    assert_int_equal(ksv_get_first(index, "", 0, buffer, sizeof buffer, &length,
                                   &found, NULL, NULL),
                     KSV_OK);
    assert_false(found);
    ksv_index_close(index);
}

static bool count_visit(void *ctx, size_t key_number, const ksv_record *record)
{
    (void)key_number;
    (void)record;
    ++*(int *)ctx;
    return true;
}

/* Nothing at no address is no error. */
static void test_nothing(void **state)
{
    index_fixture *f = *state;
    ksv_index *index = open_index(f);
    uint64_t length;
    bool found;
    assert_int_equal(
        ksv_get_first(index, "b", 1, NULL, 0, &length, &found, NULL, NULL),
        KSV_OK);
    assert_true(found);
    assert_int_equal(length, 3);
    const ksv_key keys[] = {{NULL, 0}, {NULL, 0}, {"b", 1}};
    const ksv_lookup_options scan = {.linear_scan = true};
    const ksv_lookup_options *const both[] = {NULL, &scan};
    for (int i = 0; i < 2; i++) {
        int visits = 0;
        assert_int_equal(ksv_get(index, NULL, 0, both[i], count_visit, &visits,
                                 NULL, NULL, NULL),
                         KSV_OK);
        assert_int_equal(visits, 0);
        assert_int_equal(ksv_get(index, keys, 3, both[i], count_visit, &visits,
                                 NULL, NULL, NULL),
                         KSV_OK);
        assert_int_equal(visits, 5);
    }
    ksv_index_close(index);
}

static void test_has_and_maybe(void **state)
{
    index_fixture *f = *state;
    ksv_index *index = open_index(f);
    const ksv_key keys[] = {{"a", 1}, {"nope", 4}, {"c", 1}, {"", 0}};
    bool found[4];
    ksv_receipt receipts[4];
    assert_int_equal(
        ksv_has(index, keys, 4, false, found, NULL, receipts, NULL), KSV_OK);
    assert_true(found[0] && !found[1] && found[2] && !found[3]);
    assert_int_equal(receipts[0].data_reads, 1);
    ksv_receipt sum = {0};
    assert_int_equal(ksv_has(index, keys, 4, true, found, &sum, NULL, NULL),
                     KSV_OK);
    assert_true(found[0] && found[2] && !found[3]);
    assert_int_equal(sum.data_reads, 0);
    assert_int_equal(sum.table_pages_read, 0);
    ksv_index_close(index);
}

static void test_header_and_info(void **state)
{
    index_fixture *f = *state;
    ksv_index *index = open_index(f);
    char header[16];
    uint64_t length;
    assert_int_equal(
        ksv_index_header(index, header, sizeof header, &length, NULL), KSV_OK);
    assert_int_equal(length, 4);
    assert_memory_equal(header, "id,v", 4);
    ksv_index_info info;
    assert_int_equal(ksv_index_get_info(index, &info, NULL), KSV_OK);
    assert_int_equal(ksv_index_format(index), KSV_FORMAT_CSV);
    assert_int_equal(ksv_index_organisation(index), KSV_ORGANISATION_HASH);
    assert_int_equal(info.records, 5);
    assert_int_equal(info.distinct_keys, 3);
    assert_int_equal(info.file_count, 2);
    assert_string_equal(info.files[1].file, f->paths[1]);
    assert_int_equal(info.files[1].state, KSV_STATE_OK);
    assert_string_equal(info.key, "id");
    index_fixture_write(f, 1, "v,id\n");
    assert_int_equal(unlink(f->paths[0]), 0);
    sleep(2); /* the state of a file is believed for a second */
    assert_int_equal(ksv_index_get_info(index, &info, NULL), KSV_OK);
    assert_int_equal(info.files[0].state, KSV_STATE_MISSING);
    assert_int_equal(info.files[1].state, KSV_STATE_STALE);
    ksv_index_close(index);
}

typedef struct sharer {
    pthread_t thread;
    ksv_index *index;
    bool right;
} sharer;

static void *share(void *ctx)
{
    sharer *s = ctx;
    s->right = true;
    for (int i = 0; i < 200; i++) {
        char buffer[8];
        uint64_t length;
        bool found;
        const char *key = i % 2 == 0 ? "c" : "absent";
        ksv_status status =
            ksv_get_first(s->index, key, strlen(key), buffer, sizeof buffer,
                          &length, &found, NULL, NULL);
        s->right &= status == KSV_OK && found == (i % 2 == 0) &&
                    (!found || memcmp(buffer, "4,c", 3) == 0);
    }
    return NULL;
}

static void test_threads_share_an_index(void **state)
{
    index_fixture *f = *state;
    sharer sharers[4];
    ksv_index *index = open_index(f);
    for (size_t i = 0; i < 4; i++) {
        sharers[i].index = index;
        assert_int_equal(
            pthread_create(&sharers[i].thread, NULL, share, &sharers[i]), 0);
    }
    for (size_t i = 0; i < 4; i++) {
        pthread_join(sharers[i].thread, NULL);
        assert_true(sharers[i].right);
    }
    ksv_index_close(index);
}

/* An open index goes on when a build has replaced what it has not opened yet.
 */
static void test_build_beside_an_open_index(void **state)
{
    index_fixture *f = *state;
    ksv_index *index = open_index(f);
    index_fixture_write(f, 0, "id,v\na,100\n");
    assert_int_equal(index_fixture_build(f, 2), KSV_OK);
    char buffer[8];
    uint64_t length;
    bool found;
    assert_int_equal(ksv_get_first(index, "a", 1, buffer, sizeof buffer,
                                   &length, &found, NULL, &f->error),
                     KSV_OK);
    assert_true(found);
    assert_memory_equal(buffer, "a,100", 5);
    ksv_index_close(index);
}

#define LONG_BYTES (20u * 1024 * 1024)

static bool read_long(void *ctx, size_t key_number, const ksv_record *record)
{
    (void)key_number;
    assert_non_null(record);
    assert_null(record->data);
    assert_int_equal(record->length, LONG_BYTES + 5);
    static char piece[100000];
    uint64_t at = 0;
    for (;;) {
        size_t got;
        assert_int_equal(
            ksv_record_read(record, at, piece, sizeof piece, &got, NULL),
            KSV_OK);
        if (got == 0)
            break;
        for (size_t i = 0; i < got; i++)
            if (at + i >= 5)
                assert_int_equal(piece[i], 'x');
        at += got;
    }
    *(uint64_t *)ctx = at;
    return true;
}

static void test_long_record(void **state)
{
    index_fixture *f = *state;
    char *text = malloc(LONG_BYTES + 64);
    size_t size = (size_t)sprintf(text, "id,v\nlong,");
    memset(text + size, 'x', LONG_BYTES);
    memcpy(text + size + LONG_BYTES, "\nz,1\n", 6);
    index_fixture_write(f, 2, text);
    free(text);
    assert_int_equal(index_fixture_build(f, 3), KSV_OK);
    ksv_index *index = open_index(f);
    const ksv_key key = {"long", 4};
    uint64_t bytes = 0;
    assert_int_equal(
        ksv_get(index, &key, 1, NULL, read_long, &bytes, NULL, NULL, NULL),
        KSV_OK);
    assert_int_equal(bytes, LONG_BYTES + 5);
    ksv_index_close(index);
    assert_string_equal(index_fixture_get(f, "z"), "z,1\n");
}

static void count_warning(void *ctx, const ksv_error *problem, bool is_warning)
{
    assert_true(is_warning);
    assert_non_null(strstr(problem->path, ".ksf"));
    ++*(int *)ctx;
}

static void test_damaged_filter_is_a_warning(void **state)
{
    index_fixture *f = *state;
    char path[TEMP_DIR_PATH_BYTES + 64];
    snprintf(path, sizeof path, "%s/0000000000000001.ksf", f->directory);
    assert_int_equal(truncate(path, 100), 0);
    int warnings = 0;
    ksv_index_options options;
    ksv_index_options_init(&options);
    options.problem = count_warning;
    options.problem_ctx = &warnings;
    ksv_index *index;
    assert_int_equal(ksv_index_open(f->directory, &options, &index, NULL),
                     KSV_OK);
    const ksv_key keys[] = {{"a", 1}, {"nope", 4}};
    bool found[2];
    assert_int_equal(ksv_has(index, keys, 2, false, found, NULL, NULL, NULL),
                     KSV_OK);
    assert_true(found[0] && !found[1]);
    assert_int_equal(warnings, 1);
    ksv_index_close(index);
}

static void test_out_of_memory(void **state)
{
    index_fixture *f = *state;
    size_t at = 1;
    for (;; at++) {
        fault_allocator fault;
        fault_allocator_init(&fault, at);
        ksv_index_options options;
        ksv_index_options_init(&options);
        options.allocator = &fault.allocator;
        ksv_index *index = NULL;
        ksv_status status =
            ksv_index_open(f->directory, &options, &index, NULL);
        char buffer[8];
        uint64_t length;
        bool found = false;
        if (status == KSV_OK)
            status = ksv_get_first(index, "c", 1, buffer, sizeof buffer,
                                   &length, &found, NULL, NULL);
        ksv_index_close(index);
        assert_true(fault_allocator_is_clean(&fault));
        if (fault.calls < at) {
            assert_true(found);
            break;
        }
        assert_int_equal(status, KSV_ERROR_MEMORY);
    }
    assert_true(at > 20);
}

int main(void)
{
#define WITH_FIXTURE(test) \
    cmocka_unit_test_setup_teardown(test, setup, teardown)
    const struct CMUnitTest tests[] = {
        WITH_FIXTURE(test_get_first),
        WITH_FIXTURE(test_nothing),
        WITH_FIXTURE(test_has_and_maybe),
        WITH_FIXTURE(test_header_and_info),
        WITH_FIXTURE(test_threads_share_an_index),
        WITH_FIXTURE(test_build_beside_an_open_index),
        WITH_FIXTURE(test_long_record),
        WITH_FIXTURE(test_damaged_filter_is_a_warning),
        WITH_FIXTURE(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
