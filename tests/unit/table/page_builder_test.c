/* SPDX-License-Identifier: MIT */
/* Where the builder cuts pages, and how full they are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/coding.h"
#include "support/random.h"
#include "table/page_builder.h"

static const ksv_allocator *allocator(void)
{
    static ksv_allocator a;
    a = allocator_or_default(NULL);
    return &a;
}

static page_builder make_builder(unsigned hash_bits, unsigned payload_bits)
{
    page_builder b;
    page_context context = {hash_bits, payload_bits, 5};
    assert_int_equal(page_builder_init(&b, &context, allocator(), NULL),
                     KSV_OK);
    return b;
}

static page_view view_of(const page_builder *b, const uint8_t *page,
                         uint32_t number)
{
    page_view view;
    ksv_error error = {0};
    if (page_open(page, number, &b->context, &view, &error) != KSV_OK)
        fail_msg("%s", error.text);
    return view;
}

static void push(page_builder *b, uint64_t x, uint64_t payload)
{
    size_t room;
    hash_entry *to = page_builder_room(b, &room);
    assert_true(room > 0);
    *to = (hash_entry){x << (64 - b->context.hash_bits), payload};
    b->count++;
}

/* Adds entries of `x` until a page can be cut. */
static void fill(page_builder *b, uint64_t x)
{
    for (uint64_t i = 0; !page_builder_is_full(b); i++)
        push(b, x, i);
}

/* Whether entries that span `span` fit with any number of low bits. */
static bool fits_somehow(size_t count, uint64_t span, unsigned payload_bits)
{
    for (unsigned low = 0; low < 64; low++)
        if (span >> low <= 32512 &&
            count * (1 + low + payload_bits) + (span >> low) <= 32512)
            return true;
    return false;
}

/* Entries of the first page: all that fit, less the last group of them when it
 * goes on and is not the first. */
static size_t model_cut(const uint64_t *x, size_t total, unsigned payload_bits)
{
    size_t count = 0;
    while (count < total &&
           fits_somehow(count + 1, x[count] - x[0], payload_bits))
        count++;
    if (count == total || x[count] >> 32 != x[count - 1] >> 32)
        return count;
    size_t group = count;
    while (group > 0 && x[group - 1] >> 32 == x[count] >> 32)
        group--;
    return group > 0 ? group : count;
}

static void check_first_page(unsigned payload_bits, uint64_t base,
                             uint64_t step, random_source *random)
{
    static uint64_t xs[40000];
    uint8_t page[PAGE_BUFFER_BYTES] = {0};
    page_builder b = make_builder(64, payload_bits);
    uint64_t x = base;
    size_t total = 0;
    while (!page_builder_is_full(&b)) {
        xs[total++] = x;
        push(&b, x, 1);
        x += random_below(random, step) + step / 2;
    }
    page_builder_cut(&b, 0, page);
    assert_int_equal(view_of(&b, page, 0).entries,
                     model_cut(xs, total, payload_bits));
    page_builder_release(&b, allocator());
}

static void test_a_page_takes_all_that_fits(void **state)
{
    (void)state;
    static const unsigned payload_bits[] = {1, 7, 30, 57};
    random_source random = {3};
    for (unsigned v = 0; v < 4; v++)
        for (unsigned shift = 0; shift < 62; shift += 3) {
            uint64_t base = random_next(&random) >> 2;
            uint64_t most = (UINT64_MAX - base) / 20000;
            uint64_t step = UINT64_C(1) << shift;
            check_first_page(payload_bits[v], base, step < most ? step : most,
                             &random);
        }
}

static void test_what_is_left_goes_into_one_page(void **state)
{
    (void)state;
    uint8_t page[PAGE_BUFFER_BYTES] = {0};
    page_builder b = make_builder(40, 30);
    for (uint64_t i = 0; i < 300; i++)
        push(&b, i * 1000, i);
    page_builder_cut(&b, 4, page);
    page_view view = view_of(&b, page, 4);
    assert_int_equal(view.entries, 300);
    assert_int_equal(b.count, 0);
    for (size_t i = 0; i < 300; i++)
        assert_true(page_payload(&view, i) == i);
    page_builder_release(&b, allocator());
}

static void test_a_group_is_not_divided(void **state)
{
    (void)state;
    uint8_t page[PAGE_BUFFER_BYTES] = {0};
    page_builder b = make_builder(40, 30);
    push(&b, 0x100, 0);
    push(&b, 0x1ff, 0);
    fill(&b, 0x200);
    size_t all = b.count;
    page_builder_cut(&b, 0, page);
    page_view view = view_of(&b, page, 0);
    assert_int_equal(view.entries, 2);
    assert_int_equal(view.flags, 0);
    assert_true(view.base == 0x100 && page_last(&view) == 0x1ff);
    assert_int_equal(b.count, all - 2);
    page_builder_release(&b, allocator());
}

static void
test_a_group_longer_than_a_page_is_divided_between_runs(void **state)
{
    (void)state;
    uint8_t page[PAGE_BUFFER_BYTES] = {0};
    page_builder b = make_builder(40, 30);
    push(&b, 0x300, 0);
    push(&b, 0x301, 0);
    fill(&b, 0x302);
    page_builder_cut(&b, 0, page);
    page_view view = view_of(&b, page, 0);
    assert_int_equal(view.entries, 2);
    assert_int_equal(view.flags, TABLE_FLAG_GROUP_AFTER);

    /* A page takes 32512 / 31 entries of one hash. */
    fill(&b, 0x302);
    page_builder_cut(&b, 1, page);
    view = view_of(&b, page, 1);
    assert_int_equal(view.entries, 1048);
    assert_int_equal(view.flags, TABLE_FLAG_GROUP_BEFORE |
                                     TABLE_FLAG_GROUP_AFTER |
                                     TABLE_FLAG_RUN_AFTER);

    while (b.count < 1048)
        push(&b, 0x302, 0);
    push(&b, 0x3ff, 0);
    push(&b, 0x400, 0);
    page_builder_cut(&b, 2, page);
    view = view_of(&b, page, 2);
    assert_int_equal(view.entries, 1048);
    assert_int_equal(view.flags, TABLE_FLAG_GROUP_BEFORE |
                                     TABLE_FLAG_GROUP_AFTER |
                                     TABLE_FLAG_RUN_BEFORE);
    page_builder_cut(&b, 3, page);
    assert_int_equal(view_of(&b, page, 3).flags, TABLE_FLAG_GROUP_BEFORE);
    assert_int_equal(b.count, 0);
    page_builder_release(&b, allocator());
}

static void test_the_widest_entries_fit_in_pairs(void **state)
{
    (void)state;
    uint8_t page[PAGE_BUFFER_BYTES] = {0};
    page_builder b = make_builder(64, 57);
    uint64_t payload = bits_mask(57);
    push(&b, 0, payload);
    push(&b, UINT64_MAX, payload);
    page_builder_cut(&b, 9, page);
    page_view view = view_of(&b, page, 9);
    assert_true(view.base == 0 && page_last(&view) == UINT64_MAX);
    assert_true(page_payload(&view, 0) == payload);
    assert_true(page_payload(&view, 1) == payload);
    page_builder_release(&b, allocator());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_page_takes_all_that_fits),
        cmocka_unit_test(test_what_is_left_goes_into_one_page),
        cmocka_unit_test(test_a_group_is_not_divided),
        cmocka_unit_test(
            test_a_group_longer_than_a_page_is_divided_between_runs),
        cmocka_unit_test(test_the_widest_entries_fit_in_pairs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
