/* SPDX-License-Identifier: MIT */
/* Hands the records of a reader to the one who asked for a scan. */
#include "scan/scan_batch.h"

#include "base/error.h"
#include "base/memory.h"

enum { BATCH_RECORDS = 512 };

ksv_status scan_batch_init(scan_batch *batch, const file_scan *scan,
                           unsigned worker, ksv_error *error)
{
    *batch = (scan_batch){.scan = scan, .worker = worker};
    batch->records =
        memory_alloc(scan->allocator, BATCH_RECORDS * sizeof *batch->records);
    return batch->records != NULL ? KSV_OK : error_set_memory(error);
}

void scan_batch_release(scan_batch *batch)
{
    if (batch->scan != NULL)
        memory_free(batch->scan->allocator, batch->records,
                    BATCH_RECORDS * sizeof *batch->records);
}

ksv_status scan_batch_give(scan_batch *batch, record_reader *reader,
                           uint64_t chunk, ksv_error *error)
{
    const file_scan *scan = batch->scan;
    for (;;) {
        size_t count;
        KSV_TRY(record_reader_next(reader, batch->records, BATCH_RECORDS,
                                   &count, error));
        if (count == 0)
            return KSV_OK;
        if (scan->chunk_records != NULL)
            KSV_TRY(scan->chunk_records(scan->ctx, batch->worker, chunk,
                                        batch->records, count, error));
        else
            KSV_TRY(scan->records(scan->ctx, batch->records, count, error));
    }
}
