/* SPDX-License-Identifier: MIT */
/* How fast contents are cut into records: GB/s by format, next to counting line
 * ends. Arguments: MB of content (64), runs (5), first letters of a name. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <keysieve/hash.h>

#include "scan/record_reader.h"

#define WINDOW_BYTES ((size_t)1 << 18)
#define BATCH_RECORDS 512

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

static void measure(const content_kind *kind, uint8_t *data, size_t size,
                    unsigned runs)
{
    size_t used = fill(kind, (char *)data, size);
    scan_spec *spec = make_spec(kind);
    record_reader *reader;
    if (record_reader_open(spec, false, NULL, &reader, NULL) != KSV_OK)
        fail("no reader");
    double best = 1e9, floor = 1e9;
    size_t records = 0, ends = 0;
    uint64_t sum = 0;
    for (unsigned run = 0; run < runs; run++) {
        double start = now_s(CLOCK_PROCESS_CPUTIME_ID);
        sum = scan(reader, data, used, &records);
        double middle = now_s(CLOCK_PROCESS_CPUTIME_ID);
        ends += count_ends(data, used);
        double end = now_s(CLOCK_PROCESS_CPUTIME_ID);
        best = middle - start < best ? middle - start : best;
        floor = end - middle < floor ? end - middle : floor;
    }
    printf("%-26s %6.2f GB/s %7.1f ns a record  (line ends: %6.2f GB/s)  "
           "%zu %zu %016" PRIx64 "\n",
           kind->name, (double)used / best * 1e-9, best / (double)records * 1e9,
           (double)used / floor * 1e-9, records, ends / runs, sum);
    record_reader_close(reader);
    scan_spec_destroy(spec);
}

int main(int argc, char **argv)
{
    size_t size = (size_t)(argc > 1 ? atoi(argv[1]) : 64) * 1000000;
    unsigned runs = argc > 2 ? (unsigned)atoi(argv[2]) : 5;
    const char *only = argc > 3 ? argv[3] : "";
    uint8_t *data = malloc(size + 1);
    if (data == NULL || size < 8000 || runs == 0)
        fail("arguments: MB, runs, first letters of a name");
    for (size_t i = 0; i < sizeof KINDS / sizeof KINDS[0]; i++) {
        if (strncmp(KINDS[i].name, only, strlen(only)) == 0)
            measure(&KINDS[i], data, size, runs);
    }
    free(data);
    return 0;
}
