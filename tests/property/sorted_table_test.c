/* SPDX-License-Identifier: MIT */
/* Random sets of keys as sorted tables of all block sizes: whatever is asked,
 * the answer is that of a sorted array. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "support/sorted_fixture.h"

static void check_case(uint64_t seed, size_t most)
{
    random_source random = {seed};
    key_kind kind = (key_kind)random_below(&random, KEYS_KINDS);
    size_t count = (size_t)random_below(&random, most);
    if (kind == KEYS_LONG)
        count /= 8;
    unsigned bits = 1 + (unsigned)random_below(&random, 57);
    size_t block_bytes = (size_t)16 << random_below(&random, 11);
    print_message("seed %llu: %zu keys of kind %d, %u bits, blocks of %zu\n",
                  (unsigned long long)seed, count, (int)kind, bits,
                  block_bytes);
    sorted_fixture f;
    sorted_fixture_init(&f, sorted_test_options(bits, 1, block_bytes),
                        key_set_make(kind, count, bits, seed));
    assert_int_equal(f.info.entries, count);
    assert_int_equal(f.info.file_bytes, f.file.size_bytes);
    assert_int_equal(sorted_check_answers(&f.set, &f.file.base, 600, seed),
                     KSV_OK);
    sorted_fixture_release(&f);
}

static void test_random_tables(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 120; seed++)
        check_case(seed, (size_t)4 << seed % 12);
}

/* Each key costs one read of a block, once index blocks are in memory, but for
 * the key whose entries fill more. */
static void test_one_read_a_key(void **state)
{
    (void)state;
    sorted_fixture f;
    sorted_reader *reader;
    sorted_cursor *cursor;
    sorted_fixture_init(&f, sorted_test_options(40, 1, 512),
                        sorted_sample_set(false));
    assert_int_equal(sorted_reader_open(&f.file.base, NULL, &reader, NULL),
                     KSV_OK);
    assert_int_equal(sorted_cursor_open(reader, &cursor, NULL), KSV_OK);
    for (size_t i = 0; i < f.set.count; i++) {
        sorted_key key = sorted_key_of(&f.set, i);
        /* Another block in between: none is kept. */
        sorted_key other =
            sorted_key_of(&f.set, i < f.set.count / 2 ? f.set.count - 1 : 0);
        assert_int_equal(sorted_check_find(&f.set, cursor, other), KSV_OK);
        uint64_t before = sorted_cursor_blocks_read(cursor);
        assert_int_equal(sorted_check_find(&f.set, cursor, key), KSV_OK);
        uint64_t read = sorted_cursor_blocks_read(cursor) - before;
        bool is_long = key.size_bytes == 20 && key.data[0] == 'm' &&
                       key.data[19] == 'm' &&
                       memcmp(key.data, key.data + 1, 19) == 0;
        if (!is_long && read > 1)
            fail_msg("key %zu: %llu reads", i, (unsigned long long)read);
        if (is_long)
            assert_true(read > 1);
    }
    sorted_cursor_close(cursor);
    sorted_reader_close(reader);
    sorted_fixture_release(&f);
}

static bool add_payload(void *ctx, uint64_t payload)
{
    *(uint64_t *)ctx += payload + 1;
    return true;
}

/* Blocks that the caller has read give what the cursor's own reads give. */
static void test_blocks_of_the_caller(void **state)
{
    (void)state;
    sorted_fixture f;
    sorted_reader *reader;
    sorted_cursor *cursor, *other;
    sorted_fixture_init(&f, sorted_test_options(30, 1, 300),
                        key_set_make(KEYS_ZEROS, 3000, 30, 5));
    assert_int_equal(sorted_reader_open(&f.file.base, NULL, &reader, NULL),
                     KSV_OK);
    assert_int_equal(sorted_cursor_open(reader, &cursor, NULL), KSV_OK);
    assert_int_equal(sorted_cursor_open(reader, &other, NULL), KSV_OK);
    for (size_t i = 0; i < f.set.count; i++) {
        static uint8_t block[65536];
        sorted_key key = sorted_key_of(&f.set, i);
        sorted_place place;
        bool found;
        assert_int_equal(sorted_cursor_locate(other, key, &place, &found, NULL),
                         KSV_OK);
        assert_true(found);
        assert_true(place.size_bytes + SORTED_READ_PADDING <= sizeof block);
        memcpy(block, f.file.data + place.offset, place.size_bytes);
        size_t first = sorted_lower_bound(&f.set, key);
        uint64_t sum = 0, expected = 0;
        for (size_t k = first;
             k < f.set.count &&
             model_key_order(&f.set.entries[k], &f.set.entries[first]) == 0;
             k++)
            expected += f.set.entries[k].payload + 1;
        assert_int_equal(
            sorted_cursor_find_in(cursor, key, block, add_payload, &sum, NULL),
            KSV_OK);
        assert_true(sum == expected);
    }
    sorted_cursor_close(cursor);
    sorted_cursor_close(other);
    sorted_reader_close(reader);
    sorted_fixture_release(&f);
}

/* The bytes do not depend on threads. */
static void test_threads_change_nothing(void **state)
{
    (void)state;
    thread_pool *pool;
    assert_int_equal(thread_pool_open(2, NULL, &pool, NULL), KSV_OK);
    for (key_kind kind = 0; kind < KEYS_KINDS; kind++) {
        sorted_fixture f;
        byte_file other;
        sorted_fixture_init(&f, sorted_test_options(33, 1, 700),
                            key_set_make(kind, 2000, 33, 9));
        byte_file_init(&other);
        assert_int_equal(sorted_write(&other.base, &f.options, &f.set, pool,
                                      NULL, NULL, NULL),
                         KSV_OK);
        assert_int_equal(other.size_bytes, f.file.size_bytes);
        assert_memory_equal(other.data, f.file.data, other.size_bytes);
        byte_file_release(&other);
        sorted_fixture_release(&f);
    }
    thread_pool_close(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_tables),
        cmocka_unit_test(test_one_read_a_key),
        cmocka_unit_test(test_blocks_of_the_caller),
        cmocka_unit_test(test_threads_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
