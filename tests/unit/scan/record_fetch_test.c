/* SPDX-License-Identifier: MIT */
/* Records fetched by reading, and out of bytes that were read already. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "io/file.h"
#include "scan/record_fetch.h"
#include "support/scan_run.h"
#include "support/scan_spec_of.h"
#include "support/temp_dir.h"

#define RECORDS 300

typedef struct fixture {
    temp_dir dir;
    char *text;
    size_t size;
    scan_spec *spec;
    scan_result found;
    datafile *data;
    record_fetch *fetch;
    record_source source;
} fixture;

/* Some records are much longer than most; one is longer than a long read. */
static void write_text(fixture *f)
{
    size_t size = 0;
    f->text = malloc(2000000);
    size += (size_t)sprintf(f->text, "id,v\r\n");
    for (size_t i = 0; i < RECORDS; i++) {
        size_t filler = i % 50 == 7 ? 9000 : i == 100 ? 700000 : i % 60;
        size += (size_t)sprintf(f->text + size, "k%zu,\"", i);
        memset(f->text + size, i % 3 == 0 ? '\n' : 'x', filler);
        size += filler;
        size += (size_t)sprintf(f->text + size, "\"%s",
                                i + 1 == RECORDS ? "" : "\n");
    }
    f->size = size;
}

static int set_up(void **state)
{
    static fixture f;
    static const char *const key = "id";
    char path[TEMP_DIR_PATH_BYTES];
    memset(&f, 0, sizeof f);
    temp_dir_make(&f.dir);
    write_text(&f);
    temp_dir_write(&f.dir, "d.csv", f.text, f.size);
    temp_dir_path(&f.dir, "d.csv", path);
    ksv_format_options options = options_of(KSV_FORMAT_CSV, &key);
    f.spec = scan_spec_of(&options);
    scan_result_init(&f.found);
    scan_run(f.spec, false, f.text, f.size, (scan_windows){0, 0}, &f.found);
    assert_int_equal(f.found.count, RECORDS);
    assert_int_equal(datafile_open(ksv_posix_file_system(), path,
                                   DATAFILE_PLAIN, NULL, &f.data, NULL),
                     KSV_OK);
    assert_int_equal(record_fetch_open(f.spec, NULL, &f.fetch, NULL), KSV_OK);
    f.source = (record_source){.file = f.data,
                               .layout = f.found.layout.data,
                               .layout_bytes = f.found.layout.size,
                               .content_bytes = f.size,
                               .longest_record_bytes = 700010,
                               .records = RECORDS};
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    record_fetch_close(f->fetch);
    datafile_close(f->data);
    scan_result_release(&f->found);
    scan_spec_destroy(f->spec);
    free(f->text);
    temp_dir_remove(&f->dir);
    return 0;
}

static void check(const fixture *f, size_t i, const fetched_record *got)
{
    const scan_found *wanted = &f->found.records[i];
    assert_int_equal(got->record.kind, SCAN_RECORD_KEYED);
    assert_int_equal(got->record.offset, wanted->offset);
    assert_int_equal(got->record.length, wanted->length);
    assert_int_equal(got->record.key_bytes, wanted->key_bytes);
    assert_memory_equal(got->record.key, scan_result_key(&f->found, i),
                        wanted->key_bytes);
    assert_non_null(got->data);
    assert_memory_equal(got->data, f->text + wanted->offset,
                        (size_t)wanted->length);
}

/* The bytes of a span, at the end of memory of their own. */
static uint8_t *copy_span(const fixture *f, fetch_span span, size_t *size)
{
    *size = span.offset < f->size ? f->size - (size_t)span.offset : 0;
    if (*size > span.size_bytes)
        *size = span.size_bytes;
    uint8_t *bytes = malloc(*size > 0 ? *size : 1);
    if (*size > 0)
        memcpy(bytes, f->text + span.offset, *size);
    return bytes;
}

static ksv_status fetch_in(fixture *f, uint64_t offset, fetched_record *out,
                           datafile_cost *cost, uint8_t **bytes)
{
    size_t size;
    fetch_span span = record_fetch_span(&f->source, offset);
    *bytes = copy_span(f, span, &size);
    return record_fetch_in(f->fetch, &f->source, offset, *bytes, size, out,
                           cost, NULL);
}

static void test_same_records(void **state)
{
    fixture *f = *state;
    for (int measured = 0; measured < 2; measured++) {
        for (size_t i = 0; i < RECORDS; i++) {
            uint64_t offset = f->found.records[i].offset;
            fetched_record got;
            datafile_cost read = {0, 0, 0}, rest = {0, 0, 0};
            assert_int_equal(record_fetch_at(f->fetch, &f->source, offset, &got,
                                             &read, NULL),
                             KSV_OK);
            check(f, i, &got);
            uint8_t *bytes;
            assert_int_equal(fetch_in(f, offset, &got, &rest, &bytes), KSV_OK);
            check(f, i, &got);
            /* The first read is what it was spared. */
            assert_int_equal(rest.reads + 1, read.reads);
            free(bytes);
        }
        record_source_measure(&f->source);
    }
}

static void test_no_record_there(void **state)
{
    fixture *f = *state;
    for (uint64_t offset = 0; offset < f->size + 10;
         offset += 1 + offset / 400) {
        bool is_one = false;
        for (size_t i = 0; i < RECORDS; i++)
            is_one |= f->found.records[i].offset == offset;
        if (is_one)
            continue;
        fetched_record got;
        datafile_cost cost = {0, 0, 0};
        uint8_t *bytes;
        ksv_status at =
            record_fetch_at(f->fetch, &f->source, offset, &got, &cost, NULL);
        ksv_status in = fetch_in(f, offset, &got, &cost, &bytes);
        free(bytes);
        assert_int_equal(at, in);
        /* Within quotes, what follows a line feed may look like a record. */
        assert_true(at == KSV_ERROR_STALE || at == KSV_ERROR_CORRUPT ||
                    at == KSV_OK);
    }
}

int main(void)
{
#define WITH_FIXTURE(test) \
    cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        WITH_FIXTURE(test_same_records),
        WITH_FIXTURE(test_no_record_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
