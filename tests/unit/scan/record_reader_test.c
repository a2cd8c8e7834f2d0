/* SPDX-License-Identifier: MIT */
/* The frame of the readers: layouts, big offsets, batches, memory, misuse. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/coding.h"
#include "scan/record_reader.h"
#include "support/scan_run.h"
#include "support/scan_spec_of.h"

static const char *const ID = "id";

static void test_layout_tells_the_header(void **state)
{
    (void)state;
    ksv_format_options o = options_of(KSV_FORMAT_CSV, &ID);
    scan_spec *spec = scan_spec_of(&o);
    static const char TEXT[] = "\xef\xbb\xbf\n\"i\"\"d\",id\r\nx,y\n";
    for (uint64_t seed = 0; seed < 2; seed++) {
        scan_result r;
        scan_run(spec, false, TEXT, sizeof TEXT - 1, (scan_windows){seed, 1},
                 &r);
        assert_int_equal(r.status, KSV_OK);
        uint64_t offset;
        uint64_t length;
        assert_int_equal(record_layout_header(r.layout.data, r.layout.size,
                                              &offset, &length, NULL),
                         KSV_OK);
        assert_int_equal(offset, 4);
        assert_int_equal(length, 9);
        assert_int_equal(load_u64(r.layout.data + 1), 15); /* first record */
        scan_result_release(&r);
    }
    scan_spec_destroy(spec);
}

static void test_layouts_are_not_trusted(void **state)
{
    (void)state;
    ksv_format_options o = options_of(KSV_FORMAT_CSV, &ID);
    scan_spec *spec = scan_spec_of(&o);
    scan_result r;
    scan_run(spec, false, "a,id\nx,y\n", 9, (scan_windows){0}, &r);
    record_reader *reader;
    assert_int_equal(record_reader_open(spec, false, NULL, &reader, NULL),
                     KSV_OK);
    ksv_error e;
    for (size_t size = 0; size < r.layout.size; size++)
        assert_int_equal(
            record_reader_begin_at(reader, r.layout.data, size, 5, &e),
            KSV_ERROR_CORRUPT);
    assert_int_equal(
        record_reader_begin_at(reader, r.layout.data, r.layout.size, 4, &e),
        KSV_ERROR_CORRUPT);
    /* After a failure nothing is read. */
    scan_record record;
    size_t count;
    record_reader_feed(reader, (const uint8_t *)"x,y\n", 4, true);
    assert_int_equal(record_reader_next(reader, &record, 1, &count, &e),
                     KSV_OK);
    assert_int_equal(count, 0);
    r.layout.data[0]++;
    assert_int_equal(
        record_reader_begin_at(reader, r.layout.data, r.layout.size, 5, &e),
        KSV_ERROR_VERSION);
    record_reader_close(reader);
    scan_result_release(&r);
    /* The layout of a content without records knows no columns. */
    scan_run(spec, false, "", 0, (scan_windows){0}, &r);
    scan_result one;
    scan_run_at(spec, &r.layout, 0, "x,y\n", 4, (scan_windows){0}, &one);
    assert_int_equal(one.status, KSV_ERROR_CORRUPT);
    scan_result_release(&one);
    scan_result_release(&r);
    scan_spec_destroy(spec);
}

static void test_offsets_have_64_bits(void **state)
{
    (void)state;
    const uint64_t far = (UINT64_C(5) << 30) + 17;
    static const char TEXT[] = "\"a\nb\",k\n1,\"2";
    static const char *const SECOND = "2";
    ksv_format_options o = options_of(KSV_FORMAT_CSV, &SECOND);
    scan_spec *spec = scan_spec_of(&o);
    scan_result head;
    scan_run(spec, false, "a,b\n1,2\n", 8, (scan_windows){0}, &head);
    record_reader *r;
    assert_int_equal(record_reader_open(spec, false, NULL, &r, NULL), KSV_OK);
    for (size_t window = 1; window < sizeof TEXT; window++) {
        ksv_error e;
        scan_record records[4];
        size_t total = 0;
        assert_int_equal(record_reader_begin_at(r, head.layout.data,
                                                head.layout.size, far, &e),
                         KSV_OK);
        ksv_status status = KSV_OK;
        for (size_t at = 0; at < sizeof TEXT - 1 && status == KSV_OK;
             at += window) {
            size_t left = sizeof TEXT - 1 - at;
            record_reader_feed(r, (const uint8_t *)TEXT + at,
                               left < window ? left : window, left <= window);
            size_t count;
            do {
                status = record_reader_next(r, records + total, 1, &count, &e);
                total += count;
            } while (status == KSV_OK && count > 0);
        }
        assert_int_equal(total, 1);
        assert_true(records[0].offset == far);
        assert_int_equal(records[0].length, 7);
        assert_int_equal(status, KSV_ERROR_DATA);
        assert_true(e.byte_offset == far + 10);
    }
    record_reader_close(r);
    scan_result_release(&head);
    scan_spec_destroy(spec);
}

/* Counts what is in use, and fails from a given allocation on. */
typedef struct counting {
    size_t in_use;
    size_t most;
    size_t left;
} counting;

static void *count_alloc(void *ctx, size_t size)
{
    counting *c = ctx;
    if (c->left == 0)
        return NULL;
    c->left--;
    c->in_use += size;
    if (c->in_use > c->most)
        c->most = c->in_use;
    return test_malloc(size);
}

static void count_free(void *ctx, void *memory, size_t size)
{
    counting *c = ctx;
    c->in_use -= size;
    test_free(memory);
}

static void *count_realloc(void *ctx, void *memory, size_t old_size,
                           size_t new_size)
{
    void *moved = count_alloc(ctx, new_size);
    if (moved == NULL)
        return NULL;
    memcpy(moved, memory, old_size < new_size ? old_size : new_size);
    count_free(ctx, memory, old_size);
    return moved;
}

static ksv_allocator counting_allocator(counting *c)
{
    *c = (counting){.left = SIZE_MAX};
    return (ksv_allocator){c, count_alloc, count_realloc, count_free};
}

/* Only the key of a record is kept, in whatever field the bulk of it lies. */
static void test_huge_records_need_no_memory(void **state)
{
    (void)state;
    counting c;
    ksv_allocator a = counting_allocator(&c);
    ksv_format_options o = options_of(KSV_FORMAT_CSV, &ID);
    scan_spec *spec = scan_spec_of(&o);
    record_reader *r;
    assert_int_equal(record_reader_open(spec, false, &a, &r, NULL), KSV_OK);
    static uint8_t bulk[1 << 16];
    memset(bulk, 'x', sizeof bulk);
    static const char *const PIECES[] = {"id,\"", NULL, "\"\n", "k,\"", NULL,
                                         "\n,",   NULL, "\",",  NULL};
    size_t total = 0;
    for (size_t i = 0; i < 9; i++) {
        for (size_t repeat = 0; repeat < (PIECES[i] == NULL ? 64 : 1);
             repeat++) {
            const uint8_t *piece =
                PIECES[i] != NULL ? (const uint8_t *)PIECES[i] : bulk;
            size_t size = PIECES[i] != NULL ? strlen(PIECES[i]) : sizeof bulk;
            record_reader_feed(r, piece, size, i == 8 && repeat == 63);
            scan_record record;
            size_t count;
            do {
                assert_int_equal(
                    record_reader_next(r, &record, 1, &count, NULL), KSV_OK);
                if (count > 0)
                    assert_int_equal(record.key_bytes, 1);
                total += count;
            } while (count > 0);
        }
    }
    assert_int_equal(total, 1);
    record_reader_close(r);
    assert_int_equal(c.in_use, 0);
    assert_true(c.most < 20000);
    scan_spec_destroy(spec);
}

static void test_lack_of_memory_is_an_error(void **state)
{
    (void)state;
    static const char *const KEYS[] = {"regex:(b+)", "field:2"};
    static const char TEXT[] = "abb\tx\nbbbb\tyyyyyyyyyyyyyyyyyyyyyyyyyy\n";
    ksv_format_options o = options_of(KSV_FORMAT_LINES, KEYS);
    o.key_count = 2;
    bool done = false;
    for (size_t limit = 0; !done; limit++) {
        counting c;
        ksv_allocator a = counting_allocator(&c);
        c.left = limit;
        scan_spec *spec = NULL;
        record_reader *r = NULL;
        ksv_error e;
        ksv_status status = scan_spec_create(&o, &a, &spec, &e);
        if (status == KSV_OK)
            status = record_reader_open(spec, false, &a, &r, &e);
        for (size_t i = 0; i < sizeof TEXT - 1 && status == KSV_OK; i++) {
            scan_record record;
            size_t count;
            record_reader_feed(r, (const uint8_t *)TEXT + i, 1,
                               i == sizeof TEXT - 2);
            do {
                status = record_reader_next(r, &record, 1, &count, &e);
            } while (status == KSV_OK && count > 0);
        }
        done = status == KSV_OK;
        if (!done)
            assert_int_equal(e.status, KSV_ERROR_MEMORY);
        record_reader_close(r);
        scan_spec_destroy(spec);
        assert_int_equal(c.in_use, 0);
        assert_true(limit < 100);
    }
}

static void test_records_before_an_error_come_first(void **state)
{
    (void)state;
    static const char *const FIRST = "1";
    ksv_format_options o = options_of(KSV_FORMAT_CSV, &FIRST);
    o.no_header = true;
    scan_spec *spec = scan_spec_of(&o);
    record_reader *r;
    assert_int_equal(record_reader_open(spec, false, NULL, &r, NULL), KSV_OK);
    for (int round = 0; round < 2; round++) {
        record_reader_begin(r);
        record_reader_feed(r, (const uint8_t *)"a\nb\n\"c", 6, true);
        scan_record records[9];
        size_t count;
        ksv_error e = {0};
        assert_int_equal(record_reader_next(r, records, 9, &count, &e), KSV_OK);
        assert_int_equal(count, 2);
        for (int again = 0; again < 2; again++) {
            assert_int_equal(record_reader_next(r, records, 9, &count, &e),
                             KSV_ERROR_DATA);
            assert_int_equal(count, 0);
            assert_true(e.byte_offset == 4);
        }
    }
    record_reader_close(r);
    scan_spec_destroy(spec);
}

static void test_keys_of_a_batch_stay_where_they_are(void **state)
{
    (void)state;
    static const char *const FIRST = "1";
    ksv_format_options o = options_of(KSV_FORMAT_CSV, &FIRST);
    o.no_header = true;
    scan_spec *spec = scan_spec_of(&o);
    record_reader *r;
    assert_int_equal(record_reader_open(spec, false, NULL, &r, NULL), KSV_OK);
    static char text[200 * 64];
    size_t size = 0;
    for (unsigned i = 0; i < 200; i++)
        size += (size_t)snprintf(text + size, sizeof text - size,
                                 i % 3 == 0 ? "plain%u\n" : "\"q\"\"%u\"\n", i);
    record_reader_feed(r, (const uint8_t *)text, size, true);
    scan_record records[200];
    size_t count;
    assert_int_equal(record_reader_next(r, records, 200, &count, NULL), KSV_OK);
    assert_int_equal(count, 200);
    for (unsigned i = 0; i < 200; i++) {
        char key[32];
        int length =
            snprintf(key, sizeof key, i % 3 == 0 ? "plain%u" : "q\"%u", i);
        assert_int_equal(records[i].key_bytes, length);
        assert_memory_equal(records[i].key, key, (size_t)length);
    }
    record_reader_close(r);
    scan_spec_destroy(spec);
}

static void test_where_records_may_start(void **state)
{
    (void)state;
    static const char *const BYTES = "bytes:1-2";
    ksv_format_options o = options_of(KSV_FORMAT_FIXED, &BYTES);
    scan_spec *spec = scan_spec_of(&o);
    assert_true(record_may_start_at(spec, 0, 'x'));
    assert_true(record_may_start_at(spec, 3, 0xbf));
    assert_false(record_may_start_at(spec, 4, 0xbf));
    assert_true(record_may_start_at(spec, 9, '\n'));
    assert_false(record_may_start_at(spec, 9, '\r'));
    scan_spec_destroy(spec);
    o.record_end_cr = true;
    spec = scan_spec_of(&o);
    assert_true(record_may_start_at(spec, 9, '\r'));
    assert_false(record_may_start_at(spec, 9, '\n'));
    scan_spec_destroy(spec);
    o.record_end_cr = false;
    o.record_size = 10;
    spec = scan_spec_of(&o);
    assert_true(record_may_start_at(spec, 20, 'x'));
    assert_true(record_may_start_at(spec, 23, 'x'));
    assert_false(record_may_start_at(spec, 21, '\n'));
    scan_spec_destroy(spec);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layout_tells_the_header),
        cmocka_unit_test(test_layouts_are_not_trusted),
        cmocka_unit_test(test_offsets_have_64_bits),
        cmocka_unit_test(test_huge_records_need_no_memory),
        cmocka_unit_test(test_lack_of_memory_is_an_error),
        cmocka_unit_test(test_records_before_an_error_come_first),
        cmocka_unit_test(test_keys_of_a_batch_stay_where_they_are),
        cmocka_unit_test(test_where_records_may_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
