/* SPDX-License-Identifier: MIT */
/* The model of keys against a plain list that is searched from end to end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "support/key_model.h"
#include "support/random.h"

#define ADDED 500

typedef struct plain_entry {
    char key[4];
    size_t key_bytes;
    key_place place;
} plain_entry;

static size_t count_in_list(const plain_entry *list, const char *key,
                            size_t key_bytes, uint32_t dropped_file)
{
    size_t count = 0;
    for (size_t i = 0; i < ADDED; i++)
        count += list[i].place.file != dropped_file &&
                 list[i].key_bytes == key_bytes &&
                 memcmp(list[i].key, key, key_bytes) == 0;
    return count;
}

/* All keys of up to two letters of "\0ab". */
static void check_all_keys(key_model *model, const plain_entry *list,
                           uint32_t dropped_file)
{
    static const char LETTERS[] = {'\0', 'a', 'b'};
    size_t distinct = 0;
    size_t total = 0;
    for (unsigned i = 0; i < 1 + 3 + 9; i++) {
        size_t key_bytes = (i >= 1) + (i >= 4);
        char key[2] = {LETTERS[i % 3], LETTERS[i / 3 % 3]};
        size_t count;
        const key_entry *found = key_model_find(model, key, key_bytes, &count);
        assert_int_equal(count,
                         count_in_list(list, key, key_bytes, dropped_file));
        for (size_t k = 1; k < count; k++)
            assert_true(found[k - 1].place.file < found[k].place.file ||
                        (found[k - 1].place.file == found[k].place.file &&
                         found[k - 1].place.offset <= found[k].place.offset));
        distinct += count > 0;
        total += count;
    }
    assert_int_equal(key_model_distinct_keys(model), distinct);
    assert_int_equal(model->count, total);
}

static void test_as_a_list(void **state)
{
    (void)state;
    random_source r = {5};
    key_model model = {0};
    static plain_entry list[ADDED];
    for (size_t i = 0; i < ADDED; i++) {
        plain_entry *e = &list[i];
        e->key_bytes = random_below(&r, 3);
        for (size_t k = 0; k < e->key_bytes; k++)
            e->key[k] = "\0ab"[random_below(&r, 3)];
        e->place = (key_place){(uint32_t)random_below(&r, 4),
                               random_below(&r, 50), random_below(&r, 9)};
        key_model_add(&model, e->key, e->key_bytes, e->place);
    }
    check_all_keys(&model, list, UINT32_MAX);
    for (size_t i = 1; i < model.count; i++) {
        const key_entry *a = key_model_entry(&model, i - 1);
        const key_entry *b = key_model_entry(&model, i);
        size_t shorter =
            a->key_bytes < b->key_bytes ? a->key_bytes : b->key_bytes;
        int order = memcmp(a->key, b->key, shorter);
        assert_true(order < 0 || (order == 0 && a->key_bytes <= b->key_bytes));
    }
    key_model_drop_file(&model, 2);
    check_all_keys(&model, list, 2);
    key_model_release(&model);
    size_t count;
    key_model_find(&model, "a", 1, &count);
    assert_int_equal(count, 0);
}

/* The first values for seed 1234567, as other programs give them. */
static void test_random_values(void **state)
{
    (void)state;
    static const uint64_t EXPECTED[] = {
        UINT64_C(6457827717110365317), UINT64_C(3203168211198807973),
        UINT64_C(9817491932198370423), UINT64_C(4593380528125082431),
        UINT64_C(16408922859458223821)};
    random_source r = {1234567};
    for (size_t i = 0; i < 5; i++)
        assert_true(random_next(&r) == EXPECTED[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_as_a_list),
        cmocka_unit_test(test_random_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
