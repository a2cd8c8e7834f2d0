/* SPDX-License-Identifier: MIT */
/* Content hashes against a chain that is written down plainly. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "datafile/content_hash.h"
#include "support/random.h"

#define MOST_BYTES (4 * CONTENT_BLOCK_BYTES)

static uint8_t *content;

static int make_content(void **state)
{
    (void)state;
    random_source random = {7};
    content = malloc(MOST_BYTES);
    for (size_t i = 0; content != NULL && i < MOST_BYTES; i++)
        content[i] = (uint8_t)random_below(&random, 256);
    return content != NULL ? 0 : -1;
}

static int free_content(void **state)
{
    (void)state;
    free(content);
    return 0;
}

/* What the first `size` bytes come to, by the definition of the format. */
static void model(size_t size, uint8_t value[16])
{
    memset(value, 0, 16);
    for (size_t at = 0; at < size; at += 1048576) {
        uint8_t both[32];
        memcpy(both, value, 16);
        hash_wide(content + at, size - at < 1048576 ? size - at : 1048576,
                  both + 16);
        hash_wide(both, 32, value);
    }
}

static content_hash *open_at(const content_chain *from)
{
    content_hash *hash;
    assert_int_equal(content_hash_open(from, NULL, &hash, NULL), KSV_OK);
    return hash;
}

static void check_end(content_hash *hash, size_t size, content_chain *chain)
{
    uint8_t wanted[16], value[16];
    model(size, wanted);
    content_hash_finish(hash, value, chain);
    content_hash_close(hash);
    assert_memory_equal(value, wanted, 16);
    assert_int_equal(chain->blocks, size / CONTENT_BLOCK_BYTES);
    model(size - size % CONTENT_BLOCK_BYTES, wanted);
    assert_memory_equal(chain->value, wanted, 16);
}

static void add_pieces(content_hash *hash, size_t from, size_t to, size_t piece)
{
    for (size_t at = from; at < to; at += piece)
        content_hash_add(hash, content + at, to - at < piece ? to - at : piece);
}

static void add_blocks(content_hash *hash, size_t size)
{
    add_pieces(hash, 0, size, CONTENT_BLOCK_BYTES);
}

static const size_t SIZES[] = {0,
                               1,
                               5000,
                               CONTENT_BLOCK_BYTES - 1,
                               CONTENT_BLOCK_BYTES,
                               CONTENT_BLOCK_BYTES + 1,
                               3 * CONTENT_BLOCK_BYTES - 1,
                               3 * CONTENT_BLOCK_BYTES,
                               3 * CONTENT_BLOCK_BYTES + 70000};
enum { SIZE_COUNT = sizeof SIZES / sizeof SIZES[0] };

static void test_pieces_and_blocks_agree(void **state)
{
    (void)state;
    static const size_t PIECES[] = {977, 65536, 262144, 1048576, MOST_BYTES};
    for (size_t i = 0; i < SIZE_COUNT; i++) {
        content_chain chain;
        for (size_t p = 0; p < sizeof PIECES / sizeof PIECES[0]; p++) {
            content_hash *hash = open_at(NULL);
            add_pieces(hash, 0, SIZES[i], PIECES[p]);
            check_end(hash, SIZES[i], &chain);
        }
        content_hash *hash = open_at(NULL);
        add_blocks(hash, SIZES[i]);
        check_end(hash, SIZES[i], &chain);
    }
}

/* Whatever size a content has had and has now. */
static void test_goes_on(void **state)
{
    (void)state;
    for (size_t i = 0; i < SIZE_COUNT; i++) {
        for (size_t k = i; k < SIZE_COUNT; k++) {
            content_chain chain;
            content_hash *hash = open_at(NULL);
            add_blocks(hash, SIZES[i]);
            check_end(hash, SIZES[i], &chain);
            hash = open_at(&chain);
            add_pieces(hash, (size_t)chain.blocks * CONTENT_BLOCK_BYTES,
                       SIZES[k], 100000);
            check_end(hash, SIZES[k], &chain);
        }
    }
}

/* Stored values are compared with computed ones for ever: they stay. */
static void test_fixed_values(void **state)
{
    (void)state;
    static const uint8_t EMPTY[16] = {0};
    uint8_t value[16];
    content_hash *hash = open_at(NULL);
    content_hash_finish(hash, value, NULL);
    content_hash_close(hash);
    assert_memory_equal(value, EMPTY, 16);
    /* XXH3-128 of nothing, as its authors give it. */
    static const uint8_t OF_NOTHING[16] = {0x7f, 0x49, 0x8d, 0x46, 0x24, 0xc3,
                                           0x01, 0x60, 0xd8, 0x98, 0x47, 0x01,
                                           0xd3, 0x06, 0xaa, 0x99};
    hash_wide("", 0, value);
    assert_memory_equal(value, OF_NOTHING, 16);
    static const uint8_t OF_ABC[16] = {0xf0, 0x81, 0x85, 0x32, 0x89, 0x62,
                                       0xc5, 0xf5, 0x2d, 0x78, 0x1c, 0xcd,
                                       0xc3, 0xb1, 0xb2, 0xb6};
    hash = open_at(NULL);
    content_hash_add(hash, "abc", 3);
    content_hash_finish(hash, value, NULL);
    content_hash_close(hash);
    assert_memory_equal(value, OF_ABC, 16);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pieces_and_blocks_agree),
        cmocka_unit_test(test_goes_on),
        cmocka_unit_test(test_fixed_values),
    };
    return cmocka_run_group_tests(tests, make_content, free_content);
}
