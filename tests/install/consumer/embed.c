/* SPDX-License-Identifier: MIT */
/* A storage engine that keeps a filter and a table in memory of its own, with
 * its own allocator: no file of ours is touched. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <keysieve/filter.h>
#include <keysieve/hash.h>
#include <keysieve/table.h>

typedef struct blob {
    ksv_file base;
    unsigned char *bytes;
    size_t size;
    size_t capacity;
} blob;

static ksv_status blob_read_at(ksv_file *file, uint64_t offset, void *buffer,
                               size_t size_bytes, size_t *got_bytes,
                               ksv_error *error)
{
    blob *b = (blob *)file;
    (void)error;
    *got_bytes = 0;
    if (offset >= b->size)
        return KSV_OK;
    size_t left = b->size - (size_t)offset;
    *got_bytes = size_bytes < left ? size_bytes : left;
    memcpy(buffer, b->bytes + offset, *got_bytes);
    return KSV_OK;
}

static ksv_status blob_append(ksv_file *file, const void *data,
                              size_t size_bytes, ksv_error *error)
{
    blob *b = (blob *)file;
    (void)error;
    if (b->size + size_bytes > b->capacity) {
        b->capacity = 2 * b->capacity + size_bytes;
        b->bytes = realloc(b->bytes, b->capacity);
        if (b->bytes == NULL)
            return KSV_ERROR_MEMORY;
    }
    memcpy(b->bytes + b->size, data, size_bytes);
    b->size += size_bytes;
    return KSV_OK;
}

static ksv_status blob_sync(ksv_file *file, ksv_error *error)
{
    (void)file;
    (void)error;
    return KSV_OK;
}

static ksv_status blob_info(ksv_file *file, ksv_file_info *info,
                            ksv_error *error)
{
    (void)error;
    memset(info, 0, sizeof *info);
    info->size_bytes = ((blob *)file)->size;
    return KSV_OK;
}

static ksv_status blob_close(ksv_file *file, ksv_error *error)
{
    (void)error;
    free(((blob *)file)->bytes);
    return KSV_OK;
}

static const ksv_file_ops BLOB_OPS = {.read_at = blob_read_at,
                                      .append = blob_append,
                                      .sync = blob_sync,
                                      .info = blob_info,
                                      .close = blob_close};

static size_t live_blocks;

static void *count_alloc(void *ctx, size_t size_bytes)
{
    (void)ctx;
    live_blocks++;
    return malloc(size_bytes);
}

static void *count_realloc(void *ctx, void *memory, size_t old_bytes,
                           size_t new_bytes)
{
    (void)ctx;
    (void)old_bytes;
    return realloc(memory, new_bytes);
}

static void count_free(void *ctx, void *memory, size_t size_bytes)
{
    (void)ctx;
    (void)size_bytes;
    live_blocks--;
    free(memory);
}

static const ksv_allocator COUNTING = {NULL, count_alloc, count_realloc,
                                       count_free};

enum { KEYS = 20000, HASH_BITS = 40 };

typedef struct entry {
    uint64_t hash;
    uint64_t payload;
} entry;

static int by_hash(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    return (x->payload > y->payload) - (x->payload < y->payload);
}

static const ksv_hasher HASHER = {.kind = KSV_HASH_XXH3, .key = {1, 2, 3}};

static uint64_t hash_of(int key)
{
    char text[32];
    int length = snprintf(text, sizeof text, "key %d", key);
    return ksv_hash_truncate(ksv_hash(&HASHER, text, (size_t)length),
                             HASH_BITS);
}

static int write_both(blob *filter_blob, blob *table_blob, ksv_error *error)
{
    static entry entries[KEYS];
    for (int i = 0; i < KEYS; i++)
        entries[i] = (entry){hash_of(i), (uint64_t)i};
    qsort(entries, KEYS, sizeof entries[0], by_hash);
    ksv_filter_options fo = {.hash_bits = HASH_BITS, .hasher = HASHER};
    ksv_table_options to = {
        .hash_bits = HASH_BITS, .payload_bits = 20, .hasher = HASHER};
    ksv_filter_writer *filter;
    ksv_table_writer *table;
    if (ksv_filter_make_plan(KEYS, 0.01, HASH_BITS, &fo.plan, error) ||
        ksv_filter_writer_open(&filter_blob->base, &fo, &COUNTING, &filter,
                               error) ||
        ksv_table_writer_open(&table_blob->base, &to, &COUNTING, &table, error))
        return 1;
    for (int i = 0; i < KEYS; i++)
        if (ksv_filter_writer_add(filter, entries[i].hash, error) ||
            ksv_table_writer_add(table, entries[i].hash, entries[i].payload,
                                 error))
            return 1;
    if (ksv_filter_writer_finish(filter, NULL, error) ||
        ksv_table_writer_finish(table, NULL, error))
        return 1;
    ksv_filter_writer_close(filter);
    ksv_table_writer_close(table);
    return 0;
}

static bool see(void *ctx, uint64_t payload)
{
    *(uint64_t *)ctx = payload;
    return true;
}

static int read_both(blob *filter_blob, blob *table_blob, ksv_error *error)
{
    ksv_filter *filter;
    ksv_table *table;
    if (ksv_filter_open(&filter_blob->base, &COUNTING, &filter, error) ||
        ksv_table_open(&table_blob->base, &COUNTING, &table, error))
        return 1;
    int false_positives = 0;
    for (int i = 0; i < 2 * KEYS; i++) {
        bool maybe;
        uint64_t payload = UINT64_MAX;
        if (ksv_filter_may_contain(filter, hash_of(i), &maybe, error) ||
            ksv_table_find(table, hash_of(i), see, &payload, NULL, error))
            return 1;
        if (i < KEYS && (!maybe || payload == UINT64_MAX)) {
            fprintf(stderr, "key %d is lost\n", i);
            return 1;
        }
        false_positives += i >= KEYS && maybe;
    }
    ksv_filter_close(filter);
    ksv_table_close(table);
    printf("%d false positives among %d absent keys\n", false_positives, KEYS);
    return false_positives > KEYS / 50;
}

int main(void)
{
    blob filter = {.base = {&BLOB_OPS}}, table = {.base = {&BLOB_OPS}};
    ksv_error error = {0};
    int failed = write_both(&filter, &table, &error) ||
                 read_both(&filter, &table, &error);
    if (failed)
        fprintf(stderr, "%s\n", error.text);
    blob_close(&filter.base, NULL);
    blob_close(&table.base, NULL);
    return failed || live_blocks != 0;
}
