/* SPDX-License-Identifier: MIT */
/* Reads that are joined bring the same bytes as reads apart. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "io/memory_file_system.h"
#include "lookup/read_wave.h"
#include "support/fault_allocator.h"
#include "support/random.h"

#define CONTENT_BYTES 50000
#define CAPACITY 20000
#define PADDING 16

typedef struct fixture {
    fault_allocator memory;
    uint8_t content[CONTENT_BYTES];
    ksv_file *file;
    ksv_file *other;
    ksv_file_system fs;
    read_wave wave;
} fixture;

static int set_up(void **state)
{
    static fixture f;
    random_source random = {3};
    memset(&f, 0, sizeof f);
    fault_allocator_init(&f.memory, 0);
    random_fill(&random, f.content, sizeof f.content);
    assert_int_equal(
        memory_file_over(f.content, CONTENT_BYTES, NULL, &f.file, NULL),
        KSV_OK);
    assert_int_equal(
        memory_file_over(f.content, CONTENT_BYTES, NULL, &f.other, NULL),
        KSV_OK);
    read_wave_init(&f.wave, &f.fs, &f.memory.allocator, CAPACITY, PADDING);
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    read_wave_close(&f->wave);
    assert_int_equal(f->file->ops->close(f->file, NULL), KSV_OK);
    assert_int_equal(f->other->ops->close(f->other, NULL), KSV_OK);
    return !fault_allocator_is_clean(&f->memory);
}

static wave_part add(fixture *f, ksv_file *file, uint64_t offset, size_t size,
                     size_t gap)
{
    wave_part part;
    bool added;
    assert_int_equal(
        read_wave_add(&f->wave, file, offset, size, gap, &part, &added, NULL),
        KSV_OK);
    assert_true(added);
    return part;
}

static void test_joins(void **state)
{
    fixture *f = *state;
    add(f, f->file, 100, 50, 10);
    wave_part inside = add(f, f->file, 120, 10, 10);
    assert_int_equal(inside.read, 0);
    assert_int_equal(inside.position, 20);
    wave_part near = add(f, f->file, 160, 40, 10);
    assert_int_equal(near.read, 0);
    assert_int_equal(near.position, 60);
    assert_int_equal(f->wave.reads[0].size_bytes, 100);
    assert_int_equal(add(f, f->file, 211, 5, 10).read, 1);
    assert_int_equal(add(f, f->file, 200, 5, 10).read, 2); /* before */
    assert_int_equal(add(f, f->other, 205, 5, 10).read, 3);
    assert_int_equal(add(f, f->other, 210, 5, READ_WAVE_APART).read, 4);
    assert_int_equal(add(f, f->other, 215, 5, 0).read, 4);
    assert_int_equal(read_wave_run(&f->wave, NULL), KSV_OK);
    assert_memory_equal(f->wave.buffer + near.position, f->content + 160, 40);
    assert_int_equal(read_wave_bytes(&f->wave), 100 + 5 + 5 + 5 + 10);
}

static void test_random_reads(void **state)
{
    fixture *f = *state;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        random_source random = {seed};
        uint64_t offsets[200];
        size_t sizes[200];
        wave_part parts[200];
        size_t count = 0;
        uint64_t offset = 0;
        size_t gap = random_below(&random, 2) ? READ_WAVE_APART
                                              : random_below(&random, 600);
        read_wave_clear(&f->wave);
        for (; count < 200; count++) {
            offset += random_below(&random, 500);
            sizes[count] = random_below(&random, 300);
            offsets[count] = offset;
            bool added;
            assert_int_equal(read_wave_add(&f->wave, f->file, offset,
                                           sizes[count], gap, &parts[count],
                                           &added, NULL),
                             KSV_OK);
            if (!added)
                break;
        }
        assert_true(count > 10);
        assert_true(f->wave.used_bytes <= CAPACITY);
        assert_int_equal(read_wave_run(&f->wave, NULL), KSV_OK);
        for (size_t i = 0; i < count; i++) {
            size_t there = offsets[i] < CONTENT_BYTES
                               ? CONTENT_BYTES - (size_t)offsets[i]
                               : 0;
            if (there > sizes[i])
                there = sizes[i];
            assert_int_equal(read_wave_got(&f->wave, &parts[i], sizes[i]),
                             there);
            if (there > 0)
                assert_memory_equal(f->wave.buffer + parts[i].position,
                                    f->content + offsets[i], there);
        }
    }
}

/* There is none before a read needs it, and a failure tells. */
static void test_memory(void **state)
{
    fixture *f = *state;
    wave_part part;
    bool added;
    read_wave_clear(&f->wave);
    assert_int_equal(read_wave_run(&f->wave, NULL), KSV_OK);
    assert_null(f->wave.buffer);
    f->memory.fail_at = f->memory.calls + 1;
    assert_int_equal(
        read_wave_add(&f->wave, f->file, 0, 10, 0, &part, &added, NULL),
        KSV_ERROR_MEMORY);
    part = add(f, f->file, 10, 100, 0);
    assert_int_equal(read_wave_run(&f->wave, NULL), KSV_OK);
    assert_memory_equal(f->wave.buffer + part.position, f->content + 10, 100);
    assert_int_equal(read_wave_got(&f->wave, &part, 100), 100);
}

int main(void)
{
#define WITH_FIXTURE(test) \
    cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        WITH_FIXTURE(test_joins),
        WITH_FIXTURE(test_random_reads),
        WITH_FIXTURE(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
