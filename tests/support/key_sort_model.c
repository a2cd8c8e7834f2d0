/* SPDX-License-Identifier: MIT */
/* Keys of many kinds, and a key_sorter compared with qsort. */
#include "support/key_sort_model.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "io/memory_file_system.h"
#include "sort/key_sorter.h"

#define LONGEST_KEY 5000

static size_t make_long(random_source *random, uint8_t *key)
{
    size_t size = (size_t)random_below(random, LONGEST_KEY);
    memset(key, 'p', LONGEST_KEY);
    for (size_t i = 600; i < size; i += 1 + random_below(random, 900))
        key[i] = (uint8_t)random_below(random, 3);
    return size;
}

static size_t make_key(key_kind kind, random_source *random, uint8_t *key)
{
    static const char *const few[] = {
        "", "a", "ab", "abcdefgh", "abcdefghabcdefgh", "abcdefghi", "b"};
    char text[64];
    size_t size = 0;
    switch (kind) {
    case KEYS_HEX:
        for (size = 0; size < 36; size++)
            key[size] = (uint8_t) "0123456789abcdef"[random_below(random, 16)];
        return size;
    case KEYS_NUMBERS:
        snprintf(text, sizeof text, "https://example.org/%s/%llu",
                 random_below(random, 2) == 0 ? "user" : "item",
                 (unsigned long long)random_below(random, 1000000));
        size = strlen(text);
        memcpy(key, text, size);
        return size;
    case KEYS_ZEROS:
        size = (size_t)random_below(random, 21);
        for (size_t i = 0; i < size; i++)
            key[i] = (uint8_t)(random_below(random, 3) - 1);
        return size;
    case KEYS_CHAIN:
        size = (size_t)random_below(random, 700);
        memset(key, random_below(random, 50) == 0 ? 'b' : 'a', size);
        return size;
    case KEYS_LONG:
        return make_long(random, key);
    default:
        size = (size_t)random_below(random, 7);
        memcpy(key, few[size], strlen(few[size]));
        return strlen(few[size]);
    }
}

key_set key_set_make(key_kind kind, size_t count, unsigned payload_bits,
                     uint64_t seed)
{
    random_source random = {seed * KEYS_KINDS + (uint64_t)kind};
    size_t most = kind == KEYS_LONG ? LONGEST_KEY : 720;
    key_set set = {calloc(count + 1, sizeof(model_entry)), count,
                   malloc(count * most + most)};
    assert_true(set.entries != NULL && set.bytes != NULL);
    uint8_t *next = set.bytes;
    for (size_t i = 0; i < count; i++) {
        uint8_t key[LONGEST_KEY];
        size_t size = make_key(kind, &random, key);
        memcpy(next, key, size);
        uint64_t payload = random_below(&random, 3) == 0
                               ? random_below(&random, 3)
                               : random_next(&random);
        if (payload_bits < 64)
            payload &= (UINT64_C(1) << payload_bits) - 1;
        set.entries[i] = (model_entry){next, size, payload};
        next += size;
    }
    return set;
}

void key_set_release(key_set *set)
{
    free(set->entries);
    free(set->bytes);
}

int model_key_order(const model_entry *a, const model_entry *b)
{
    size_t both = a->key_bytes < b->key_bytes ? a->key_bytes : b->key_bytes;
    int order = memcmp(a->key, b->key, both);
    if (order != 0)
        return order;
    return (a->key_bytes > b->key_bytes) - (a->key_bytes < b->key_bytes);
}

int model_entry_order(const void *a, const void *b)
{
    const model_entry *x = a, *y = b;
    int order = model_key_order(x, y);
    if (order != 0)
        return order;
    return (x->payload > y->payload) - (x->payload < y->payload);
}

void key_set_sort(key_set *set)
{
    qsort(set->entries, set->count, sizeof *set->entries, model_entry_order);
}

/* What one adder adds: every so many-th entry. */
typedef struct adder_share {
    key_adder *adder;
    const key_set *set;
    unsigned number;
    unsigned adders;
    ksv_status status;
} adder_share;

static void *add_share(void *ctx)
{
    adder_share *s = ctx;
    for (size_t i = s->number; i < s->set->count && s->status == KSV_OK;
         i += s->adders) {
        const model_entry *e = &s->set->entries[i];
        s->status =
            key_adder_add(s->adder, e->key, e->key_bytes, e->payload, NULL);
    }
    return NULL;
}

static ksv_status add_all(const key_sort_case *c, const key_set *set,
                          key_sorter *sorter)
{
    adder_share shares[8];
    pthread_t threads[8];
    ksv_status status = KSV_OK;
    assert_in_range(c->adders, 1, 8);
    for (unsigned i = 0; i < c->adders; i++) {
        shares[i] = (adder_share){key_sorter_adder(sorter, i), set, i,
                                  c->adders, KSV_OK};
        if (c->threads > 1)
            assert_int_equal(
                pthread_create(&threads[i], NULL, add_share, &shares[i]), 0);
        else
            add_share(&shares[i]);
    }
    for (unsigned i = 0; i < c->adders; i++) {
        if (c->threads > 1)
            pthread_join(threads[i], NULL);
        if (shares[i].status != KSV_OK)
            status = shares[i].status;
    }
    return status;
}

static ksv_status compare(const key_sort_case *c, const key_set *sorted,
                          key_sorter *sorter)
{
    for (size_t i = 0;; i++) {
        key_entry entry;
        bool end;
        KSV_TRY(key_sorter_next(sorter, &entry, &end, NULL));
        assert_true(end == (i >= sorted->count));
        if (end)
            break;
        const model_entry *m = &sorted->entries[i];
        if (entry.key_bytes != m->key_bytes || entry.payload != m->payload ||
            memcmp(entry.key, m->key, m->key_bytes) != 0)
            fail_msg("entry %zu of %zu differs (kind %d, seed %llu)", i,
                     c->count, (int)c->kind, (unsigned long long)c->seed);
    }
    assert_true(key_sorter_spilled(sorter) || !c->must_spill);
    return KSV_OK;
}

static ksv_status sort(const key_sort_case *c, key_set *set,
                       const ksv_file_system *fs, const char *directory)
{
    key_sorter_options options = {.allocator = c->allocator,
                                  .memory_bytes = c->memory_bytes,
                                  .adders = c->adders,
                                  .fs = fs,
                                  .directory = directory,
                                  .spill_name = "00000000000000ff"};
    key_sorter *sorter;
    KSV_TRY(key_sorter_open(&options, &sorter, NULL));
    thread_pool *pool = NULL;
    ksv_status status = add_all(c, set, sorter);
    key_set_sort(set);
    uint64_t highest = 0;
    for (size_t i = 0; i < set->count; i++)
        if (set->entries[i].payload > highest)
            highest = set->entries[i].payload;
    if (status == KSV_OK) {
        assert_true(key_sorter_count(sorter) == c->count);
        assert_true(key_sorter_highest(sorter) == highest);
        if (c->threads > 0)
            assert_int_equal(thread_pool_open(c->threads, NULL, &pool, NULL),
                             KSV_OK);
        status = key_sorter_finish(sorter, pool, NULL);
    }
    if (status == KSV_OK)
        status = compare(c, set, sorter);
    key_sorter_close(sorter);
    thread_pool_close(pool);
    return status;
}

static bool count_name(void *ctx, const char *name)
{
    (void)name;
    ++*(size_t *)ctx;
    return true;
}

ksv_status key_sort_case_run(const key_sort_case *c)
{
    key_set set = key_set_make(c->kind, c->count, 64, c->seed);
    ksv_file_system memory;
    const ksv_file_system *fs = c->fs;
    const char *directory = c->directory;
    if (fs == NULL) {
        assert_int_equal(memory_file_system_open(NULL, &memory, NULL), KSV_OK);
        fs = &memory;
        directory = "/ix";
        assert_int_equal(fs->make_directory(fs->ctx, directory, NULL), KSV_OK);
    }
    ksv_status status = sort(c, &set, fs, directory);
    size_t files = 0;
    assert_int_equal(fs->list(fs->ctx, directory, count_name, &files, NULL),
                     KSV_OK);
    assert_int_equal(files, 0);
    if (c->fs == NULL)
        memory_file_system_close(&memory);
    key_set_release(&set);
    return status;
}

void key_sort_case_check(const key_sort_case *c)
{
    assert_int_equal(key_sort_case_run(c), KSV_OK);
}
