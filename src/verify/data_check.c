/* SPDX-License-Identifier: MIT */
/* Compares the table of a data file with what the file holds. */
#include "verify/data_check.h"

#include <string.h>

#include "base/error.h"
#include "scan/file_scan.h"
#include "sort/entry_sorter.h"

typedef struct data_walk {
    const data_check *check;
    entry_sorter *sorter;
    entry_adder *adder;
    uint64_t records;
    uint64_t records_without_key;
    uint64_t bad_records;
} data_walk;

static ksv_status walk_records(void *ctx, const scan_record *records,
                               size_t count, ksv_error *error)
{
    data_walk *walk = ctx;
    for (size_t i = 0; i < count; i++) {
        const scan_record *r = &records[i];
        walk->bad_records += r->kind == SCAN_RECORD_BAD;
        walk->records += r->kind != SCAN_RECORD_BAD;
        walk->records_without_key += r->kind == SCAN_RECORD_WITHOUT_KEY;
        if (r->kind != SCAN_RECORD_KEYED)
            continue;
        const catalog_parameters *p = walk->check->place->parameters;
        uint64_t hash = ksv_hash(&p->hasher, r->key, r->key_bytes);
        KSV_TRY(entry_adder_add(walk->adder, hash, r->offset, error));
    }
    return KSV_OK;
}

static ksv_status differs(const data_check *check, uint64_t offset,
                          const char *text, ksv_error *error)
{
    error_set_at(error, KSV_ERROR_STALE, check->file->given_path, offset,
                 "the index does not fit the data: %s", text);
    error_add_remedy(error, KSV_REMEDY_UPDATE);
    return KSV_ERROR_STALE;
}

/* Compares `count` entries with those that come next in the table. */
static ksv_status compare_some(const data_check *check,
                               const hash_entry *entries, size_t count,
                               ksv_table_iterator *iterator, ksv_error *error)
{
    unsigned bits = check->place->parameters->hash_bits;
    for (size_t i = 0; i < count; i++) {
        uint64_t hash, payload;
        bool end;
        KSV_TRY(
            ksv_table_iterator_next(iterator, &hash, &payload, &end, error));
        if (end)
            return differs(check, entries[i].payload,
                           "a record is not in the table", error);
        if (hash != ksv_hash_truncate(entries[i].hash, bits) ||
            payload != entries[i].payload)
            return differs(check, payload,
                           "the table has a record that is not there", error);
    }
    return KSV_OK;
}

/* Both are in order: the first pair that differs shows what is missing. */
static ksv_status compare_entries(const data_check *check, entry_sorter *sorter,
                                  ksv_table_iterator *iterator,
                                  ksv_error *error)
{
    const hash_entry *entries;
    size_t count;
    do {
        KSV_TRY(entry_sorter_next(sorter, &entries, &count, error));
        KSV_TRY(compare_some(check, entries, count, iterator, error));
    } while (count > 0);
    uint64_t hash, payload;
    bool end;
    KSV_TRY(ksv_table_iterator_next(iterator, &hash, &payload, &end, error));
    if (!end)
        return differs(check, payload,
                       "the table has a record that is not there", error);
    return KSV_OK;
}

static ksv_status compare_table(const data_check *check, entry_sorter *sorter,
                                ksv_error *error)
{
    if (check->segment == NULL)
        return entry_sorter_count(sorter) == 0
                   ? KSV_OK
                   : differs(check, KSV_NO_OFFSET, "it has no table", error);
    KSV_TRY(entry_sorter_finish(sorter, check->place->parameters->hash_bits,
                                NULL, 0, error));
    segment_table table;
    KSV_TRY(segment_open_table(check->place, check->segment, &table, error));
    ksv_table_iterator *iterator = NULL;
    ksv_status status = ksv_table_iterator_open(table.table, &iterator, error);
    if (status == KSV_OK)
        status = compare_entries(check, sorter, iterator, error);
    ksv_table_iterator_close(iterator);
    segment_close_table(&table);
    if (status == KSV_ERROR_CORRUPT)
        segment_error(check->place, check->segment, CATALOG_TABLE_ENDING,
                      error);
    return status;
}

static ksv_status compare_facts(const data_check *check, const data_walk *walk,
                                const file_scan_result *scanned,
                                ksv_error *error)
{
    const catalog_file *file = check->file;
    if (walk->records != file->records ||
        walk->records_without_key != file->records_without_key ||
        walk->bad_records != file->bad_records)
        return differs(check, KSV_NO_OFFSET, "another number of records",
                       error);
    if (scanned->content_bytes != file->content_bytes ||
        memcmp(scanned->content_hash, file->content_hash,
               sizeof file->content_hash) != 0)
        return differs(check, KSV_NO_OFFSET, "other content", error);
    if (scanned->layout.size != file->layout_bytes ||
        memcmp(scanned->layout.data, file->layout, file->layout_bytes) != 0)
        return differs(check, KSV_NO_OFFSET, "another header", error);
    return KSV_OK;
}

ksv_status data_check_run(const data_check *check, uint64_t *records,
                          ksv_error *error)
{
    data_walk walk = {.check = check};
    /* Nothing may be written here: entries stay in memory. */
    entry_sorter_options options = {
        .allocator = check->place->allocator,
        .expected_entries =
            check->segment != NULL ? check->segment->entries : 1};
    KSV_TRY(entry_sorter_open(&options, &walk.sorter, error));
    walk.adder = entry_sorter_adder(walk.sorter, 0);
    file_scan scan = {.fs = check->place->fs,
                      .path = check->path,
                      .given_path = check->file->given_path,
                      .spec = check->spec,
                      .skip_bad_records = check->file->bad_records > 0,
                      .ignore_trailing_garbage = true,
                      .allocator = check->place->allocator,
                      .records = walk_records,
                      .ctx = &walk};
    file_scan_result scanned;
    ksv_status status = file_scan_run(&scan, &scanned, error);
    if (status == KSV_OK)
        status = compare_facts(check, &walk, &scanned, error);
    if (status == KSV_OK)
        status = compare_table(check, walk.sorter, error);
    buffer_release(&scanned.layout);
    entry_sorter_close(walk.sorter);
    *records += walk.records;
    return status;
}
