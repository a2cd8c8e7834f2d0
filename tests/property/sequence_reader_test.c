/* SPDX-License-Identifier: MIT */
/* The readers of fasta and fastq against slow ones, over random contents cut
 * into random windows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scan/scan_spec.h"
#include "support/scan_run.h"
#include "support/sequence_reference.h"

#define MAX_CONTENT 4000
#define ROUNDS 4000

typedef struct text {
    char bytes[MAX_CONTENT];
    size_t size;
} text;

static void put(text *t, const char *bytes, size_t size)
{
    if (t->size + size > MAX_CONTENT)
        return;
    memcpy(t->bytes + t->size, bytes, size);
    t->size += size;
}

static void put_random(text *t, const char *alphabet, size_t size,
                       uint64_t *state)
{
    for (size_t i = 0; i < size; i++)
        put(t, alphabet + test_random(state) % strlen(alphabet), 1);
}

static void end_line(text *t, uint64_t *state)
{
    uint64_t way = test_random(state) % 8;
    put(t, "\r\n", 2);
    if (way > 0) {
        t->size -= 2;
        put(t, "\n", 1);
    }
    while (test_random(state) % 8 == 0)
        put(t, way == 1 ? "\r\n" : "\n", way == 1 ? 2 : 1);
}

static void put_header(text *t, const char *mark, uint64_t *state)
{
    put(t, mark, 1);
    put_random(t, "ab >@\t", test_random(state) % 6, state);
    end_line(t, state);
}

static void put_fasta(text *t, uint64_t *state)
{
    put_header(t, ">", state);
    for (uint64_t lines = test_random(state) % 4; lines > 0; lines--) {
        put_random(t, "ACGT> ", test_random(state) % 9, state);
        end_line(t, state);
    }
}

/* Cut into lines at random. */
static void put_cut(text *t, const char *alphabet, size_t size, uint64_t *state)
{
    while (size > 0) {
        size_t part = size > 3 && test_random(state) % 4 == 0 ? size / 2 : size;
        put_random(t, alphabet, part, state);
        put(t, "\n", 1);
        size -= part;
    }
}

static void put_fastq(text *t, uint64_t *state)
{
    size_t size = test_random(state) % 12;
    size_t wrong = test_random(state) % 10 == 0 ? test_random(state) % 4 : 0;
    put(t, "@", 1);
    put_random(t, "ab >@\t", test_random(state) % 6, state);
    put(t, "\n", 1);
    put_cut(t, "ACGT", size, state);
    if (test_random(state) % 20 > 0)
        put(t, "+\n", 2);
    put_cut(t, "I@+>;", size + wrong, state);
    if (size + wrong == 0)
        put(t, "\n", 1);
    if (test_random(state) % 8 == 0)
        end_line(t, state);
}

static void damage(text *t, uint64_t *state)
{
    if (t->size == 0)
        return;
    size_t at = test_random(state) % t->size;
    switch (test_random(state) % 4) {
    case 0:
        t->size = at;
        break;
    case 1:
        t->bytes[at] = "\n\r>@+A "[test_random(state) % 7];
        break;
    case 2:
        memmove(t->bytes + at, t->bytes + at + 1, t->size - at - 1);
        t->size--;
        break;
    default:
        break;
    }
}

static void make(text *t, ksv_format format, uint64_t *state)
{
    t->size = 0;
    if (test_random(state) % 16 == 0)
        put(t, "\xef\xbb\xbf", 3);
    if (test_random(state) % 8 == 0)
        put_random(t, ">@+A \r\n", test_random(state) % 20, state);
    for (uint64_t n = test_random(state) % 12; n > 0; n--) {
        if (format == KSV_FORMAT_FASTA)
            put_fasta(t, state);
        else
            put_fastq(t, state);
    }
    for (uint64_t n = test_random(state) % 3; n > 0; n--)
        damage(t, state);
}

static scan_spec *make_spec(ksv_format format, bool whole_header)
{
    ksv_format_options options;
    ksv_format_options_init(&options);
    const char *key = whole_header ? "header" : "name";
    options.format = format;
    options.keys = &key;
    options.key_count = 1;
    scan_spec *spec;
    assert_int_equal(scan_spec_create(&options, NULL, &spec, NULL), KSV_OK);
    return spec;
}

static void check_equal(const scan_result *a, const scan_result *b,
                        const text *t, uint64_t seed, const char *what)
{
    char why[256];
    if (scan_results_agree(a, b, why))
        return;
    fprintf(stderr, "seed %llu, %s: %s\n---\n%.*s\n---\n",
            (unsigned long long)seed, what, why, (int)t->size, t->bytes);
    fail();
}

static void check_lookups(const scan_spec *spec, const scan_result *all,
                          const text *t, uint64_t seed)
{
    for (size_t i = 0; i < all->count; i++) {
        const scan_found *f = &all->records[i];
        if (f->kind == SCAN_RECORD_BAD)
            continue;
        scan_result one;
        scan_result expected;
        scan_result_init(&expected);
        scan_result_add(&expected, f->offset, f->length, f->kind,
                        all->keys + f->key_at, f->key_bytes);
        scan_run_at(spec, &all->layout, f->offset, t->bytes + f->offset,
                    t->size - (size_t)f->offset, (scan_windows){seed, 9}, &one);
        check_equal(&expected, &one, t, seed, "lookup");
        scan_result_release(&expected);
        scan_result_release(&one);
    }
}

static size_t check_one(ksv_format format, bool whole_header, bool skip_bad,
                        const text *t, uint64_t seed)
{
    scan_spec *spec = make_spec(format, whole_header);
    scan_result expected;
    scan_result whole;
    scan_result cut;
    scan_result_init(&expected);
    const uint8_t *data = (const uint8_t *)t->bytes;
    if (format == KSV_FORMAT_FASTA)
        reference_read_fasta(whole_header, skip_bad, data, t->size, &expected);
    else
        reference_read_fastq(whole_header, skip_bad, data, t->size, &expected);
    scan_run(spec, skip_bad, data, t->size, (scan_windows){0, 0}, &whole);
    scan_run(spec, skip_bad, data, t->size, (scan_windows){seed, 1 + seed % 40},
             &cut);
    check_equal(&whole, &cut, t, seed, "cut into windows");
    check_equal(&expected, &whole, t, seed, "against the reference");
    check_lookups(spec, &whole, t, seed);
    size_t count = whole.count;
    scan_result_release(&expected);
    scan_result_release(&whole);
    scan_result_release(&cut);
    scan_spec_destroy(spec);
    return count;
}

static void check_format(ksv_format format)
{
    static text t;
    size_t records = 0;
    for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
        uint64_t state = seed * UINT64_C(0x9e3779b97f4a7c15);
        make(&t, format, &state);
        records += check_one(format, seed % 3 == 0, seed % 2 == 0, &t, seed);
    }
    /* The contents are not all refused at their beginning. */
    assert_true(records > 3 * ROUNDS);
}

static void test_fasta(void **state)
{
    (void)state;
    check_format(KSV_FORMAT_FASTA);
}

static void test_fastq(void **state)
{
    (void)state;
    check_format(KSV_FORMAT_FASTQ);
}

/* So many faulty starts that the reader gives up looking back, and a bad record
 * too long to look back in. */
static void test_fastq_look_back_ends(void **state)
{
    (void)state;
    static char bytes[200000];
    for (int starts = 1; starts < 40; starts++) {
        text t = {.size = 0};
        for (int i = 0; i < starts; i++)
            put(&t, "@a\n", 3);
        put(&t, "@b\nA\n+\nI\n", 10);
        for (uint64_t seed = 0; seed < 5; seed++)
            check_one(KSV_FORMAT_FASTQ, false, true, &t, seed);
    }
    for (size_t length = 65500; length < 65560; length++) {
        size_t size =
            (size_t)snprintf(bytes, sizeof bytes, "@a\n@b\nA\n+\nI\n");
        memset(bytes + size, 'I', length);
        size += length;
        size += (size_t)snprintf(bytes + size, 100, "\n@c\nA\n+\nI\n");
        scan_spec *spec = make_spec(KSV_FORMAT_FASTQ, false);
        scan_result expected;
        scan_result_init(&expected);
        reference_read_fastq(false, true, (uint8_t *)bytes, size, &expected);
        for (uint64_t seed = 0; seed < 4; seed++) {
            scan_result found;
            char why[256];
            scan_run(spec, true, bytes, size,
                     (scan_windows){seed == 1 ? 5 : seed, 30000}, &found);
            assert_true(scan_results_agree(&expected, &found, why));
            scan_result_release(&found);
        }
        scan_result_release(&expected);
        scan_spec_destroy(spec);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fasta),
        cmocka_unit_test(test_fastq),
        cmocka_unit_test(test_fastq_look_back_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
