/* SPDX-License-Identifier: MIT */
/* Any bytes as access points of a small gzip file. Checksums that a fuzzer
 * cannot guess are made right first, in half of the runs, so that it gets
 * behind them; in the others no wrong byte may come out. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/coding.h"
#include "datafile/points_reader.h"
#include "hash/hash.h"
#include "io/memory_file_system.h"
#include "support/gzip_data.h"

#define CONTENT_BYTES 150000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void need(int holds)
{
    if (!holds)
        abort();
}

static void seal(uint8_t *at, size_t size)
{
    store_u32(at + size, hash_checksum32(at, size));
}

static void seal_entries(uint8_t *data, uint8_t *page, size_t entries,
                         uint64_t directory_offset)
{
    for (size_t i = 0; i < entries; i++) {
        uint8_t *at = page + POINTS_PAGE_ENTRIES + i * POINTS_ENTRY_BYTES;
        points_entry e;
        points_entry_decode(&e, at);
        const uint64_t size =
            e.span_bytes != 0 ? points_entry_blob_bytes(&e) : 0;
        if (size != 0 && e.blob_offset <= directory_offset &&
            size <= directory_offset - e.blob_offset)
            e.blob_checksum =
                hash_checksum32(data + e.blob_offset, (size_t)size);
        points_entry_encode(&e, at);
    }
}

/* Makes the checksums right from the blobs outwards. */
static void repair(uint8_t *data, size_t size)
{
    if (size < POINTS_HEADER_BYTES + POINTS_FOOTER_BYTES)
        return;
    seal(data, POINTS_HEADER_CHECKSUM);
    uint8_t *footer = data + size - POINTS_FOOTER_BYTES;
    const uint64_t pages = load_u64(footer + POINTS_FOOTER_PAGES);
    const uint64_t points = load_u64(footer + POINTS_FOOTER_POINTS);
    const uint64_t offset = load_u64(footer + POINTS_FOOTER_DIRECTORY_OFFSET);
    const size_t end = size - POINTS_FOOTER_BYTES;
    if (pages != 0 && pages <= end / POINTS_DIRECTORY_ITEM_BYTES &&
        offset == end - pages * POINTS_DIRECTORY_ITEM_BYTES) {
        for (uint64_t i = 0; i < pages && i * POINTS_PER_PAGE < points; i++) {
            const uint64_t left = points - i * POINTS_PER_PAGE;
            const size_t entries =
                left < POINTS_PER_PAGE ? (size_t)left : POINTS_PER_PAGE;
            const uint64_t at =
                load_u64(data + offset + i * POINTS_DIRECTORY_ITEM_BYTES + 8);
            const size_t bytes = points_page_bytes(entries);
            if (at > offset || bytes > offset - at)
                continue;
            seal_entries(data, data + at, entries, offset);
            store_u32(data + at, hash_checksum32(data + at + 4, bytes - 4));
        }
        store_u32(footer + POINTS_FOOTER_DIRECTORY_CHECKSUM,
                  hash_checksum32(data + offset, end - (size_t)offset));
    }
    seal(footer, POINTS_FOOTER_CHECKSUM);
}

static void use(const ksv_file_system *fs, const gzip_bytes *content)
{
    datafile *file;
    if (datafile_open_compressed(fs, "data", "points", NULL, NULL, &file,
                                 NULL) != KSV_OK)
        return;
    for (uint64_t offset = 0; offset < CONTENT_BYTES + 100000; offset += 9973) {
        uint8_t buffer[500];
        size_t got;
        if (datafile_read_at(file, offset, buffer, sizeof buffer, &got, NULL,
                             NULL) != KSV_OK ||
            content == NULL || got == 0)
            continue;
        need(offset + got <= content->size);
        need(memcmp(buffer, content->data + offset, got) == 0);
    }
    datafile_close(file);
}

static void verify(const ksv_file_system *fs)
{
    points_reader *points;
    if (points_reader_open(fs, "points", NULL, NULL, &points, NULL) != KSV_OK)
        return;
    (void)points_reader_verify(points, NULL);
    points_reader_close(points);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static gzip_bytes content, file;
    if (content.size == 0) {
        random_source random = {1};
        const gzip_how how = gzip_how_usual();
        gzip_content_add(&content, GZIP_CONTENT_TEXT, CONTENT_BYTES, &random);
        gzip_member_add(&file, content.data, CONTENT_BYTES / 2, &how, NULL, 0);
        gzip_member_add(&file, content.data + CONTENT_BYTES / 2,
                        CONTENT_BYTES / 2, &how, NULL, 0);
    }
    ksv_file_system fs;
    need(memory_file_system_open(NULL, &fs, NULL) == KSV_OK);
    gzip_file_write(&fs, "data", file.data, file.size);
    gzip_file_write(&fs, "points", data, size);
    use(&fs, &content);
    verify(&fs);
    uint8_t *copy = malloc(size + 1);
    need(copy != NULL);
    if (size != 0)
        memcpy(copy, data, size);
    repair(copy, size);
    gzip_file_write(&fs, "points", copy, size);
    use(&fs, NULL);
    verify(&fs);
    free(copy);
    memory_file_system_close(&fs);
    return 0;
}
