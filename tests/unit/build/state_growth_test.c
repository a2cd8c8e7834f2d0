/* SPDX-License-Identifier: MIT */
/* Ends of many data files that are replaced: what lived before still does, what
 * lies behind is dead, and the cuts cost one array a segment. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "build/state_growth.h"
#include "support/pace.h"
#include "support/random.h"
#include "support/test_allocator.h"

enum { MOST_FILES = 20000, CONTENT_BYTES = 60, FIRST_NEW_ID = 1000000 };

typedef struct fixture {
    test_allocator memory;
    catalog_state state;
    state_growth growth;
    uint64_t cuts[MOST_FILES]; /* CONTENT_BYTES: not grown */
    ksv_error error;
} fixture;

static int setup(void **state)
{
    static fixture f;
    memset(&f, 0, sizeof f);
    test_allocator_init(&f.memory);
    *state = &f;
    return 0;
}

static void begin(fixture *f)
{
    catalog_state_init(&f->state, &f->memory.allocator);
    f->growth =
        (state_growth){.state = &f->state, .first_new_id = FIRST_NEW_ID};
}

static void end(fixture *f)
{
    state_growth_close(&f->growth);
    catalog_state_release(&f->state);
    assert_int_equal(f->memory.live_bytes, 0);
    assert_false(f->memory.wrong_size);
}

/* A file of `count` extents of the same length, with some entries each. */
static void add_file(fixture *f, size_t count, random_source *random)
{
    const ksv_allocator *a = &f->memory.allocator;
    catalog_file file = {.ordinal = f->state.next_ordinal++,
                         .content_bytes = CONTENT_BYTES};
    assert_int_equal(catalog_file_make_extents(a, &file, count, NULL), KSV_OK);
    for (size_t i = 0; i < count; i++)
        file.extents[i] =
            (catalog_extent){.first_offset = i * (CONTENT_BYTES / count),
                             .length_bytes = CONTENT_BYTES / count,
                             .entries = 1 + random_below(random, 9)};
    f->cuts[file.ordinal] = CONTENT_BYTES;
    assert_int_equal(catalog_state_add_file(&f->state, &file, NULL), KSV_OK);
}

static void add_segment(fixture *f, uint64_t id, const catalog_part *parts,
                        size_t count)
{
    catalog_segment segment = {.id = id};
    assert_int_equal(
        catalog_segment_make_parts(&f->memory.allocator, &segment, count, NULL),
        KSV_OK);
    memcpy(segment.parts, parts, count * sizeof *parts);
    for (size_t i = 0; i < count; i++)
        segment.entries += parts[i].entries;
    assert_int_equal(catalog_state_add_segment(&f->state, &segment, NULL),
                     KSV_OK);
}

/* The extents from `first` up to `end` of a file. */
static catalog_part part_of(const fixture *f, uint64_t ordinal, size_t first,
                            size_t end)
{
    const catalog_file *file = &f->state.files[ordinal];
    catalog_part part = {.ordinal = ordinal,
                         .first_offset = file->extents[first].first_offset};
    for (size_t i = first; i < end; i++) {
        part.length_bytes += file->extents[i].length_bytes;
        part.entries += file->extents[i].entries;
    }
    return part;
}

static ksv_status grow(fixture *f, uint64_t ordinal, uint64_t cut)
{
    const catalog_file *file = &f->state.files[ordinal];
    built_file built;
    memset(&built, 0, sizeof built);
    built.growth = (file_growth){.is_grown = true, .first_offset = cut};
    for (size_t i = 0; i < file->extent_count; i++)
        built.growth.kept_extents += file->extents[i].first_offset < cut;
    f->cuts[ordinal] = cut;
    return state_growth_add(&f->growth, ordinal, &built, &f->error);
}

/* Where a payload of a segment is, counted the slow way. */
typedef struct spot {
    uint64_t ordinal;
    uint64_t offset;
    bool is_dead;
} spot;

static spot find_spot(const catalog_segment *segment, uint64_t payload)
{
    const catalog_part *part = segment->parts;
    while (payload >= part->length_bytes)
        payload -= part++->length_bytes;
    return (spot){part->ordinal, part->first_offset + payload, part->is_dead};
}

/* A copy of the parts of a segment. */
static catalog_segment copy_of(const catalog_segment *segment)
{
    catalog_segment copy = *segment;
    copy.parts = calloc(copy.part_count, sizeof *copy.parts);
    assert_non_null(copy.parts);
    memcpy(copy.parts, segment->parts, copy.part_count * sizeof *copy.parts);
    return copy;
}

/* No payload has moved; those behind the cut of their file are dead now. */
static void check_segment(const fixture *f, const catalog_segment *before,
                          const catalog_segment *after)
{
    uint64_t span = catalog_segment_span(before);
    assert_int_equal(catalog_segment_span(after), span);
    for (uint64_t p = 0; p < span; p++) {
        spot was = find_spot(before, p);
        spot is = find_spot(after, p);
        assert_int_equal(is.ordinal, was.ordinal);
        assert_int_equal(is.offset, was.offset);
        bool is_cut =
            before->id < FIRST_NEW_ID && was.offset >= f->cuts[was.ordinal];
        assert_int_equal(is.is_dead, was.is_dead || is_cut);
    }
    uint64_t entries = 0;
    for (size_t i = 0; i < after->part_count; i++) {
        assert_true(after->parts[i].length_bytes > 0);
        entries += after->parts[i].entries;
    }
    assert_int_equal(entries, before->entries);
}

/* Of each file so many entries live as its extents before the cut have. */
static void check_entries(const fixture *f)
{
    for (size_t i = 0; i < f->state.file_count; i++) {
        const catalog_file *file = &f->state.files[i];
        uint64_t lives = 0;
        uint64_t wanted = 0;
        for (size_t s = 0; s < f->state.segment_count; s++) {
            const catalog_segment *segment = &f->state.segments[s];
            for (size_t p = 0;
                 segment->id < FIRST_NEW_ID && p < segment->part_count; p++)
                if (segment->parts[p].ordinal == i &&
                    !segment->parts[p].is_dead)
                    lives += segment->parts[p].entries;
        }
        for (size_t e = 0; e < file->extent_count; e++)
            if (file->extents[e].first_offset < f->cuts[i])
                wanted += file->extents[e].entries;
        assert_int_equal(lives, wanted);
    }
}

enum { FILES = 25, SEGMENTS = 4, EXTENTS_MOST = 6 };

/* Runs of extents, each in one of the segments, with dead parts between. */
static void add_random_segments(fixture *f, random_source *random)
{
    static catalog_part parts[SEGMENTS][4 * FILES * EXTENTS_MOST];
    size_t counts[SEGMENTS] = {0};
    for (uint64_t file = 0; file < FILES; file++) {
        size_t extents = f->state.files[file].extent_count;
        for (size_t i = 0; i < extents;) {
            size_t some = 1 + random_below(random, extents - i);
            size_t to = random_below(random, SEGMENTS);
            catalog_part part = part_of(f, file, i, i + some);
            parts[to][counts[to]++] = part;
            part.is_dead = true;
            if (random_below(random, 3) == 0)
                parts[to][counts[to]++] = part;
            i += some;
        }
    }
    for (size_t i = 0; i < SEGMENTS; i++)
        if (counts[i] > 0)
            add_segment(f, 10 * i + 1, parts[i], counts[i]);
    /* One of this build, which is left alone. */
    catalog_part part = part_of(f, 3, 0, 1);
    add_segment(f, FIRST_NEW_ID, &part, 1);
}

static void run_random(fixture *f, uint64_t seed)
{
    random_source random = {seed};
    begin(f);
    for (size_t i = 0; i < FILES; i++)
        add_file(f, 1 + random_below(&random, EXTENTS_MOST), &random);
    add_random_segments(f, &random);
    catalog_segment before[SEGMENTS + 1];
    size_t count = f->state.segment_count;
    for (size_t i = 0; i < count; i++)
        before[i] = copy_of(&f->state.segments[i]);
    for (size_t i = 0; i < FILES; i++) {
        /* In any order, each once. */
        uint64_t file = (i * 7 + seed) % FILES;
        if (random_below(&random, 4) != 0)
            assert_int_equal(
                grow(f, file, 1 + random_below(&random, CONTENT_BYTES)),
                KSV_OK);
    }
    assert_int_equal(state_growth_finish(&f->growth, &f->error), KSV_OK);
    for (size_t i = 0; i < count; i++) {
        check_segment(f, &before[i], &f->state.segments[i]);
        free(before[i].parts);
    }
    check_entries(f);
    end(f);
}

static void test_as_counted_slowly(void **state)
{
    for (uint64_t seed = 1; seed <= PACE_ROUNDS(60); seed++) {
        print_message("seed %llu\n", (unsigned long long)seed);
        run_random(*state, seed);
    }
}

/* All files have one extent, and their parts are in one segment, or each in a
 * segment of its own. */
static void add_many(fixture *f, bool in_one)
{
    random_source random = {1};
    catalog_part *parts = calloc(MOST_FILES, sizeof *parts);
    assert_non_null(parts);
    for (uint64_t i = 0; i < MOST_FILES; i++) {
        add_file(f, 2, &random);
        parts[i] = part_of(f, i, 0, 2);
        if (!in_one)
            add_segment(f, i + 1, &parts[i], 1);
    }
    if (in_one)
        add_segment(f, 1, parts, MOST_FILES);
    free(parts);
}

static void grow_many(fixture *f, bool in_one, uint64_t allocations_most)
{
    begin(f);
    add_many(f, in_one);
    uint64_t before = f->memory.allocations;
    for (uint64_t i = 0; i < MOST_FILES; i++)
        assert_int_equal(grow(f, MOST_FILES - 1 - i, CONTENT_BYTES / 2),
                         KSV_OK);
    assert_int_equal(state_growth_finish(&f->growth, &f->error), KSV_OK);
    assert_true(f->memory.allocations - before <= allocations_most);
    for (size_t i = 0; i < f->state.segment_count; i++) {
        const catalog_segment *segment = &f->state.segments[i];
        assert_int_equal(segment->part_count,
                         2 * (in_one ? MOST_FILES : (size_t)1));
        for (size_t p = 0; p < segment->part_count; p++) {
            const catalog_part *part = &segment->parts[p];
            const catalog_extent *e =
                &f->state.files[part->ordinal].extents[p % 2];
            assert_int_equal(part->ordinal, in_one ? p / 2 : i);
            assert_int_equal(part->is_dead, p % 2);
            assert_int_equal(part->first_offset, e->first_offset);
            assert_int_equal(part->length_bytes, e->length_bytes);
            assert_int_equal(part->entries, e->entries);
        }
    }
    end(f);
}

/* Were a segment's parts copied for each file, it would be as many arrays. */
static void test_very_many(void **state)
{
    grow_many(*state, true, 64);
    grow_many(*state, false, MOST_FILES + 64);
}

static void test_out_of_memory(void **state)
{
    fixture *f = *state;
    ksv_status status = KSV_ERROR_MEMORY;
    for (uint64_t at = 0; status != KSV_OK; at++) {
        random_source random = {2};
        begin(f);
        for (size_t i = 0; i < FILES; i++)
            add_file(f, 3, &random);
        add_random_segments(f, &random);
        f->memory.failing = f->memory.allocations + at;
        status = KSV_OK;
        for (uint64_t i = 0; i < FILES && status == KSV_OK; i++)
            status = grow(f, i, 25);
        if (status == KSV_OK)
            status = state_growth_finish(&f->growth, &f->error);
        f->memory.failing = TEST_ALLOCATOR_NEVER;
        assert_true(status == KSV_OK || status == KSV_ERROR_MEMORY);
        assert_true(at > 2 || status != KSV_OK);
        end(f);
    }
}

/* A catalog that says that there are fewer entries than are to die. */
static void test_too_few_entries(void **state)
{
    fixture *f = *state;
    random_source random = {3};
    begin(f);
    add_file(f, 2, &random);
    catalog_part part = part_of(f, 0, 0, 2);
    part.entries = f->state.files[0].extents[1].entries - 1;
    add_segment(f, 1, &part, 1);
    assert_int_equal(grow(f, 0, 10), KSV_ERROR_CORRUPT);
    end(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_as_counted_slowly, setup),
        cmocka_unit_test_setup(test_very_many, setup),
        cmocka_unit_test_setup(test_out_of_memory, setup),
        cmocka_unit_test_setup(test_too_few_entries, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
