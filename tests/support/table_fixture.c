/* SPDX-License-Identifier: MIT */
/* Files and models for the tests of tables. */
#include "support/table_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/coding.h"
#include "base/error.h"
#include "hash/hash.h"
#include "table/table_format.h"

static ksv_status byte_read_at(ksv_file *base, uint64_t offset, void *buffer,
                               size_t size_bytes, size_t *got_bytes,
                               ksv_error *error)
{
    table_bytes *file = (table_bytes *)base;
    if (atomic_fetch_add(&file->reads, 1) == file->failing_read)
        return error_set_os(error, 5, NULL, "cannot read");
    offset -= file->missing;
    size_t left = offset < file->size ? file->size - (size_t)offset : 0;
    *got_bytes = size_bytes < left ? size_bytes : left;
    if (*got_bytes > 0)
        memcpy(buffer, file->data + offset, *got_bytes);
    return KSV_OK;
}

static ksv_status byte_append(ksv_file *base, const void *data,
                              size_t size_bytes, ksv_error *error)
{
    table_bytes *file = (table_bytes *)base;
    if (file->appends++ == file->failing_append)
        return error_set_os(error, 28, NULL, "cannot write");
    if (file->size + size_bytes > file->capacity) {
        file->capacity = (file->size + size_bytes) * 2;
        file->data = realloc(file->data, file->capacity);
        if (file->data == NULL)
            exit(1);
    }
    memcpy(file->data + file->size, data, size_bytes);
    file->size += size_bytes;
    return KSV_OK;
}

static ksv_status byte_sync(ksv_file *base, ksv_error *error)
{
    (void)base;
    (void)error;
    return KSV_OK;
}

static ksv_status byte_info(ksv_file *base, ksv_file_info *info,
                            ksv_error *error)
{
    (void)error;
    *info = (ksv_file_info){.size_bytes = ((table_bytes *)base)->size};
    return KSV_OK;
}

static ksv_status byte_close(ksv_file *base, ksv_error *error)
{
    (void)base;
    (void)error;
    return KSV_OK;
}

static const ksv_file_ops byte_ops = {byte_read_at, byte_append, byte_sync,
                                      byte_info, byte_close};

void table_bytes_init(table_bytes *file)
{
    memset(file, 0, sizeof *file);
    file->base.ops = &byte_ops;
    file->failing_read = -1;
    file->failing_append = -1;
}

void table_bytes_release(table_bytes *file)
{
    free(file->data);
    file->data = NULL;
}

void byte_file_set(table_bytes *file, const void *data, size_t size)
{
    table_bytes_release(file);
    table_bytes_init(file);
    file->data = malloc(size > 0 ? size : 1);
    if (file->data == NULL)
        exit(1);
    if (size > 0)
        memcpy(file->data, data, size);
    file->size = file->capacity = size;
}

ksv_table_options table_options(unsigned hash_bits, unsigned payload_bits,
                                uint8_t id)
{
    ksv_table_options options = {.hash_bits = hash_bits,
                                 .payload_bits = payload_bits,
                                 .hasher = {.kind = KSV_HASH_XXH3}};
    for (size_t i = 0; i < sizeof options.id; i++) {
        options.id[i] = (uint8_t)(id + i);
        options.hasher.key[i] = (uint8_t)(id ^ (7 * i));
    }
    return options;
}

table_entry *table_entries_alloc(size_t count)
{
    table_entry *entries = calloc(count + 1, sizeof *entries);
    if (entries == NULL)
        exit(1);
    return entries;
}

static int compare_entries(const void *a, const void *b)
{
    const table_entry *x = a;
    const table_entry *y = b;
    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    return x->payload < y->payload ? -1 : x->payload > y->payload;
}

ksv_status table_write(table_bytes *file, const ksv_table_options *options,
                       const table_entry *entries, size_t count,
                       const ksv_allocator *allocator, ksv_table_info *info,
                       ksv_error *error)
{
    ksv_table_writer *writer;
    KSV_TRY(
        ksv_table_writer_open(&file->base, options, allocator, &writer, error));
    ksv_status status = KSV_OK;
    for (size_t i = 0; i < count && status == KSV_OK; i++)
        status = ksv_table_writer_add(writer, entries[i].hash,
                                      entries[i].payload, error);
    if (status == KSV_OK)
        status = ksv_table_writer_finish(writer, info, error);
    ksv_table_writer_close(writer);
    return status;
}

void table_fixture_init(table_fixture *fixture, ksv_table_options options,
                        table_entry *entries, size_t count)
{
    fixture->options = options;
    fixture->entries = entries;
    fixture->count = count;
    table_bytes_init(&fixture->file);
    uint64_t mask = (UINT64_C(1) << options.payload_bits) - 1;
    for (size_t i = 0; i < count; i++) {
        entries[i].hash = ksv_hash_truncate(entries[i].hash, options.hash_bits);
        entries[i].payload &= mask;
    }
    qsort(entries, count, sizeof *entries, compare_entries);
    ksv_error error;
    if (table_write(&fixture->file, &options, entries, count, NULL,
                    &fixture->info, &error) != KSV_OK)
        fail_msg("cannot write: %s", error.text);
}

void table_fixture_release(table_fixture *fixture)
{
    table_bytes_release(&fixture->file);
    free(fixture->entries);
}

void table_reseal(uint8_t *data, size_t size)
{
    if (size < TABLE_HEADER_BYTES + TABLE_FOOTER_BYTES)
        return;
    store_u32(data + TABLE_HEADER_BYTES - 4,
              hash_checksum32(data, TABLE_HEADER_BYTES - 4));
    size_t end = size - TABLE_FOOTER_BYTES;
    for (size_t at = TABLE_HEADER_BYTES; at + TABLE_PAGE_BYTES <= end;
         at += TABLE_PAGE_BYTES)
        store_u32(data + at,
                  hash_checksum32(data + at + 4, TABLE_PAGE_BYTES - 4));
    store_u32(data + end,
              hash_checksum32(data + end + 4, TABLE_FOOTER_BYTES - 4));
}

bool payload_list_visit(void *ctx, uint64_t payload)
{
    payload_list *list = ctx;
    if (list->visited >= list->expected_count ||
        list->expected[list->visited].payload != payload)
        list->wrong = true;
    list->visited++;
    return list->visited != list->stop_after;
}

static size_t first_at_least(const table_fixture *fixture, uint64_t hash)
{
    size_t low = 0;
    size_t high = fixture->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (fixture->entries[middle].hash < hash)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

payload_list payload_list_of(const table_fixture *fixture, uint64_t hash)
{
    hash = ksv_hash_truncate(hash, fixture->options.hash_bits);
    size_t first = first_at_least(fixture, hash);
    size_t end = first;
    while (end < fixture->count && fixture->entries[end].hash == hash)
        end++;
    return (payload_list){.expected = fixture->entries + first,
                          .expected_count = end - first};
}
