/* SPDX-License-Identifier: MIT */
/* Many small things in an arena: apart, aligned, kept, and freed at once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/memory.h"
#include "support/fault_allocator.h"
#include "support/random.h"

enum { PIECES = 2000, PIECE_BYTES_MOST = 700 };

static uint8_t *pieces[PIECES];
static size_t sizes[PIECES];

static void fill(size_t i)
{
    memset(pieces[i], (int)(i % 251), sizes[i]);
}

static void expect_kept(size_t count)
{
    for (size_t i = 0; i < count; i++) {
        assert_true((uintptr_t)pieces[i] % 16 == 0);
        for (size_t at = 0; at < sizes[i]; at++)
            assert_int_equal(pieces[i][at], i % 251);
    }
}

/* Some grow, the youngest and others, and some are freed: all keep what was
 * written into them. */
static void test_pieces(void **state)
{
    (void)state;
    fault_allocator fault;
    fault_allocator_init(&fault, 0);
    random_source seed = {17};
    arena *a = arena_open(&fault.allocator, 5000);
    assert_non_null(a);
    arena_skip(a, 48);
    const ksv_allocator from = arena_allocator(a);
    for (size_t i = 0; i < PIECES; i++) {
        sizes[i] = random_below(&seed, PIECE_BYTES_MOST) + 1;
        pieces[i] = memory_alloc(&from, sizes[i]);
        assert_non_null(pieces[i]);
        fill(i);
        size_t other = i - random_below(&seed, i < 3 ? i + 1 : 3);
        size_t larger = sizes[other] + random_below(&seed, 100);
        pieces[other] =
            memory_realloc(&from, pieces[other], sizes[other], larger);
        sizes[other] = larger;
        fill(other);
        memory_free(&from, memory_alloc(&from, 1), 1);
    }
    expect_kept(PIECES);
    assert_true(fault.live_blocks > 2);
    arena_close(a);
    assert_true(fault_allocator_is_clean(&fault));
}

static void test_first_block(void **state)
{
    (void)state;
    arena *a = arena_open(NULL, 100000);
    assert_non_null(a);
    size_t bytes;
    uint8_t *block = arena_first_block(a, &bytes);
    assert_true(bytes >= 100000);
    arena_skip(a, 4096);
    const ksv_allocator from = arena_allocator(a);
    uint8_t *first = memory_alloc(&from, 10);
    assert_ptr_equal(first, block + 4096);
    uint8_t *rest = memory_alloc(&from, bytes - 4096 - 32);
    assert_ptr_equal(rest, first + 16);
    uint8_t *elsewhere = memory_alloc(&from, 100);
    assert_true(elsewhere < block || elsewhere >= block + bytes);
    arena_close(a);
    arena_close(NULL);
}

static void test_out_of_memory(void **state)
{
    (void)state;
    for (size_t at = 1; at <= 2; at++) {
        fault_allocator fault;
        fault_allocator_init(&fault, at);
        assert_null(arena_open(&fault.allocator, 1));
        assert_true(fault_allocator_is_clean(&fault));
    }
    fault_allocator fault;
    fault_allocator_init(&fault, 3);
    arena *a = arena_open(&fault.allocator, 1);
    const ksv_allocator from = arena_allocator(a);
    pieces[0] = memory_alloc(&from, 900);
    sizes[0] = 900;
    fill(0);
    assert_null(memory_alloc(&from, 900));
    assert_null(memory_alloc(&from, SIZE_MAX - 3));
    assert_null(memory_realloc(&from, pieces[0], 900, SIZE_MAX - 3));
    expect_kept(1);
    assert_non_null(memory_alloc(&from, 900));
    arena_close(a);
    assert_true(fault_allocator_is_clean(&fault));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_first_block),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
