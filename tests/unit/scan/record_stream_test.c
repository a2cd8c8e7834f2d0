/* SPDX-License-Identifier: MIT */
/* Records with their bytes, whatever the pieces in which a pipe gives them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "scan/record_stream.h"
#include "support/random.h"
#include "support/scan_spec_of.h"

typedef struct pipe_source {
    const char *data;
    size_t size;
    size_t at;
    random_source random;
    size_t most; /* bytes at once */
} pipe_source;

static ksv_status read_pipe(void *ctx, void *buffer, size_t size_bytes,
                            size_t *got_bytes, bool *at_end, ksv_error *error)
{
    pipe_source *p = ctx;
    (void)error;
    size_t n = (size_t)random_below(&p->random, p->most + 1);
    if (n > p->size - p->at)
        n = p->size - p->at;
    if (n > size_bytes)
        n = size_bytes;
    memcpy(buffer, p->data + p->at, n);
    p->at += n;
    *got_bytes = n;
    *at_end = p->at == p->size && random_below(&p->random, 2) == 0;
    return KSV_OK;
}

typedef struct expected_record {
    const char *bytes;
    const char *key; /* NULL: none */
    const char *second;
    bool is_ended;
} expected_record;

static const char CONTENT[] = "\xef\xbb\xbf"
                              "id,t\r\n\n1,x\r\n\r\n\n\"a\nb\",\n,z\n\nlast,y";
static const expected_record RECORDS[] = {
    {"1,x\r\n", "1", "x", true},
    {"\"a\nb\",\n", "a\nb", NULL, true},
    {",z\n", NULL, "z", true},
    {"last,y", "last", "y", false},
};
#define RECORD_COUNT (sizeof RECORDS / sizeof RECORDS[0])

static void check_text(const uint8_t *data, size_t size, const char *expected)
{
    assert_int_equal(data != NULL, expected != NULL);
    if (expected == NULL)
        return;
    assert_int_equal(size, strlen(expected));
    assert_memory_equal(data, expected, size);
}

static void check_record(const stream_record *record,
                         const expected_record *expected)
{
    check_text(record->bytes, record->size_bytes, expected->bytes);
    check_text(record->kind == SCAN_RECORD_KEYED ? record->key : NULL,
               record->key_bytes, expected->key);
    check_text(record->second, record->second_bytes, expected->second);
    assert_int_equal(record->is_ended, expected->is_ended);
}

static void check_pieces(uint64_t seed, size_t most)
{
    pipe_source source = {.data = CONTENT,
                          .size = sizeof CONTENT - 1,
                          .random = {seed},
                          .most = most};
    const char *id = "id";
    const char *t = "t";
    ksv_format_options id_options = options_of(KSV_FORMAT_CSV, &id);
    ksv_format_options t_options = options_of(KSV_FORMAT_CSV, &t);
    scan_spec *spec = scan_spec_of(&id_options);
    scan_spec *second = scan_spec_of(&t_options);
    datafile_stream *content;
    record_stream *records;
    record_stream_head head;
    record_stream_options options = {.spec = spec, .second = second};
    assert_int_equal(datafile_stream_open_source(read_pipe, &source, "pipe",
                                                 NULL, &content, NULL),
                     KSV_OK);
    assert_int_equal(
        record_stream_open(&options, content, "pipe", &records, NULL), KSV_OK);
    size_t seen = 0;
    for (bool at_end = false; !at_end;) {
        const stream_record *batch;
        size_t count;
        assert_int_equal(
            record_stream_next(records, &batch, &count, &at_end, NULL), KSV_OK);
        for (size_t i = 0; i < count; i++) {
            assert_true(seen < RECORD_COUNT);
            check_record(&batch[i], &RECORDS[seen++]);
        }
    }
    assert_int_equal(seen, RECORD_COUNT);
    record_stream_get_head(records, &head);
    assert_true(head.is_known && head.has_mark);
    assert_int_equal(head.header_length, 4);
    check_text(head.header, head.header_bytes, "id,t\r\n");
    record_stream_close(records);
    datafile_stream_close(content);
    scan_spec_destroy(spec);
    scan_spec_destroy(second);
}

static void test_pieces(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 300; seed++)
        check_pieces(seed, 1 + (size_t)(seed % 20));
    check_pieces(1, 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pieces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
