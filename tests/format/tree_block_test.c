/* SPDX-License-Identifier: MIT */
/* Blocks of a tree: those written before, packed anew, cut short or changed.
 * With an argument it writes the golden file there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "btree/tree_entries.h"
#include "btree/tree_packer.h"
#include "support/tree_model.h"

#define GOLDEN KSV_TEST_DIR "/format/golden/tree_block_v1.bin"
#define PAGE_BYTES 4096

static const uint8_t id[16] = "golden tree v1..";

/* Blocks, one after the other. */
typedef struct blocks {
    uint8_t *bytes;
    size_t size;
    size_t sizes[64];
    size_t count;
} blocks;

static ksv_status take_block(void *ctx, const tree_bound *low, uint8_t *block,
                             size_t size_bytes, ksv_error *error)
{
    blocks *b = ctx;
    (void)low;
    (void)error;
    assert_true(b->count < 64);
    tree_block_seal(block, size_bytes, 7);
    b->bytes = realloc(b->bytes, b->size + size_bytes);
    assert_non_null(b->bytes);
    memcpy(b->bytes + b->size, block, size_bytes);
    b->size += size_bytes;
    b->sizes[b->count++] = size_bytes;
    return KSV_OK;
}

/* All kinds of keys, one with more places than a block holds. */
static void make_model(tree_model *m)
{
    random_source random = {51};
    tree_model_add_random(m, MODEL_KEYS_UUID, &random, 1, 150);
    tree_model_add_random(m, MODEL_KEYS_SHORT, &random, 2, 60);
    tree_model_add_random(m, MODEL_KEYS_SHARED, &random, 300, 20);
    tree_model_add(m, "", 0, 1, 0);
    uint8_t key[MODEL_KEY_BYTES_MOST];
    memset(key, 'z', sizeof key);
    tree_model_add(m, key, sizeof key, TREE_MOST_PART, UINT64_MAX);
    for (uint64_t i = 0; i < 1500; i++)
        tree_model_add(m, "many", 4, i / 1000 + 1, i * 1000);
    tree_model_sort(m);
}

static void pack(const tree_model *m, blocks *out)
{
    static const tree_bound all;
    ksv_allocator a = allocator_or_default(NULL);
    tree_packer p;
    memset(out, 0, sizeof *out);
    tree_packer_init(&p, &a, PAGE_BYTES, tree_block_tag(id), take_block, out);
    assert_int_equal(tree_packer_begin(&p, &all, NULL), KSV_OK);
    for (size_t i = 0; i < m->count; i++) {
        tree_bound entry = {tree_model_key(m, i), m->entries[i].place};
        assert_int_equal(tree_packer_add(&p, &entry, NULL), KSV_OK);
    }
    assert_int_equal(tree_packer_end(&p, NULL, NULL), KSV_OK);
    tree_packer_release(&p);
}

/* Entries from number `at` on; returns the number behind the block. */
static size_t compare_block(const tree_model *m, size_t at,
                            const tree_block *block)
{
    ksv_allocator a = allocator_or_default(NULL);
    tree_entries e;
    bool found;
    size_t first = at;
    tree_entries_init(&e, &a);
    assert_int_equal(tree_entries_first(&e, block, &found, NULL), KSV_OK);
    for (; found; at++) {
        assert_true(at < m->count);
        tree_bound entry = tree_entries_get(&e);
        tree_bound expected = {tree_model_key(m, at), m->entries[at].place};
        assert_int_equal(tree_bound_compare(&entry, &expected), 0);
        assert_true(tree_block_covers(block, &entry));
        assert_int_equal(tree_entries_next(&e, &found, NULL), KSV_OK);
    }
    for (size_t i = first; i < at; i += 7) {
        tree_bound bound = {tree_model_key(m, i), m->entries[i].place};
        assert_int_equal(tree_entries_seek(&e, block, &bound, &found, NULL),
                         KSV_OK);
        assert_true(found);
        tree_bound entry = tree_entries_get(&e);
        assert_int_equal(tree_bound_compare(&entry, &bound), 0);
    }
    size_t back = at;
    assert_int_equal(tree_entries_last(&e, block, &found, NULL), KSV_OK);
    while (found) {
        back--;
        assert_int_equal(e.places[e.at].offset, m->entries[back].place.offset);
        assert_int_equal(tree_entries_previous(&e, &found, NULL), KSV_OK);
    }
    assert_int_equal(back, first);
    tree_entries_release(&e);
    return at;
}

static void test_packed_blocks_hold_all_entries(void **state)
{
    (void)state;
    tree_model m = {0};
    blocks b;
    make_model(&m);
    pack(&m, &b);
    assert_true(b.count > 5);
    size_t at = 0;
    size_t offset = 0;
    tree_block before = {.keys = 0};
    for (size_t i = 0; i < b.count; i++) {
        tree_block block;
        assert_null(tree_block_open(&block, b.bytes + offset, b.sizes[i],
                                    tree_block_tag(id)));
        if (i > 0)
            assert_int_equal(tree_block_compare_high(&before, &block.low), 0);
        assert_int_equal(block.has_high, i + 1 < b.count);
        assert_int_equal((b.sizes[i] + 16) % PAGE_BYTES, 0);
        assert_int_equal(block.txn_id, 7);
        at = compare_block(&m, at, &block);
        before = block;
        offset += b.sizes[i];
    }
    assert_int_equal(at, m.count);
    free(b.bytes);
    tree_model_release(&m);
}

static size_t read_golden(uint8_t *out, size_t room)
{
    FILE *in = fopen(GOLDEN, "rb");
    assert_non_null(in);
    size_t size = fread(out, 1, room, in);
    fclose(in);
    return size;
}

static void test_golden(void **state)
{
    (void)state;
    static uint8_t golden[1 << 18];
    tree_model m = {0};
    blocks b;
    make_model(&m);
    pack(&m, &b);
    assert_int_equal(read_golden(golden, sizeof golden), b.size);
    assert_memory_equal(golden, b.bytes, b.size);
    free(b.bytes);
    tree_model_release(&m);
}

static void test_changed_and_cut(void **state)
{
    (void)state;
    static uint8_t golden[1 << 18];
    tree_block block;
    uint64_t tag = tree_block_tag(id);
    size_t size = PAGE_BYTES - 16;
    assert_true(read_golden(golden, sizeof golden) > size);
    assert_null(tree_block_open(&block, golden, size, tag));
    for (size_t i = 0; i < size; i++) {
        assert_non_null(tree_block_open(&block, golden, i, tag));
        golden[i] ^= (uint8_t)(1u << i % 8);
        assert_non_null(tree_block_open(&block, golden, size, tag));
        golden[i] ^= (uint8_t)(1u << i % 8);
    }
    assert_non_null(tree_block_open(&block, golden, size, tag + 1));
}

static int write_golden(const char *path)
{
    tree_model m = {0};
    blocks b;
    make_model(&m);
    pack(&m, &b);
    FILE *out = fopen(path, "wb");
    bool fine = out != NULL && fwrite(b.bytes, 1, b.size, out) == b.size &&
                fclose(out) == 0;
    free(b.bytes);
    tree_model_release(&m);
    return fine ? 0 : 1;
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return write_golden(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_packed_blocks_hold_all_entries),
        cmocka_unit_test(test_golden),
        cmocka_unit_test(test_changed_and_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
