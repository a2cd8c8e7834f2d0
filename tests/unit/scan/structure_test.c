/* SPDX-License-Identifier: MIT */
/* Structural masks: every version against a byte at a time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "scan/structure.h"
#include "support/random.h"

#define LARGEST_BYTES 400
#define MASK_WORDS STRUCTURE_BLOCKS(LARGEST_BYTES)

typedef void (*version_test)(const structure_kernels *k);

static void with_each_version(version_test test)
{
    const structure_kernels *versions[STRUCTURE_VERSIONS_MAX];
    structure_versions(versions);
    size_t count = 0;
    while (count < STRUCTURE_VERSIONS_MAX && versions[count] != NULL) {
        print_message("%s\n", versions[count]->name);
        test(versions[count++]);
    }
    assert_true(count > 0);
    assert_ptr_equal(versions[0], structure_choose());
}

static bool bit(const uint64_t *mask, size_t i)
{
    return mask[i / 64] >> (i % 64) & 1;
}

/* Memory that ends where the content does, so that a read past it shows. */
static uint8_t *random_content(random_source *r, size_t size, size_t skew,
                               const char *alphabet, uint8_t **memory)
{
    *memory = malloc(size + skew + 1);
    assert_non_null(*memory);
    uint8_t *exact = realloc(*memory, size + skew > 0 ? size + skew : 1);
    assert_non_null(exact);
    *memory = exact;
    size_t letters = strlen(alphabet);
    for (size_t i = 0; i < size; i++)
        exact[skew + i] = letters > 0
                              ? (uint8_t)alphabet[random_below(r, letters)]
                              : (uint8_t)random_below(r, 256);
    return exact + skew;
}

static void find_once(const structure_kernels *k, random_source *r, size_t size,
                      size_t skew)
{
    static const char *const ALPHABETS[] = {"", "ab", "\n\",\\x", "ab\x80\xff"};
    uint64_t words[STRUCTURE_WANTED_MAX][MASK_WORDS];
    uint64_t *masks[STRUCTURE_WANTED_MAX];
    uint8_t wanted[STRUCTURE_WANTED_MAX] = {'\n', 'a', 0, 0xff};
    uint8_t *memory;
    uint8_t *data =
        random_content(r, size, skew, ALPHABETS[random_below(r, 4)], &memory);
    size_t count = 1 + random_below(r, STRUCTURE_WANTED_MAX);
    memset(words, 0x5a, sizeof words);
    for (size_t i = 0; i < count; i++) {
        masks[i] = words[i];
        if (random_below(r, 2) == 0)
            wanted[i] = (uint8_t)random_below(r, 256);
    }
    k->find(data, size, wanted, count, masks);
    for (size_t i = 0; i < count; i++) {
        for (size_t at = 0; at < STRUCTURE_BLOCKS(size) * 64; at++) {
            bool expected = at < size && data[at] == wanted[i];
            assert_int_equal(bit(words[i], at), expected);
        }
    }
    free(memory);
}

static void check_find(const structure_kernels *k)
{
    random_source r = {1};
    for (size_t size = 0; size <= 200; size++) {
        for (size_t skew = 0; skew < 64; skew += 1 + skew / 8)
            find_once(k, &r, size, skew);
    }
    for (size_t skew = 0; skew < 64; skew++)
        find_once(k, &r, LARGEST_BYTES, skew);
}

static void check_list(const structure_kernels *k)
{
    random_source r = {2};
    for (size_t round = 0; round < 400; round++) {
        uint64_t mask[MASK_WORDS];
        uint16_t positions[MASK_WORDS * 64 + STRUCTURE_LIST_SPARE];
        size_t blocks = random_below(&r, MASK_WORDS + 1);
        size_t density = random_below(&r, 4);
        for (size_t b = 0; b < blocks; b++) {
            mask[b] = random_next(&r);
            for (size_t i = 0; i < density * 2; i++)
                mask[b] &= random_next(&r);
            if (density == 0)
                mask[b] |= random_next(&r);
            if (random_below(&r, 9) == 0)
                mask[b] = random_below(&r, 2) == 0 ? 0 : ~UINT64_C(0);
        }
        size_t count = k->list(mask, blocks, positions);
        size_t expected = 0;
        for (size_t at = 0; at < blocks * 64; at++) {
            if (!bit(mask, at))
                continue;
            assert_true(expected < count);
            assert_int_equal(positions[expected++], at);
        }
        assert_int_equal(count, expected);
    }
}

/* The rule, a byte at a time. */
typedef struct walker {
    enum { DATA, FIELD, QUOTED, BEHIND_QUOTE } state;
    bool doubling;
} walker;

/* Returns whether `c` is outside quotes. */
static bool walk(walker *w, uint8_t c)
{
    if (c == '"') {
        bool opens =
            w->state == FIELD || (w->state == BEHIND_QUOTE && w->doubling);
        if (w->state == QUOTED)
            w->state = BEHIND_QUOTE;
        else
            w->state = opens ? QUOTED : DATA;
        return w->state != QUOTED;
    }
    if (w->state == QUOTED)
        return false;
    w->state = c == '\n' || c == ',' ? FIELD : DATA;
    return true;
}

static void unquote_once(const structure_kernels *k, random_source *r,
                         size_t blocks)
{
    static const char *const ALPHABETS[] = {
        "\"", "\",", "\",\nx", "\"xxxxxxxx,", "\"x\n", "xxxxxxxxxxxxxxx\",\n"};
    uint64_t words[3][MASK_WORDS];
    uint64_t *masks[3] = {words[0], words[1], words[2]};
    uint8_t *memory;
    uint8_t *data = random_content(r, blocks * 64, 0,
                                   ALPHABETS[random_below(r, 6)], &memory);
    walker w = {(unsigned)random_below(r, 4), random_below(r, 2) == 0};
    structure_quotes state = {.inside = w.state == QUOTED ? ~UINT64_C(0) : 0,
                              .may_open =
                                  w.state == FIELD ||
                                  (w.state == BEHIND_QUOTE && w.doubling)};
    k->find(data, blocks * 64, (const uint8_t *)"\n,\"", 3, masks);
    structure_fields fields = {words[0], words[1], words[2],
                               w.doubling ? ~UINT64_C(0) : 0};
    structure_quotes passed = state;
    k->pass(data, blocks, (const uint8_t *)"\n,\"", fields.doubling, &passed);
    size_t first = random_below(r, blocks + 1);
    k->unquote(&fields, first, &state);
    fields = (structure_fields){words[0] + first, words[1] + first,
                                words[2] + first, fields.doubling};
    k->unquote(&fields, blocks - first, &state);
    for (size_t i = 0; i < blocks * 64; i++) {
        bool outside = walk(&w, data[i]);
        assert_int_equal(bit(words[0], i), outside && data[i] == '\n');
        assert_int_equal(bit(words[1], i), outside && data[i] == ',');
        assert_int_equal(bit(words[2], i), data[i] == '"');
    }
    assert_int_equal(state.inside, w.state == QUOTED ? ~UINT64_C(0) : 0);
    assert_int_equal(passed.inside, state.inside);
    assert_int_equal(passed.may_open, state.may_open);
    if (w.state != QUOTED)
        assert_int_equal(state.may_open,
                         w.state == FIELD ||
                             (w.state == BEHIND_QUOTE && w.doubling));
    free(memory);
}

static void check_unquote(const structure_kernels *k)
{
    random_source r = {3};
    for (size_t round = 0; round < 3000; round++)
        unquote_once(k, &r, random_below(&r, MASK_WORDS));
}

static void test_find(void **state)
{
    (void)state;
    with_each_version(check_find);
}

static void test_list(void **state)
{
    (void)state;
    with_each_version(check_list);
}

static void test_unquote(void **state)
{
    (void)state;
    with_each_version(check_unquote);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_find),
        cmocka_unit_test(test_list),
        cmocka_unit_test(test_unquote),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
