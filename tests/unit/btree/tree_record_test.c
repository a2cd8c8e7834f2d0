/* SPDX-License-Identifier: MIT */
/* Keys of records and their ties, the head, bounds between entries. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "btree/tree_record.h"
#include "btree/tree_ties.h"

static int compare(const tree_record_key *a, const tree_record_key *b)
{
    return lmdb_compare(LMDB_ORDER_TIED, a->bytes, a->size_bytes, b->bytes,
                        b->size_bytes);
}

static tree_key key_of(const char *text)
{
    return (tree_key){(const uint8_t *)text, strlen(text)};
}

static void test_records_are_in_the_order_of_keys(void **state)
{
    (void)state;
    tree_record_key a = tree_record_block(key_of("ab"), UINT64_MAX);
    tree_record_key b = tree_record_block(key_of("abc"), 1);
    tree_record_key c = tree_record_block(key_of("abc"), 2);
    tree_record_key head = tree_record_head();
    assert_true(compare(&a, &b) < 0);
    assert_true(compare(&b, &c) < 0);
    assert_true(compare(&c, &head) < 0);
    assert_int_equal(tree_record_tie(c.bytes, c.size_bytes), 2);
    assert_true(tree_record_same_text(&b, &c));
    assert_false(tree_record_same_text(&a, &b));
    assert_true(tree_record_has_text(b.bytes, b.size_bytes, key_of("abc")));
    assert_false(tree_record_has_text(a.bytes, a.size_bytes, key_of("abc")));
}

static void test_long_keys_share_a_text(void **state)
{
    (void)state;
    char text[1000];
    memset(text, 'x', sizeof text);
    tree_key whole = {(const uint8_t *)text, 1000};
    tree_key shorter = {whole.data, 600};
    tree_record_key a = tree_record_block(shorter, 1);
    tree_record_key b = tree_record_block(whole, 2);
    assert_true(tree_record_same_text(&a, &b));
    assert_true(b.size_bytes <= LMDB_KEY_BYTES_MOST);
}

/* Ties that are asked for lie in order between those that are there. */
static void check_ties(uint64_t low, uint64_t high, uint64_t count)
{
    tie_range range = {.low = low, .high = high};
    assert_true(tie_range_prepare(&range, count));
    uint64_t before = low;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t tie = tie_range_next(&range);
        assert_true(tie > before);
        if (high != 0)
            assert_true(tie < high);
        before = tie;
    }
}

static void test_ties(void **state)
{
    (void)state;
    check_ties(0, 0, 1000);
    check_ties(0, TREE_TIE_FIRST, 1000);
    check_ties(TREE_TIE_FIRST, 0, 1000);
    check_ties(0, 1001, 1000);
    check_ties(5, 10, 4);
    check_ties(UINT64_MAX - 5, 0, 4);
    tie_range none = {.low = 5, .high = 9};
    assert_false(tie_range_prepare(&none, 4));
    tie_range first = {.low = 0, .high = 1};
    assert_false(tie_range_prepare(&first, 1));
}

static void check_between(const char *last, const char *next,
                          const char *expected)
{
    tree_bound a = {key_of(last), {1, 2}};
    tree_bound b = {key_of(next), {1, 3}};
    tree_bound between =
        tree_bound_between(&a, &b, tree_key_shared(a.key, b.key));
    assert_int_equal(tree_key_compare(between.key, key_of(expected)), 0);
    assert_true(tree_bound_compare(&a, &between) < 0);
    assert_true(tree_bound_compare(&between, &b) <= 0);
}

static void test_bounds_between_entries(void **state)
{
    (void)state;
    check_between("abc", "abx1", "abx");
    check_between("abc", "abcd", "abcd");
    check_between("", "zzz", "z");
    check_between("same key, that is long", "same key, that is long",
                  "same key, that is long");
    check_between("12345678abc", "12345678b", "12345678b");
}

static void test_head(void **state)
{
    (void)state;
    ksv_allocator a = allocator_or_default(NULL);
    tree_head head;
    tree_head again;
    byte_buffer out;
    buffer_init(&out, &a);
    tree_head_init(&head, &a);
    head.txn_id = 8;
    head.least_generation = 9;
    head.blocks = 10;
    for (uint64_t part = 20; part > 0; part--)
        assert_int_equal(tree_head_count(&head, part, 5, NULL), KSV_OK);
    assert_int_equal(tree_head_count(&head, 7, -5, NULL), KSV_OK);
    assert_int_equal(tree_head_encode(&head, &out, NULL), KSV_OK);
    tree_head_init(&again, &a);
    assert_int_equal(tree_head_decode(&again, out.data, out.size, NULL),
                     KSV_OK);
    assert_int_equal(again.next_part, 21);
    assert_int_equal(again.part_count, 19);
    assert_int_equal(again.entries, 95);
    assert_int_equal(again.least_generation, 9);
    tree_head_release(&again);
    for (size_t i = 0; i < out.size; i++) {
        tree_head_init(&again, &a);
        assert_int_not_equal(tree_head_decode(&again, out.data, i, NULL),
                             KSV_OK);
        out.data[i] ^= 1;
        assert_int_not_equal(tree_head_decode(&again, out.data, out.size, NULL),
                             KSV_OK);
        out.data[i] ^= 1;
        tree_head_release(&again);
    }
    out.data[8] = 2;
    tree_head_init(&again, &a);
    assert_int_equal(tree_head_decode(&again, out.data, out.size, NULL),
                     KSV_ERROR_VERSION);
    tree_head_release(&head);
    buffer_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_records_are_in_the_order_of_keys),
        cmocka_unit_test(test_long_keys_share_a_text),
        cmocka_unit_test(test_ties),
        cmocka_unit_test(test_bounds_between_entries),
        cmocka_unit_test(test_head),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
