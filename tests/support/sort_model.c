/* SPDX-License-Identifier: MIT */
/* Sorts random entries with an entry_sorter and compares with qsort. */
#include "support/sort_model.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "io/memory_file_system.h"
#include "sort/entry_sorter.h"
#include "support/random.h"

static int by_hash_then_payload(const void *a, const void *b)
{
    const hash_entry *x = a, *y = b;
    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    return (x->payload > y->payload) - (x->payload < y->payload);
}

static uint64_t random_hash(const sort_case *c, random_source *random)
{
    if (c->keys == 0)
        return random_next(random);
    random_source of_key = {random_below(random, c->keys)};
    uint64_t hash = random_next(&of_key);
    if (!c->colliding)
        return hash;
    /* Ten hashes a truncated hash. */
    random_source of_group = {of_key.state % 997};
    uint64_t low = UINT64_MAX >> c->hash_bits;
    return (random_next(&of_group) & ~low) | hash % 10;
}

typedef struct sorted_model {
    hash_entry *entries; /* as they are added */
    hash_entry *sorted;  /* truncated, by (hash, payload) */
    uint64_t truncated;  /* different ones */
    uint64_t whole;
} sorted_model;

static uint64_t count_different(hash_entry *entries, size_t count)
{
    uint64_t different = 0;
    qsort(entries, count, sizeof *entries, by_hash_then_payload);
    for (size_t i = 0; i < count; i++)
        different += i == 0 || entries[i].hash != entries[i - 1].hash;
    return different;
}

static sorted_model make_model(const sort_case *c)
{
    random_source random = {c->seed + c->count * 64 + c->hash_bits};
    sorted_model m = {calloc(c->count + 1, sizeof(hash_entry)),
                      calloc(c->count + 1, sizeof(hash_entry)), 0, 0};
    uint64_t payload = 0;
    for (size_t i = 0; i < c->count; i++) {
        payload += random_below(&random, 1000);
        m.entries[i] = (hash_entry){random_hash(c, &random), payload};
        m.sorted[i] = m.entries[i];
    }
    m.whole = count_different(m.sorted, c->count);
    for (size_t i = 0; i < c->count; i++)
        m.sorted[i].hash = ksv_hash_truncate(m.sorted[i].hash, c->hash_bits);
    m.truncated = count_different(m.sorted, c->count);
    return m;
}

/* What one adder adds: every so many-th entry. */
typedef struct adder_share {
    entry_adder *adder;
    const sort_case *c;
    const sorted_model *model;
    unsigned number;
    ksv_status status;
} adder_share;

static void *add_share(void *ctx)
{
    adder_share *s = ctx;
    s->status = KSV_OK;
    for (size_t i = s->number; i < s->c->count && s->status == KSV_OK;
         i += s->c->adders)
        s->status = entry_adder_add(s->adder, s->model->entries[i].hash,
                                    s->model->entries[i].payload, NULL);
    return NULL;
}

static ksv_status add_all(const sort_case *c, const sorted_model *m,
                          entry_sorter *sorter)
{
    adder_share shares[8];
    pthread_t threads[8];
    ksv_status status = KSV_OK;
    assert_in_range(c->adders, 1, 8);
    for (unsigned i = 0; i < c->adders; i++) {
        shares[i] =
            (adder_share){entry_sorter_adder(sorter, i), c, m, i, KSV_OK};
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

static ksv_status compare(const sort_case *c, const sorted_model *m,
                          entry_sorter *sorter)
{
    size_t done = 0;
    for (;;) {
        const hash_entry *entries;
        size_t count;
        KSV_TRY(entry_sorter_next(sorter, &entries, &count, NULL));
        if (count == 0)
            break;
        assert_true(count <= c->count - done);
        for (size_t i = 0; i < count; i++, done++) {
            uint64_t hash = ksv_hash_truncate(entries[i].hash, c->hash_bits);
            if (hash != m->sorted[done].hash ||
                entries[i].payload != m->sorted[done].payload)
                fail_msg("entry %zu of %zu differs (seed %llu)", done, c->count,
                         (unsigned long long)c->seed);
        }
    }
    assert_int_equal(done, c->count);
    sorter_distinct distinct;
    entry_sorter_distinct(sorter, &distinct);
    assert_true(distinct.truncated == m->truncated);
    assert_true(distinct.whole == m->whole);
    if (c->must_spill)
        assert_true(entry_sorter_spilled(sorter));
    return KSV_OK;
}

static ksv_status sort(const sort_case *c, const sorted_model *m,
                       const ksv_file_system *fs, const char *directory)
{
    entry_sorter_options options = {.allocator = c->allocator,
                                    .memory_bytes = c->memory_bytes,
                                    .expected_entries = c->expected,
                                    .adders = c->adders,
                                    .fs = fs,
                                    .directory = directory,
                                    .spill_name = "00000000000000ff"};
    entry_sorter *sorter;
    KSV_TRY(entry_sorter_open(&options, &sorter, NULL));
    thread_pool *pool = NULL;
    ksv_status status = add_all(c, m, sorter);
    if (status == KSV_OK) {
        assert_true(entry_sorter_count(sorter) == c->count);
        if (c->threads > 0)
            assert_int_equal(thread_pool_open(c->threads, NULL, &pool, NULL),
                             KSV_OK);
        status =
            entry_sorter_finish(sorter, c->hash_bits, pool, c->threads, NULL);
    }
    if (status == KSV_OK)
        status = compare(c, m, sorter);
    entry_sorter_close(sorter);
    thread_pool_close(pool);
    return status;
}

static bool count_name(void *ctx, const char *name)
{
    (void)name;
    ++*(size_t *)ctx;
    return true;
}

static void check_empty(const ksv_file_system *fs, const char *directory)
{
    size_t files = 0;
    assert_int_equal(fs->list(fs->ctx, directory, count_name, &files, NULL),
                     KSV_OK);
    assert_int_equal(files, 0);
}

ksv_status sort_case_run(const sort_case *c)
{
    sorted_model m = make_model(c);
    ksv_file_system memory;
    const ksv_file_system *fs = c->fs;
    const char *directory = c->directory;
    if (fs == NULL) {
        assert_int_equal(memory_file_system_open(NULL, &memory, NULL), KSV_OK);
        fs = &memory;
        directory = "/ix";
        assert_int_equal(fs->make_directory(fs->ctx, directory, NULL), KSV_OK);
    }
    ksv_status status = sort(c, &m, fs, directory);
    check_empty(fs, directory);
    if (c->fs == NULL)
        memory_file_system_close(&memory);
    free(m.entries);
    free(m.sorted);
    return status;
}

void sort_case_check(const sort_case *c)
{
    assert_int_equal(sort_case_run(c), KSV_OK);
}
