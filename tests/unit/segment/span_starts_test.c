/* SPDX-License-Identifier: MIT */
/* Starts of spans, from pieces of data that any adder takes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "segment/span_starts.h"
#include "support/random.h"
#include "support/test_allocator.h"

enum {
    RECORDS = 60000,
    ADDERS = 3,
    KEY_BYTES = 10,
    PIECE_BYTES = 1 << 18,
    STRETCH_BYTES = 1 << 16
};

typedef struct fake_data {
    char keys[RECORDS][KEY_BYTES + 1];
    scan_record records[RECORDS];
    hash_entry entries[RECORDS];
    uint64_t limit;
    uint64_t distinct;
} fake_data;

static fake_data data;

static void set_key(size_t i, unsigned number)
{
    snprintf(data.keys[i], sizeof data.keys[i], "%010u", number);
}

static void make_data(random_source *random, unsigned most_step)
{
    unsigned number = 0;
    uint64_t offset = random_below(random, 3000);
    data.distinct = 0;
    for (size_t i = 0; i < RECORDS; i++) {
        unsigned step = (unsigned)random_below(random, most_step + 1);
        data.distinct += i == 0 || step > 0;
        number += step;
        set_key(i, number);
        data.records[i] = (scan_record){.offset = offset,
                                        .key = (const uint8_t *)data.keys[i],
                                        .key_bytes = KEY_BYTES,
                                        .kind = SCAN_RECORD_KEYED};
        data.entries[i] = (hash_entry){i, offset};
        offset += 1 + random_below(random, 90);
        if (random_below(random, 9000) == 0)
            offset += random_below(random, 300000);
    }
    data.limit = offset;
}

/* Chunks go to adders as chance has it, as from a scan with threads. */
static void add_all(span_starts *starts, random_source *random)
{
    unsigned adder = 0;
    for (size_t first = 0; first < RECORDS;) {
        size_t end = first;
        uint64_t chunk = data.entries[first].payload / PIECE_BYTES;
        if (random != NULL)
            adder = (unsigned)random_below(random, ADDERS);
        while (end < RECORDS &&
               data.entries[end].payload / PIECE_BYTES == chunk)
            end++;
        while (first < end) {
            size_t some = 1 + (size_t)(end - first) / 3;
            collector_batch batch = {data.entries + first, some,
                                     data.records + first, some};
            assert_int_equal(span_starts_add(starts, adder, &batch, NULL),
                             KSV_OK);
            first += some;
        }
    }
}

static size_t find_record(uint64_t payload)
{
    size_t i = 0;
    while (data.entries[i].payload != payload)
        i++;
    return i;
}

/* What is given is the first record of each span, and the last of all. */
static void check_entries(span_starts *starts, uint64_t entries)
{
    size_t expected = 0;
    uint64_t count = 0;
    size_t last = SIZE_MAX;
    span_starts_rewind(starts);
    for (;; count++) {
        sorted_key key;
        uint64_t payload;
        bool end;
        assert_int_equal(span_starts_next(starts, &key, &payload, &end, NULL),
                         KSV_OK);
        if (end)
            break;
        size_t i = find_record(payload);
        assert_int_equal(key.size_bytes, KEY_BYTES);
        assert_memory_equal(key.data, data.keys[i], KEY_BYTES);
        while (expected < RECORDS && expected > 0 &&
               data.entries[expected].payload / STRETCH_BYTES ==
                   data.entries[expected - 1].payload / STRETCH_BYTES)
            expected++;
        assert_int_equal(i, expected < RECORDS ? expected : RECORDS - 1);
        expected++;
        last = i;
    }
    assert_int_equal(last, RECORDS - 1);
    assert_true(count == entries || count == entries + 1);
}

static bool settle(random_source *random, unsigned adders, uint64_t most_bytes,
                   uint64_t *distinct)
{
    test_allocator a;
    test_allocator_init(&a);
    span_starts starts;
    span_starts_sum sum;
    assert_int_equal(
        span_starts_init(&starts, &a.allocator, adders, most_bytes, NULL),
        KSV_OK);
    add_all(&starts, adders > 1 ? random : NULL);
    bool is_sparse = span_starts_settle(&starts, data.limit, RECORDS, &sum);
    if (is_sparse)
        check_entries(&starts, sum.entries);
    *distinct = sum.distinct_keys;
    span_starts_release(&starts);
    assert_int_equal(a.live_bytes, 0);
    assert_false(a.wrong_size);
    return is_sparse;
}

static void test_in_order(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed < 20; seed++) {
        random_source random = {seed};
        uint64_t distinct;
        make_data(&random, (unsigned)(seed % 4));
        for (unsigned adders = 1; adders <= ADDERS; adders += ADDERS - 1) {
            if (!settle(&random, adders, UINT64_MAX, &distinct))
                fail_msg("seed %d, %u adders", (int)seed, adders);
            assert_int_equal(distinct, data.distinct);
        }
    }
}

/* Any two neighbours out of order are seen, whoever has them. */
static void test_out_of_order(void **state)
{
    (void)state;
    random_source random = {77};
    uint64_t distinct;
    make_data(&random, 3);
    for (int round = 0; round < 60; round++) {
        size_t i = 1 + (size_t)random_below(&random, RECORDS - 1);
        /* Often where chunks meet. */
        while (round % 2 == 0 && i + 1 < RECORDS &&
               data.entries[i].payload / PIECE_BYTES ==
                   data.entries[i - 1].payload / PIECE_BYTES)
            i++;
        char kept[KEY_BYTES + 1];
        memcpy(kept, data.keys[i], sizeof kept);
        memcpy(data.keys[i], data.keys[i - 1], sizeof kept);
        size_t at = KEY_BYTES - 1;
        while (data.keys[i][at] == '0' && at > 0)
            at--;
        if (data.keys[i][at] > '0') {
            data.keys[i][at]--;
            assert_false(settle(&random, ADDERS, UINT64_MAX, &distinct));
        }
        memcpy(data.keys[i], kept, sizeof kept);
    }
    assert_true(settle(&random, ADDERS, UINT64_MAX, &distinct));
}

static void test_limits(void **state)
{
    (void)state;
    random_source random = {78};
    uint64_t distinct;
    make_data(&random, 3);
    assert_false(settle(&random, ADDERS, 1000, &distinct));
    data.records[RECORDS / 2].kind = SCAN_RECORD_BAD;
    assert_false(settle(&random, ADDERS, UINT64_MAX, &distinct));
    data.records[RECORDS / 2].kind = SCAN_RECORD_KEYED;
    data.limit += (uint64_t)2 << 20;
    assert_false(settle(&random, ADDERS, UINT64_MAX, &distinct));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_in_order),
        cmocka_unit_test(test_out_of_order),
        cmocka_unit_test(test_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
