/* SPDX-License-Identifier: MIT */
/* Fingerprints of contents of every size, over a file that is computed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/coding.h"
#include "base/error.h"
#include "hash/hash.h"
#include "support/random.h"

#define NOWHERE UINT64_MAX

typedef struct range {
    uint64_t offset;
    uint64_t size_bytes;
} range;

/* Its bytes follow from their offsets; it remembers where it was read. */
typedef struct computed_file {
    ksv_file base;
    uint64_t size_bytes;
    uint64_t changed_offset; /* of one byte that differs */
    uint64_t failing_offset; /* a read that holds it fails */
    range reads[64];
    size_t read_count;
} computed_file;

static uint8_t byte_at(const computed_file *file, uint64_t offset)
{
    uint8_t byte = (uint8_t)(offset * 0x9e3779b97f4a7c15 >> 56);
    return offset == file->changed_offset ? byte ^ 1 : byte;
}

static ksv_status computed_read_at(ksv_file *base, uint64_t offset,
                                   void *buffer, size_t size_bytes,
                                   size_t *got_bytes, ksv_error *error)
{
    computed_file *file = (computed_file *)base;
    uint64_t left = offset < file->size_bytes ? file->size_bytes - offset : 0;
    *got_bytes = left < size_bytes ? (size_t)left : size_bytes;
    assert_true(file->read_count < 64);
    file->reads[file->read_count++] = (range){offset, *got_bytes};
    if (file->failing_offset >= offset &&
        file->failing_offset - offset < *got_bytes)
        return error_set_os(error, 5, NULL, "cannot read");
    for (size_t i = 0; i < *got_bytes; i++)
        ((uint8_t *)buffer)[i] = byte_at(file, offset + i);
    return KSV_OK;
}

static const ksv_file_ops COMPUTED_OPS = {.read_at = computed_read_at};

static computed_file computed(uint64_t size_bytes)
{
    return (computed_file){.base = {&COMPUTED_OPS},
                           .size_bytes = size_bytes,
                           .changed_offset = NOWHERE,
                           .failing_offset = NOWHERE};
}

typedef struct print {
    uint8_t bytes[HASH_FINGERPRINT_BYTES];
} print;

static print print_of(computed_file *file, uint64_t size_bytes)
{
    print p;
    file->read_count = 0;
    assert_int_equal(hash_fingerprint(&file->base, size_bytes, p.bytes, NULL),
                     KSV_OK);
    assert_in_range(file->read_count, 0, HASH_FINGERPRINT_READS);
    return p;
}

static bool same(print a, print b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

/* XXH3-128 of the size and the pieces, put together by another program. */
static void test_values_never_change(void **state)
{
    (void)state;
    static const struct {
        uint64_t size_bytes;
        uint64_t halves[2];
    } GOLDEN[] = {
        {UINT64_C(0), {0x45c3b49d035665b2, 0x2c0a8a99dc147d54}},
        {UINT64_C(1), {0x428516d12156e7b6, 0xfa3f5392c40387fb}},
        {UINT64_C(10), {0x4f33b8c92b903c17, 0x77d599e0513cd2ac}},
        {UINT64_C(4096), {0x7f08ddccf536f18d, 0xb795e2d767e4bfc0}},
        {UINT64_C(65536), {0x4e04bbe2ef5f95f2, 0x65eb3d6d0c47ff41}},
        {UINT64_C(65537), {0x16709a0b26ec88f4, 0xd00e58921fe661e8}},
        {UINT64_C(100000), {0x922880c0ed749731, 0xd5766daef5e7cca3}},
        {UINT64_C(1000000000000), {0x305e73b50c9987d5, 0xc09413d7e5809ab3}},
        {UINT64_C(4611686018427387904),
         {0x6d097587a0cf93db, 0x60b82f9c380ad3ea}},
    };
    for (size_t i = 0; i < sizeof GOLDEN / sizeof GOLDEN[0]; i++) {
        computed_file file = computed(GOLDEN[i].size_bytes);
        print p = print_of(&file, GOLDEN[i].size_bytes);
        assert_true(load_u64(p.bytes) == GOLDEN[i].halves[0]);
        assert_true(load_u64(p.bytes + 8) == GOLDEN[i].halves[1]);
    }
}

static void test_every_byte_of_a_small_content_counts(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {1, 15, 300, 4095, 4097};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        computed_file file = computed(sizes[i]);
        print whole = print_of(&file, sizes[i]);
        assert_true(same(whole, print_of(&file, sizes[i])));
        for (uint64_t at = 0; at < sizes[i]; at++) {
            file.changed_offset = at;
            assert_false(same(whole, print_of(&file, sizes[i])));
        }
    }
    computed_file file = computed(65536);
    print whole = print_of(&file, 65536);
    for (uint64_t at = 0; at < 65536; at += 509) {
        file.changed_offset = at;
        assert_false(same(whole, print_of(&file, 65536)));
    }
}

/* Both ends are read, and nothing between two reads is longer than an eighth.
 */
static void check_spread(const computed_file *file)
{
    assert_int_equal(file->read_count, HASH_FINGERPRINT_READS);
    assert_true(file->reads[0].offset == 0);
    uint64_t longest = file->size_bytes / 8;
    for (size_t i = 0; i < file->read_count; i++) {
        assert_true(file->reads[i].size_bytes == 4096);
        if (i == 0)
            continue;
        assert_true(file->reads[i].offset >= file->reads[i - 1].offset);
        assert_true(file->reads[i].offset - file->reads[i - 1].offset <=
                    longest + 4096);
    }
    const range *last = &file->reads[file->read_count - 1];
    assert_true(last->offset + last->size_bytes == file->size_bytes);
}

static void test_every_sampled_byte_of_a_large_content_counts(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {65537, 65536 + 4095, 1000003,
                                     UINT64_C(1) << 40, INT64_MAX};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        computed_file file = computed(sizes[i]);
        print whole = print_of(&file, sizes[i]);
        check_spread(&file);
        range reads[HASH_FINGERPRINT_READS];
        memcpy(reads, file.reads, sizeof reads);
        for (size_t k = 0; k < HASH_FINGERPRINT_READS; k++) {
            static const uint64_t within[] = {0, 1, 2047, 4094, 4095};
            for (size_t w = 0; w < 5; w++) {
                file.changed_offset = reads[k].offset + within[w];
                assert_false(same(whole, print_of(&file, sizes[i])));
                /* The places do not depend on the content. */
                assert_memory_equal(reads, file.reads, sizeof reads);
            }
        }
    }
}

static void test_what_is_not_sampled_does_not_count(void **state)
{
    (void)state;
    uint64_t size = UINT64_C(1) << 30;
    computed_file file = computed(size);
    print whole = print_of(&file, size);
    for (size_t i = 1; i < HASH_FINGERPRINT_READS; i++) {
        file.changed_offset = file.reads[i].offset - 1;
        assert_true(same(whole, print_of(&file, size)));
    }
}

static void test_the_size_counts(void **state)
{
    (void)state;
    random_source r = {3};
    for (int i = 0; i < 200; i++) {
        uint64_t size = random_below(&r, 200000);
        computed_file file = computed(size + 1);
        assert_false(same(print_of(&file, size), print_of(&file, size + 1)));
        /* What stands after the size asked for does not. */
        computed_file copy = computed(size);
        assert_true(same(print_of(&file, size), print_of(&copy, size)));
    }
}

static void test_a_file_that_became_short_is_stale(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {1, 5000, 65536, 65537, 10000000};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        computed_file file = computed(sizes[i] - 1);
        print p;
        ksv_error e;
        assert_int_equal(hash_fingerprint(&file.base, sizes[i], p.bytes, &e),
                         KSV_ERROR_STALE);
        assert_true(e.byte_offset == sizes[i] - 1);
    }
}

/* What is in memory gives the same as the file: around the size from which on
 * samples are taken, and at random. */
static void test_in_memory_as_in_a_file(void **state)
{
    (void)state;
    enum { MOST_BYTES = 300000 };
    static uint8_t content[MOST_BYTES];
    static const size_t sizes[] = {0,     1,     4095,  4096,  4097,
                                   65535, 65536, 65537, 69633, MOST_BYTES};
    random_source r = {8};
    for (size_t i = 0; i < 10 + 100; i++) {
        size_t size = i < 10 ? sizes[i] : random_below(&r, MOST_BYTES);
        computed_file file = computed(size);
        file.changed_offset = size > 0 ? random_below(&r, size) : NOWHERE;
        for (size_t at = 0; at < size; at++)
            content[at] = byte_at(&file, at);
        print in_memory;
        hash_fingerprint_of(content, size, in_memory.bytes);
        if (!same(in_memory, print_of(&file, size)))
            fail_msg("%zu bytes", size);
    }
}

static void test_a_failed_read_is_told(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {1, 65536, 100000};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        computed_file file = computed(sizes[i]);
        file.failing_offset = sizes[i] - 1;
        print p;
        ksv_error e;
        assert_int_equal(hash_fingerprint(&file.base, sizes[i], p.bytes, &e),
                         KSV_ERROR_IO);
        assert_int_equal(e.os_errno, 5);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values_never_change),
        cmocka_unit_test(test_every_byte_of_a_small_content_counts),
        cmocka_unit_test(test_every_sampled_byte_of_a_large_content_counts),
        cmocka_unit_test(test_what_is_not_sampled_does_not_count),
        cmocka_unit_test(test_the_size_counts),
        cmocka_unit_test(test_a_file_that_became_short_is_stale),
        cmocka_unit_test(test_a_failed_read_is_told),
        cmocka_unit_test(test_in_memory_as_in_a_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
