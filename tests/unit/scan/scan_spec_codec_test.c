/* SPDX-License-Identifier: MIT */
/* The stored form of a specification: round trips, truncation, damage. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "scan/scan_spec.h"
#include "support/scan_spec_of.h"

static const ksv_allocator *allocator_for_tests(void)
{
    static ksv_allocator a;
    a = allocator_or_default(NULL);
    return &a;
}

static byte_buffer encoded(const ksv_format_options *o)
{
    byte_buffer b;
    buffer_init(&b, allocator_for_tests());
    scan_spec *spec = scan_spec_of(o);
    assert_int_equal(scan_spec_encode(spec, &b, NULL), KSV_OK);
    scan_spec_destroy(spec);
    return b;
}

/* Decoding gives a specification that encodes to the same bytes. */
static void assert_round_trip(const ksv_format_options *o)
{
    byte_buffer first = encoded(o);
    scan_spec *spec;
    ksv_error error;
    assert_int_equal(
        scan_spec_decode(first.data, first.size, NULL, &spec, &error), KSV_OK);
    scan_spec *made = scan_spec_of(o);
    assert_string_equal(spec->key_text, made->key_text);
    assert_string_equal(spec->separator, made->separator);
    assert_int_equal(spec->quote, made->quote);
    assert_int_equal(spec->delimiter, made->delimiter);
    assert_int_equal(spec->has_header, made->has_header);
    assert_true(spec->record_size == made->record_size);
    byte_buffer second;
    buffer_init(&second, allocator_for_tests());
    assert_int_equal(scan_spec_encode(spec, &second, NULL), KSV_OK);
    assert_int_equal(first.size, second.size);
    assert_memory_equal(first.data, second.data, first.size);
    scan_spec_destroy(made);
    scan_spec_destroy(spec);
    buffer_release(&first);
    buffer_release(&second);
}

static void test_round_trips(void **state)
{
    (void)state;
    static const struct {
        ksv_format format;
        const char *key;
    } CASES[] = {
        {KSV_FORMAT_CSV, "id"},          {KSV_FORMAT_TSV, "3"},
        {KSV_FORMAT_CSV, "name:"},       {KSV_FORMAT_LINES, NULL},
        {KSV_FORMAT_LINES, "field:2"},   {KSV_FORMAT_LINES, "regex:(a)b"},
        {KSV_FORMAT_LINES, "bytes:1-2"}, {KSV_FORMAT_JSONL, "/a//b"},
        {KSV_FORMAT_FASTA, NULL},        {KSV_FORMAT_FASTQ, "header"},
        {KSV_FORMAT_FIXED, "bytes:1-9"},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        ksv_format_options o = options_of(CASES[i].format, &CASES[i].key);
        o.record_end_cr = i % 2 == 0;
        assert_round_trip(&o);
    }
    static const char *const KEYS[] = {"bytes:1-2", "bytes:4-4"};
    ksv_format_options o = options_of(KSV_FORMAT_FIXED, KEYS);
    o.key_count = 2;
    o.key_separator = "::";
    o.record_size = UINT64_C(1) << 40;
    o.keep_padding = true;
    assert_round_trip(&o);
}

static void test_equal_meaning_is_equal_bytes(void **state)
{
    (void)state;
    const char *plain = "id";
    const char *prefixed = "name:id";
    ksv_format_options a = options_of(KSV_FORMAT_CSV, &plain);
    ksv_format_options b = options_of(KSV_FORMAT_CSV, &prefixed);
    b.delimiter = ',';
    b.quote = '"';
    b.key_separator = "not used with one key";
    byte_buffer x = encoded(&a);
    byte_buffer y = encoded(&b);
    assert_int_equal(x.size, y.size);
    assert_memory_equal(x.data, y.data, x.size);
    buffer_release(&y);
    b.delimiter = ';';
    y = encoded(&b);
    assert_true(x.size != y.size || memcmp(x.data, y.data, x.size) != 0);
    buffer_release(&x);
    buffer_release(&y);
}

static void assert_status(const byte_buffer *b, size_t size, ksv_status status)
{
    scan_spec *spec;
    ksv_error error;
    assert_int_equal(scan_spec_decode(b->data, size, NULL, &spec, &error),
                     status);
    assert_null(spec);
    assert_int_equal(error.status, status);
}

static void test_truncation_and_later_versions(void **state)
{
    (void)state;
    static const char *const KEYS[] = {"id", "7"};
    ksv_format_options o = options_of(KSV_FORMAT_CSV, KEYS);
    o.key_count = 2;
    byte_buffer b = encoded(&o);
    for (size_t size = 0; size < b.size; size++)
        assert_status(&b, size, KSV_ERROR_CORRUPT);
    b.data[0] = 2;
    assert_status(&b, b.size, KSV_ERROR_VERSION);
    b.data[0] = 0;
    assert_status(&b, b.size, KSV_ERROR_CORRUPT);
    buffer_release(&b);
}

/* What decodes after a bit was flipped is another specification, whole. */
static void test_flipped_bits(void **state)
{
    (void)state;
    const char *key = "user.id";
    ksv_format_options o = options_of(KSV_FORMAT_JSONL, &key);
    byte_buffer b = encoded(&o);
    for (size_t bit = 8; bit < b.size * 8; bit++) {
        b.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
        scan_spec *spec;
        if (scan_spec_decode(b.data, b.size, NULL, &spec, NULL) == KSV_OK) {
            byte_buffer again;
            buffer_init(&again, allocator_for_tests());
            assert_int_equal(scan_spec_encode(spec, &again, NULL), KSV_OK);
            assert_int_equal(again.size, b.size);
            assert_memory_equal(again.data, b.data, b.size);
            buffer_release(&again);
            scan_spec_destroy(spec);
        }
        b.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    buffer_release(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trips),
        cmocka_unit_test(test_equal_meaning_is_equal_bytes),
        cmocka_unit_test(test_truncation_and_later_versions),
        cmocka_unit_test(test_flipped_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
