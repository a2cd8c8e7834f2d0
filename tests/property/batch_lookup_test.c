/* SPDX-License-Identifier: MIT */
/* Many keys in one call get the answers that each gets alone, and receipts that
 * add up, whatever fails meanwhile. */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <keysieve/keysieve.h>

#include "support/data_set.h"
#include "support/fault_allocator.h"
#include "support/fault_file_system.h"
#include "support/organisations.h"
#include "support/pace.h"

#define KEYS_MOST 2000

typedef struct fixture {
    data_set set;
    char directory[TEMP_DIR_PATH_BYTES];
    size_t key_count;
    char texts[KEYS_MOST][64];
    ksv_key keys[KEYS_MOST];
} fixture;

/* Answers as text: one line a visit. */
typedef struct answers {
    char *text;
    size_t size;
    size_t capacity;
    size_t first_key; /* of the call */
} answers;

static bool add_answer(void *ctx, size_t key_number, const ksv_record *record)
{
    answers *a = ctx;
    key_number += a->first_key;
    size_t length =
        record != NULL && record->data != NULL ? (size_t)record->length : 0;
    if (a->size + length + 5000 > a->capacity) {
        a->capacity = 2 * (a->size + length + 5000);
        a->text = realloc(a->text, a->capacity);
        assert_non_null(a->text);
    }
    char *at = a->text + a->size;
    if (record == NULL) {
        a->size += (size_t)sprintf(at, "%zu none\n", key_number);
        return true;
    }
    a->size += (size_t)sprintf(at, "%zu %s %llu %llu ", key_number,
                               record->file, (unsigned long long)record->offset,
                               (unsigned long long)record->length);
    if (length > 0)
        memcpy(a->text + a->size, record->data, length);
    a->size += length;
    a->text[a->size++] = '\n';
    return true;
}

static void choose_keys(fixture *f, random_source *random)
{
    f->key_count = 1 + random_below(random, KEYS_MOST);
    for (size_t i = 0; i < f->key_count; i++) {
        /* Some are there several times, half of the others are absent. */
        uint64_t number = random_below(random, 2 * f->set.key_space);
        size_t size = data_set_key(&f->set, number, f->texts[i]);
        if (random_below(random, 50) == 0)
            size = 0;
        f->keys[i] = (ksv_key){f->texts[i], size};
        if (i > 0 && random_below(random, 10) == 0)
            f->keys[i] = f->keys[random_below(random, i)];
    }
}

static void make(fixture *f, ksv_format format, uint64_t seed)
{
    random_source random = {seed};
    memset(f, 0, sizeof *f);
    data_set_make(&f->set, format, 1 + random_below(&random, 4000));
    temp_dir_path(&f->set.dir, "ix", f->directory);
    const char *files[DATA_SET_FILES];
    size_t count = 1 + random_below(&random, 8);
    for (size_t i = 0; i < count; i++) {
        data_set_write(&f->set, i, random_below(&random, 2500), &random);
        files[i] = f->set.paths[i];
    }
    ksv_format_options form;
    ksv_build_options options;
    ksv_error error;
    data_set_format(&f->set, &form);
    ksv_build_options_init(&options);
    options.format = &form;
    options.organisation = organisation_tried;
    /* Filters that are often wrong. */
    options.fpr = random_below(&random, 2) ? 0.3 : 0.01;
    if (ksv_build(f->directory, files, count, &options, NULL, &error) != KSV_OK)
        fail_msg("%s: %s", error.path, error.text);
    choose_keys(f, &random);
}

static ksv_index *open_with(const fixture *f, ksv_index_options *options)
{
    ksv_index *index;
    ksv_error error;
    if (ksv_index_open(f->directory, options, &index, &error) != KSV_OK)
        fail_msg("%s: %s", error.path, error.text);
    return index;
}

static ksv_index *open_index(const fixture *f, bool map_files)
{
    ksv_index_options options;
    ksv_index_options_init(&options);
    options.map_files = map_files;
    return open_with(f, &options);
}

static void get(const fixture *f, ksv_index *index, size_t at_once,
                const ksv_lookup_options *options, answers *out,
                ksv_receipt *sum, ksv_receipt *receipts)
{
    ksv_error error;
    out->size = 0;
    memset(sum, 0, sizeof *sum);
    for (size_t i = 0; i < f->key_count; i += at_once) {
        size_t n = f->key_count - i < at_once ? f->key_count - i : at_once;
        size_t before = out->size;
        out->first_key = i;
        if (ksv_get(index, f->keys + i, n, options, add_answer, out, sum,
                    receipts != NULL ? receipts + i : NULL, &error) != KSV_OK)
            fail_msg("%s: %s", error.path, error.text);
        assert_true(out->size > before);
    }
}

static void check_same_answers(const answers *one, const answers *many)
{
    assert_int_equal(one->size, many->size);
    if (one->size > 0)
        assert_memory_equal(one->text, many->text, one->size);
}

static void check_receipt_sums(const fixture *f, const ksv_receipt *sum,
                               const ksv_receipt *receipts)
{
    ksv_receipt total;
    memset(&total, 0, sizeof total);
    for (size_t i = 0; i < f->key_count; i++) {
        const ksv_receipt *r = &receipts[i];
        assert_int_equal(r->keys, 1);
        assert_true(r->filter_positives <= r->filter_probes);
        /* A page for each filter that said "maybe", and no other, but where
         * the places of a key go on in the next block of a tree. */
        uint64_t most = organisation_tried == KSV_ORGANISATION_BTREE ? 3 : 1;
        assert_true(r->table_pages_read <= most * r->filter_positives);
        if (r->found == 0 && r->false_positives == 0)
            assert_int_equal(r->table_pages_read + r->data_reads, 0);
        total.found += r->found;
        total.filter_probes += r->filter_probes;
        total.filter_positives += r->filter_positives;
        total.false_positives += r->false_positives;
        total.table_pages_read += r->table_pages_read;
        total.data_reads += r->data_reads;
        total.bytes_read += r->bytes_read;
        total.files_opened += r->files_opened;
    }
    assert_int_equal(sum->keys, f->key_count);
    assert_int_equal(sum->found, total.found);
    assert_int_equal(sum->filter_probes, total.filter_probes);
    assert_int_equal(sum->filter_positives, total.filter_positives);
    assert_int_equal(sum->false_positives, total.false_positives);
    assert_int_equal(sum->table_pages_read, total.table_pages_read);
    assert_int_equal(sum->data_reads, total.data_reads);
    assert_int_equal(sum->bytes_read, total.bytes_read);
    assert_int_equal(sum->files_opened, total.files_opened);
}

/* All but the time and what was opened. */
static void check_same_receipts(const fixture *f, const ksv_receipt *a,
                                const ksv_receipt *b)
{
    for (size_t i = 0; i < f->key_count; i++) {
        ksv_receipt x = a[i], y = b[i];
        x.elapsed_ns = y.elapsed_ns = 0;
        x.files_opened = y.files_opened = 0;
        assert_memory_equal(&x, &y, sizeof x);
    }
}

static void check_has(const fixture *f, ksv_index *index, bool filters_only)
{
    static bool one[KEYS_MOST], many[KEYS_MOST];
    ksv_receipt sum = {0}, total = {0};
    static ksv_receipt receipts[KEYS_MOST];
    for (size_t i = 0; i < f->key_count; i++)
        assert_int_equal(ksv_has(index, &f->keys[i], 1, filters_only, &one[i],
                                 &total, NULL, NULL),
                         KSV_OK);
    assert_int_equal(ksv_has(index, f->keys, f->key_count, filters_only, many,
                             &sum, receipts, NULL),
                     KSV_OK);
    assert_memory_equal(one, many, f->key_count * sizeof *one);
    check_receipt_sums(f, &sum, receipts);
    assert_int_equal(sum.filter_probes, total.filter_probes);
    assert_int_equal(sum.data_reads, total.data_reads);
    assert_int_equal(ksv_has(index, f->keys, f->key_count, filters_only, many,
                             NULL, NULL, NULL),
                     KSV_OK);
    assert_memory_equal(one, many, f->key_count * sizeof *one);
}

static void check_index(const fixture *f, ksv_index *index,
                        const ksv_lookup_options *options)
{
    static ksv_receipt alone[KEYS_MOST], batched[KEYS_MOST];
    static const size_t AT_ONCE[] = {4, 15, 100, KEYS_MOST};
    answers one = {0}, many = {0};
    ksv_receipt sum, shared;
    get(f, index, 1, options, &one, &sum, alone);
    check_receipt_sums(f, &sum, alone);
    for (size_t i = 0; i < sizeof AT_ONCE / sizeof *AT_ONCE; i++) {
        get(f, index, AT_ONCE[i], options, &many, &sum, batched);
        check_same_answers(&one, &many);
        check_receipt_sums(f, &sum, batched);
        check_same_receipts(f, alone, batched);
        get(f, index, AT_ONCE[i], options, &many, &shared, NULL);
        check_same_answers(&one, &many);
        assert_int_equal(shared.keys, sum.keys);
        assert_int_equal(shared.found, sum.found);
        assert_int_equal(shared.filter_probes, sum.filter_probes);
        assert_int_equal(shared.false_positives, sum.false_positives);
        assert_true(shared.table_pages_read <= sum.table_pages_read);
        assert_true(shared.data_reads <= sum.data_reads);
    }
    free(one.text);
    free(many.text);
}

static void run(ksv_format format, uint64_t seed)
{
    static fixture f;
    make(&f, format, seed);
    for (int map_files = 0; map_files < 2; map_files++) {
        ksv_index *index = open_index(&f, map_files);
        ksv_lookup_options options = {0};
        check_index(&f, index, &options);
        options.first_only = true;
        options.no_data = seed % 2 == 0;
        check_index(&f, index, &options);
        check_has(&f, index, false);
        check_has(&f, index, true);
        ksv_index_close(index);
    }
    data_set_remove(&f.set);
}

static void test_csv(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= PACE_ROUNDS(3); seed++)
        run(KSV_FORMAT_CSV, seed);
}

static void test_lines(void **state)
{
    (void)state;
    for (uint64_t seed = 11; seed <= 10 + PACE_ROUNDS(2); seed++)
        run(KSV_FORMAT_LINES, seed);
}

/* Whatever read fails, and however often: the answers are right or there is an
 * error that names a file, after right answers. */
static void fail_reads(fixture *f, const answers *right, bool and_later)
{
    answers got = {0};
    bool failed = true;
    for (uint64_t at = 1; failed; at += 1 + at / 3) {
        fault_file_system fault;
        fault_file_system_open(&fault, ksv_posix_file_system());
        ksv_index_options options;
        ksv_index_options_init(&options);
        options.file_system = &fault.fs;
        ksv_index *index = open_with(f, &options);
        fault.plan = (fault_plan){.operations = FAULT_READ,
                                  .at = at,
                                  .os_errno = EIO,
                                  .and_later = and_later};
        fault_file_system_reset(&fault);
        got.size = 0;
        ksv_error error;
        memset(&error, 0, sizeof error);
        ksv_status status = ksv_get(index, f->keys, f->key_count, NULL,
                                    add_answer, &got, NULL, NULL, &error);
        failed = fault_file_system_count(&fault) >= at;
        if (status == KSV_OK)
            assert_int_equal(got.size, right->size);
        else
            assert_true(error.path[0] != '\0' && failed);
        assert_true(got.size <= right->size);
        if (got.size > 0)
            assert_memory_equal(got.text, right->text, got.size);
        assert_true(status == KSV_OK || status == KSV_ERROR_IO);
        ksv_index_close(index);
        fault_file_system_close(&fault);
    }
    free(got.text);
}

static void test_failing_reads(void **state)
{
    (void)state;
    static fixture f;
    make(&f, KSV_FORMAT_CSV, 21);
    ksv_index *index = open_index(&f, false);
    answers right = {0};
    ksv_receipt sum;
    get(&f, index, KEYS_MOST, NULL, &right, &sum, NULL);
    ksv_index_close(index);
    fail_reads(&f, &right, false);
    fail_reads(&f, &right, true);
    free(right.text);
    data_set_remove(&f.set);
}

static void test_out_of_memory(void **state)
{
    (void)state;
    static fixture f;
    make(&f, KSV_FORMAT_CSV, 22);
    bool done = false;
    for (size_t at = 1; !done; at++) {
        fault_allocator fault;
        fault_allocator_init(&fault, at);
        ksv_index_options options;
        ksv_index_options_init(&options);
        options.allocator = &fault.allocator;
        ksv_index *index = NULL;
        answers got = {0};
        ksv_status status = ksv_index_open(f.directory, &options, &index, NULL);
        if (status == KSV_OK)
            status = ksv_get(index, f.keys, f.key_count, NULL, add_answer, &got,
                             NULL, NULL, NULL);
        ksv_index_close(index);
        assert_true(fault_allocator_is_clean(&fault));
        done = fault.calls < at;
        assert_int_equal(status, done ? KSV_OK : KSV_ERROR_MEMORY);
        free(got.text);
    }
    data_set_remove(&f.set);
}

/* Stops at a key. */
typedef struct stopper {
    size_t stop_at;
    size_t last;
} stopper;

static bool stop(void *ctx, size_t key_number, const ksv_record *record)
{
    (void)record;
    stopper *s = ctx;
    s->last = key_number;
    return key_number < s->stop_at;
}

static void test_stopping(void **state)
{
    (void)state;
    static fixture f;
    make(&f, KSV_FORMAT_TSV, 23);
    ksv_index *index = open_index(&f, false);
    for (size_t i = 0; i < f.key_count; i += 1 + f.key_count / 7) {
        stopper s = {.stop_at = i};
        assert_int_equal(ksv_get(index, f.keys, f.key_count, NULL, stop, &s,
                                 NULL, NULL, NULL),
                         KSV_ERROR_CANCELLED);
        assert_int_equal(s.last, i);
    }
    ksv_index_close(index);
    data_set_remove(&f.set);
}

typedef struct sharer {
    pthread_t thread;
    const fixture *f;
    ksv_index *index;
    size_t at_once;
    answers got;
} sharer;

static void *share(void *ctx)
{
    sharer *s = ctx;
    ksv_receipt sum;
    for (int i = 0; i < 3; i++)
        get(s->f, s->index, s->at_once, NULL, &s->got, &sum, NULL);
    return NULL;
}

static void test_threads(void **state)
{
    (void)state;
    static fixture f;
    make(&f, KSV_FORMAT_CSV, 24);
    for (int map_files = 0; map_files < 2; map_files++) {
        ksv_index *index = open_index(&f, map_files);
        static const size_t AT_ONCE[4] = {KEYS_MOST, 300, 20, 2};
        sharer sharers[4] = {0};
        for (size_t i = 0; i < 4; i++) {
            sharers[i].f = &f;
            sharers[i].index = index;
            sharers[i].at_once = AT_ONCE[i];
            assert_int_equal(
                pthread_create(&sharers[i].thread, NULL, share, &sharers[i]),
                0);
        }
        for (size_t i = 0; i < 4; i++)
            pthread_join(sharers[i].thread, NULL);
        for (size_t i = 0; i < 4; i++)
            check_same_answers(&sharers[0].got, &sharers[i].got);
        for (size_t i = 0; i < 4; i++)
            free(sharers[i].got.text);
        ksv_index_close(index);
    }
    data_set_remove(&f.set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_csv),
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_failing_reads),
        cmocka_unit_test(test_out_of_memory),
        cmocka_unit_test(test_stopping),
        cmocka_unit_test(test_threads),
    };
    int failures = 0;
    ORGANISATIONS_RUN(tests, failures);
    return failures;
}
