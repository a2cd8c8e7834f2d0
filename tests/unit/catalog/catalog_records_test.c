/* SPDX-License-Identifier: MIT */
/* Records of LMDB: one for each part of a state, tied to each other. */
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
#include "catalog/catalog_records.h"
#include "support/catalog_samples.h"

typedef struct fixture {
    catalog_state state;
    catalog_state read;
    catalog_mark mark;
    uint64_t body_checksum;
    byte_buffer buffer;
    record_reader reader;
} fixture;

static int set_up(void **ctx)
{
    static fixture f;
    uint64_t seed = 17;
    sample_start(&f.state, &seed);
    sample_add_files(&f.state, &seed, 5);
    f.mark = (catalog_mark){9, 8, 7};
    buffer_init(&f.buffer, &f.state.allocator);
    assert_int_equal(copy_body_checksum(&f.state, &f.body_checksum, NULL),
                     KSV_OK);
    catalog_state_init(&f.read, NULL);
    record_reader_init(&f.reader, &f.read);
    *ctx = &f;
    return 0;
}

static int tear_down(void **ctx)
{
    fixture *f = *ctx;
    record_reader_release(&f->reader);
    buffer_release(&f->buffer);
    catalog_state_release(&f->read);
    catalog_state_release(&f->state);
    return 0;
}

static void get(fixture *f, size_t i, catalog_record *record)
{
    assert_int_equal(records_get(&f->state, &f->mark, f->body_checksum, i,
                                 &f->buffer, record, NULL),
                     KSV_OK);
}

static ksv_status add(fixture *f, const catalog_record *r)
{
    return record_reader_add(&f->reader, r->key, r->key_bytes, r->value,
                             r->value_bytes, NULL);
}

static void add_all_but(fixture *f, size_t left_out)
{
    size_t count = records_count(&f->state);
    for (size_t i = 0; i < count; i++) {
        catalog_record r;
        get(f, i, &r);
        if (i != left_out)
            assert_int_equal(add(f, &r), KSV_OK);
    }
}

static void test_round_trip_in_key_order(void **ctx)
{
    fixture *f = *ctx;
    size_t count = records_count(&f->state);
    assert_int_equal(count, 6 + f->state.segment_count);
    uint8_t last[RECORD_KEY_BYTES] = {0};
    for (size_t i = 0; i < count; i++) {
        catalog_record r;
        get(f, i, &r);
        assert_true(memcmp(last, r.key, r.key_bytes) < 0);
        memset(last, 0, sizeof last);
        memcpy(last, r.key, r.key_bytes);
        assert_true(records_has(&f->state, r.key, r.key_bytes));
    }
    add_all_but(f, count);
    assert_int_equal(record_reader_finish(&f->reader, NULL), KSV_OK);
    assert_true(sample_equal(&f->read, &f->state));
    assert_int_equal(f->read.generation, 9);
}

static void test_a_lacking_record_is_noticed(void **ctx)
{
    fixture *f = *ctx;
    size_t count = records_count(&f->state);
    for (size_t i = 0; i < count; i++) {
        add_all_but(f, i);
        assert_int_equal(record_reader_finish(&f->reader, NULL),
                         KSV_ERROR_CORRUPT);
        record_reader_release(&f->reader);
        catalog_state_release(&f->read);
        record_reader_init(&f->reader, &f->read);
    }
}

/* A value of an earlier commit is right by itself. */
static void test_a_record_of_another_commit_is_noticed(void **ctx)
{
    fixture *f = *ctx;
    f->state.files[2].inode++;
    add_all_but(f, records_count(&f->state));
    assert_int_equal(record_reader_finish(&f->reader, NULL), KSV_ERROR_CORRUPT);
}

static void test_a_value_under_another_key_is_noticed(void **ctx)
{
    fixture *f = *ctx;
    catalog_record r;
    get(f, 0, &r);
    r.key[RECORD_KEY_BYTES - 1]++;
    assert_int_equal(add(f, &r), KSV_ERROR_CORRUPT);
    r.key[0] = 'X';
    assert_int_equal(add(f, &r), KSV_ERROR_CORRUPT);
    assert_false(records_has(&f->state, r.key, r.key_bytes));
    assert_int_equal(record_reader_add(&f->reader, (const uint8_t *)"P", 1,
                                       r.value, 3, NULL),
                     KSV_ERROR_CORRUPT);
    assert_int_equal(f->read.file_count, 0);
}

static void test_every_changed_bit_is_noticed(void **ctx)
{
    fixture *f = *ctx;
    size_t count = records_count(&f->state);
    for (size_t i = 0; i < count; i += 3) {
        catalog_record r;
        get(f, i, &r);
        uint8_t *value = f->buffer.data + r.key_bytes;
        for (size_t bit = 0; bit < 8 * r.value_bytes; bit += 5) {
            value[bit / 8] ^= (uint8_t)(1u << bit % 8);
            assert_int_equal(add(f, &r), KSV_ERROR_CORRUPT);
            value[bit / 8] ^= (uint8_t)(1u << bit % 8);
        }
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_round_trip_in_key_order),
        TEST(test_a_lacking_record_is_noticed),
        TEST(test_a_record_of_another_commit_is_noticed),
        TEST(test_a_value_under_another_key_is_noticed),
        TEST(test_every_changed_bit_is_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
