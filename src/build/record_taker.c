/* SPDX-License-Identifier: MIT */
/* What becomes of the records of a data file: entries, counts and errors. */
#include "build/record_taker.h"

#include "base/error.h"

void record_counts_init(record_counts *counts)
{
    *counts = (record_counts){.first_without_key = KSV_NO_OFFSET,
                              .first_bad = KSV_NO_OFFSET,
                              .last_offset = KSV_NO_OFFSET};
}

static void keep_least(uint64_t *least, uint64_t offset)
{
    if (offset < *least)
        *least = offset;
}

void record_counts_add(record_counts *sum, const record_counts *more)
{
    sum->records += more->records;
    sum->records_without_key += more->records_without_key;
    sum->bad_records += more->bad_records;
    if (more->longest_record_bytes > sum->longest_record_bytes)
        sum->longest_record_bytes = more->longest_record_bytes;
    keep_least(&sum->first_without_key, more->first_without_key);
    keep_least(&sum->first_bad, more->first_bad);
    if (sum->last_offset == KSV_NO_OFFSET ||
        (more->last_offset != KSV_NO_OFFSET &&
         more->last_offset > sum->last_offset))
        sum->last_offset = more->last_offset;
}

/* Keys are hashed and entries put in their places by turns: mixed, each would
 * wait for the other's memory. */
#define TAKEN_AT_ONCE 256

static ksv_status add_batch(record_taker *taker, const collector_batch *batch,
                            ksv_error *error)
{
    ksv_status status =
        segment_collector_add(taker->collector, taker->adder, batch, error);
    if (status != KSV_OK)
        taker->adding_failed = true;
    return status;
}

static ksv_status take_other(record_taker *taker, const scan_record *record,
                             ksv_error *error)
{
    record_counts *counts = &taker->counts;
    if (record->kind == SCAN_RECORD_BAD) {
        counts->bad_records++;
        keep_least(&counts->first_bad, record->offset);
        return KSV_OK;
    }
    counts->records++;
    counts->records_without_key++;
    keep_least(&counts->first_without_key, record->offset);
    if (taker->strict)
        return error_set_at(error, KSV_ERROR_DATA, taker->given_path,
                            record->offset, "record has no key");
    return KSV_OK;
}

static ksv_status take_some(record_taker *taker, const scan_record *records,
                            size_t count, ksv_error *error)
{
    hash_entry entries[TAKEN_AT_ONCE];
    size_t keyed = 0;
    uint64_t longest = taker->counts.longest_record_bytes;
    for (size_t i = 0; i < count; i++) {
        const scan_record *record = &records[i];
        if (record->kind != SCAN_RECORD_KEYED) {
            KSV_TRY(take_other(taker, record, error));
            continue;
        }
        if (record->length > longest)
            longest = record->length;
        entries[keyed++] = (hash_entry){
            ksv_hash(taker->hasher, record->key, record->key_bytes),
            record->offset};
    }
    taker->counts.records += keyed;
    taker->counts.longest_record_bytes = longest;
    collector_batch batch = {entries, keyed, records, count};
    return add_batch(taker, &batch, error);
}

ksv_status record_taker_take(record_taker *taker, const scan_record *records,
                             size_t count, ksv_error *error)
{
    for (size_t done = 0; done < count;) {
        size_t some =
            count - done < TAKEN_AT_ONCE ? count - done : TAKEN_AT_ONCE;
        KSV_TRY(take_some(taker, records + done, some, error));
        done += some;
    }
    if (count > 0)
        taker->counts.last_offset = records[count - 1].offset;
    return KSV_OK;
}
