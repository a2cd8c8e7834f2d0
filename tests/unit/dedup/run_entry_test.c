/* SPDX-License-Identifier: MIT */
/* Entries in pages of runs: written and read again, and damaged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "dedup/run_entry.h"
#include "support/random.h"

#define PAGE_BYTES 8192
#define ENTRIES 200

typedef struct sample {
    run_info info;
    run_page_head head;
    run_entry entries[ENTRIES];
    uint8_t page[PAGE_BYTES];
} sample;

static void make_entry(sample *s, size_t i, random_source *r)
{
    static const uint8_t key[] = "0123456789abcdefghijklmnopqrstuvwxyz";
    static const uint64_t long_ago = UINT64_C(1) << 62;
    run_entry *e = &s->entries[i];
    unsigned shift = (unsigned)(random_next(r) % 56);
    uint64_t rise = random_next(r) % 3 == 0 ? 0 : random_next(r) >> 8 >> shift;
    e->hash = run_hash((i > 0 ? s->entries[i - 1].hash : 0) + rise);
    if (i > 0 && e->hash < s->entries[i - 1].hash)
        e->hash = s->entries[i - 1].hash;
    shift = (unsigned)(random_next(r) % 64);
    e->time_ms = (int64_t)((uint64_t)s->info.base_time_ms +
                           (random_next(r) % long_ago >> shift));
    e->key.form = (run_key_form)(random_next(r) % 3);
    e->key.key_bytes =
        e->key.form == RUN_KEY_UUID ? 36 : random_next(r) % 4 * 7;
    assert_true(
        run_key_measure(e->key.form, e->key.key_bytes, &e->key.stored_bytes));
    e->key.stored = key;
    e->here_bytes = (size_t)e->key.stored_bytes;
}

static void make_sample(sample *s, uint64_t seed)
{
    random_source r = {seed};
    run_entry_before before = {.hash = 0};
    uint8_t *out = s->page + RUN_PAGE_HEAD_BYTES;
    s->info = (run_info){.page_bytes = PAGE_BYTES, .base_time_ms = -5};
    for (size_t i = 0; i < ENTRIES; i++) {
        make_entry(s, i, &r);
        size_t bytes =
            run_entry_head_encode(&s->info, &before, &s->entries[i], out);
        assert_in_range(bytes, 1, RUN_ENTRY_HEAD_MAX);
        memcpy(out + bytes, s->entries[i].key.stored, s->entries[i].here_bytes);
        out += bytes + s->entries[i].here_bytes;
        run_entry_note(&before, &s->entries[i]);
    }
    s->head = (run_page_head){.kind = RUN_PAGE_KEYS,
                              .used_bytes = (uint32_t)(out - s->page) -
                                            RUN_PAGE_HEAD_BYTES,
                              .count = ENTRIES};
}

static void check_entry(const run_entry *got, const run_entry *want)
{
    assert_true(got->hash == want->hash);
    assert_true(got->time_ms == want->time_ms);
    assert_int_equal(got->key.form, want->key.form);
    assert_true(got->key.key_bytes == want->key.key_bytes);
    assert_true(got->key.stored_bytes == want->key.stored_bytes);
    assert_int_equal(got->here_bytes, want->here_bytes);
    assert_memory_equal(got->key.stored, want->key.stored, want->here_bytes);
}

static void test_round_trip(void **state)
{
    (void)state;
    sample s;
    for (uint64_t seed = 0; seed < 200; seed++) {
        run_page_walk walk;
        run_entry entry;
        bool any;
        make_sample(&s, seed);
        run_page_walk_begin(&walk, &s.info, &s.head, s.page);
        for (size_t i = 0; i < ENTRIES; i++) {
            assert_int_equal(run_page_walk_next(&walk, &entry, &any, NULL),
                             KSV_OK);
            assert_true(any);
            check_entry(&entry, &s.entries[i]);
        }
        assert_int_equal(run_page_walk_next(&walk, &entry, &any, NULL), KSV_OK);
        assert_false(any);
    }
}

/* Against a plain search, from one entry to the next. */
static void test_find(void **state)
{
    (void)state;
    sample s;
    make_sample(&s, 1);
    for (size_t i = 0; i < ENTRIES; i++) {
        run_page_walk walk;
        run_entry entry;
        bool any;
        uint64_t wanted = s.entries[i].hash;
        size_t first = 0;
        while (s.entries[first].hash < wanted)
            first++;
        run_page_walk_begin(&walk, &s.info, &s.head, s.page);
        assert_int_equal(run_page_walk_find(&walk, wanted, &entry, &any, NULL),
                         KSV_OK);
        assert_true(any);
        check_entry(&entry, &s.entries[first]);
    }
    run_page_walk walk;
    run_entry entry;
    bool any;
    run_page_walk_begin(&walk, &s.info, &s.head, s.page);
    assert_int_equal(run_page_walk_find(&walk, UINT64_MAX, &entry, &any, NULL),
                     KSV_OK);
    assert_false(any);
}

/* Whatever is in a page, nothing outside of what is used is read. */
static void test_damage(void **state)
{
    (void)state;
    sample s;
    random_source r = {3};
    unsigned failures = 0;
    for (uint64_t seed = 0; seed < 2000; seed++) {
        run_page_walk walk;
        run_entry entry;
        bool any = true;
        make_sample(&s, seed % 5);
        s.head.used_bytes = (uint32_t)(random_next(&r) % s.head.used_bytes);
        for (unsigned i = 0; i < 3; i++)
            s.page[RUN_PAGE_HEAD_BYTES + random_next(&r) % 2000] =
                (uint8_t)random_next(&r);
        const uint8_t *end = s.page + RUN_PAGE_HEAD_BYTES + s.head.used_bytes;
        ksv_status status = KSV_OK;
        run_page_walk_begin(&walk, &s.info, &s.head, s.page);
        while (status == KSV_OK && any) {
            status = run_page_walk_next(&walk, &entry, &any, NULL);
            if (status == KSV_OK && any)
                assert_true(entry.here_bytes <=
                            (size_t)(end - entry.key.stored));
        }
        failures += status == KSV_ERROR_CORRUPT;
    }
    assert_true(failures > 1500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_find),
        cmocka_unit_test(test_damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
