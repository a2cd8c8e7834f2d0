/* SPDX-License-Identifier: MIT */
/* What the writer of sorted tables refuses, counts and survives. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/fault_allocator.h"
#include "support/sorted_fixture.h"

static sorted_key key_of(const char *text)
{
    return (sorted_key){(const uint8_t *)text, strlen(text)};
}

static sorted_writer *open_writer(byte_file *file, unsigned payload_bits)
{
    sorted_options options = sorted_test_options(payload_bits, 1, 0);
    sorted_writer *writer;
    byte_file_init(file);
    assert_int_equal(
        sorted_writer_open(&file->base, &options, NULL, 0, NULL, &writer, NULL),
        KSV_OK);
    return writer;
}

static void test_refused_options(void **state)
{
    (void)state;
    static const unsigned wrong[] = {0, 58, 64};
    byte_file file;
    byte_file_init(&file);
    for (size_t i = 0; i < 3; i++) {
        sorted_options options = sorted_test_options(wrong[i], 1, 0);
        sorted_writer *writer;
        assert_int_equal(sorted_writer_open(&file.base, &options, NULL, 0, NULL,
                                            &writer, NULL),
                         KSV_ERROR_ARGUMENT);
        assert_null(writer);
    }
    byte_file_release(&file);
}

/* A refused entry changes nothing. */
static void test_order(void **state)
{
    (void)state;
    byte_file file;
    sorted_writer *w = open_writer(&file, 8);
    bool is_new;
    sorted_info info;
    assert_int_equal(sorted_writer_add(w, key_of("b"), 5, &is_new, NULL),
                     KSV_OK);
    assert_true(is_new);
    assert_int_equal(sorted_writer_add(w, key_of("b"), 5, &is_new, NULL),
                     KSV_OK);
    assert_false(is_new);
    assert_int_equal(sorted_writer_add(w, key_of("b"), 4, NULL, NULL),
                     KSV_ERROR_ARGUMENT);
    assert_int_equal(sorted_writer_add(w, key_of("a"), 9, NULL, NULL),
                     KSV_ERROR_ARGUMENT);
    assert_int_equal(sorted_writer_add(w, key_of(""), 9, NULL, NULL),
                     KSV_ERROR_ARGUMENT);
    assert_int_equal(sorted_writer_add(w, key_of("c"), 256, NULL, NULL),
                     KSV_ERROR_ARGUMENT);
    assert_int_equal(sorted_writer_add(w, key_of("b\1"), 0, &is_new, NULL),
                     KSV_OK);
    assert_true(is_new);
    assert_int_equal(sorted_writer_finish(w, &info, NULL), KSV_OK);
    assert_int_equal(info.entries, 3);
    assert_int_equal(info.distinct_keys, 2);
    assert_int_equal(info.longest_run, 2);
    assert_int_equal(info.key_bytes, 4);
    assert_int_equal(info.data_blocks, 1);
    assert_int_equal(info.blocks, 1);
    assert_int_equal(info.file_bytes, file.size_bytes);
    assert_int_equal(sorted_writer_add(w, key_of("d"), 0, NULL, NULL),
                     KSV_ERROR_ARGUMENT);
    assert_int_equal(sorted_writer_finish(w, NULL, NULL), KSV_ERROR_ARGUMENT);
    sorted_writer_close(w);
    byte_file_release(&file);
}

static void test_empty_table(void **state)
{
    (void)state;
    byte_file file;
    sorted_writer *w = open_writer(&file, 1);
    key_set none = {NULL, 0, NULL};
    assert_int_equal(sorted_writer_finish(w, NULL, NULL), KSV_OK);
    sorted_writer_close(w);
    assert_int_equal(sorted_check_answers(&none, &file.base, 10, 1), KSV_OK);
    byte_file_release(&file);
}

static void test_sparse_is_kept(void **state)
{
    (void)state;
    byte_file file;
    sorted_options options = sorted_test_options(20, 3, 0);
    sorted_writer *w;
    sorted_reader *reader;
    sorted_info info;
    options.sparse = true;
    byte_file_init(&file);
    assert_int_equal(
        sorted_writer_open(&file.base, &options, NULL, 0, NULL, &w, NULL),
        KSV_OK);
    assert_int_equal(sorted_writer_finish(w, NULL, NULL), KSV_OK);
    sorted_writer_close(w);
    assert_int_equal(sorted_reader_open(&file.base, NULL, &reader, NULL),
                     KSV_OK);
    sorted_reader_get_info(reader, &info);
    assert_true(info.options.sparse);
    assert_int_equal(info.options.payload_bits, 20);
    assert_memory_equal(info.options.id, options.id, sizeof options.id);
    sorted_reader_close(reader);
    byte_file_release(&file);
}

/* After a failed append all fails, and nothing is left. */
static void test_failed_appends(void **state)
{
    (void)state;
    key_set set = key_set_make(KEYS_HEX, 30000, 30, 1);
    sorted_options options = sorted_test_options(30, 1, 0);
    key_set_sort(&set);
    for (uint64_t at = 0;; at++) {
        byte_file file;
        byte_file_init(&file);
        file.failing_append = at;
        ksv_status status =
            sorted_write(&file.base, &options, &set, NULL, NULL, NULL, NULL);
        byte_file_release(&file);
        if (status == KSV_OK) {
            assert_true(at > 1);
            break;
        }
        assert_int_equal(status, KSV_ERROR_IO);
    }
    key_set_release(&set);
}

/* Every allocation of writing, iterating and finding fails once. */
static void test_failed_allocations(void **state)
{
    (void)state;
    key_set set = key_set_make(KEYS_ZEROS, 300, 30, 1);
    sorted_options options = sorted_test_options(30, 1, 64);
    key_set_sort(&set);
    for (size_t i = 1;; i++) {
        fault_allocator faults;
        byte_file file;
        sorted_reader *reader = NULL;
        sorted_cursor *cursor = NULL;
        byte_file_init(&file);
        fault_allocator_init(&faults, i);
        ksv_status status = sorted_write(&file.base, &options, &set, NULL,
                                         &faults.allocator, NULL, NULL);
        if (status == KSV_OK)
            status = sorted_reader_open(&file.base, &faults.allocator, &reader,
                                        NULL);
        if (status == KSV_OK)
            status = sorted_check_iterator(&set, reader);
        if (status == KSV_OK)
            status = sorted_cursor_open(reader, &cursor, NULL);
        for (size_t k = 0; k < set.count && status == KSV_OK; k += 9)
            status = sorted_check_find(&set, cursor, sorted_key_of(&set, k));
        if (status == KSV_OK)
            status = sorted_check_walk(&set, cursor, sorted_key_of(&set, 0),
                                       false, set.count);
        sorted_cursor_close(cursor);
        sorted_reader_close(reader);
        byte_file_release(&file);
        assert_true(fault_allocator_is_clean(&faults));
        if (faults.calls < i) {
            assert_int_equal(status, KSV_OK);
            assert_true(i > 50);
            break;
        }
        assert_int_equal(status, KSV_ERROR_MEMORY);
    }
    key_set_release(&set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused_options),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_empty_table),
        cmocka_unit_test(test_sparse_is_kept),
        cmocka_unit_test(test_failed_appends),
        cmocka_unit_test(test_failed_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
