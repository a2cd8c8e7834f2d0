/* SPDX-License-Identifier: MIT */
/* How fast contents are cut into records and their keys hashed, in GB/s: from
 * memory (processor time), and from a warm file with one thread and with two
 * (elapsed time), next to counting line ends with memchr() and pread() as
 * `wc -l` does. Arguments: MB of content (64), runs (5), first letters of a
 * name. Best of all runs; a file is written to the working directory. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <keysieve/hash.h>

#include "base/thread_pool.h"
#include "io/file.h"
#include "scan/file_scan.h"

#define WINDOW_BYTES ((size_t)1 << 18)
#define BATCH_RECORDS 512
#define THREADS 2
#define FILE_NAME "bench_scan.tmp"

typedef void (*row_fn)(char *out, unsigned i, uint64_t random);

typedef struct content_kind {
    const char *name;
    const char *key;
    ksv_format format;
    row_fn row; /* a NUL-terminated record with its end, under 4000 bytes */
} content_kind;

static uint64_t random_next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state * 0x2545f4914f6cdd1du;
}

static void row_plain(char *out, unsigned i, uint64_t r)
{
    sprintf(out,
            "%08x-%04x-4%03x-a%03x-%012" PRIx64
            ",name%u,%u,some more text for the row,%u\n",
            (unsigned)r, (unsigned)(r >> 32) & 0xffff,
            (unsigned)(r >> 48) & 0xfff, i & 0xfff,
            r * 0x9e3779b97f4a7c15u >> 16, i, (unsigned)r % 1000, i);
}

static void row_quoted(char *out, unsigned i, uint64_t r)
{
    sprintf(out,
            "%08x-%04x-4%03x-a%03x-%012" PRIx64
            ",\"name, %u\",%u,\"some text, for the row\",%u\n",
            (unsigned)r, (unsigned)(r >> 32) & 0xffff,
            (unsigned)(r >> 48) & 0xfff, i & 0xfff,
            r * 0x9e3779b97f4a7c15u >> 16, i, (unsigned)r % 1000, i);
}

static void row_inches(char *out, unsigned i, uint64_t r)
{
    sprintf(out,
            "%016" PRIx64 ",screen %u\" wide,%u,he said \"well, yes\",%u\n", r,
            i % 40, (unsigned)r % 1000, i);
}

static void row_short(char *out, unsigned i, uint64_t r)
{
    (void)i;
    sprintf(out, "%010" PRIu64 "\n", r % 10000000000u);
}

static void row_short_csv(char *out, unsigned i, uint64_t r)
{
    sprintf(out, "%010" PRIu64 ",%07u\n", r % 10000000000u, i % 10000000);
}

static void row_line(char *out, unsigned i, uint64_t r)
{
    sprintf(out, "%016" PRIx64 " GET /some/path/of/a/page/%u HTTP/1.1 200 %u\n",
            r, i, (unsigned)r % 100000);
}

static void row_long(char *out, unsigned i, uint64_t r)
{
    size_t at = (size_t)sprintf(out, "%016" PRIx64, r);
    while (at < 2000)
        at += (size_t)sprintf(out + at, ",%u,\"a, b\",text of a field",
                              (unsigned)(r >> at % 32));
    sprintf(out + at, ",%u\n", i);
}

static void row_tsv(char *out, unsigned i, uint64_t r)
{
    row_plain(out, i, r);
    for (; *out != '\0'; out++)
        *out = *out == ',' ? '\t' : *out;
}

static void row_json(char *out, unsigned i, uint64_t r)
{
    sprintf(out,
            "{\"id\":\"%08x-%04x-4%03x-a%03x\",\"name\":\"name \\\"%u\\\"\","
            "\"value\":%u.5,\"tags\":[\"a\",\"b\"],\"text\":\"some more text "
            "for the row\"}\n",
            (unsigned)r, (unsigned)(r >> 32) & 0xffff,
            (unsigned)(r >> 48) & 0xfff, i & 0xfff, i, (unsigned)r % 1000);
}

static void row_fasta(char *out, unsigned i, uint64_t r)
{
    size_t at = (size_t)sprintf(out, ">seq%u len=240\n", i);
    for (unsigned n = 0; n < 240; n++) {
        if (n % 60 == 0 && n > 0)
            out[at++] = '\n';
        out[at++] = "ACGT"[r >> n % 62 & 3];
    }
    strcpy(out + at, "\n");
}

static const content_kind KINDS[] = {
    {"csv, key first", "1", KSV_FORMAT_CSV, row_plain},
    {"csv, key last", "5", KSV_FORMAT_CSV, row_plain},
    {"csv, quotes, key first", "1", KSV_FORMAT_CSV, row_quoted},
    {"csv, quotes, key last", "5", KSV_FORMAT_CSV, row_quoted},
    {"csv, quotes, key quoted", "2", KSV_FORMAT_CSV, row_quoted},
    {"csv, lone quotes", "1", KSV_FORMAT_CSV, row_inches},
    {"csv, 20 B", "1", KSV_FORMAT_CSV, row_short_csv},
    {"csv, 2 KB, quotes", "1", KSV_FORMAT_CSV, row_long},
    {"tsv, key first", "1", KSV_FORMAT_TSV, row_tsv},
    {"tsv, key last", "5", KSV_FORMAT_TSV, row_tsv},
    {"tsv, key of 2 columns", "1 5", KSV_FORMAT_TSV, row_tsv},
    {"lines, 11 B", "line", KSV_FORMAT_LINES, row_short},
    {"lines, 60 B", "line", KSV_FORMAT_LINES, row_line},
    {"lines, 60 B, bytes", "bytes:1-16", KSV_FORMAT_LINES, row_line},
    {"lines, 2 KB", "bytes:1-16", KSV_FORMAT_LINES, row_long},
    {"fixed, 11 B", "bytes:1-8", KSV_FORMAT_FIXED, row_short},
    {"jsonl", "id", KSV_FORMAT_JSONL, row_json},
    {"jsonl, key last", "text", KSV_FORMAT_JSONL, row_json},
    {"fasta", "name", KSV_FORMAT_FASTA, row_fasta},
};

static double now_s(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static size_t fill(const content_kind *kind, char *data, size_t size)
{
    uint64_t state = 88172645463325252u;
    size_t at = 0;
    for (unsigned i = 0; at + 4000 < size; i++) {
        kind->row(data + at, i, random_next(&state));
        at += strlen(data + at);
    }
    return at;
}

static void fail(const char *what)
{
    fprintf(stderr, "%s\n", what);
    exit(1);
}

static scan_spec *make_spec(const content_kind *kind)
{
    static char text[64];
    const char *keys[4];
    ksv_format_options options;
    ksv_format_options_init(&options);
    options.format = kind->format;
    options.no_header =
        kind->format == KSV_FORMAT_CSV || kind->format == KSV_FORMAT_TSV;
    options.keys = keys;
    snprintf(text, sizeof text, "%s", kind->key);
    for (char *key = strtok(text, " "); key != NULL; key = strtok(NULL, " "))
        keys[options.key_count++] = key;
    scan_spec *spec;
    ksv_error error;
    if (scan_spec_create(&options, NULL, &spec, &error) != KSV_OK)
        fail(error.text);
    return spec;
}

/* The sum of the hashes of all keys, so that none can be left out. */
static uint64_t scan(record_reader *reader, const uint8_t *data, size_t size,
                     size_t *count)
{
    static scan_record batch[BATCH_RECORDS];
    const ksv_hasher hasher = {.kind = KSV_HASH_XXH3};
    uint64_t sum = 0;
    record_reader_begin(reader);
    *count = 0;
    for (size_t at = 0; at < size; at += WINDOW_BYTES) {
        size_t window = size - at < WINDOW_BYTES ? size - at : WINDOW_BYTES;
        record_reader_feed(reader, data + at, window, at + window == size);
        for (;;) {
            size_t got;
            ksv_error error;
            if (record_reader_next(reader, batch, BATCH_RECORDS, &got,
                                   &error) != KSV_OK)
                fail(error.text);
            if (got == 0)
                break;
            for (size_t i = 0; i < got; i++)
                sum += ksv_hash(&hasher, batch[i].key, batch[i].key_bytes);
            *count += got;
        }
    }
    return sum;
}

static size_t count_ends(const uint8_t *data, size_t size)
{
    size_t count = 0;
    const uint8_t *end = data + size;
    while ((data = memchr(data, '\n', (size_t)(end - data))) != NULL) {
        data++;
        count++;
        if (data == end)
            break;
    }
    return count;
}

static void store(const uint8_t *data, size_t size)
{
    FILE *file = fopen(FILE_NAME, "wb");
    if (file == NULL || fwrite(data, 1, size, file) != size ||
        fclose(file) != 0)
        fail("cannot write " FILE_NAME);
}

static void count_ends_of_file(uint8_t *buffer)
{
    const ksv_file_system *fs = ksv_posix_file_system();
    ksv_file *file;
    ksv_error error;
    if (fs->open_read(fs->ctx, FILE_NAME, &file, &error) != KSV_OK)
        fail(error.text);
    size_t got = 1;
    for (uint64_t at = 0; got > 0; at += got) {
        if (file->ops->read_at(file, at, buffer, WINDOW_BYTES, &got, &error) !=
            KSV_OK)
            fail(error.text);
        if (got > 0)
            count_ends(buffer, got);
    }
    file->ops->close(file, NULL);
}

typedef struct worker_sum {
    uint64_t sum;
    uint8_t padding[120];
} worker_sum;

static ksv_status add_hashes(void *ctx, unsigned worker, uint64_t chunk,
                             const scan_record *records, size_t count,
                             ksv_error *error)
{
    (void)chunk;
    (void)error;
    const ksv_hasher hasher = {.kind = KSV_HASH_XXH3};
    worker_sum *sums = ctx;
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += ksv_hash(&hasher, records[i].key, records[i].key_bytes);
    sums[worker].sum += sum;
    return KSV_OK;
}

static uint64_t scan_file(const scan_spec *spec, unsigned threads,
                          thread_pool *pool)
{
    ksv_allocator a = allocator_or_default(NULL);
    worker_sum sums[THREADS] = {{0}};
    file_scan file = {.fs = ksv_posix_file_system(),
                      .path = FILE_NAME,
                      .given_path = FILE_NAME,
                      .spec = spec,
                      .allocator = &a,
                      .chunk_records = add_hashes,
                      .chunk_workers = threads,
                      .pool = pool,
                      .ctx = sums};
    file_scan_result result;
    ksv_error error;
    if (file_scan_run(&file, &result, &error) != KSV_OK)
        fail(error.text);
    buffer_release(&result.layout);
    return sums[0].sum + sums[1].sum;
}

/* Seconds, the best of all runs. */
typedef struct best_time {
    double elapsed;
    double processor;
} best_time;

static best_time clocks(void)
{
    return (best_time){now_s(CLOCK_MONOTONIC), now_s(CLOCK_PROCESS_CPUTIME_ID)};
}

static void keep_least(best_time *best, best_time start)
{
    best_time now = clocks();
    double elapsed = now.elapsed - start.elapsed;
    double processor = now.processor - start.processor;
    if (best->elapsed == 0 || elapsed < best->elapsed)
        best->elapsed = elapsed;
    if (best->processor == 0 || processor < best->processor)
        best->processor = processor;
}

typedef struct times {
    best_time memory;
    best_time memory_ends;
    best_time file_ends;
    best_time one_thread;
    best_time two_threads;
} times;

static void measure_files(const scan_spec *spec, uint64_t sum, times *t)
{
    static uint8_t buffer[WINDOW_BYTES];
    thread_pool *pool;
    if (thread_pool_open(THREADS - 1, NULL, &pool, NULL) != KSV_OK)
        fail("no thread");
    best_time start = clocks();
    count_ends_of_file(buffer);
    keep_least(&t->file_ends, start);
    start = clocks();
    uint64_t one = scan_file(spec, 1, NULL);
    keep_least(&t->one_thread, start);
    start = clocks();
    uint64_t two = scan_file(spec, THREADS, pool);
    keep_least(&t->two_threads, start);
    thread_pool_close(pool);
    if (one != sum || two != sum)
        fail("other keys from a file");
}

static void measure(const content_kind *kind, uint8_t *data, size_t size,
                    unsigned runs)
{
    size_t used = fill(kind, (char *)data, size);
    store(data, used);
    scan_spec *spec = make_spec(kind);
    record_reader *reader;
    if (record_reader_open(spec, false, NULL, &reader, NULL) != KSV_OK)
        fail("no reader");
    times t = {0};
    size_t records = 0;
    size_t ends = 0;
    for (unsigned run = 0; run < runs; run++) {
        best_time start = clocks();
        uint64_t sum = scan(reader, data, used, &records);
        keep_least(&t.memory, start);
        start = clocks();
        ends += count_ends(data, used);
        keep_least(&t.memory_ends, start);
        measure_files(spec, sum, &t);
    }
    double gb = (double)used * 1e-9;
    printf("%-25s %6.2f %6.1f %6.2f | %6.2f %6.2f %6.2f | %6.2f %6.2f\n",
           kind->name, gb / t.memory.processor,
           t.memory.processor / (double)records * 1e9,
           gb / t.memory_ends.processor, gb / t.one_thread.processor,
           gb / t.two_threads.processor, gb / t.file_ends.processor,
           t.one_thread.elapsed / t.file_ends.elapsed,
           t.two_threads.elapsed / t.file_ends.elapsed);
    if (ends == 0)
        fail("no lines");
    record_reader_close(reader);
    scan_spec_destroy(spec);
    remove(FILE_NAME);
}

int main(int argc, char **argv)
{
    size_t size = (size_t)(argc > 1 ? atoi(argv[1]) : 64) * 1000000;
    unsigned runs = argc > 2 ? (unsigned)atoi(argv[2]) : 5;
    const char *only = argc > 3 ? argv[3] : "";
    uint8_t *data = malloc(size + 1);
    if (data == NULL || size < 8000 || runs == 0)
        fail("arguments: MB, runs, first letters of a name");
    printf("%-25s %20s | %20s | %13s\n%-25s %6s %6s %6s | %6s %6s %6s | "
           "%6s %6s\n",
           "GB/s of processor time", "memory", "file", "elapsed/lines", "", "",
           "ns/rec", "lines", "1 thr", "2 thr", "lines", "1 thr", "2 thr");
    for (size_t i = 0; i < sizeof KINDS / sizeof KINDS[0]; i++) {
        if (strncmp(KINDS[i].name, only, strlen(only)) == 0)
            measure(&KINDS[i], data, size, runs);
    }
    free(data);
    return 0;
}
