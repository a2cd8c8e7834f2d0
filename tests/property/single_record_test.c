/* SPDX-License-Identifier: MIT */
/* Random csv and lines: each record read alone, all of the content behind it in
 * sight, is the one that was found among all, and is known by its key. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "scan/record_match.h"
#include "scan/record_reader.h"
#include "support/scan_run.h"
#include "support/scan_spec_of.h"

#define ROUNDS 3000
#define CONTENT_BYTES 6000

typedef struct trial {
    uint64_t seed;
    uint64_t state;
    ksv_format_options options;
    const char *key;
    uint8_t data[CONTENT_BYTES];
    size_t size;
} trial;

static size_t pick(trial *t, size_t count)
{
    return (size_t)(test_random(&t->state) % count);
}

static void add(trial *t, const char *bytes)
{
    size_t size = strlen(bytes);
    if (t->size + size > CONTENT_BYTES)
        return;
    memcpy(t->data + t->size, bytes, size);
    t->size += size;
}

/* Now and then as long as several blocks of 64 bytes, or all that are looked
 * at together. */
static void add_filler(trial *t, const char *byte)
{
    static const size_t LENGTHS[] = {1, 3, 8, 30, 61, 65, 127, 400, 1100};
    size_t most = LENGTHS[pick(t, sizeof LENGTHS / sizeof LENGTHS[0])];
    for (size_t left = pick(t, most + 1); left > 0; left--)
        add(t, byte);
}

static void add_field(trial *t)
{
    static const char *const PIECES[] = {"\"\"", ",", "\n", "\r\n", "z", "\r"};
    size_t kind = pick(t, 6);
    if (kind == 0)
        return;
    if (kind > 2) {
        add_filler(t, kind == 3 ? "a" : kind == 4 ? "b" : "c\"");
        return;
    }
    add(t, "\"");
    for (size_t pieces = pick(t, 4); pieces > 0; pieces--) {
        add_filler(t, "q");
        add(t, PIECES[pick(t, 6)]);
    }
    add(t, "\"");
    if (pick(t, 8) == 0)
        add(t, "tail");
}

static void make_content(trial *t)
{
    static const char *const ENDS[] = {"\n", "\r\n", "\n\n"};
    size_t records = 1 + pick(t, 20);
    t->size = 0;
    add(t, "h,i,j\n");
    for (size_t i = 0; i < records && t->size < CONTENT_BYTES - 3000; i++) {
        for (size_t fields = pick(t, 5); fields > 0; fields--) {
            add_field(t);
            add(t, fields > 1 ? "," : "");
        }
        add(t, ENDS[pick(t, 3)]);
    }
    t->size -= pick(t, 4) == 0;
}

static void pick_options(trial *t)
{
    static const char *const KEYS[] = {"1", "2", "3"};
    static const char *const LINE_KEYS[] = {"line", "field:1", "field:3"};
    if (pick(t, 4) == 0) {
        t->key = LINE_KEYS[pick(t, 3)];
        t->options = options_of(KSV_FORMAT_LINES, &t->key);
        if (t->key != LINE_KEYS[0])
            t->options.delimiter = ',';
        return;
    }
    t->key = KEYS[pick(t, 3)];
    t->options = options_of(KSV_FORMAT_CSV, &t->key);
    if (pick(t, 5) == 0)
        t->options.quote = KSV_BYTE_NONE;
    else
        t->options.escape_backslash = pick(t, 8) == 0;
}

static bool is_same(const scan_result *all, size_t i, const scan_record *got)
{
    const scan_found *wanted = &all->records[i];
    return got->kind == wanted->kind && got->offset == wanted->offset &&
           got->length == wanted->length &&
           (got->kind != SCAN_RECORD_KEYED ||
            (got->key_bytes == wanted->key_bytes &&
             memcmp(got->key, scan_result_key(all, i), got->key_bytes) == 0));
}

static void check_record(const trial *t, record_reader *reader,
                         const scan_result *all, size_t i)
{
    size_t at = (size_t)all->records[i].offset;
    scan_record got;
    size_t count;
    ksv_error error;
    assert_int_equal(record_reader_begin_at(reader, all->layout.data,
                                            all->layout.size, at, &error),
                     KSV_OK);
    record_reader_feed(reader, t->data + at, t->size - at, true);
    assert_int_equal(record_reader_next(reader, &got, 1, &count, &error),
                     KSV_OK);
    if (count == 1 && is_same(all, i, &got))
        return;
    printf("seed %lu, key %s: record at %zu of\n%.*s\n", (unsigned long)t->seed,
           t->key, at, (int)t->size, (const char *)t->data);
    fail();
}

static bool matches(const trial *t, const record_match *match,
                    const scan_found *record, const void *key, size_t key_bytes,
                    uint64_t *length)
{
    size_t before = record->offset > 0;
    size_t at = (size_t)record->offset - before;
    return record_match_key(match, record->offset, t->data + at, t->size - at,
                            key, key_bytes, length);
}

/* A record is only ever known by its whole key. */
static bool check_match(const trial *t, const record_match *match,
                        const scan_result *all, size_t i)
{
    static const char *const OTHERS[] = {"", ",", "\n", "a", "\""};
    const scan_found *record = &all->records[i];
    bool is_keyed = record->kind == SCAN_RECORD_KEYED;
    size_t key_bytes = is_keyed ? record->key_bytes : 0;
    uint8_t key[CONTENT_BYTES + 8];
    uint64_t length = 0;
    memcpy(key, is_keyed ? scan_result_key(all, i) : key, key_bytes);
    bool is_known = matches(t, match, record, key, key_bytes, &length);
    assert_true(!is_known || (is_keyed && length == record->length));
    for (size_t o = 0; o < sizeof OTHERS / sizeof OTHERS[0]; o++) {
        /* Shorter, or longer by what stands or could stand behind it. */
        size_t other_bytes = key_bytes + strlen(OTHERS[o]);
        memcpy(key + key_bytes, OTHERS[o], strlen(OTHERS[o]));
        if (o == 0)
            other_bytes -= other_bytes > 0;
        if (other_bytes != key_bytes)
            assert_false(matches(t, match, record, key, other_bytes, &length));
    }
    size_t changed = pick((trial *)t, key_bytes + 1);
    key[changed] ^= 1;
    assert_true(changed == key_bytes ||
                !matches(t, match, record, key, key_bytes, &length));
    return is_known;
}

typedef struct tally {
    size_t records;
    size_t keyed; /* not the first one */
    size_t known;
} tally;

static void check_trial(trial *t, tally *sums)
{
    scan_spec *spec = scan_spec_of(&t->options);
    scan_result all;
    record_reader *reader;
    record_match match;
    scan_run(spec, false, t->data, t->size, (scan_windows){0, 0}, &all);
    record_match_init(&match, spec, all.layout.data, all.layout.size);
    /* An open quote at the end is told by all ways, but found by none. */
    size_t count = all.status == KSV_OK ? all.count : 0;
    assert_int_equal(record_reader_open(spec, false, NULL, &reader, NULL),
                     KSV_OK);
    for (size_t i = 0; i < count; i++) {
        check_record(t, reader, &all, i);
        sums->records++;
        sums->keyed += i > 0 && all.records[i].kind == SCAN_RECORD_KEYED;
        sums->known += check_match(t, &match, &all, i);
    }
    record_reader_close(reader);
    scan_result_release(&all);
    scan_spec_destroy(spec);
}

static void test_alone_as_among_all(void **state)
{
    (void)state;
    tally sums = {0, 0, 0};
    for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
        static trial t;
        t.seed = seed;
        t.state = seed * 0x9e3779b97f4a7c15u;
        pick_options(&t);
        make_content(&t);
        check_trial(&t, &sums);
    }
    assert_true(sums.records > ROUNDS);
    /* Most are easy. */
    assert_true(sums.known > sums.keyed / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_alone_as_among_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
