/* SPDX-License-Identifier: MIT */
/* Random contents scanned by several threads in chunks of a few bytes, against
 * the same scan by one thread. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/thread_pool.h"
#include "io/memory_file_system.h"
#include "scan/file_scan.h"
#include "support/random.h"
#include "support/scan_run.h"

#define ROUNDS 3000
#define CONTENT_BYTES 5000
#define THREADS 4

typedef struct trial {
    uint64_t seed;
    random_source random;
    ksv_format_options options;
    const char *keys[2];
    bool skip_bad;
    uint8_t data[CONTENT_BYTES];
    size_t size;
    uint64_t chunk_bytes;
    unsigned threads;
    char path[32];
} trial;

/* What one worker was given. */
typedef struct worker_log {
    scan_result found;
    uint64_t *chunks; /* of each record */
    size_t capacity;
} worker_log;

typedef struct scan_log {
    worker_log workers[THREADS];
    uint64_t strict_offset; /* a record that the consumer refuses */
} scan_log;

static size_t pick(trial *t, size_t count)
{
    return (size_t)random_below(&t->random, count);
}

static bool one_in(trial *t, size_t count)
{
    return pick(t, count) == 0;
}

static void pick_options(trial *t)
{
    static const ksv_format FORMATS[] = {
        KSV_FORMAT_CSV,   KSV_FORMAT_CSV,   KSV_FORMAT_CSV,
        KSV_FORMAT_TSV,   KSV_FORMAT_LINES, KSV_FORMAT_JSONL,
        KSV_FORMAT_FIXED, KSV_FORMAT_FASTA, KSV_FORMAT_FASTQ};
    static const char *const KEYS[] = {"1",    "1",         "line", "name",
                                       "name", "bytes:1-2", "a"};
    ksv_format_options *o = &t->options;
    ksv_format_options_init(o);
    o->format = FORMATS[pick(t, 9)];
    o->keys = t->keys;
    o->key_count = 1;
    t->keys[0] = "1";
    if (o->format == KSV_FORMAT_LINES)
        t->keys[0] = one_in(t, 2) ? KEYS[2] : KEYS[5];
    if (o->format == KSV_FORMAT_FASTA || o->format == KSV_FORMAT_FASTQ)
        t->keys[0] = KEYS[3];
    if (o->format == KSV_FORMAT_JSONL)
        t->keys[0] = KEYS[6];
    if (o->format == KSV_FORMAT_FIXED) {
        t->keys[0] = KEYS[5];
        o->record_size = one_in(t, 2) ? 2 + pick(t, 9) : 0;
    }
    o->record_end_cr = o->record_size == 0 && one_in(t, 6);
    t->skip_bad = one_in(t, 2);
    if (o->format != KSV_FORMAT_CSV && o->format != KSV_FORMAT_TSV)
        return;
    o->no_header = one_in(t, 2);
    t->keys[0] = one_in(t, 2) ? "1" : "2";
    o->escape_backslash = one_in(t, 4);
    if (one_in(t, 4) || o->escape_backslash)
        o->quote = one_in(t, 2) ? '\'' : '"';
}

static void add(trial *t, const char *text)
{
    size_t size = strlen(text);
    if (t->size + size > CONTENT_BYTES)
        return;
    memcpy(t->data + t->size, text, size);
    t->size += size;
}

static void pick_content(trial *t)
{
    static const char *const TEXTS[] = {
        "\n",   "\n", "\n",   "\r\n", "\"",
        ",",    "\t", "\\",   "\"\"", ",\"",
        "\",",  "'",  "\t'",  "'\t",  "\r",
        "\"\n", "a",  "word", "a, b", " ",
        "\\\"", ">",  "\n>",  ">id ", "0123456789abcdef"};
    static const char *const LINES[] = {
        "{\"a\":1}\n", "{\"a\":\"x\\\"\"}\r\n", "{\"b\":[1,{\"a\":2}]}\n",
        "\n",          "{\"a\":\"y\"}\n",       "{\"a\"}\n",
        " \n"};
    bool json = t->options.format == KSV_FORMAT_JSONL && !one_in(t, 9);
    size_t kinds = json ? 7 - pick(t, 3) : 25;
    const char *const *texts = json ? LINES : TEXTS;
    size_t weights[25];
    size_t sum = 0;
    for (size_t i = 0; i < kinds; i++) {
        weights[i] = one_in(t, 2) ? 0 : (size_t)1 << pick(t, 6);
        sum += weights[i] += i == 0;
    }
    t->size = 0;
    if (one_in(t, 5))
        add(t, "\xef\xbb\xbf");
    if (one_in(t, 30))
        add(t, "\xff\xfe");
    size_t wanted = one_in(t, 10) ? pick(t, CONTENT_BYTES) : pick(t, 300);
    while (t->size < wanted) {
        size_t choice = pick(t, sum);
        size_t i = 0;
        while (choice >= weights[i])
            choice -= weights[i++];
        add(t, texts[i]);
        if (t->size + 20 > CONTENT_BYTES)
            break;
    }
}

static ksv_status take(scan_log *log, unsigned worker, uint64_t chunk,
                       const scan_record *records, size_t count,
                       ksv_error *error)
{
    worker_log *w = &log->workers[worker];
    for (size_t i = 0; i < count; i++) {
        const scan_record *r = &records[i];
        if (r->offset >= log->strict_offset) {
            *error = (ksv_error){.status = KSV_ERROR_DUPLICATE,
                                 .byte_offset = r->offset};
            return KSV_ERROR_DUPLICATE;
        }
        if (w->found.count == w->capacity) {
            w->capacity = w->capacity * 2 + 16;
            w->chunks = realloc(w->chunks, w->capacity * sizeof *w->chunks);
            assert_non_null(w->chunks);
        }
        w->chunks[w->found.count] = chunk;
        scan_result_add(&w->found, r->offset, r->length, r->kind, r->key,
                        r->kind == SCAN_RECORD_KEYED ? r->key_bytes : 0);
    }
    return KSV_OK;
}

static ksv_status take_one_thread(void *ctx, const scan_record *records,
                                  size_t count, ksv_error *error)
{
    return take(ctx, 0, 0, records, count, error);
}

static ksv_status take_chunk(void *ctx, unsigned worker, uint64_t chunk,
                             const scan_record *records, size_t count,
                             ksv_error *error)
{
    assert_true(worker < THREADS);
    return take(ctx, worker, chunk, records, count, error);
}

/* The records of all workers in the order of chunks. */
static void merge(scan_log *log, scan_result *all)
{
    size_t next[THREADS] = {0};
    scan_result_init(all);
    for (;;) {
        size_t best = THREADS;
        for (size_t w = 0; w < THREADS; w++) {
            worker_log *from = &log->workers[w];
            if (next[w] < from->found.count &&
                (best == THREADS ||
                 from->chunks[next[w]] < log->workers[best].chunks[next[best]]))
                best = w;
        }
        if (best == THREADS)
            return;
        const scan_result *f = &log->workers[best].found;
        const scan_found *r = &f->records[next[best]];
        scan_result_add(all, r->offset, r->length, r->kind,
                        scan_result_key(f, next[best]), r->key_bytes);
        next[best]++;
    }
}

static void complain(const trial *t, const char *why)
{
    printf("seed %lu, format %s, key %s, chunks of %lu, threads %u: %s\n",
           (unsigned long)t->seed, ksv_format_name(t->options.format),
           t->keys[0], (unsigned long)t->chunk_bytes, t->threads, why);
    fail();
}

typedef struct outcome {
    scan_result found;
    file_scan_result result;
    ksv_status status;
    ksv_error error;
} outcome;

static void run(trial *t, const ksv_file_system *fs, const scan_spec *spec,
                thread_pool *pool, uint64_t strict_offset, outcome *out)
{
    static ksv_allocator a;
    a = allocator_or_default(NULL);
    scan_log log = {.strict_offset = strict_offset};
    for (size_t i = 0; i < THREADS; i++)
        scan_result_init(&log.workers[i].found);
    file_scan scan = {.fs = fs,
                      .path = t->path,
                      .given_path = "given",
                      .spec = spec,
                      .skip_bad_records = t->skip_bad,
                      .allocator = &a,
                      .records = take_one_thread,
                      .chunk_records = t->threads > 0 ? take_chunk : NULL,
                      .chunk_workers = t->threads,
                      .pool = pool,
                      .chunk_bytes = (size_t)t->chunk_bytes,
                      .ctx = &log};
    out->status = file_scan_run(&scan, &out->result, &out->error);
    merge(&log, &out->found);
    for (size_t i = 0; i < THREADS; i++) {
        scan_result_release(&log.workers[i].found);
        free(log.workers[i].chunks);
    }
}

static void release(outcome *out)
{
    scan_result_release(&out->found);
    buffer_release(&out->result.layout);
}

static void compare(const trial *t, const outcome *one, outcome *many)
{
    char why[256];
    if (one->status != many->status)
        complain(t, "another status");
    if (one->status != KSV_OK) {
        if (one->error.byte_offset != many->error.byte_offset ||
            one->error.line != many->error.line ||
            strcmp(one->error.text, many->error.text) != 0)
            complain(t, "another error");
        /* Later chunks may have given records, too. */
        if (many->found.count < one->found.count)
            complain(t, "records are missing before an error");
        many->found.count = one->found.count;
    }
    if (!scan_results_agree(&one->found, &many->found, why))
        complain(t, why);
    if (one->status != KSV_OK)
        return;
    if (one->result.content_bytes != many->result.content_bytes ||
        one->result.kind != many->result.kind ||
        memcmp(one->result.content_hash, many->result.content_hash, 16) != 0 ||
        memcmp(one->result.fingerprint, many->result.fingerprint, 16) != 0 ||
        one->result.layout.size != many->result.layout.size ||
        memcmp(one->result.layout.data, many->result.layout.data,
               one->result.layout.size) != 0)
        complain(t, "another result");
}

static void make_trial(trial *t, uint64_t seed)
{
    t->seed = seed;
    t->random.state = seed;
    snprintf(t->path, sizeof t->path, "data%lu", (unsigned long)seed);
    pick_options(t);
    pick_content(t);
}

/* All files are written before the first is read: a scan waits until a file is
 * a few milliseconds old. */
static void store(const ksv_file_system *fs, const trial *t, size_t times)
{
    ksv_file *file;
    assert_int_equal(fs->create(fs->ctx, t->path, &file, NULL), KSV_OK);
    for (size_t i = 0; i < times && t->size > 0; i++)
        assert_int_equal(file->ops->append(file, t->data, t->size, NULL),
                         KSV_OK);
    assert_int_equal(file->ops->close(file, NULL), KSV_OK);
}

/* Returns the number of records. */
static size_t check_trial(trial *t, const ksv_file_system *fs,
                          thread_pool *pool)
{
    scan_spec *spec;
    if (scan_spec_create(&t->options, NULL, &spec, NULL) != KSV_OK)
        return 0;
    uint64_t strict_offset = one_in(t, 8) ? pick(t, 400) : UINT64_MAX;
    t->threads = 0;
    outcome one;
    run(t, fs, spec, NULL, strict_offset, &one);
    for (size_t i = 0; i < 3; i++) {
        t->threads = 1 + (unsigned)pick(t, THREADS);
        t->chunk_bytes = 1 + pick(t, one_in(t, 2) ? 64 : 700);
        /* Chunks of whole blocks are split in another way. */
        if (one_in(t, 2))
            t->chunk_bytes = 64 * (1 + pick(t, 8));
        outcome many;
        run(t, fs, spec, pool, strict_offset, &many);
        compare(t, &one, &many);
        release(&many);
    }
    size_t count = one.found.count;
    release(&one);
    scan_spec_destroy(spec);
    return count;
}

static void test_threads_change_nothing(void **state)
{
    (void)state;
    ksv_file_system fs;
    thread_pool *pool;
    assert_int_equal(memory_file_system_open(NULL, &fs, NULL), KSV_OK);
    assert_int_equal(thread_pool_open(THREADS - 1, NULL, &pool, NULL), KSV_OK);
    size_t records = 0;
    static trial t;
    for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
        make_trial(&t, seed);
        store(&fs, &t, 1);
    }
    for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
        make_trial(&t, seed);
        records += check_trial(&t, &fs, pool);
    }
    assert_true(records > ROUNDS * 5);
    thread_pool_close(pool);
    memory_file_system_close(&fs);
}

/* Chunks as they are usually cut, which the hash of the content is made of. */
static void test_usual_chunks(void **state)
{
    (void)state;
    ksv_file_system fs;
    thread_pool *pool;
    assert_int_equal(memory_file_system_open(NULL, &fs, NULL), KSV_OK);
    assert_int_equal(thread_pool_open(THREADS - 1, NULL, &pool, NULL), KSV_OK);
    static trial t;
    make_trial(&t, 1);
    ksv_format_options_init(&t.options);
    t.options.format = KSV_FORMAT_CSV;
    t.keys[0] = "2";
    t.options.keys = t.keys;
    t.options.key_count = 1;
    t.options.no_header = true;
    static const char ROWS[] =
        "a,\"b\nc\",d\r\n\"x, y\",5\" wide,\"q\"\"q\"\n,\"\n\"\n";
    t.size = sizeof ROWS - 1;
    memcpy(t.data, ROWS, t.size);
    store(&fs, &t, 3400000 / t.size);
    scan_spec *spec;
    assert_int_equal(scan_spec_create(&t.options, NULL, &spec, NULL), KSV_OK);
    t.threads = 0;
    t.chunk_bytes = 0;
    outcome one;
    run(&t, &fs, spec, NULL, UINT64_MAX, &one);
    assert_int_equal(one.status, KSV_OK);
    assert_int_equal(one.found.count, 3 * (3400000 / t.size));
    for (t.threads = 1; t.threads <= THREADS; t.threads++) {
        outcome many;
        run(&t, &fs, spec, pool, UINT64_MAX, &many);
        compare(&t, &one, &many);
        release(&many);
    }
    release(&one);
    scan_spec_destroy(spec);
    thread_pool_close(pool);
    memory_file_system_close(&fs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads_change_nothing),
        cmocka_unit_test(test_usual_chunks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
