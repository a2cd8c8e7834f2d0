/* SPDX-License-Identifier: MIT */
/* Reading whole files and exact pieces; clocks; random bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <errno.h>
#include <string.h>

#include <cmocka.h>

#include "io/file.h"
#include "io/memory_file_system.h"
#include "io/random.h"
#include "support/fault_allocator.h"
#include "support/fault_file_system.h"

typedef struct fixture {
    fault_allocator memory;
    ksv_file_system inner;
    fault_file_system fault;
    ksv_error error;
} fixture;

static int set_up(void **state)
{
    static fixture f;
    memset(&f, 0, sizeof f);
    fault_allocator_init(&f.memory, 0);
    if (memory_file_system_open(&f.memory.allocator, &f.inner, NULL) != KSV_OK)
        return 1;
    fault_file_system_open(&f.fault, &f.inner);
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    int leaks = fault_file_system_open_files(&f->fault) != 0;
    fault_file_system_close(&f->fault);
    memory_file_system_close(&f->inner);
    return leaks || !fault_allocator_is_clean(&f->memory);
}

static void put(fixture *f, const char *path, size_t size_bytes)
{
    ksv_file *file;
    assert_int_equal(f->inner.create(f->inner.ctx, path, &file, NULL), KSV_OK);
    for (size_t i = 0; i < size_bytes; i++) {
        uint8_t byte = (uint8_t)(i * 7);
        assert_int_equal(file->ops->append(file, &byte, 1, NULL), KSV_OK);
    }
    assert_int_equal(file->ops->close(file, NULL), KSV_OK);
}

static ksv_status read_all(fixture *f, uint64_t limit, byte_buffer *out)
{
    return file_read_all(&f->fault.fs, "a", limit, out, &f->error);
}

static void test_a_whole_file(void **state)
{
    fixture *f = *state;
    static const size_t sizes[] = {0, 1, 511, 512, 513, 5000};
    byte_buffer out;
    buffer_init(&out, &f->memory.allocator);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        put(f, "a", sizes[i]);
        buffer_clear(&out);
        assert_int_equal(buffer_append(&out, "head", 4, NULL), KSV_OK);
        assert_int_equal(read_all(f, sizes[i], &out), KSV_OK);
        assert_int_equal(out.size, sizes[i] + 4);
        assert_memory_equal(out.data, "head", 4);
        for (size_t k = 0; k < sizes[i]; k++)
            assert_int_equal(out.data[4 + k], (uint8_t)(k * 7));
        if (sizes[i] == 0)
            continue;
        assert_int_equal(read_all(f, sizes[i] - 1, &out), KSV_ERROR_CORRUPT);
        assert_string_equal(f->error.path, "a");
        assert_int_equal(out.size, sizes[i] + 4);
    }
    assert_int_equal(f->inner.remove(f->inner.ctx, "a", NULL), KSV_OK);
    assert_int_equal(read_all(f, 10, &out), KSV_ERROR_IO);
    assert_true(file_error_is_missing(&f->error));
    buffer_release(&out);
}

static void test_every_failure_of_a_whole_read(void **state)
{
    fixture *f = *state;
    put(f, "a", 3000);
    f->fault.plan.os_errno = EIO;
    bool failed = true;
    for (uint64_t at = 1; failed; at++) {
        fault_file_system_reset(&f->fault);
        f->fault.plan.at = at;
        byte_buffer out;
        buffer_init(&out, &f->memory.allocator);
        ksv_status status = read_all(f, 3000, &out);
        failed = fault_file_system_count(&f->fault) >= at;
        /* Closing a file that was read has no error. */
        bool closing = at == 4;
        assert_int_equal(status, failed && !closing ? KSV_ERROR_IO : KSV_OK);
        if (status != KSV_OK) {
            assert_string_equal(f->error.path, "a");
            assert_int_equal(out.size, 0);
        }
        buffer_release(&out);
        assert_true(at < 10);
    }
}

static void test_no_memory_for_a_whole_file(void **state)
{
    fixture *f = *state;
    put(f, "a", 3000);
    for (size_t fail_at = 1; fail_at <= 2; fail_at++) {
        byte_buffer out;
        buffer_init(&out, &f->memory.allocator);
        f->memory.calls = 0;
        f->memory.fail_at = fail_at;
        assert_int_equal(read_all(f, 3000, &out), KSV_ERROR_MEMORY);
        f->memory.fail_at = 0;
        buffer_release(&out);
    }
}

static void test_exact_pieces(void **state)
{
    (void)state;
    ksv_file *file;
    assert_int_equal(memory_file_over("0123456789", 10, NULL, &file, NULL),
                     KSV_OK);
    char piece[8];
    ksv_error e;
    assert_int_equal(file_read_exactly(file, 2, piece, 8, &e), KSV_OK);
    assert_memory_equal(piece, "23456789", 8);
    assert_int_equal(file_read_exactly(file, 3, piece, 8, &e),
                     KSV_ERROR_CORRUPT);
    assert_true(e.byte_offset == 10);
    assert_string_equal(e.text, "ends too early");
    assert_int_equal(file_read_exactly(file, UINT64_MAX, piece, 1, &e),
                     KSV_ERROR_CORRUPT);
    assert_int_equal(file_read_exactly(file, UINT64_MAX, piece, 0, &e), KSV_OK);
    ksv_file_info info;
    assert_int_equal(file->ops->info(file, &info, &e), KSV_OK);
    assert_true(info.size_bytes == 10 && info.kind == KSV_FILE_REGULAR);
    assert_int_equal(file->ops->append(file, "x", 1, &e), KSV_ERROR_ARGUMENT);
    assert_int_equal(file->ops->sync(file, &e), KSV_ERROR_ARGUMENT);
    file_close_quietly(file);
    file_close_quietly(NULL);

    fault_allocator memory;
    fault_allocator_init(&memory, 1);
    assert_int_equal(memory_file_over("", 0, &memory.allocator, &file, &e),
                     KSV_ERROR_MEMORY);
    assert_null(file);
    assert_int_equal(memory_file_over("", 0, &memory.allocator, &file, &e),
                     KSV_OK);
    size_t got;
    assert_int_equal(file->ops->read_at(file, 0, piece, 1, &got, &e), KSV_OK);
    assert_int_equal(got, 0);
    file_close_quietly(file);
    assert_true(fault_allocator_is_clean(&memory));
}

static void test_clocks(void **state)
{
    (void)state;
    uint64_t start = clock_monotonic_ns();
    clock_sleep_ns(2000000);
    uint64_t waited = clock_monotonic_ns() - start;
    assert_true(waited >= 2000000);
    /* Between 2020 and 2100. */
    assert_true(clock_realtime_ns() > (int64_t)1577836800 * 1000000000);
    assert_true(clock_realtime_ns() < (int64_t)4102444800 * 1000000000);
}

/* What it takes to wait for the tick after `ctime_ns`, which is now. */
static uint64_t waited_ns(int64_t ctime_ns)
{
    const ksv_file_info info = {.ctime_ns = ctime_ns, .mtime_ns = ctime_ns};
    uint64_t start_ns = clock_monotonic_ns();
    file_wait_for_tick(&info);
    return clock_monotonic_ns() - start_ns;
}

/* The next change has to show in the times, however coarse they are. */
static void test_tick(void **state)
{
    (void)state;
    const int64_t second_ns = 1000000000;
    int64_t now_ns = clock_realtime_ns();
    assert_true(waited_ns(now_ns | 1) > 5000000);
    assert_true(waited_ns((now_ns - 3 * second_ns) | 1) < 5000000 ||
                waited_ns((now_ns - 3 * second_ns) | 1) < 5000000);
    now_ns = clock_realtime_ns();
    int64_t whole_ns = now_ns - now_ns % second_ns;
    waited_ns(whole_ns);
    assert_true(clock_realtime_ns() >= whole_ns + 2 * second_ns);
}

static void test_random_bytes_differ(void **state)
{
    (void)state;
    uint8_t a[RANDOM_BYTES_MAX] = {0};
    uint8_t b[RANDOM_BYTES_MAX] = {0};
    assert_true(random_bytes(a, sizeof a));
    assert_true(random_bytes(b, sizeof b));
    assert_memory_not_equal(a, b, sizeof a);
    size_t ones = 0;
    for (size_t i = 0; i < sizeof a; i++)
        ones += (size_t)__builtin_popcount(a[i]);
    /* 1024 are expected; 11 standard deviations to both sides. */
    assert_in_range(ones, 776, 1272);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_whole_file),
        TEST(test_every_failure_of_a_whole_read),
        TEST(test_no_memory_for_a_whole_file),
        cmocka_unit_test(test_exact_pieces),
        cmocka_unit_test(test_clocks),
        cmocka_unit_test(test_tick),
        cmocka_unit_test(test_random_bytes_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
