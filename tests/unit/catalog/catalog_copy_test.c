/* SPDX-License-Identifier: MIT */
/* The copy: its frame, its version, and to which commit it belongs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/coding.h"
#include "base/error.h"
#include "catalog/catalog_copy.h"
#include "hash/hash.h"
#include "support/catalog_samples.h"
#include "support/temp_dir.h"

static const catalog_mark MARK = {7, 0x1234, 0x5678};

static void make(catalog_state *state, byte_buffer *bytes)
{
    uint64_t seed = 31;
    sample_start(state, &seed);
    sample_add_files(state, &seed, 3);
    buffer_init(bytes, &state->allocator);
    assert_int_equal(copy_encode(state, &MARK, bytes, NULL, NULL), KSV_OK);
}

static ksv_status decode(const byte_buffer *bytes, ksv_error *error)
{
    catalog_mark mark;
    catalog_state state;
    ksv_status status =
        copy_decode(bytes->data, bytes->size, true, NULL, &mark, &state, error);
    if (status == KSV_OK) {
        assert_memory_equal(&mark, &MARK, sizeof mark);
        assert_int_equal(state.generation, MARK.generation);
        catalog_state_release(&state);
    }
    return status;
}

static void seal(byte_buffer *bytes)
{
    size_t checked = bytes->size - 8;
    store_u64(bytes->data + checked, hash_checksum64(bytes->data, checked));
}

static void test_frame(void **unused)
{
    (void)unused;
    catalog_state state;
    byte_buffer b;
    ksv_error error;
    make(&state, &b);
    assert_memory_equal(b.data, "KSVCATL\n", 8);
    assert_int_equal(decode(&b, &error), KSV_OK);
    for (size_t bit = 0; bit < 8 * b.size; bit++) {
        b.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
        ksv_status status = decode(&b, &error);
        assert_true(status == KSV_ERROR_CORRUPT ||
                    (status == KSV_ERROR_VERSION && bit / 64 == 1));
        b.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    buffer_release(&b);
    catalog_state_release(&state);
}

/* Fields that are wrong though the checksum is right. */
static void test_sealed_nonsense(void **unused)
{
    (void)unused;
    catalog_state state;
    byte_buffer b;
    ksv_error error;
    make(&state, &b);
    store_u16(b.data + 8, 2);
    assert_int_equal(decode(&b, &error), KSV_ERROR_VERSION);
    assert_non_null(strstr(error.text, "version 2"));
    store_u16(b.data + 8, 0);
    seal(&b);
    assert_int_equal(decode(&b, &error), KSV_ERROR_CORRUPT);
    store_u16(b.data + 8, 1);
    store_u32(b.data + 12, 4);
    seal(&b);
    assert_int_equal(decode(&b, &error), KSV_ERROR_VERSION);
    store_u32(b.data + 12, 0);
    b.data[40] ^= 1;
    seal(&b);
    assert_int_equal(decode(&b, &error), KSV_ERROR_CORRUPT);
    b.data[40] ^= 1;
    store_u64(b.data + 56, UINT64_MAX - 63);
    seal(&b);
    assert_int_equal(decode(&b, &error), KSV_ERROR_CORRUPT);
    buffer_release(&b);
    catalog_state_release(&state);
}

static void test_a_copy_of_something_else(void **unused)
{
    (void)unused;
    temp_dir dir;
    catalog_state state;
    catalog_state read;
    byte_buffer b;
    ksv_error error;
    make(&state, &b);
    temp_dir_make(&dir);
    const ksv_file_system *fs = ksv_posix_file_system();
    assert_int_equal(copy_write(fs, dir.path, &state, &MARK, NULL, NULL),
                     KSV_OK);
    assert_int_equal(
        copy_read_marked(fs, dir.path, &MARK, true, NULL, &read, NULL, &error),
        KSV_OK);
    assert_true(sample_equal(&read, &state));
    catalog_state_release(&read);
    const catalog_mark others[] = {
        {8, 0x1234, 0x5678}, {7, 0x1235, 0x5678}, {7, 0x1234, 0x5679}};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(copy_read_marked(fs, dir.path, &others[i], true, NULL,
                                          &read, NULL, &error),
                         KSV_ERROR_CORRUPT);
        assert_non_null(strstr(error.path, ".ksc"));
        assert_int_equal(error.remedy, KSV_REMEDY_BUILD);
    }
    temp_dir_write(&dir, "0000000000000008.ksc", b.data, b.size);
    assert_int_equal(copy_read_marked(fs, dir.path, &others[0], false, NULL,
                                      &read, NULL, &error),
                     KSV_ERROR_CORRUPT);
    buffer_release(&b);
    catalog_state_release(&state);
    temp_dir_remove(&dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_frame),
        cmocka_unit_test(test_sealed_nonsense),
        cmocka_unit_test(test_a_copy_of_something_else),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
