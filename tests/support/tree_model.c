/* SPDX-License-Identifier: MIT */
/* A set of (key, place) in memory, to compare trees with. */
#include "support/tree_model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "btree/tree_check.h"
#include "btree/tree_cursor.h"
#include "btree/tree_loader.h"

void tree_model_release(tree_model *m)
{
    for (size_t i = 0; i < m->count; i++)
        free(m->entries[i].key);
    free(m->entries);
    memset(m, 0, sizeof *m);
}

void tree_model_add(tree_model *m, const void *key, size_t key_bytes,
                    uint64_t part, uint64_t offset)
{
    if (m->count == m->capacity) {
        m->capacity = m->capacity * 2 + 16;
        m->entries = realloc(m->entries, m->capacity * sizeof *m->entries);
        assert_non_null(m->entries);
    }
    model_entry *e = &m->entries[m->count++];
    e->key = malloc(key_bytes + 1);
    assert_non_null(e->key);
    if (key_bytes > 0)
        memcpy(e->key, key, key_bytes);
    e->key_bytes = key_bytes;
    e->place = (tree_place){part, offset};
}

static int compare_keys(const uint8_t *a, size_t a_bytes, const uint8_t *b,
                        size_t b_bytes)
{
    for (size_t i = 0; i < a_bytes && i < b_bytes; i++)
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    return (a_bytes > b_bytes) - (a_bytes < b_bytes);
}

static int compare_entries(const void *left, const void *right)
{
    const model_entry *a = left;
    const model_entry *b = right;
    int order = compare_keys(a->key, a->key_bytes, b->key, b->key_bytes);
    if (order != 0)
        return order;
    if (a->place.part != b->place.part)
        return a->place.part < b->place.part ? -1 : 1;
    return (a->place.offset > b->place.offset) -
           (a->place.offset < b->place.offset);
}

void tree_model_sort(tree_model *m)
{
    size_t kept = 0;
    if (m->count > 0)
        qsort(m->entries, m->count, sizeof *m->entries, compare_entries);
    for (size_t i = 0; i < m->count; i++) {
        if (kept > 0 &&
            compare_entries(&m->entries[kept - 1], &m->entries[i]) == 0)
            free(m->entries[i].key);
        else
            m->entries[kept++] = m->entries[i];
    }
    m->count = kept;
}

void tree_model_remove_part(tree_model *m, uint64_t part)
{
    size_t kept = 0;
    for (size_t i = 0; i < m->count; i++) {
        if (m->entries[i].place.part == part)
            free(m->entries[i].key);
        else
            m->entries[kept++] = m->entries[i];
    }
    m->count = kept;
}

void tree_model_remove(tree_model *m, size_t i)
{
    free(m->entries[i].key);
    memmove(m->entries + i, m->entries + i + 1,
            (m->count - i - 1) * sizeof *m->entries);
    m->count--;
}

size_t tree_model_seek(const tree_model *m, tree_key key)
{
    size_t i = 0;
    size_t high = m->count;
    while (i < high) {
        size_t middle = i + (high - i) / 2;
        const model_entry *e = &m->entries[middle];
        if (compare_keys(e->key, e->key_bytes, key.data, key.size_bytes) < 0)
            i = middle + 1;
        else
            high = middle;
    }
    return i;
}

static size_t few_kinds(random_source *random, uint8_t *key, size_t most)
{
    size_t size = random_below(random, most + 1);
    for (size_t i = 0; i < size; i++)
        key[i] = (uint8_t)(random_below(random, 3) * 127);
    return size;
}

size_t tree_model_make_key(model_keys kind, random_source *random, uint8_t *key)
{
    size_t size;
    switch (kind) {
    case MODEL_KEYS_SHORT:
        return few_kinds(random, key, 12);
    case MODEL_KEYS_UUID:
        for (size_t i = 0; i < 36; i++)
            key[i] = (uint8_t) "0123456789abcdef"[random_below(random, 16)];
        return 36;
    case MODEL_KEYS_SHARED:
        memset(key, 's', 600);
        return 600 + few_kinds(random, key + 600, 14);
    case MODEL_KEYS_LONG:
        size = random_below(random, MODEL_KEY_BYTES_MOST + 1);
        memset(key, 'l', size);
        for (int i = 0; i < 3 && size > 0; i++) {
            size_t at = random_below(random, size);
            key[at] = (uint8_t)random_next(random);
        }
        return size;
    case MODEL_KEYS_SAME:
        size = random_below(random, 3) * 300;
        memset(key, 'd', size);
        return size;
    default:
        return tree_model_make_key(
            (model_keys)random_below(random, MODEL_KEYS_MIXED), random, key);
    }
}

void tree_model_add_random(tree_model *m, model_keys kind,
                           random_source *random, uint64_t part, size_t count)
{
    uint8_t key[MODEL_KEY_BYTES_MOST];
    for (size_t i = 0; i < count; i++) {
        size_t size = tree_model_make_key(kind, random, key);
        uint64_t offset = random_next(random);
        tree_model_add(m, key, size, part, offset >> random_below(random, 64));
    }
    tree_model_sort(m);
}

void tree_model_load(const tree_model *m, const char *directory,
                     const char *name, const uint8_t id[16])
{
    tree_loader *loader;
    ksv_error error;
    tree_info info;
    if (tree_loader_open(ksv_posix_file_system(), directory, name, id, NULL,
                         &loader, &error) != KSV_OK)
        fail_msg("%s: %s", error.path, error.text);
    for (size_t i = 0; i < m->count; i++) {
        bool is_new;
        assert_int_equal(tree_loader_add(loader, tree_model_key(m, i),
                                         m->entries[i].place, &is_new, NULL),
                         KSV_OK);
        bool expected =
            i == 0 ||
            compare_keys(m->entries[i - 1].key, m->entries[i - 1].key_bytes,
                         m->entries[i].key, m->entries[i].key_bytes) != 0;
        assert_int_equal(is_new, expected);
    }
    if (tree_loader_finish(loader, &info, &error) != KSV_OK)
        fail_msg("%s: %s", error.path, error.text);
    assert_int_equal(info.entries, m->count);
    tree_loader_close(loader);
}

tree_reader *tree_model_open(const char *path, const uint8_t id[16])
{
    tree_reader_options options = {.fs = ksv_posix_file_system(), .path = path};
    memcpy(options.id, id, sizeof options.id);
    tree_reader *reader;
    ksv_error error;
    if (tree_reader_open(&options, &reader, &error) != KSV_OK)
        fail_msg("%s: %s (byte %llu)", error.path, error.text,
                 (unsigned long long)error.byte_offset);
    return reader;
}

static void need(ksv_status status, const ksv_error *error)
{
    if (status != KSV_OK)
        fail_msg("%s: %s (byte %llu)", error->path, error->text,
                 (unsigned long long)error->byte_offset);
}

static void check_at(const tree_model *m, size_t i, bool found,
                     const tree_cursor *c)
{
    assert_int_equal(found, i < m->count);
    if (!found)
        return;
    tree_key key = tree_cursor_key(c);
    tree_place place = tree_cursor_place(c);
    assert_int_equal(key.size_bytes, m->entries[i].key_bytes);
    if (key.size_bytes > 0)
        assert_memory_equal(key.data, m->entries[i].key, key.size_bytes);
    assert_int_equal(place.part, m->entries[i].place.part);
    assert_int_equal(place.offset, m->entries[i].place.offset);
}

static void compare_walks(const tree_model *m, tree_cursor *c)
{
    bool found;
    ksv_error error;
    size_t i = 0;
    need(tree_cursor_first(c, &found, &error), &error);
    for (; found; i++) {
        check_at(m, i, found, c);
        need(tree_cursor_next(c, &found, &error), &error);
    }
    assert_int_equal(i, m->count);
    need(tree_cursor_last(c, &found, &error), &error);
    for (; found; i--) {
        check_at(m, i - 1, found, c);
        need(tree_cursor_previous(c, &found, &error), &error);
    }
    assert_int_equal(i, 0);
}

typedef struct find_check {
    const tree_model *m;
    size_t at;
    bool wrong;
} find_check;

static bool visit_place(void *ctx, tree_place place)
{
    find_check *f = ctx;
    if (f->at >= f->m->count || place.part != f->m->entries[f->at].place.part ||
        place.offset != f->m->entries[f->at].place.offset)
        f->wrong = true;
    f->at++;
    return !f->wrong;
}

static void compare_key(const tree_model *m, tree_cursor *c, tree_key key,
                        random_source *random)
{
    bool found;
    ksv_error error;
    size_t at = tree_model_seek(m, key);
    need(tree_cursor_seek(c, key, &found, &error), &error);
    check_at(m, at, found, c);
    for (size_t i = at; found && random_below(random, 4) > 0;) {
        bool on = random_below(random, 2) > 0;
        need(on ? tree_cursor_next(c, &found, &error)
                : tree_cursor_previous(c, &found, &error),
             &error);
        i = on ? i + 1 : i - 1; /* before the first: none, too */
        check_at(m, i, found, c);
    }
    need(tree_cursor_seek_before(c, key, &found, &error), &error);
    check_at(m, at - 1, found, c);
    find_check f = {m, at, false};
    need(tree_cursor_find(c, key, visit_place, &f, &error), &error);
    assert_false(f.wrong);
    size_t end = at;
    while (end < m->count &&
           compare_keys(m->entries[end].key, m->entries[end].key_bytes,
                        key.data, key.size_bytes) == 0)
        end++;
    assert_int_equal(f.at, end);
}

static void compare_seeks(const tree_model *m, tree_cursor *c, uint64_t seed)
{
    random_source random = {seed};
    uint8_t bytes[MODEL_KEY_BYTES_MOST + 1];
    for (size_t i = 0; i < 200; i++) {
        size_t size;
        if (m->count > 0 && random_below(&random, 3) > 0) {
            const model_entry *e = &m->entries[random_below(&random, m->count)];
            size = e->key_bytes;
            memcpy(bytes, e->key, size);
            uint64_t change = random_below(&random, 4);
            if (change == 1)
                bytes[size++] = (uint8_t)random_next(&random);
            else if (change == 2 && size > 0)
                size--;
            else if (change == 3 && size > 0)
                bytes[random_below(&random, size)]++;
        } else {
            size = tree_model_make_key(MODEL_KEYS_MIXED, &random, bytes);
        }
        compare_key(m, c, (tree_key){bytes, size}, &random);
    }
}

typedef struct check_visit {
    const tree_model *m;
    size_t at;
} check_visit;

static ksv_status visit_entry(void *ctx, tree_key key, tree_place place,
                              ksv_error *error)
{
    check_visit *v = ctx;
    (void)error;
    assert_true(v->at < v->m->count);
    const model_entry *e = &v->m->entries[v->at++];
    assert_int_equal(key.size_bytes, e->key_bytes);
    assert_int_equal(place.offset, e->place.offset);
    return KSV_OK;
}

void tree_model_compare(const tree_model *m, tree_reader *reader, uint64_t seed)
{
    tree_cursor *c;
    ksv_error error;
    tree_info info;
    tree_reader_get_info(reader, &info);
    assert_int_equal(info.entries, m->count);
    assert_int_equal(tree_cursor_open(reader, &c, NULL), KSV_OK);
    compare_walks(m, c);
    compare_seeks(m, c, seed);
    tree_cursor_close(c);
    uint64_t bytes = 0;
    check_visit v = {m, 0};
    need(tree_check(reader, visit_entry, &v, &bytes, &error), &error);
    assert_int_equal(v.at, m->count);
}
