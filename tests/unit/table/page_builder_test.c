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

/* Whether entries spread evenly over `span` fit with any number of low bits. */
static bool fits_somehow(size_t count, uint64_t span, unsigned payload_bits)
{
    for (unsigned low = 0; low < 64; low++)
        if (span >> low <= 32512 &&
            count * (1 + low + payload_bits) + (span >> low) <= 32512)
            return true;
    return false;
}

static void test_a_page_takes_all_that_fits(void **state)
{
    (void)state;
    static const unsigned payload_bits[] = {1, 7, 30, 57};
    uint8_t page[PAGE_BUFFER_BYTES] = {0};
    random_source random = {3};
    for (unsigned v = 0; v < 4; v++)
        for (unsigned shift = 0; shift < 62; shift += 3) {
            page_builder b = make_builder(64, payload_bits[v]);
            uint64_t base = random_next(&random) >> 2;
            uint64_t x = base;
            uint64_t most = (UINT64_MAX - base) / 20000;
            uint64_t step = UINT64_C(1) << shift;
            step = step < most ? step : most;
            size_t count = 0;
            while (page_builder_fits(&b, x)) {
                page_builder_push(&b, x, 1);
                count++;
                x += random_below(&random, step) + step / 2;
                assert_int_equal(
                    page_builder_fits(&b, x),
                    fits_somehow(count + 1, x - base, payload_bits[v]));
            }
            page_builder_cut_last(&b, 0, page);
            assert_int_equal(view_of(&b, page, 0).entries, count);
            page_builder_release(&b, allocator());
        }
}

/* Adds entries of `x` until one does not fit. */
static void fill(page_builder *b, uint64_t x)
{
    for (uint64_t i = 0; page_builder_fits(b, x); i++)
        page_builder_push(b, x, i);
}

static void test_a_group_is_not_divided(void **state)
{
    (void)state;
    uint8_t page[PAGE_BUFFER_BYTES] = {0};
    page_builder b = make_builder(40, 30);
    page_builder_push(&b, 0x100, 0);
    page_builder_push(&b, 0x1ff, 0);
    uint64_t x = 0x200;
    while (page_builder_fits(&b, x))
        page_builder_push(&b, x, 0);
    size_t all = b.count;
    page_builder_cut(&b, x, 0, page);
    page_view view = view_of(&b, page, 0);
    assert_int_equal(view.entries, 2);
    assert_int_equal(view.flags, 0);
    assert_true(view.base == 0x100 && view.last == 0x1ff);
    assert_int_equal(b.count, all - 2);
    page_builder_release(&b, allocator());
}

static void
test_a_group_longer_than_a_page_is_divided_between_runs(void **state)
{
    (void)state;
    uint8_t page[PAGE_BUFFER_BYTES] = {0};
    page_builder b = make_builder(40, 30);
    page_builder_push(&b, 0x300, 0);
    page_builder_push(&b, 0x301, 0);
    fill(&b, 0x302);
    page_builder_cut(&b, 0x302, 0, page);
    page_view view = view_of(&b, page, 0);
    assert_int_equal(view.entries, 2);
    assert_int_equal(view.flags, TABLE_FLAG_GROUP_AFTER);

    fill(&b, 0x302);
    size_t full = b.count;
    page_builder_cut(&b, 0x302, 1, page);
    view = view_of(&b, page, 1);
    assert_int_equal(view.entries, full);
    assert_int_equal(view.flags, TABLE_FLAG_GROUP_BEFORE |
                                     TABLE_FLAG_GROUP_AFTER |
                                     TABLE_FLAG_RUN_AFTER);

    fill(&b, 0x302);
    page_builder_cut(&b, 0x3ff, 2, page);
    view = view_of(&b, page, 2);
    assert_int_equal(view.flags, TABLE_FLAG_GROUP_BEFORE |
                                     TABLE_FLAG_GROUP_AFTER |
                                     TABLE_FLAG_RUN_BEFORE);

    page_builder_push(&b, 0x3ff, 0);
    page_builder_push(&b, 0x400, 0);
    page_builder_cut_last(&b, 3, page);
    assert_int_equal(view_of(&b, page, 3).flags, TABLE_FLAG_GROUP_BEFORE);
    page_builder_release(&b, allocator());
}

static void test_the_widest_entries_fit_in_pairs(void **state)
{
    (void)state;
    uint8_t page[PAGE_BUFFER_BYTES] = {0};
    page_builder b = make_builder(64, 57);
    uint64_t payload = bits_mask(57);
    page_builder_push(&b, 0, payload);
    assert_true(page_builder_fits(&b, UINT64_MAX));
    page_builder_push(&b, UINT64_MAX, payload);
    page_builder_cut_last(&b, 9, page);
    page_view view = view_of(&b, page, 9);
    assert_true(view.base == 0 && view.last == UINT64_MAX);
    assert_true(page_payload(&view, 0) == payload);
    assert_true(page_payload(&view, 1) == payload);
    page_builder_release(&b, allocator());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_page_takes_all_that_fits),
        cmocka_unit_test(test_a_group_is_not_divided),
        cmocka_unit_test(
            test_a_group_longer_than_a_page_is_divided_between_runs),
        cmocka_unit_test(test_the_widest_entries_fit_in_pairs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
