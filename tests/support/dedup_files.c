/* SPDX-License-Identifier: MIT */
/* Files of a state of dedup for tests: small ones with known content, and
 * readers that tell what is in any. */
#include "support/dedup_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dedup/run_writer.h"
#include "io/memory_file_system.h"
#include "support/random.h"

#define KEY_BYTES_MAX 10000

static void need(int holds)
{
    if (!holds)
        abort();
}

/* Entry `i` of the samples: short keys, and some of several pages. */
static offered_key sample_key(unsigned i, uint8_t *bytes)
{
    random_source r = {i / 3}; /* some hashes are equal */
    size_t size = i % 97 == 5 ? KEY_BYTES_MAX - i : 5 + i % 20;
    memset(bytes, 'k', size);
    bytes[0] = (uint8_t)i;
    bytes[1] = (uint8_t)(i >> 8);
    return (offered_key){.key = bytes,
                         .key_bytes = size,
                         .hash = random_next(&r),
                         .time_ms = 1000 + (int64_t)i};
}

/* The same for runs, which have a form for each kind of key. */
static offered_key sample_run_key(unsigned i, uint8_t *bytes)
{
    offered_key key = sample_key(i, bytes);
    char text[64];
    if (i % 4 == 1 && key.key_bytes < sizeof text) {
        snprintf(text, sizeof text, "%04x%032x", i, 0xabcdefu);
        memcpy(bytes, text, key.key_bytes);
    } else if (i % 8 == 3 && key.key_bytes < sizeof text) {
        snprintf(text, sizeof text, "%08x-0123-4567-89ab-cdef%08x", i, i);
        key.key_bytes = strlen(text);
        memcpy(bytes, text, key.key_bytes);
    }
    return key;
}

const ksv_allocator *dedup_sample_allocator(void)
{
    static ksv_allocator a;
    a = allocator_or_default(NULL);
    return &a;
}

ksv_hasher dedup_sample_hasher(void)
{
    ksv_hasher hasher = {.kind = KSV_HASH_SIPHASH};
    for (unsigned i = 0; i < 16; i++)
        hasher.key[i] = (uint8_t)i;
    return hasher;
}

journal_info dedup_sample_journal(void)
{
    journal_info info = {.content = JOURNAL_HAS_TIMES | JOURNAL_HAS_KEYS};
    for (unsigned i = 0; i < 16; i++)
        info.id[i] = (uint8_t)(100 + i);
    return info;
}

static int compare_hashes(const void *a, const void *b)
{
    uint8_t bytes[KEY_BYTES_MAX];
    unsigned i = *(const unsigned *)a;
    unsigned j = *(const unsigned *)b;
    uint64_t x = sample_key(i, bytes).hash;
    uint64_t y = sample_key(j, bytes).hash;
    return x != y ? (x < y ? -1 : 1) : (i < j ? -1 : i > j);
}

static void open_fs(ksv_file_system *fs)
{
    need(memory_file_system_open(NULL, fs, NULL) == KSV_OK);
    need(fs->make_directory(fs->ctx, "/d", NULL) == KSV_OK);
}

static uint8_t *take_file(ksv_file_system *fs, size_t *size)
{
    ksv_file *file;
    ksv_file_info info;
    need(fs->open_read(fs->ctx, "/d/f", &file, NULL) == KSV_OK);
    need(file->ops->info(file, &info, NULL) == KSV_OK);
    uint8_t *data = malloc((size_t)info.size_bytes + 1);
    need(data != NULL);
    need(file->ops->read_at(file, 0, data, (size_t)info.size_bytes, size,
                            NULL) == KSV_OK);
    need(file->ops->close(file, NULL) == KSV_OK);
    memory_file_system_close(fs);
    return data;
}

uint8_t *dedup_sample_run(size_t *size)
{
    ksv_file_system fs;
    run_writer *writer;
    key_run *run;
    unsigned order[DEDUP_SAMPLE_ENTRIES];
    open_fs(&fs);
    run_writer_options options = {.fs = &fs,
                                  .path = "/d/f",
                                  .hasher = dedup_sample_hasher(),
                                  .page_bytes = RUN_PAGE_BYTES_MIN,
                                  .base_time_ms = 900,
                                  .filter_blocks = 8,
                                  .filter_functions = 6,
                                  .level = 2};
    for (unsigned i = 0; i < DEDUP_SAMPLE_ENTRIES; i++)
        order[i] = i;
    qsort(order, DEDUP_SAMPLE_ENTRIES, sizeof order[0], compare_hashes);
    need(run_writer_open(&options, &writer, NULL) == KSV_OK);
    for (unsigned i = 0; i < DEDUP_SAMPLE_ENTRIES; i++) {
        uint8_t bytes[KEY_BYTES_MAX];
        offered_key k = sample_run_key(order[i], bytes);
        need(run_writer_add(writer, k.hash, k.time_ms, k.key, k.key_bytes,
                            NULL) == KSV_OK);
    }
    need(run_writer_finish(writer, true, &run, NULL) == KSV_OK);
    key_run_close(run);
    return take_file(&fs, size);
}

uint8_t *dedup_sample_journal_file(size_t *size)
{
    ksv_file_system fs;
    journal_writer *writer;
    journal_info info = dedup_sample_journal();
    open_fs(&fs);
    need(journal_writer_open(&fs, "/d/f", &info, NULL, &writer, NULL) ==
         KSV_OK);
    for (unsigned i = 0; i < DEDUP_SAMPLE_ENTRIES; i++) {
        uint8_t bytes[KEY_BYTES_MAX];
        offered_key k = sample_key(i, bytes);
        need(journal_writer_add(writer, &k, NULL) == KSV_OK);
        if (i % 50 == 49)
            need(journal_writer_commit(writer, NULL) == KSV_OK);
    }
    journal_writer_close(writer);
    return take_file(&fs, size);
}

void dedup_sample_state(state_record *record)
{
    state_record_init(record, dedup_sample_allocator());
    record->hasher = dedup_sample_hasher();
    record->approximate = true;
    record->window_ms = 86400000;
    record->generation_slices = 8;
    record->expected_keys = 12345;
    record->fpr = 0.001;
    record->has_time = true;
    record->stream_ms = -77;
    record->next_number = 99;
}

static void write_file(const ksv_file_system *fs, const uint8_t *data,
                       size_t size)
{
    ksv_file *file;
    need(fs->create(fs->ctx, "/d/f", &file, NULL) == KSV_OK);
    need(size == 0 || file->ops->append(file, data, size, NULL) == KSV_OK);
    need(file->ops->close(file, NULL) == KSV_OK);
}

static ksv_status walk(const key_run *run, uint64_t *entries, uint64_t *sum,
                       ksv_error *error)
{
    run_cursor *cursor;
    ksv_status status = run_cursor_open(run, 8192, &cursor, error);
    *entries = 0;
    *sum = 0;
    while (status == KSV_OK) {
        const run_entry *entry;
        status = run_cursor_next(cursor, &entry, error);
        if (status != KSV_OK || entry == NULL)
            break;
        random_source r = {*sum ^ entry->hash ^ (uint64_t)entry->time_ms};
        r.state ^= entry->key.key_bytes << 2 | (uint64_t)entry->key.form;
        for (uint64_t i = 0; i < entry->key.stored_bytes; i++)
            r.state =
                (r.state ^ entry->key.stored[i]) * UINT64_C(0x100000001b3);
        *sum = random_next(&r);
        ++*entries;
    }
    run_cursor_close(cursor);
    return status;
}

/* Asks for the sample's keys, from the page where each may begin. */
static ksv_status ask(const key_run *run, unsigned *found, ksv_error *error)
{
    uint8_t *page = malloc(run->info.page_bytes);
    uint8_t *more = malloc(run->info.page_bytes);
    run_page_reader reader = {.run = run, .page = more};
    ksv_status status = KSV_OK;
    need(page != NULL && more != NULL);
    *found = 0;
    for (unsigned i = 0; i < DEDUP_SAMPLE_ENTRIES && status == KSV_OK; i++) {
        uint8_t bytes[KEY_BYTES_MAX];
        run_page_head head;
        size_t got;
        offered_key k = sample_run_key(i, bytes);
        run_query query = {.hash = k.hash,
                           .key = k.key,
                           .key_bytes = k.key_bytes,
                           .after_ms = INT64_MIN};
        uint64_t at = key_run_first_page(run, k.hash);
        if (at == run->info.pages ||
            !memory_filter_may_contain(&run->filter, run_hash(k.hash)))
            continue;
        status =
            run->file->ops->read_at(run->file, run_page_offset(&run->info, at),
                                    page, run->info.page_bytes, &got, error);
        if (status == KSV_OK && got == run->info.page_bytes)
            status = run_page_check(&run->info, at, page, &head, error);
        if (status == KSV_OK)
            status = key_run_search(&reader, &head, page, &query, error);
        *found += query.found && query.time_ms == k.time_ms;
    }
    free(page);
    free(more);
    return status;
}

ksv_status dedup_read_run(const uint8_t *data, size_t size,
                          const ksv_hasher *hasher, uint64_t *entries,
                          uint64_t *sum, unsigned *found, ksv_error *error)
{
    ksv_file_system fs;
    key_run *run;
    open_fs(&fs);
    write_file(&fs, data, size);
    ksv_status status = key_run_open(&fs, "/d/f", hasher, NULL, &run, error);
    if (status == KSV_OK)
        status = walk(run, entries, sum, error);
    if (status == KSV_OK)
        status = ask(run, found, error);
    key_run_close(run);
    memory_file_system_close(&fs);
    return status;
}

typedef struct journal_look {
    uint64_t entries;
    bool is_sample;
} journal_look;

static ksv_status look_at_key(void *ctx, const offered_key *key,
                              ksv_error *error)
{
    journal_look *look = ctx;
    uint8_t bytes[KEY_BYTES_MAX];
    (void)error;
    offered_key k =
        sample_key((unsigned)(look->entries % DEDUP_SAMPLE_ENTRIES), bytes);
    look->is_sample = look->is_sample && look->entries < DEDUP_SAMPLE_ENTRIES &&
                      key->hash == k.hash && key->time_ms == k.time_ms &&
                      key->key_bytes == k.key_bytes &&
                      memcmp(key->key, k.key, k.key_bytes) == 0;
    look->entries++;
    return KSV_OK;
}

ksv_status dedup_read_journal(const uint8_t *data, size_t size,
                              const journal_info *info,
                              uint64_t committed_bytes, uint64_t *entries,
                              bool *is_sample, ksv_error *error)
{
    ksv_file_system fs;
    journal_look look = {0, true};
    open_fs(&fs);
    write_file(&fs, data, size);
    ksv_status status = journal_read(&fs, "/d/f", info, committed_bytes, NULL,
                                     look_at_key, &look, error);
    *entries = look.entries;
    *is_sample = look.is_sample;
    memory_file_system_close(&fs);
    return status;
}
