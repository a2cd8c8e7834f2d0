/* SPDX-License-Identifier: MIT */
/* A gzip file inflated on a thread of its own: what comes of it is what comes
 * of it without one, whatever is wrong with the file and whenever it ends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <pthread.h>

#include "base/thread_pool.h"
#include "io/memory_file_system.h"
#include "support/fault_allocator.h"
#include "support/fault_file_system.h"
#include "support/gzip_data.h"

/* Some more pieces than the thread may be ahead. */
#define LARGE_BYTES 1900000

typedef struct fixture {
    ksv_file_system fs;
    gzip_bytes content;
    gzip_bytes file;
    gzip_bytes points[2];
    gzip_pass pass[2]; /* without the thread and with it */
} fixture;

static int set_up(void **state)
{
    static fixture f;
    memset(&f, 0, sizeof f);
    assert_int_equal(memory_file_system_open(NULL, &f.fs, NULL), KSV_OK);
    for (unsigned i = 0; i < 2; i++)
        f.pass[i] = (gzip_pass){
            .threads = i + 1, .spacing_bytes = 50000, .points_path = "points"};
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    gzip_bytes_release(&f->content);
    gzip_bytes_release(&f->file);
    for (unsigned i = 0; i < 2; i++) {
        gzip_bytes_release(&f->points[i]);
        gzip_bytes_release(&f->pass[i].content);
    }
    memory_file_system_close(&f->fs);
    return 0;
}

static void add_member(fixture *f, size_t size_bytes)
{
    random_source random = {size_bytes};
    const gzip_how how = gzip_how_usual();
    const size_t begin = f->content.size;
    gzip_content_add(&f->content, GZIP_CONTENT_MIXED, size_bytes, &random);
    gzip_member_add(&f->file, f->content.data + begin, size_bytes, &how, NULL,
                    0);
}

static void check_same_error(const ksv_error *a, const ksv_error *b)
{
    assert_int_equal(a->status, b->status);
    assert_int_equal(a->os_errno, b->os_errno);
    assert_true(a->byte_offset == b->byte_offset);
    assert_true(a->line == b->line);
    assert_string_equal(a->path, b->path);
    assert_string_equal(a->text, b->text);
}

/* `points` false: how many of them an ended pass has written is its own. */
static void check_same(fixture *f, bool points)
{
    const gzip_pass *a = &f->pass[0];
    const gzip_pass *b = &f->pass[1];
    assert_int_equal(a->status, b->status);
    assert_int_equal(a->warnings, b->warnings);
    assert_int_equal(a->stopped, b->stopped);
    assert_true(a->disk_hash == b->disk_hash);
    assert_int_equal(a->content.size, b->content.size);
    if (a->content.size != 0)
        assert_memory_equal(a->content.data, b->content.data, a->content.size);
    if (a->status != KSV_OK)
        check_same_error(&a->error, &b->error);
    if (!points)
        return;
    assert_int_equal(f->points[0].size, f->points[1].size);
    assert_memory_equal(f->points[0].data, f->points[1].data,
                        f->points[0].size);
}

static void run_one(fixture *f, unsigned i, const ksv_file_system *fs)
{
    fault_allocator allocator;
    fault_allocator_init(&allocator, 0);
    gzip_file_write(&f->fs, "points", NULL, 0);
    gzip_pass_run(&f->pass[i], fs, "data", &allocator.allocator);
    assert_true(fault_allocator_is_clean(&allocator));
    f->points[i].size = 0;
    gzip_file_read(&f->fs, "points", &f->points[i]);
}

static void run_both(fixture *f)
{
    gzip_file_write(&f->fs, "data", f->file.data, f->file.size);
    for (unsigned i = 0; i < 2; i++)
        run_one(f, i, &f->fs);
}

static void test_same_in_all(void **state)
{
    fixture *f = *state;
    add_member(f, LARGE_BYTES);
    add_member(f, 0);
    add_member(f, LARGE_BYTES / 3);
    run_both(f);
    assert_int_equal(f->pass[1].status, KSV_OK);
    assert_int_equal(f->pass[1].content.size, f->content.size);
    assert_memory_equal(f->pass[1].content.data, f->content.data,
                        f->content.size);
    check_same(f, true);
}

/* Each byte of a small file changed, then the file ended there. */
static void test_errors_at_every_byte(void **state)
{
    fixture *f = *state;
    add_member(f, 120);
    add_member(f, 0);
    add_member(f, 40);
    gzip_bytes_add(&f->file, "\0\0\0", 3);
    size_t refused = 0;
    for (size_t i = 2; i < f->file.size; i++) {
        f->file.data[i] ^= (uint8_t)(1u << i % 8);
        run_both(f);
        check_same(f, true);
        refused += f->pass[0].status != KSV_OK;
        f->file.data[i] ^= (uint8_t)(1u << i % 8);
        const size_t whole = f->file.size;
        f->file.size = i;
        run_both(f);
        check_same(f, true);
        f->file.size = whole;
    }
    assert_true(refused > f->file.size / 2);
}

/* Damage far into a file comes after all the content before it. */
static void test_late_errors(void **state)
{
    fixture *f = *state;
    add_member(f, LARGE_BYTES);
    add_member(f, 1000);
    random_source random = {7};
    for (int i = 0; i < 6; i++) {
        const size_t at = 20 + (size_t)random_below(&random, f->file.size - 20);
        f->file.data[at] ^= 0x55;
        run_both(f);
        check_same(f, true);
        f->file.data[at] ^= 0x55;
    }
    gzip_bytes_add(&f->file, "no gzip", 7);
    run_both(f);
    assert_int_equal(f->pass[1].status, KSV_ERROR_DATA);
    check_same(f, true);
    for (unsigned i = 0; i < 2; i++)
        f->pass[i].ignore_trailing_garbage = true;
    run_both(f);
    assert_int_equal(f->pass[1].warnings, DATAFILE_GARBAGE_IGNORED);
    check_same(f, true);
}

/* A read or an append of points that fails, each in turn. */
static void test_failing_files(void **state)
{
    fixture *f = *state;
    add_member(f, LARGE_BYTES);
    gzip_file_write(&f->fs, "data", f->file.data, f->file.size);
    const unsigned operations[] = {FAULT_READ, FAULT_APPEND};
    for (size_t o = 0; o < 2; o++) {
        uint64_t at = 0;
        bool failed = true;
        while (failed) {
            at++;
            for (unsigned i = 0; i < 2; i++) {
                fault_file_system fault;
                fault_file_system_open(&fault, &f->fs);
                fault.plan = (fault_plan){
                    .operations = operations[o], .at = at, .os_errno = 5};
                run_one(f, i, &fault.fs);
                assert_int_equal(fault_file_system_open_files(&fault), 0);
                failed = fault_file_system_count(&fault) >= at;
                fault_file_system_close(&fault);
            }
            assert_int_equal(failed, f->pass[1].status == KSV_ERROR_IO);
            check_same(f, true);
        }
        assert_true(at > 3);
    }
}

/* The stream is closed after so many pieces, with more of them ready or not. */
static void test_closed_early(void **state)
{
    fixture *f = *state;
    add_member(f, LARGE_BYTES);
    random_source random = {3};
    for (int round = 0; round < 12; round++) {
        const size_t stop = 1 + (size_t)random_below(&random, 10);
        f->pass[0].stop_after = f->pass[1].stop_after = stop;
        run_both(f);
        assert_int_equal(f->pass[1].status, KSV_OK);
        check_same(f, false);
    }
}

/* After the last piece come empty ones, after a failure the same again. */
static void check_after_end(fixture *f, ksv_status expected)
{
    gzip_file_write(&f->fs, "data", f->file.data, f->file.size);
    datafile_stream *stream;
    assert_int_equal(datafile_stream_open(&f->fs, "data", NULL, &stream, NULL),
                     KSV_OK);
    const datafile_stream_options options = {.threads = 2};
    assert_int_equal(datafile_stream_configure(stream, &options, NULL), KSV_OK);
    const uint8_t *data;
    size_t size;
    bool last = false;
    ksv_status status = KSV_OK;
    while (status == KSV_OK && !last)
        status = datafile_stream_next(stream, &data, &size, &last, NULL);
    assert_int_equal(status, expected);
    for (int i = 0; i < 9; i++) {
        assert_int_equal(
            datafile_stream_next(stream, &data, &size, &last, NULL), expected);
        assert_int_equal(size, 0);
        assert_int_equal(last, expected == KSV_OK);
    }
    datafile_stream_close(stream);
}

static void test_after_the_end(void **state)
{
    fixture *f = *state;
    add_member(f, 700000);
    check_after_end(f, KSV_OK);
    f->file.size -= 3;
    check_after_end(f, KSV_ERROR_DATA);
}

#if defined(__GLIBC__) && defined(_GNU_SOURCE)
/* Stacks that no address space has room for keep threads from starting. */
static void test_no_thread_to_be_had(void **state)
{
    fixture *f = *state;
    pthread_attr_t usual, huge;
    if (pthread_getattr_default_np(&usual) != 0)
        skip();
    assert_int_equal(pthread_attr_init(&huge), 0);
    assert_int_equal(pthread_attr_setstacksize(&huge, SIZE_MAX / 4 + 1), 0);
    if (pthread_setattr_default_np(&huge) != 0)
        skip();
    thread_pool *pool = NULL;
    const ksv_status refused = thread_pool_open(1, NULL, &pool, NULL);
    thread_pool_close(pool);
    add_member(f, LARGE_BYTES);
    run_both(f);
    const ksv_status status = f->pass[1].status;
    assert_int_equal(pthread_setattr_default_np(&usual), 0);
    (void)pthread_attr_destroy(&huge);
    (void)pthread_attr_destroy(&usual);
    assert_int_equal(refused, KSV_ERROR_MEMORY);
    assert_int_equal(status, KSV_OK);
    check_same(f, true);
}
#endif

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_same_in_all),
        TEST(test_errors_at_every_byte),
        TEST(test_late_errors),
        TEST(test_failing_files),
        TEST(test_closed_early),
        TEST(test_after_the_end),
#if defined(__GLIBC__) && defined(_GNU_SOURCE)
        TEST(test_no_thread_to_be_had),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
