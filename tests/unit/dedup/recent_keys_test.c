/* SPDX-License-Identifier: MIT */
/* The table of keys in memory: found, bounded, visited in order, cleared. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "dedup/recent_keys.h"
#include "support/fault_allocator.h"
#include "support/random.h"

#define MEGABYTE ((uint64_t)1 << 20)

static uint64_t hash_of(uint64_t number)
{
    random_source r = {number * 7919};
    return random_next(&r);
}

static recent_keys *open_with(uint64_t memory_bytes, const ksv_allocator *a)
{
    recent_keys *keys;
    assert_int_equal(recent_keys_open(memory_bytes, a, &keys, NULL), KSV_OK);
    return keys;
}

static recent_key *add(recent_keys *keys, uint64_t hash, const void *key,
                       size_t key_bytes, int64_t time_ms)
{
    recent_key *added;
    assert_int_equal(
        recent_keys_add(keys, hash, key, key_bytes, time_ms, &added, NULL),
        KSV_OK);
    return added;
}

static recent_key *add_number(recent_keys *keys, uint64_t number)
{
    return add(keys, hash_of(number), &number, sizeof number, (int64_t)number);
}

static recent_key *find_number(recent_keys *keys, uint64_t number)
{
    uint64_t hash = hash_of(number);
    recent_keys_prefetch(keys, hash);
    return recent_keys_find(keys, hash, &number, sizeof number);
}

/* Fills the table; returns how many it took. */
static uint64_t fill(recent_keys *keys)
{
    uint64_t count = 0;
    while (add_number(keys, count) != NULL)
        count++;
    return count;
}

static void test_found(void **state)
{
    (void)state;
    fault_allocator a;
    fault_allocator_init(&a, 0);
    recent_keys *keys = open_with(64 * MEGABYTE, &a.allocator);
    assert_int_equal(recent_keys_earliest_ms(keys), INT64_MAX);
    for (uint64_t i = 100; i < 50000; i++)
        assert_non_null(add_number(keys, i));
    assert_int_equal(recent_keys_count(keys), 50000 - 100);
    assert_int_equal(recent_keys_earliest_ms(keys), 100);
    for (uint64_t i = 0; i < 60000; i++) {
        recent_key *entry = find_number(keys, i);
        assert_int_equal(entry != NULL, i >= 100 && i < 50000);
        if (entry != NULL)
            assert_true(entry->hash == hash_of(i) && entry->key_bytes == 8 &&
                        entry->time_ms == (int64_t)i && !entry->on_disk &&
                        !entry->is_pending);
    }
    recent_keys_close(keys);
    assert_true(fault_allocator_is_clean(&a));
}

/* Keys of one hash are told apart by their bytes and lengths; the empty key is
 * one, too. */
static void test_equal_hashes(void **state)
{
    (void)state;
    char key[300];
    recent_keys *keys = open_with(64 * MEGABYTE, NULL);
    memset(key, 'k', sizeof key);
    for (uint64_t top = 0; top < 2; top++) {
        uint64_t hash = top == 0 ? 5 : UINT64_MAX - 5;
        for (size_t bytes = 0; bytes < sizeof key; bytes++)
            assert_non_null(add(keys, hash, key, bytes, 0));
        for (size_t bytes = 0; bytes < sizeof key; bytes++) {
            recent_key *entry = recent_keys_find(keys, hash, key, bytes);
            assert_non_null(entry);
            assert_int_equal(entry->key_bytes, bytes);
        }
    }
    key[3] = 'x';
    assert_null(recent_keys_find(keys, 5, key, 4));
    assert_null(recent_keys_find(keys, 6, key, 3));
    recent_keys_close(keys);
}

static void test_bounded(void **state)
{
    (void)state;
    fault_allocator a;
    fault_allocator_init(&a, 0);
    for (uint64_t memory = 1; memory <= 16; memory *= 4) {
        recent_keys *keys = open_with(memory * MEGABYTE, &a.allocator);
        uint64_t count = fill(keys);
        assert_true(recent_keys_memory_bytes(keys) <=
                    memory * MEGABYTE + MEGABYTE);
        /* Slots, an entry and what is unused of both. */
        assert_true(memory == 1 || count >= memory * MEGABYTE / 120);
        for (uint64_t i = 0; i < count; i++)
            assert_non_null(find_number(keys, i));
        recent_keys_close(keys);
    }
    assert_true(fault_allocator_is_clean(&a));
}

/* An empty table takes every key, whatever the bound. */
static void test_large_key(void **state)
{
    (void)state;
    size_t bytes = 5 * MEGABYTE;
    uint8_t *key = malloc(bytes);
    memset(key, 1, bytes);
    recent_keys *keys = open_with(1, NULL);
    assert_non_null(add(keys, 9, key, bytes, 0));
    assert_non_null(recent_keys_find(keys, 9, key, bytes));
    assert_null(add(keys, 10, key, bytes, 0));
    recent_keys_clear(keys);
    assert_non_null(add(keys, 10, key, bytes, 0));
    assert_null(recent_keys_find(keys, 9, key, bytes));
    recent_keys_close(keys);
    free(key);
}

typedef struct visit_log {
    uint64_t count;
    uint64_t last_hash;
    uint64_t sum;
    uint64_t fail_at;
} visit_log;

static ksv_status log_key(void *ctx, const recent_key *key, ksv_error *error)
{
    visit_log *log = ctx;
    (void)error;
    assert_true(key->hash >= log->last_hash);
    log->last_hash = key->hash;
    log->sum += key->hash;
    return ++log->count == log->fail_at ? KSV_ERROR_IO : KSV_OK;
}

/* In the order of whole hashes, also of those whose top bits are the same. */
static void test_visited_in_order(void **state)
{
    (void)state;
    random_source r = {11};
    recent_keys *keys = open_with(64 * MEGABYTE, NULL);
    uint64_t sum = 0;
    for (uint64_t i = 0; i < 20000; i++) {
        uint64_t hash = random_next(&r);
        if (i % 4 == 0)
            hash = (hash & 0xff) << 56 | (hash >> 32 & 0xffff);
        assert_non_null(add(keys, hash, &i, sizeof i, 0));
        sum += hash;
    }
    visit_log log = {.count = 0};
    assert_int_equal(recent_keys_visit(keys, log_key, &log, NULL), KSV_OK);
    assert_int_equal(log.count, 20000);
    assert_true(log.sum == sum);
    log = (visit_log){.fail_at = 77};
    assert_int_equal(recent_keys_visit(keys, log_key, &log, NULL),
                     KSV_ERROR_IO);
    assert_int_equal(log.count, 77);
    recent_keys_close(keys);
}

/* Thousands of keys of the highest hashes do not fit behind the last slot: that
 * is a full table, not a wrong one. */
static void test_crowded_end(void **state)
{
    (void)state;
    recent_keys *keys = open_with(64 * MEGABYTE, NULL);
    uint64_t count = 0;
    while (count < 10000 && add(keys, UINT64_MAX - count, &count, 8, 0) != NULL)
        count++;
    assert_true(count >= 1000 && count < 10000);
    for (uint64_t i = 0; i < count; i++)
        assert_non_null(recent_keys_find(keys, UINT64_MAX - i, &i, 8));
    recent_keys_clear(keys);
    assert_non_null(add(keys, UINT64_MAX - count, &count, 8, 0));
    recent_keys_close(keys);
}

static void test_cleared(void **state)
{
    (void)state;
    recent_keys *keys = open_with(8 * MEGABYTE, NULL);
    uint64_t first = fill(keys);
    uint64_t bytes = recent_keys_memory_bytes(keys);
    recent_keys_clear(keys);
    assert_int_equal(recent_keys_count(keys), 0);
    assert_int_equal(recent_keys_earliest_ms(keys), INT64_MAX);
    assert_null(find_number(keys, 0));
    assert_int_equal(fill(keys), first);
    assert_int_equal(recent_keys_memory_bytes(keys), bytes);
    recent_keys_close(keys);
}

/* Memory that cannot be had is a status; the table stays as it was. */
static void test_without_memory(void **state)
{
    (void)state;
    for (uint64_t fail_at = 1; fail_at < 12; fail_at++) {
        fault_allocator a;
        recent_keys *keys;
        recent_key *entry;
        fault_allocator_init(&a, fail_at);
        ksv_status status =
            recent_keys_open(64 * MEGABYTE, &a.allocator, &keys, NULL);
        uint64_t count = 0;
        for (; status == KSV_OK && count < 100000; count++) {
            uint64_t hash = hash_of(count);
            status = recent_keys_add(keys, hash, &count, 8, 0, &entry, NULL);
            if (status != KSV_OK)
                break;
            assert_non_null(entry);
        }
        assert_int_equal(status, KSV_ERROR_MEMORY);
        for (uint64_t i = 0; i < count; i++)
            assert_non_null(find_number(keys, i));
        recent_keys_close(keys);
        assert_true(fault_allocator_is_clean(&a));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_found),
        cmocka_unit_test(test_equal_hashes),
        cmocka_unit_test(test_bounded),
        cmocka_unit_test(test_large_key),
        cmocka_unit_test(test_visited_in_order),
        cmocka_unit_test(test_crowded_end),
        cmocka_unit_test(test_cleared),
        cmocka_unit_test(test_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
