/* SPDX-License-Identifier: MIT */
/* Candidates come in the order of files, then of offsets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lookup/lookup_session.h"
#include "support/random.h"

static int compare(const void *a, const void *b)
{
    const lookup_candidate *x = a;
    const lookup_candidate *y = b;
    if (x->file != y->file)
        return x->file < y->file ? -1 : 1;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

static void test_as_qsort(void **state)
{
    (void)state;
    static lookup_candidate sorted[3000], wanted[3000];
    random_source random = {5};
    for (size_t count = 0; count < 3000; count += 1 + count / 3) {
        for (size_t i = 0; i < count; i++)
            sorted[i] =
                (lookup_candidate){.file = (uint32_t)random_below(&random, 9),
                                   .offset = random_below(&random, 100000)};
        memcpy(wanted, sorted, count * sizeof *sorted);
        qsort(wanted, count, sizeof *wanted, compare);
        lookup_sort_candidates(sorted, count);
        for (size_t i = 0; i < count; i++) {
            assert_int_equal(sorted[i].file, wanted[i].file);
            assert_int_equal(sorted[i].offset, wanted[i].offset);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_as_qsort),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
