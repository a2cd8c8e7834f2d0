/* SPDX-License-Identifier: MIT */
/* Asking for large pages changes nothing but how memory is held. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "io/large_pages.h"

/* Memory of any place and size keeps what was written before and takes what is
 * written after it; bytes around it are untouched. */
static void test_any_memory(void **state)
{
    (void)state;
    size_t room = 3 * (size_t)LARGE_PAGE_BYTES;
    uint8_t *memory = malloc(room);
    const size_t starts[] = {0, 1, 4096, LARGE_PAGE_BYTES - 1};
    const size_t sizes[] = {0, 1, 4096, LARGE_PAGE_BYTES,
                            2 * (size_t)LARGE_PAGE_BYTES};
    assert_non_null(memory);
    for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++) {
        for (size_t j = 0; j < sizeof sizes / sizeof sizes[0]; j++) {
            memset(memory, 7, room);
            large_pages_ask(memory + starts[i], sizes[j]);
            for (size_t at = 0; at < room; at += 511)
                assert_int_equal(memory[at], 7);
            memset(memory + starts[i], 8, sizes[j]);
            assert_int_equal(memory[room - 1], 7);
            assert_int_equal(memory[0], starts[i] == 0 && sizes[j] > 0 ? 8 : 7);
        }
    }
    free(memory);
}

static void test_no_memory(void **state)
{
    (void)state;
    large_pages_ask(NULL, 0);
    large_pages_ask(NULL, (size_t)64 << 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any_memory),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
