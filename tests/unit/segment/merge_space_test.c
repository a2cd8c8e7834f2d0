/* SPDX-License-Identifier: MIT */
/* Address spaces of one segment and of several, against a slow model. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "segment/merge_space.h"
#include "support/random.h"

#define SEGMENTS 5
#define PARTS 7

static void test_parts_are_found(void **state)
{
    (void)state;
    ksv_allocator a = allocator_or_default(NULL);
    for (size_t count = 1; count < 40; count++) {
        catalog_part parts[40];
        part_map map;
        random_source random = {count};
        for (size_t i = 0; i < count; i++)
            parts[i] =
                (catalog_part){.length_bytes = 1 + random_below(&random, 5)};
        assert_int_equal(part_map_open(&map, parts, count, &a, NULL), KSV_OK);
        uint64_t payload = 0;
        for (size_t i = 0; i < count; i++)
            for (uint64_t j = 0; j < parts[i].length_bytes; j++)
                assert_int_equal(part_map_find(&map, payload++), i);
        assert_int_equal(part_map_span(&map), payload);
        part_map_close(&map, &a);
    }
}

/* Stretches of 4 files of 10 * PARTS bytes, each in one of the segments. */
typedef struct sample {
    catalog_segment segments[SEGMENTS];
    const catalog_segment *list[SEGMENTS];
    catalog_part parts[SEGMENTS][4 * PARTS];
} sample;

static void make_sample(sample *s, random_source *random)
{
    memset(s, 0, sizeof *s);
    for (size_t i = 0; i < SEGMENTS; i++) {
        s->segments[i].parts = s->parts[i];
        s->list[i] = &s->segments[i];
    }
    for (uint64_t file = 0; file < 4; file++) {
        for (uint64_t p = 0; p < PARTS; p++) {
            catalog_segment *to = &s->segments[random_below(random, SEGMENTS)];
            to->parts[to->part_count++] =
                (catalog_part){.ordinal = 3 * file,
                               .first_offset = 10 * p,
                               .length_bytes = 1 + random_below(random, 10),
                               .entries = random_below(random, 5),
                               .is_dead = random_below(random, 4) == 0};
        }
    }
}

/* Every byte of every living part keeps its file and offset, and they come in
 * order; those of dead parts are told. */
static void check_moves(const sample *s, const merge_space *space)
{
    uint64_t living = 0;
    for (size_t i = 0; i < SEGMENTS; i++) {
        uint64_t payload = 0;
        for (size_t p = 0; p < s->segments[i].part_count; p++) {
            const catalog_part *part = &s->segments[i].parts[p];
            for (uint64_t j = 0; j < part->length_bytes; j++, payload++) {
                uint64_t moved = payload, offset;
                bool lives = merge_space_move(space, i, &moved);
                assert_int_equal(lives, !part->is_dead);
                if (!lives)
                    continue;
                living++;
                const catalog_part *to =
                    merge_space_find(space, moved, &offset);
                assert_int_equal(to->ordinal, part->ordinal);
                assert_int_equal(offset, part->first_offset + j);
            }
        }
    }
    assert_int_equal(part_map_span(&space->map), living);
}

static void check_parts(const sample *s, const merge_space *space)
{
    uint64_t entries = 0, listed = 0;
    for (size_t i = 0; i < SEGMENTS; i++)
        for (size_t p = 0; p < s->segments[i].part_count; p++)
            if (!s->segments[i].parts[p].is_dead)
                entries += s->segments[i].parts[p].entries;
    for (size_t p = 0; p < space->part_count; p++) {
        const catalog_part *part = &space->parts[p];
        listed += part->entries;
        if (p == 0)
            continue;
        const catalog_part *last = part - 1;
        assert_true(
            part->ordinal > last->ordinal ||
            (part->ordinal == last->ordinal &&
             part->first_offset > last->first_offset + last->length_bytes));
    }
    assert_int_equal(space->entries, entries);
    assert_int_equal(listed, entries);
}

static void test_living_parts_follow_each_other(void **state)
{
    (void)state;
    ksv_allocator a = allocator_or_default(NULL);
    for (uint64_t seed = 1; seed < 200; seed++) {
        random_source random = {seed};
        sample s;
        merge_space space;
        make_sample(&s, &random);
        assert_int_equal(merge_space_open(&space, s.list, SEGMENTS, &a, NULL),
                         KSV_OK);
        check_moves(&s, &space);
        check_parts(&s, &space);
        merge_space_close(&space);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts_are_found),
        cmocka_unit_test(test_living_parts_follow_each_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
