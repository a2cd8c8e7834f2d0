/* SPDX-License-Identifier: MIT */
/* Data files that grow, by any number of bytes at a time: an index that is
 * brought up to date is the same as one that is made anew. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <keysieve/keysieve.h>

#include "datafile/bgzf_marker.h"
#include "support/gzip_data.h"
#include "support/index_copy.h"
#include "support/organisations.h"
#include "support/pace.h"
#include "support/random.h"
#include "support/temp_dir.h"

enum { FILES = 2, CONTENT_BYTES = 40000, STEPS = PACE_STEP > 3 ? 7 : 14 };

typedef enum packing { PLAIN, GZIP, BGZF } packing;

typedef struct growth_case {
    const char *name;
    ksv_format format;
    const char *key; /* or NULL */
    const char *header;
    const char *record; /* with key, other number, filler */
    bool record_end_cr;
    uint64_t record_size;
    packing packed;
} growth_case;

static const growth_case CASES[] = {
    {"csv", KSV_FORMAT_CSV, "id", "id,v,w\n", "k%u,\"a\n\"\"%u\",%s\n", false,
     0, PLAIN},
    {"csv, CR LF", KSV_FORMAT_CSV, "id", "id,v,w\r\n", "k%u,%u,%s\r\n", false,
     0, PLAIN},
    {"csv without some keys", KSV_FORMAT_CSV, "v", "id,v,w\n", "k%u,%.0u,%s\n",
     false, 0, PLAIN},
    {"tsv", KSV_FORMAT_TSV, "id", "id\tv\tw\n", "k%u\t%u\t%s\n", false, 0,
     PLAIN},
    {"lines", KSV_FORMAT_LINES, NULL, "", "line %u %u\n%.1s\n", false, 0,
     PLAIN},
    {"lines, CR", KSV_FORMAT_LINES, NULL, "", "line %u %u%.1s\r", true, 0,
     PLAIN},
    {"jsonl", KSV_FORMAT_JSONL, "id", "", "{\"id\": %u, \"v\": [%u, \"%s\"]}\n",
     false, 0, PLAIN},
    {"fixed", KSV_FORMAT_FIXED, "bytes:1-4", "", "%04u%06u%.2s", false, 12,
     PLAIN},
    {"fasta", KSV_FORMAT_FASTA, "name", "", ">s%u x%u\nACGT\n%.0sTTT\n", false,
     0, PLAIN},
    {"fastq", KSV_FORMAT_FASTQ, "name", "", "@s%u x%u\nACGT\n+%.0s\n!!@>\n",
     false, 0, PLAIN},
    {"csv, gzip", KSV_FORMAT_CSV, "id", "id,v,w\n", "k%u,\"a\n\"\"%u\",%s\n",
     false, 0, GZIP},
    {"csv, BGZF", KSV_FORMAT_CSV, "id", "id,v,w\r\n", "k%u,%u,%s\r\n", false, 0,
     BGZF},
    {"jsonl, gzip", KSV_FORMAT_JSONL, "id", "",
     "{\"id\": %u, \"v\": [%u, \"%s\"]}\n", false, 0, GZIP},
    {"fixed, BGZF", KSV_FORMAT_FIXED, "bytes:1-4", "", "%04u%06u%.2s", false,
     12, BGZF},
    {"fastq, gzip", KSV_FORMAT_FASTQ, "name", "",
     "@s%u x%u\nACGT\n+%.0s\n!!@>\n", false, 0, GZIP},
    {"lines, BGZF", KSV_FORMAT_LINES, NULL, "", "line %u %u\n%.1s\n", false, 0,
     BGZF},
};

typedef struct growing {
    const growth_case *shape;
    temp_dir dir;
    char index[TEMP_DIR_PATH_BYTES];
    char fresh[TEMP_DIR_PATH_BYTES];
    char paths[FILES][TEMP_DIR_PATH_BYTES];
    char *contents[FILES];
    size_t sizes[FILES];                  /* of the contents */
    bool is_border[FILES][CONTENT_BYTES]; /* between records */
    size_t firsts[FILES];   /* a place before which all records are whole */
    size_t written[FILES];  /* of the contents, to the files */
    bool is_changed[FILES]; /* before that */
    bool has_marker[FILES]; /* a BGZF file ends with it */
    gzip_bytes packed[FILES];
    int extended; /* builds that did not read all */
    random_source random;
} growing;

static void make_content(growing *g, size_t number)
{
    static const char filler[] = "abcdefghijklmnopqrstuvwxyz";
    char *text = malloc(CONTENT_BYTES + 200);
    assert_non_null(text);
    size_t size = (size_t)sprintf(text, "%s", g->shape->header);
    while (size < CONTENT_BYTES) {
        if (size < CONTENT_BYTES / 4)
            g->firsts[number] = size;
        g->is_border[number][size] = true;
        unsigned key = (unsigned)random_below(&g->random, 700);
        unsigned other = (unsigned)random_below(&g->random, 3);
        const char *rest = filler + random_below(&g->random, sizeof filler - 3);
        size +=
            (size_t)sprintf(text + size, g->shape->record, key, other, rest);
    }
    g->contents[number] = text;
    g->sizes[number] = size;
}

/* Adds what is new as members or blocks; the marker may stay where it is. */
static void pack_more(growing *g, size_t number, size_t bytes)
{
    gzip_bytes *packed = &g->packed[number];
    const gzip_how how = gzip_how_random(&g->random);
    if (g->is_changed[number]) {
        packed->size = g->written[number] = 0;
        g->has_marker[number] = g->is_changed[number] = false;
    }
    if (g->has_marker[number] && random_below(&g->random, 2) == 0)
        packed->size -= BGZF_MARKER_BYTES;
    while (g->written[number] < bytes) {
        const char *from = g->contents[number] + g->written[number];
        size_t left = bytes - g->written[number];
        size_t some = 1 + random_below(&g->random, left);
        if (g->shape->packed == GZIP)
            gzip_member_add(packed, from, some, &how, NULL, 0);
        else
            gzip_bgzf_add(packed, from, some, 3000, &how);
        g->written[number] += some;
    }
    g->has_marker[number] =
        g->shape->packed == BGZF && random_below(&g->random, 3) != 0;
    if (g->has_marker[number])
        gzip_bgzf_marker_add(packed);
}

static void write_file(growing *g, size_t number, size_t bytes)
{
    const void *data = g->contents[number];
    size_t size_bytes = bytes;
    if (g->shape->packed != PLAIN) {
        pack_more(g, number, bytes);
        data = g->packed[number].data;
        size_bytes = g->packed[number].size;
    }
    FILE *file = fopen(g->paths[number], "r+b");
    if (file == NULL)
        file = fopen(g->paths[number], "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size_bytes, file), size_bytes);
    assert_int_equal(fflush(file), 0);
    assert_int_equal(ftruncate(fileno(file), (off_t)size_bytes), 0);
    assert_int_equal(fclose(file), 0);
    g->written[number] = bytes;
}

static ksv_status build(growing *g, const char *directory, bool by_samples,
                        bool no_merge)
{
    ksv_format_options format;
    ksv_format_options_init(&format);
    format.format = g->shape->format;
    format.keys = &g->shape->key;
    format.key_count = g->shape->key != NULL;
    format.record_end_cr = g->shape->record_end_cr;
    format.record_size = g->shape->record_size;
    ksv_build_options options;
    ksv_build_options_init(&options);
    options.format = &format;
    options.organisation = organisation_tried;
    options.compare_grown = !by_samples;
    options.no_merge = no_merge;
    const char *files[FILES];
    for (size_t i = 0; i < FILES; i++)
        files[i] = g->paths[i];
    ksv_build_report report;
    ksv_status status =
        ksv_build(directory, files, FILES, &options, &report, NULL);
    if (status == KSV_OK && by_samples && report.files_unchanged == 0 &&
        report.records < report.index_records)
        g->extended++;
    return status;
}

typedef struct answer_list {
    char *text;
    size_t size;
    size_t capacity;
} answer_list;

static bool add_answer(void *ctx, size_t key_number, const ksv_record *record)
{
    answer_list *list = ctx;
    if (record == NULL)
        return true;
    if (list->size + record->key_bytes + 200 > list->capacity) {
        list->capacity = 2 * list->capacity + record->key_bytes + 4096;
        list->text = realloc(list->text, list->capacity);
        assert_non_null(list->text);
    }
    const char *file = strrchr(record->file, '/');
    (void)key_number;
    list->size += (size_t)sprintf(
        list->text + list->size, "%.*s %s %llu %llu\n", (int)record->key_bytes,
        (const char *)record->key, file, (unsigned long long)record->offset,
        (unsigned long long)record->length);
    return true;
}

/* All records of all keys that could be there, and what is not. */
static void ask_everything(ksv_index *index, answer_list *list)
{
    static const char *const forms[] = {
        "k%u", "%u", "s%u", "%04u", "line %u 0", "line %u 1", "line %u 2"};
    for (size_t form = 0; form < sizeof forms / sizeof forms[0]; form++) {
        char texts[700][16];
        ksv_key keys[700];
        for (unsigned i = 0; i < 700; i++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
            keys[i].bytes = (size_t)sprintf(texts[i], forms[form], i);
#pragma GCC diagnostic pop
            keys[i].data = texts[i];
        }
        ksv_error error;
        ksv_status status = ksv_get(index, keys, 700, NULL, add_answer, list,
                                    NULL, NULL, &error);
        if (status != KSV_OK)
            fail_msg("%s: %s", error.path, error.text);
    }
}

static void take_facts(const char *directory, answer_list *list,
                       ksv_index_info *info)
{
    ksv_index *index;
    ksv_error error;
    *list = (answer_list){.capacity = 0};
    if (ksv_index_open(directory, NULL, &index, &error) != KSV_OK)
        fail_msg("%s: %s", error.path, error.text);
    ask_everything(index, list);
    assert_int_equal(ksv_index_keys(index, add_answer, list, NULL), KSV_OK);
    assert_int_equal(ksv_index_get_info(index, info, NULL), KSV_OK);
    ksv_index_close(index);
}

static void check_same(growing *g, int step)
{
    answer_list grown, fresh;
    ksv_index_info grown_info, fresh_info;
    char command[TEMP_DIR_PATH_BYTES + 16];
    snprintf(command, sizeof command, "rm -rf %s", g->fresh);
    assert_int_equal(system(command), 0);
    assert_int_equal(build(g, g->fresh, false, true), KSV_OK);
    take_facts(g->index, &grown, &grown_info);
    take_facts(g->fresh, &fresh, &fresh_info);
    if (grown.size != fresh.size ||
        memcmp(grown.text, fresh.text, grown.size) != 0)
        fail_msg("%s, step %d: other answers", g->shape->name, step);
    assert_true(grown.size > 0);
    assert_int_equal(grown_info.records, fresh_info.records);
    assert_int_equal(grown_info.records_without_key,
                     fresh_info.records_without_key);
    assert_int_equal(grown_info.distinct_keys, fresh_info.distinct_keys);
    free(grown.text);
    free(fresh.text);
    ksv_verify_options options;
    ksv_verify_options_init(&options);
    options.data = true;
    ksv_error error;
    if (ksv_verify(g->index, &options, NULL, &error) != KSV_OK)
        fail_msg("%s, step %d: %s: %s", g->shape->name, step, error.path,
                 error.text);
}

/* Another letter somewhere in what has been written: of a filler or a key, so
 * that it stays readable. True when there was one. */
static bool change_a_byte(growing *g, size_t number)
{
    size_t at = random_below(&g->random, g->written[number]);
    char *byte = &g->contents[number][at];
    if (*byte < '0' || *byte > '8' || g->shape->format == KSV_FORMAT_JSONL)
        return false;
    ++*byte;
    g->is_changed[number] = true;
    return true;
}

static void grow(growing *g, size_t number)
{
    size_t most = g->sizes[number] - g->written[number];
    if (random_below(&g->random, 3) != 0 && most > 300)
        most = 300;
    size_t more = random_below(&g->random, most + 1);
    if (g->shape->record_size > 0)
        more -= more % g->shape->record_size;
    size_t end = g->written[number] + more;
    bool at_border = random_below(&g->random, 3) != 0;
    while (at_border && end > g->written[number] && end < CONTENT_BYTES &&
           !g->is_border[number][end])
        end--;
    write_file(g, number, end);
}

static void run_case(const growth_case *shape)
{
    static growing g;
    memset(&g, 0, sizeof g);
    g.shape = shape;
    g.random = (random_source){4242};
    temp_dir_make(&g.dir);
    temp_dir_path(&g.dir, "index", g.index);
    temp_dir_path(&g.dir, "fresh", g.fresh);
    for (size_t i = 0; i < FILES; i++) {
        char name[16];
        sprintf(name, "%zu", i);
        temp_dir_path(&g.dir, name, g.paths[i]);
        make_content(&g, i);
        write_file(&g, i, g.firsts[i]);
    }
    assert_int_equal(build(&g, g.index, false, false), KSV_OK);
    int compared = 0;
    for (int step = 0; step < STEPS; step++) {
        bool by_samples = random_below(&g.random, 2) == 0;
        for (size_t i = 0; i < FILES; i++) {
            if (!by_samples && random_below(&g.random, 4) == 0)
                change_a_byte(&g, i);
            grow(&g, i);
        }
        /* Half a quoted field or value cannot be read. */
        if (build(&g, g.index, by_samples, random_below(&g.random, 2) == 0) !=
            KSV_OK)
            continue;
        check_same(&g, step);
        compared++;
    }
    assert_true(compared >= 3);
    assert_true(g.extended >= 1);
    for (size_t i = 0; i < FILES; i++)
        free(g.contents[i]);
    for (size_t i = 0; i < FILES; i++)
        gzip_bytes_release(&g.packed[i]);
    temp_dir_remove(&g.dir);
}

static void test_growth(void **state)
{
    (void)state;
    /* All of them take too long under the dearest sanitizer. */
    size_t step = PACE_STEP > 3 ? 5 : 1;
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i += step)
        run_case(&CASES[i]);
}

int main(void)
{
    index_copy_prefer_memory();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_growth),
    };
    int failures = 0;
    ORGANISATIONS_RUN(tests, failures);
    return failures;
}
