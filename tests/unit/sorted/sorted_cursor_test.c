/* SPDX-License-Identifier: MIT */
/* A cursor at the edges of a table, when its file fails, and in many threads.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <pthread.h>

#include <cmocka.h>

#include "support/sorted_fixture.h"

static void open_all(sorted_fixture *f, sorted_reader **reader,
                     sorted_cursor **cursor)
{
    sorted_fixture_init(f, sorted_test_options(40, 1, 200),
                        sorted_sample_set(false));
    assert_int_equal(sorted_reader_open(&f->file.base, NULL, reader, NULL),
                     KSV_OK);
    assert_int_equal(sorted_cursor_open(*reader, cursor, NULL), KSV_OK);
}

static void close_all(sorted_fixture *f, sorted_reader *reader,
                      sorted_cursor *cursor)
{
    sorted_cursor_close(cursor);
    sorted_reader_close(reader);
    sorted_fixture_release(f);
}

static void test_whole_way_in_both_directions(void **state)
{
    (void)state;
    sorted_fixture f;
    sorted_reader *reader;
    sorted_cursor *cursor;
    static const uint8_t above[64] = {255, 255, 255, 255};
    open_all(&f, &reader, &cursor);
    size_t all = f.set.count + 1;
    sorted_key least = {above, 0}, most = {above, sizeof above};
    assert_int_equal(sorted_check_walk(&f.set, cursor, least, false, all),
                     KSV_OK);
    assert_int_equal(sorted_check_walk(&f.set, cursor, most, true, all),
                     KSV_OK);
    assert_int_equal(sorted_check_walk(&f.set, cursor, least, true, 1), KSV_OK);
    assert_int_equal(sorted_check_walk(&f.set, cursor, most, false, 1), KSV_OK);
    close_all(&f, reader, cursor);
}

static void test_turning_round(void **state)
{
    (void)state;
    sorted_fixture f;
    sorted_reader *reader;
    sorted_cursor *cursor;
    bool found;
    random_source random = {5};
    open_all(&f, &reader, &cursor);
    assert_int_equal(sorted_cursor_first(cursor, &found, NULL), KSV_OK);
    size_t at = 0;
    for (size_t i = 0; i < 20000; i++) {
        assert_true(found);
        assert_true(sorted_cursor_payload(cursor) == f.set.entries[at].payload);
        bool back = at + 1 == f.set.count ||
                    (at > 0 && random_below(&random, 9) < (i / 3000 % 2) + 4);
        at = back ? at - 1 : at + 1;
        ksv_status status = back ? sorted_cursor_previous(cursor, &found, NULL)
                                 : sorted_cursor_next(cursor, &found, NULL);
        assert_int_equal(status, KSV_OK);
    }
    close_all(&f, reader, cursor);
}

static bool stop_at_third(void *ctx, uint64_t payload)
{
    (void)payload;
    return ++*(int *)ctx < 3;
}

static void test_visits_end_early(void **state)
{
    (void)state;
    sorted_fixture f;
    sorted_reader *reader;
    sorted_cursor *cursor;
    uint8_t repeated[20];
    int visited = 0;
    memset(repeated, 'm', sizeof repeated);
    open_all(&f, &reader, &cursor);
    assert_int_equal(sorted_cursor_find(cursor,
                                        (sorted_key){repeated, sizeof repeated},
                                        stop_at_third, &visited, NULL),
                     KSV_OK);
    assert_int_equal(visited, 3);
    close_all(&f, reader, cursor);
}

/* A read fails; the next answer of the same cursor is right again. */
static void test_failed_reads(void **state)
{
    (void)state;
    sorted_fixture f;
    sorted_fixture_init(&f, sorted_test_options(40, 1, 200),
                        sorted_sample_set(false));
    for (uint64_t at = 0; at < 40; at++) {
        sorted_reader *reader;
        sorted_cursor *cursor = NULL;
        byte_file_reset_counters(&f.file);
        f.file.failing_read = at;
        ksv_status status =
            sorted_reader_open(&f.file.base, NULL, &reader, NULL);
        if (status == KSV_OK)
            status = sorted_cursor_open(reader, &cursor, NULL);
        bool failed = status != KSV_OK;
        for (size_t i = 0; i < 60 && cursor != NULL; i++) {
            sorted_key key = sorted_key_of(&f.set, i * 13);
            status = sorted_check_walk(&f.set, cursor, key, i % 2 == 0, 5);
            if (status == KSV_OK)
                status = sorted_check_find(&f.set, cursor, key);
            assert_true(status == KSV_OK ||
                        (status == KSV_ERROR_IO && !failed));
            failed = failed || status != KSV_OK;
        }
        assert_true(failed);
        sorted_cursor_close(cursor);
        sorted_reader_close(reader);
    }
    f.file.failing_read = BYTE_FILE_NEVER;
    sorted_fixture_release(&f);
}

typedef struct reader_share {
    const key_set *set;
    sorted_reader *reader;
    size_t first;
    ksv_status status;
} reader_share;

static void *find_share(void *ctx)
{
    reader_share *s = ctx;
    sorted_cursor *cursor;
    s->status = sorted_cursor_open(s->reader, &cursor, NULL);
    if (s->status != KSV_OK)
        return NULL;
    for (size_t i = s->first; i < s->set->count && s->status == KSV_OK; i += 3)
        s->status = sorted_check_find(s->set, cursor, sorted_key_of(s->set, i));
    sorted_cursor_close(cursor);
    return NULL;
}

/* Index nodes are loaded by whoever needs them first. */
static void test_threads_share_a_reader(void **state)
{
    (void)state;
    sorted_fixture f;
    sorted_fixture_init(&f, sorted_test_options(40, 1, 100),
                        sorted_sample_set(true));
    for (int round = 0; round < 20; round++) {
        sorted_reader *reader;
        reader_share shares[4];
        pthread_t threads[4];
        assert_int_equal(sorted_reader_open(&f.file.base, NULL, &reader, NULL),
                         KSV_OK);
        for (size_t i = 0; i < 4; i++) {
            shares[i] = (reader_share){&f.set, reader, i, KSV_OK};
            assert_int_equal(
                pthread_create(&threads[i], NULL, find_share, &shares[i]), 0);
        }
        for (size_t i = 0; i < 4; i++) {
            pthread_join(threads[i], NULL);
            assert_int_equal(shares[i].status, KSV_OK);
        }
        sorted_reader_close(reader);
    }
    sorted_fixture_release(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole_way_in_both_directions),
        cmocka_unit_test(test_turning_round),
        cmocka_unit_test(test_visits_end_early),
        cmocka_unit_test(test_failed_reads),
        cmocka_unit_test(test_threads_share_a_reader),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
