/* SPDX-License-Identifier: MIT */
/* Sorted tables in memory, and their answers compared with a model. */
#include "support/sorted_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/coding.h"
#include "base/error.h"
#include "hash/hash.h"
#include "sorted/sorted_format.h"

sorted_options sorted_test_options(unsigned payload_bits, uint8_t id,
                                   size_t block_bytes)
{
    sorted_options options = {.payload_bits = payload_bits,
                              .block_bytes = block_bytes};
    memset(options.id, id, sizeof options.id);
    return options;
}

ksv_status sorted_write(ksv_file *file, const sorted_options *options,
                        const key_set *set, thread_pool *pool,
                        const ksv_allocator *allocator, sorted_info *info,
                        ksv_error *error)
{
    sorted_writer *writer;
    KSV_TRY(
        sorted_writer_open(file, options, pool, 2, allocator, &writer, error));
    ksv_status status = KSV_OK;
    for (size_t i = 0; i < set->count && status == KSV_OK; i++) {
        bool is_new = false;
        status = sorted_writer_add(writer, sorted_key_of(set, i),
                                   set->entries[i].payload, &is_new, error);
        if (status == KSV_OK)
            assert_true(is_new ==
                        (i == 0 || model_key_order(&set->entries[i - 1],
                                                   &set->entries[i]) != 0));
    }
    if (status == KSV_OK)
        status = sorted_writer_finish(writer, info, error);
    sorted_writer_close(writer);
    return status;
}

void sorted_fixture_init(sorted_fixture *fixture, sorted_options options,
                         key_set set)
{
    ksv_error error = {0};
    *fixture = (sorted_fixture){.options = options, .set = set};
    key_set_sort(&fixture->set);
    byte_file_init(&fixture->file);
    if (sorted_write(&fixture->file.base, &options, &fixture->set, NULL, NULL,
                     &fixture->info, &error) != KSV_OK)
        fail_msg("%s", error.text);
}

void sorted_fixture_release(sorted_fixture *fixture)
{
    byte_file_release(&fixture->file);
    key_set_release(&fixture->set);
}

#define SAMPLE_KEYS 500
#define SAMPLE_REPEATED 300

key_set sorted_sample_set(bool random_bytes)
{
    random_source random = {random_bytes ? 7 : 8};
    size_t count = SAMPLE_KEYS + SAMPLE_REPEATED;
    key_set set = {calloc(count, sizeof(model_entry)), count,
                   malloc(count * 64)};
    assert_true(set.entries != NULL && set.bytes != NULL);
    uint8_t *next = set.bytes;
    for (size_t i = 0; i < count; i++) {
        size_t size = 20;
        if (i >= SAMPLE_KEYS) {
            memset(next, 'm', size);
        } else if (random_bytes) {
            random_fill(&random, next, size);
        } else {
            size = 1 + (size_t)random_below(&random, 30);
            for (size_t k = 0; k < size; k++)
                next[k] = (uint8_t)(random_below(&random, 3) * 'm');
        }
        set.entries[i] = (model_entry){next, size, random_next(&random) >> 24};
        next += size;
    }
    return set;
}

sorted_key sorted_key_of(const key_set *set, size_t entry)
{
    return (sorted_key){set->entries[entry].key, set->entries[entry].key_bytes};
}

size_t sorted_lower_bound(const key_set *set, sorted_key key)
{
    model_entry wanted = {key.data, key.size_bytes, 0};
    size_t low = 0, high = set->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (model_key_order(&set->entries[middle], &wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void check_entry(const key_set *set, size_t i, sorted_key key,
                        uint64_t payload)
{
    if (i >= set->count || key.size_bytes != set->entries[i].key_bytes ||
        payload != set->entries[i].payload ||
        memcmp(key.data, set->entries[i].key, key.size_bytes) != 0)
        fail_msg("entry %zu of %zu differs", i, set->count);
}

ksv_status sorted_check_iterator(const key_set *set, sorted_reader *reader)
{
    sorted_iterator *it;
    KSV_TRY(sorted_iterator_open(reader, set->count % 3 * 5000, &it, NULL));
    ksv_status status = KSV_OK;
    for (size_t i = 0;; i++) {
        sorted_key key;
        uint64_t payload;
        bool end;
        status = sorted_iterator_next(it, &key, &payload, &end, NULL);
        if (status != KSV_OK)
            break;
        if (end) {
            assert_int_equal(i, set->count);
            break;
        }
        check_entry(set, i, key, payload);
    }
    sorted_iterator_close(it);
    return status;
}

/* The payloads of a key that were visited, compared with those expected. */
typedef struct visited {
    const key_set *set;
    sorted_key key;
    size_t next;
} visited;

static bool has_key(const key_set *set, size_t i, sorted_key key)
{
    model_entry wanted = {key.data, key.size_bytes, 0};
    return i < set->count && model_key_order(&set->entries[i], &wanted) == 0;
}

static bool visit(void *ctx, uint64_t payload)
{
    visited *v = ctx;
    if (!has_key(v->set, v->next, v->key) ||
        v->set->entries[v->next].payload != payload)
        fail_msg("a wrong payload");
    v->next++;
    return true;
}

ksv_status sorted_check_find(const key_set *set, sorted_cursor *cursor,
                             sorted_key key)
{
    visited v = {set, key, sorted_lower_bound(set, key)};
    KSV_TRY(sorted_cursor_find(cursor, key, visit, &v, NULL));
    if (has_key(set, v.next, key))
        fail_msg("a payload is missing");
    return KSV_OK;
}

ksv_status sorted_check_walk(const key_set *set, sorted_cursor *cursor,
                             sorted_key key, bool before, size_t steps)
{
    bool found;
    size_t at = sorted_lower_bound(set, key) - (before ? 1 : 0);
    if (before)
        KSV_TRY(sorted_cursor_seek_before(cursor, key, &found, NULL));
    else
        KSV_TRY(sorted_cursor_seek(cursor, key, &found, NULL));
    for (size_t i = 0; i <= steps; i++) {
        assert_true(found == (at < set->count));
        if (!found)
            return KSV_OK;
        check_entry(set, at, sorted_cursor_key(cursor),
                    sorted_cursor_payload(cursor));
        if (before) {
            at--;
            KSV_TRY(sorted_cursor_previous(cursor, &found, NULL));
        } else {
            at++;
            KSV_TRY(sorted_cursor_next(cursor, &found, NULL));
        }
    }
    return KSV_OK;
}

/* A key that is there, or one near it. */
static sorted_key some_key(const key_set *set, random_source *random,
                           uint8_t *buffer, size_t buffer_bytes)
{
    if (set->count == 0 || random_below(random, 16) == 0)
        return (sorted_key){buffer, 0};
    sorted_key key =
        sorted_key_of(set, (size_t)random_below(random, set->count));
    uint64_t kind = random_below(random, 4);
    if (kind < 2 || key.size_bytes + 1 > buffer_bytes)
        return key;
    memcpy(buffer, key.data, key.size_bytes);
    buffer[key.size_bytes] = (uint8_t)random_below(random, 2);
    size_t size = key.size_bytes;
    if (kind == 2)
        size++;
    else if (size > 0)
        buffer[random_below(random, size)] ^= (uint8_t)(1 + size % 3);
    return (sorted_key){buffer, size};
}

static ksv_status check_cursor(const key_set *set, sorted_reader *reader,
                               size_t finds, uint64_t seed)
{
    random_source random = {seed};
    uint8_t buffer[8192];
    sorted_cursor *cursor;
    KSV_TRY(sorted_cursor_open(reader, &cursor, NULL));
    ksv_status status = KSV_OK;
    for (size_t i = 0; i < finds; i++) {
        sorted_key key = some_key(set, &random, buffer, sizeof buffer);
        ksv_status s = sorted_check_find(set, cursor, key);
        if (s == KSV_OK && i % 4 == 0)
            s = sorted_check_walk(set, cursor, key, i % 8 == 0,
                                  (size_t)random_below(&random, 40));
        if (status == KSV_OK)
            status = s;
    }
    sorted_cursor_close(cursor);
    return status;
}

ksv_status sorted_check_answers(const key_set *set, ksv_file *file,
                                size_t finds, uint64_t seed)
{
    sorted_reader *reader;
    KSV_TRY(sorted_reader_open(file, NULL, &reader, NULL));
    ksv_status status = check_cursor(set, reader, finds, seed);
    ksv_status iterated = sorted_check_iterator(set, reader);
    sorted_reader_close(reader);
    return status != KSV_OK ? status : iterated;
}

void sorted_reseal(uint8_t *data, size_t size_bytes)
{
    if (size_bytes < SORTED_HEADER_BYTES + SORTED_FOOTER_BYTES)
        return;
    store_u32(data + SORTED_HEADER_BYTES - 4,
              hash_checksum32(data, SORTED_HEADER_BYTES - 4));
    size_t end = size_bytes - SORTED_FOOTER_BYTES;
    store_u32(data + end,
              hash_checksum32(data + end + 4, SORTED_FOOTER_BYTES - 4));
    size_t at = SORTED_HEADER_BYTES;
    while (end - at > SORTED_BLOCK_HEADER_BYTES) {
        unsigned level;
        uint64_t size = sorted_peek_block(data + at, &level);
        if (size > end - at)
            return;
        store_u32(data + at, hash_checksum32(data + at + 4, (size_t)size - 4));
        at += (size_t)size;
    }
}
