/* SPDX-License-Identifier: MIT */
/* The forms of keys in runs: each key has one, and two keys never share it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "dedup/run_key.h"
#include "support/random.h"

#define ROUNDS 20000

/* What a form stands for, digit by digit. */
static size_t expand(const run_key *key, char *out)
{
    static const char digits[] = "0123456789abcdef";
    size_t size = 0;
    if (key->form == RUN_KEY_BYTES) {
        memcpy(out, key->stored, (size_t)key->stored_bytes);
        return (size_t)key->stored_bytes;
    }
    for (size_t i = 0; i < 2 * key->stored_bytes; i++) {
        bool has_hyphen = key->form == RUN_KEY_UUID &&
                          (size == 8 || size == 13 || size == 18 || size == 23);
        if (has_hyphen)
            out[size++] = '-';
        out[size++] = digits[i % 2 == 0 ? key->stored[i / 2] >> 4
                                        : key->stored[i / 2] & 15];
    }
    if (key->form == RUN_KEY_HEX && key->key_bytes % 2 == 1)
        assert_int_equal(out[--size], '0');
    return size;
}

static void check(const char *text, size_t size, run_key_form form)
{
    char out[2 * RUN_KEY_PACKED_MAX];
    uint8_t packed[RUN_KEY_PACKED_BYTES];
    run_key key;
    uint64_t stored_bytes;
    run_key_pack((const uint8_t *)text, size, packed, &key);
    assert_int_equal(key.form, form);
    assert_int_equal(key.key_bytes, size);
    assert_true(run_key_measure(form, size, &stored_bytes));
    assert_int_equal(stored_bytes, key.stored_bytes);
    assert_int_equal(expand(&key, out), size);
    assert_memory_equal(out, text, size);
}

static void test_forms(void **state)
{
    (void)state;
    check("", 0, RUN_KEY_BYTES);
    check("a", 1, RUN_KEY_BYTES);
    check("0a", 2, RUN_KEY_HEX);
    check("0A", 2, RUN_KEY_BYTES);
    check("12345", 5, RUN_KEY_HEX);
    check("0123456789abcdef0123456789abcdef", 32, RUN_KEY_HEX);
    check("0123456789abcdeg0123456789abcdef", 32, RUN_KEY_BYTES);
    check("01234567-89ab-cdef-0123-456789abcdef", 36, RUN_KEY_UUID);
    check("01234567-89ab-cdef-0123-456789abcdeF", 36, RUN_KEY_BYTES);
    check("01234567089ab0cdef001230456789abcdef", 36, RUN_KEY_HEX);
    check("0123456-789ab-cdef-0123-456789abcdef", 36, RUN_KEY_BYTES);
    check("01234567-89ab-cdef-0123-456789abcde", 35, RUN_KEY_BYTES);
}

/* Every byte that is not a digit, at every place. */
static void test_bytes(void **state)
{
    (void)state;
    for (size_t size = 2; size <= 19; size++) {
        for (size_t at = 0; at < size; at++) {
            for (unsigned byte = 0; byte < 256; byte++) {
                char text[20];
                memset(text, 'e', sizeof text);
                text[at] = (char)byte;
                bool is_digit = (byte >= '0' && byte <= '9') ||
                                (byte >= 'a' && byte <= 'f');
                check(text, size, is_digit ? RUN_KEY_HEX : RUN_KEY_BYTES);
            }
        }
    }
}

static void test_random_digits(void **state)
{
    (void)state;
    random_source r = {17};
    for (int round = 0; round < ROUNDS; round++) {
        char text[RUN_KEY_PACKED_MAX + 2];
        size_t size = 2 + random_next(&r) % RUN_KEY_PACKED_MAX;
        for (size_t i = 0; i < size; i++)
            text[i] = "0123456789abcdef"[random_next(&r) % 16];
        check(text, size,
              size <= RUN_KEY_PACKED_MAX ? RUN_KEY_HEX : RUN_KEY_BYTES);
    }
}

static void test_no_such_form(void **state)
{
    (void)state;
    uint64_t bytes;
    assert_false(run_key_measure(3, 36, &bytes));
    assert_false(run_key_measure(RUN_KEY_UUID, 35, &bytes));
    assert_true(run_key_measure(RUN_KEY_HEX, UINT64_MAX, &bytes));
    assert_true(bytes == UINT64_MAX / 2 + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms),
        cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_random_digits),
        cmocka_unit_test(test_no_such_form),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
