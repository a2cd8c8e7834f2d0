/* SPDX-License-Identifier: MIT */
/* Pieces of the content of a data file that is known -> its records from a
 * place on, and the content hash of it all. */
#include "build/record_feed.h"

#include "base/error.h"

#define BATCH_RECORDS 256

ksv_status record_feed_open(record_feed *feed, const scan_spec *spec,
                            const catalog_file *before, ksv_error *error)
{
    KSV_TRY(
        record_reader_open(spec, false, feed->allocator, &feed->reader, error));
    ksv_status status =
        record_reader_begin_at(feed->reader, before->layout,
                               before->layout_bytes, feed->offset, error);
    if (status != KSV_OK)
        record_feed_close(feed);
    return status;
}

void record_feed_close(record_feed *feed)
{
    record_reader_close(feed->reader);
    feed->reader = NULL;
}

static ksv_status give_records(record_feed *feed, ksv_error *error)
{
    scan_record records[BATCH_RECORDS];
    for (;;) {
        size_t count;
        KSV_TRY(record_reader_next(feed->reader, records, BATCH_RECORDS, &count,
                                   error));
        if (count == 0)
            return KSV_OK;
        KSV_TRY(feed->take(feed->ctx, records, count, error));
    }
}

/* Adds what lies from `from` to `to` in a piece that begins at `offset`. */
static void hash_part(content_hash *hash, uint64_t from, uint64_t to,
                      uint64_t offset, const uint8_t *data, size_t size_bytes)
{
    uint64_t end = offset + size_bytes;
    uint64_t first = from > offset ? from : offset;
    uint64_t last = to < end ? to : end;
    if (hash != NULL && first < last)
        content_hash_add(hash, data + (first - offset), (size_t)(last - first));
}

ksv_status record_feed_piece(record_feed *feed, uint64_t offset,
                             const uint8_t *data, size_t size_bytes,
                             bool is_last, ksv_error *error)
{
    uint64_t end = offset + size_bytes;
    hash_part(feed->hash, feed->hash_offset, UINT64_MAX, offset, data,
              size_bytes);
    hash_part(feed->old, feed->hash_offset, feed->old_end, offset, data,
              size_bytes);
    if (end < feed->offset || (end == feed->offset && !is_last))
        return KSV_OK;
    size_t skip = offset < feed->offset ? (size_t)(feed->offset - offset) : 0;
    record_reader_feed(feed->reader, data + skip, size_bytes - skip, is_last);
    return give_records(feed, error);
}
