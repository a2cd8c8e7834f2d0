/* SPDX-License-Identifier: MIT */
/* Writing access points to a sidecar (`.ksz`) as they come. */
#include "datafile/points_writer.h"

#include <string.h>

#include "base/coding.h"
#include "base/error.h"
#include "hash/hash.h"

struct points_writer {
    ksv_allocator allocator;
    ksv_file *file;
    uint8_t id[POINTS_ID_BYTES];
    uint64_t spacing_bytes;
    uint64_t offset; /* in the file */
    uint64_t points;
    uint64_t content_bytes;
    uint64_t members;
    bool complete;
    size_t in_page;
    uint8_t page[POINTS_PAGE_BYTES];
    byte_buffer directory;
};

static ksv_status append(points_writer *w, const void *data, size_t size_bytes,
                         ksv_error *error)
{
    if (size_bytes == 0)
        return KSV_OK;
    KSV_TRY(w->file->ops->append(w->file, data, size_bytes, error));
    w->offset += size_bytes;
    return KSV_OK;
}

static ksv_status write_header(points_writer *w, datafile_kind kind,
                               ksv_error *error)
{
    uint8_t header[POINTS_HEADER_BYTES] = {0};
    memcpy(header, POINTS_MAGIC, POINTS_MAGIC_BYTES);
    store_u16(header + POINTS_HEADER_VERSION, POINTS_VERSION);
    store_u16(header + POINTS_HEADER_KIND, (uint16_t)kind);
    memcpy(header + POINTS_HEADER_ID, w->id, POINTS_ID_BYTES);
    store_u64(header + POINTS_HEADER_SPACING, w->spacing_bytes);
    store_u32(header + POINTS_HEADER_CHECKSUM,
              hash_checksum32(header, POINTS_HEADER_CHECKSUM));
    return append(w, header, sizeof header, error);
}

ksv_status points_writer_open(ksv_file *file, datafile_kind kind,
                              const uint8_t id[POINTS_ID_BYTES],
                              uint64_t spacing_bytes,
                              const ksv_allocator *allocator,
                              points_writer **out, ksv_error *error)
{
    *out = NULL;
    ksv_allocator a = allocator_or_default(allocator);
    points_writer *w = memory_zalloc(&a, sizeof *w);
    if (w == NULL)
        return error_set_memory(error);
    w->allocator = a;
    w->file = file;
    memcpy(w->id, id, POINTS_ID_BYTES);
    w->spacing_bytes = spacing_bytes;
    buffer_init(&w->directory, &w->allocator);
    ksv_status status = write_header(w, kind, error);
    if (status != KSV_OK) {
        points_writer_close(w);
        return status;
    }
    *out = w;
    return KSV_OK;
}

uint64_t points_writer_spacing(const points_writer *writer)
{
    return writer->spacing_bytes;
}

static ksv_status flush_page(points_writer *w, ksv_error *error)
{
    if (w->in_page == 0)
        return KSV_OK;
    const uint64_t number = (w->points - 1) / POINTS_PER_PAGE;
    const size_t size = points_page_bytes(w->in_page);
    store_u32(w->page + POINTS_PAGE_COUNT, (uint32_t)w->in_page);
    store_u64(w->page + POINTS_PAGE_NUMBER, number);
    memcpy(w->page + POINTS_PAGE_ID, w->id, POINTS_ID_BYTES);
    store_u32(
        w->page + POINTS_PAGE_CHECKSUM,
        hash_checksum32(w->page + POINTS_PAGE_COUNT, size - POINTS_PAGE_COUNT));
    KSV_TRY(buffer_put_u64(&w->directory,
                           load_u64(w->page + POINTS_PAGE_ENTRIES), error));
    KSV_TRY(buffer_put_u64(&w->directory, w->offset, error));
    KSV_TRY(append(w, w->page, size, error));
    memset(w->page, 0, sizeof w->page);
    w->in_page = 0;
    return KSV_OK;
}

ksv_status points_writer_add(points_writer *writer, points_entry *entry,
                             const uint8_t *blob, ksv_error *error)
{
    points_writer *w = writer;
    if (w->in_page == POINTS_PER_PAGE)
        KSV_TRY(flush_page(w, error));
    const size_t blob_bytes = (size_t)points_entry_blob_bytes(entry);
    entry->blob_offset = w->offset;
    entry->blob_checksum =
        blob_bytes != 0 ? hash_checksum32(blob, blob_bytes) : 0;
    KSV_TRY(append(w, blob, blob_bytes, error));
    points_entry_encode(entry, w->page + POINTS_PAGE_ENTRIES +
                                   w->in_page * POINTS_ENTRY_BYTES);
    w->in_page++;
    w->points++;
    return KSV_OK;
}

void points_writer_set_totals(points_writer *writer, uint64_t content_bytes,
                              uint64_t members)
{
    writer->content_bytes = content_bytes;
    writer->members = members;
    writer->complete = true;
}

ksv_status points_writer_finish(points_writer *writer, uint64_t data_bytes,
                                const uint8_t fingerprint[16], ksv_error *error)
{
    points_writer *w = writer;
    if (!w->complete)
        return error_set(error, KSV_ERROR_ARGUMENT, NULL,
                         "access points of a data file that was not read to "
                         "its end");
    KSV_TRY(flush_page(w, error));
    uint8_t footer[POINTS_FOOTER_BYTES] = {0};
    memcpy(footer, POINTS_END_MAGIC, POINTS_MAGIC_BYTES);
    store_u64(footer + POINTS_FOOTER_CONTENT_BYTES, w->content_bytes);
    store_u64(footer + POINTS_FOOTER_DATA_BYTES, data_bytes);
    memcpy(footer + POINTS_FOOTER_FINGERPRINT, fingerprint, 16);
    store_u64(footer + POINTS_FOOTER_POINTS, w->points);
    store_u64(footer + POINTS_FOOTER_MEMBERS, w->members);
    store_u64(footer + POINTS_FOOTER_PAGES,
              w->directory.size / POINTS_DIRECTORY_ITEM_BYTES);
    store_u64(footer + POINTS_FOOTER_DIRECTORY_OFFSET, w->offset);
    if (w->directory.size != 0)
        store_u32(footer + POINTS_FOOTER_DIRECTORY_CHECKSUM,
                  hash_checksum32(w->directory.data, w->directory.size));
    memcpy(footer + POINTS_FOOTER_ID, w->id, POINTS_ID_BYTES);
    store_u32(footer + POINTS_FOOTER_CHECKSUM,
              hash_checksum32(footer, POINTS_FOOTER_CHECKSUM));
    KSV_TRY(append(w, w->directory.data, w->directory.size, error));
    return append(w, footer, sizeof footer, error);
}

void points_writer_close(points_writer *writer)
{
    if (writer == NULL)
        return;
    ksv_allocator a = writer->allocator;
    buffer_release(&writer->directory);
    memory_free(&a, writer, sizeof *writer);
}
