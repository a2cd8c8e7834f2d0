/* SPDX-License-Identifier: MIT */
/* The files of a state of dedup: version 2 of runs and version 1 of the others
 * are read forever; what is cut short or has a bit changed is an error, or the
 * same content. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/dedup_files.h"

static uint8_t *read_golden(const char *name, size_t *size)
{
    char path[512];
    snprintf(path, sizeof path, "%s/format/golden/%s", KSV_TEST_DIR, name);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    uint8_t *data = malloc(1 << 20);
    assert_non_null(data);
    *size = fread(data, 1, 1 << 20, file);
    fclose(file);
    return data;
}

static uint64_t sum_of_sample(void)
{
    size_t size;
    uint64_t entries;
    uint64_t sum;
    unsigned found;
    ksv_hasher hasher = dedup_sample_hasher();
    uint8_t *run = dedup_sample_run(&size);
    assert_int_equal(
        dedup_read_run(run, size, &hasher, &entries, &sum, &found, NULL),
        KSV_OK);
    assert_int_equal(entries, DEDUP_SAMPLE_ENTRIES);
    assert_int_equal(found, DEDUP_SAMPLE_ENTRIES);
    free(run);
    return sum;
}

static void test_golden_run(void **state)
{
    (void)state;
    size_t size;
    uint64_t entries;
    uint64_t sum;
    unsigned found;
    ksv_hasher hasher = dedup_sample_hasher();
    uint8_t *run = read_golden("dedup_v2.run", &size);
    assert_int_equal(
        dedup_read_run(run, size, &hasher, &entries, &sum, &found, NULL),
        KSV_OK);
    assert_int_equal(entries, DEDUP_SAMPLE_ENTRIES);
    assert_int_equal(found, DEDUP_SAMPLE_ENTRIES);
    assert_true(sum == sum_of_sample());
    free(run);
}

/* Version 1 was never released. */
static void test_old_run(void **state)
{
    (void)state;
    size_t size;
    uint64_t entries;
    uint64_t sum;
    unsigned found;
    ksv_error error;
    ksv_hasher hasher = dedup_sample_hasher();
    uint8_t *run = read_golden("dedup_v1.run", &size);
    assert_int_equal(
        dedup_read_run(run, size, &hasher, &entries, &sum, &found, &error),
        KSV_ERROR_VERSION);
    assert_non_null(strstr(error.text, "format version 1"));
    free(run);
}

static void test_golden_journal(void **state)
{
    (void)state;
    size_t size;
    size_t golden_size;
    journal_info info = dedup_sample_journal();
    uint8_t *golden = read_golden("dedup_v1.journal", &golden_size);
    uint8_t *now = dedup_sample_journal_file(&size);
    uint64_t entries;
    bool is_sample;
    assert_int_equal(dedup_read_journal(golden, golden_size, &info, golden_size,
                                        &entries, &is_sample, NULL),
                     KSV_OK);
    assert_int_equal(entries, DEDUP_SAMPLE_ENTRIES);
    assert_true(is_sample);
    assert_int_equal(size, golden_size);
    assert_memory_equal(now, golden, size);
    free(golden);
    free(now);
}

static void test_golden_state(void **state)
{
    (void)state;
    size_t size;
    state_record record;
    state_record read;
    byte_buffer bytes;
    uint8_t *golden = read_golden("dedup_v1.state", &size);
    dedup_sample_state(&record);
    state_record_init(&read, dedup_sample_allocator());
    buffer_init(&bytes, dedup_sample_allocator());
    state_generation g = {-5, 7, 3, 11};
    state_journal j = {.number = 4, .committed_bytes = 64, .id = {1, 2}};
    uint64_t run = 21;
    assert_int_equal(buffer_append(&record.runs, &run, sizeof run, NULL),
                     KSV_OK);
    assert_int_equal(buffer_append(&record.generations, &g, sizeof g, NULL),
                     KSV_OK);
    assert_int_equal(buffer_append(&record.journals, &j, sizeof j, NULL),
                     KSV_OK);
    assert_int_equal(buffer_append(&record.specs, "spec", 4, NULL), KSV_OK);
    assert_int_equal(state_record_encode(&record, &bytes, NULL), KSV_OK);
    assert_int_equal(bytes.size, size);
    assert_memory_equal(bytes.data, golden, size);
    assert_int_equal(state_record_decode(golden, size, &read, NULL), KSV_OK);
    assert_int_equal(read.stream_ms, -77);
    assert_int_equal(read.next_number, 99);
    assert_memory_equal(read.generations.data, &g, sizeof g);
    assert_memory_equal(read.journals.data, &j, sizeof j);
    assert_memory_equal(read.runs.data, &run, sizeof run);
    for (size_t i = 0; i < size; i++) {
        state_record other;
        state_record_init(&other, dedup_sample_allocator());
        golden[i] ^= (uint8_t)(1u << i % 8);
        assert_int_not_equal(state_record_decode(golden, size, &other, NULL),
                             KSV_OK);
        golden[i] ^= (uint8_t)(1u << i % 8);
        assert_int_not_equal(state_record_decode(golden, i, &other, NULL),
                             KSV_OK);
        state_record_release(&other);
    }
    state_record_release(&read);
    state_record_release(&record);
    buffer_release(&bytes);
    free(golden);
}

static void check_run(const uint8_t *data, size_t size, uint64_t sum, size_t at)
{
    uint64_t entries;
    uint64_t now;
    unsigned found;
    ksv_hasher hasher = dedup_sample_hasher();
    ksv_status status =
        dedup_read_run(data, size, &hasher, &entries, &now, &found, NULL);
    if (status == KSV_OK)
        fail_msg("byte %zu of a run: no error, %s content", at,
                 now == sum ? "the same" : "another");
}

static void test_damaged_run(void **state)
{
    (void)state;
    size_t size;
    uint64_t sum = sum_of_sample();
    uint8_t *run = dedup_sample_run(&size);
    for (size_t i = 0; i < size; i += i < 4200 || i + 1000 > size ? 1 : 13) {
        run[i] ^= (uint8_t)(1u << i % 8);
        check_run(run, size, sum, i);
        run[i] ^= (uint8_t)(1u << i % 8);
    }
    for (size_t i = 0; i < size; i += i < 300 || i + 300 > size ? 1 : 97)
        check_run(run, i, sum, i);
    free(run);
}

static void test_damaged_journal(void **state)
{
    (void)state;
    size_t size;
    journal_info info = dedup_sample_journal();
    uint8_t *data = dedup_sample_journal_file(&size);
    for (size_t i = 0; i < 2 * size; i += i % size < 3000 ? 1 : 19) {
        uint64_t entries;
        bool is_sample;
        size_t now = i < size ? size : i - size;
        if (i < size)
            data[i] ^= (uint8_t)(1u << i % 8);
        /* Known to be whole: any change is told. */
        ksv_status status = dedup_read_journal(data, now, &info, size, &entries,
                                               &is_sample, NULL);
        assert_int_not_equal(status, KSV_OK);
        assert_true(is_sample);
        /* After a crash: an error, or the entries up to a mark. */
        status =
            dedup_read_journal(data, now, &info, 0, &entries, &is_sample, NULL);
        assert_true(is_sample);
        if (status == KSV_OK && i < size)
            assert_true(entries == 250); /* the last mark alone is lost */
        else if (status == KSV_OK)
            assert_true(entries % 50 == 0 && entries < 300);
        if (i < size)
            data[i] ^= (uint8_t)(1u << i % 8);
    }
    free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden_run),
        cmocka_unit_test(test_old_run),
        cmocka_unit_test(test_golden_journal),
        cmocka_unit_test(test_golden_state),
        cmocka_unit_test(test_damaged_run),
        cmocka_unit_test(test_damaged_journal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
