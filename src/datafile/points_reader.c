/* SPDX-License-Identifier: MIT */
/* Reading access points from a sidecar (`.ksz`), a page at a time. */
#include "datafile/points_reader.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <string.h>

#include "base/coding.h"
#include "base/error.h"
#include "compress/inflate.h"
#include "hash/hash.h"
#include "io/file.h"

struct points_reader {
    ksv_allocator allocator;
    char *path;
    ksv_file *file;
    points_info info;
    uint64_t pages;
    uint64_t directory_offset;
    uint32_t directory_checksum;
    _Atomic(uint8_t *) directory; /* NULL until it is needed */
};

static ksv_status corrupt_at(const points_reader *r, uint64_t offset,
                             const char *what, ksv_error *error)
{
    return error_set_at(error, KSV_ERROR_CORRUPT, r->path, offset,
                        "the access points are damaged: %s", what);
}

static ksv_status check_header(points_reader *r, const uint8_t *header,
                               const uint8_t *id, ksv_error *error)
{
    if (memcmp(header, POINTS_MAGIC, POINTS_MAGIC_BYTES) != 0)
        return corrupt_at(r, 0, "they do not begin as such", error);
    const unsigned version = load_u16(header + POINTS_HEADER_VERSION);
    if (version > POINTS_VERSION)
        return error_set(error, KSV_ERROR_VERSION, r->path,
                         "access points of format version %u; this version "
                         "reads up to %u",
                         version, (unsigned)POINTS_VERSION);
    if (load_u32(header + POINTS_HEADER_CHECKSUM) !=
        hash_checksum32(header, POINTS_HEADER_CHECKSUM))
        return corrupt_at(r, 0, "the checksum of the header is wrong", error);
    const unsigned kind = load_u16(header + POINTS_HEADER_KIND);
    if (version == 0 || load_u32(header + POINTS_HEADER_FEATURES) != 0 ||
        (kind != DATAFILE_GZIP && kind != DATAFILE_BGZF))
        return corrupt_at(r, 0, "the header has unknown values", error);
    if (id != NULL && memcmp(header + POINTS_HEADER_ID, id, POINTS_ID_BYTES))
        return corrupt_at(r, POINTS_HEADER_ID, "they belong to another file",
                          error);
    r->info.kind = (datafile_kind)kind;
    memcpy(r->info.id, header + POINTS_HEADER_ID, POINTS_ID_BYTES);
    r->info.spacing_bytes = load_u64(header + POINTS_HEADER_SPACING);
    return KSV_OK;
}

static ksv_status check_footer(points_reader *r, const uint8_t *footer,
                               ksv_error *error)
{
    points_info *info = &r->info;
    const uint64_t offset = info->file_bytes - POINTS_FOOTER_BYTES;
    if (memcmp(footer, POINTS_END_MAGIC, POINTS_MAGIC_BYTES) != 0 ||
        load_u32(footer + POINTS_FOOTER_CHECKSUM) !=
            hash_checksum32(footer, POINTS_FOOTER_CHECKSUM))
        return corrupt_at(r, offset, "they do not end as such", error);
    if (memcmp(footer + POINTS_FOOTER_ID, info->id, POINTS_ID_BYTES) != 0)
        return corrupt_at(r, offset, "beginning and end do not belong together",
                          error);
    info->content_bytes = load_u64(footer + POINTS_FOOTER_CONTENT_BYTES);
    info->data_bytes = load_u64(footer + POINTS_FOOTER_DATA_BYTES);
    memcpy(info->fingerprint, footer + POINTS_FOOTER_FINGERPRINT, 16);
    info->points = load_u64(footer + POINTS_FOOTER_POINTS);
    info->members = load_u64(footer + POINTS_FOOTER_MEMBERS);
    r->pages = load_u64(footer + POINTS_FOOTER_PAGES);
    r->directory_offset = load_u64(footer + POINTS_FOOTER_DIRECTORY_OFFSET);
    r->directory_checksum = load_u32(footer + POINTS_FOOTER_DIRECTORY_CHECKSUM);
    const uint64_t room = offset - POINTS_HEADER_BYTES;
    if (r->pages > room / POINTS_DIRECTORY_ITEM_BYTES ||
        r->directory_offset != offset - r->pages * POINTS_DIRECTORY_ITEM_BYTES)
        return corrupt_at(r, offset, "the directory does not fit", error);
    if ((info->points + POINTS_PER_PAGE - 1) / POINTS_PER_PAGE != r->pages ||
        info->points > r->pages * POINTS_PER_PAGE ||
        (info->points == 0) != (info->content_bytes == 0))
        return corrupt_at(r, offset, "the number of points is wrong", error);
    return KSV_OK;
}

static ksv_status read_ends(points_reader *r, const uint8_t *id,
                            ksv_error *error)
{
    ksv_file_info file_info;
    KSV_TRY(r->file->ops->info(r->file, &file_info, error));
    r->info.file_bytes = file_info.size_bytes;
    uint8_t header[POINTS_HEADER_BYTES], footer[POINTS_FOOTER_BYTES];
    size_t got;
    memset(header, 0, sizeof header);
    KSV_TRY(
        r->file->ops->read_at(r->file, 0, header, sizeof header, &got, error));
    KSV_TRY(check_header(r, header, id, error));
    if (r->info.file_bytes < POINTS_HEADER_BYTES + POINTS_FOOTER_BYTES)
        return corrupt_at(r, r->info.file_bytes, "they end too early", error);
    KSV_TRY(file_read_exactly(r->file, r->info.file_bytes - POINTS_FOOTER_BYTES,
                              footer, sizeof footer, error));
    return check_footer(r, footer, error);
}

ksv_status points_reader_open(const ksv_file_system *fs, const char *path,
                              const uint8_t id[POINTS_ID_BYTES],
                              const ksv_allocator *allocator,
                              points_reader **out, ksv_error *error)
{
    *out = NULL;
    ksv_allocator a = allocator_or_default(allocator);
    points_reader *r = memory_zalloc(&a, sizeof *r);
    if (r == NULL)
        return error_set_memory(error);
    r->allocator = a;
    ksv_status status;
    r->path = memory_copy_string(&a, path, strlen(path));
    if (r->path == NULL)
        status = error_set_memory(error);
    else
        status = fs->open_read(fs->ctx, path, &r->file, error);
    if (status == KSV_OK)
        status = read_ends(r, id, error);
    if (status != KSV_OK) {
        error_add_path(error, path);
        points_reader_close(r);
        return status;
    }
    *out = r;
    return KSV_OK;
}

static size_t directory_bytes(const points_reader *r)
{
    return (size_t)(r->pages * POINTS_DIRECTORY_ITEM_BYTES);
}

void points_reader_close(points_reader *reader)
{
    if (reader == NULL)
        return;
    ksv_allocator a = reader->allocator;
    uint8_t *directory = atomic_load(&reader->directory);
    if (directory != NULL)
        memory_free(&a, directory, directory_bytes(reader));
    file_close_quietly(reader->file);
    memory_free_string(&a, reader->path);
    memory_free(&a, reader, sizeof *reader);
}

const points_info *points_reader_info(const points_reader *reader)
{
    return &reader->info;
}

static ksv_status read_part(points_reader *r, uint64_t offset, void *buffer,
                            size_t size_bytes, datafile_cost *cost,
                            ksv_error *error)
{
    ksv_status status =
        file_read_exactly(r->file, offset, buffer, size_bytes, error);
    if (status != KSV_OK)
        error_add_path(error, r->path);
    if (cost != NULL) {
        cost->reads++;
        cost->bytes_read += size_bytes;
    }
    return status;
}

static uint64_t directory_content(const uint8_t *directory, uint64_t page)
{
    return load_u64(directory + page * POINTS_DIRECTORY_ITEM_BYTES);
}

static uint64_t directory_page(const uint8_t *directory, uint64_t page)
{
    return load_u64(directory + page * POINTS_DIRECTORY_ITEM_BYTES + 8);
}

static size_t page_entries(const points_reader *r, uint64_t page)
{
    const uint64_t left = r->info.points - page * POINTS_PER_PAGE;
    return left < POINTS_PER_PAGE ? (size_t)left : POINTS_PER_PAGE;
}

static size_t page_bytes(const points_reader *r, uint64_t page)
{
    return points_page_bytes(page_entries(r, page));
}

static bool directory_is_right(const points_reader *r, const uint8_t *directory)
{
    if (hash_checksum32(directory, directory_bytes(r)) != r->directory_checksum)
        return false;
    for (uint64_t i = 0; i < r->pages; i++) {
        const uint64_t offset = directory_page(directory, i);
        const size_t size = page_bytes(r, i);
        if (size > r->directory_offset || offset < POINTS_HEADER_BYTES ||
            offset > r->directory_offset - size)
            return false;
        const uint64_t content = directory_content(directory, i);
        if (i == 0 ? content != 0
                   : content <= directory_content(directory, i - 1))
            return false;
    }
    return true;
}

/* The directory, which the first thread to need it reads. */
static ksv_status get_directory(points_reader *r, const uint8_t **out,
                                datafile_cost *cost, ksv_error *error)
{
    uint8_t *directory = atomic_load(&r->directory);
    if (directory == NULL) {
        const size_t size = directory_bytes(r);
        directory = memory_alloc(&r->allocator, size);
        if (directory == NULL)
            return error_set_memory(error);
        ksv_status status =
            read_part(r, r->directory_offset, directory, size, cost, error);
        if (status == KSV_OK && !directory_is_right(r, directory))
            status = corrupt_at(r, r->directory_offset,
                                "the directory is wrong", error);
        if (status != KSV_OK) {
            memory_free(&r->allocator, directory, size);
            return status;
        }
        uint8_t *other = NULL;
        if (!atomic_compare_exchange_strong(&r->directory, &other, directory)) {
            memory_free(&r->allocator, directory, size);
            directory = other;
        }
    }
    *out = directory;
    return KSV_OK;
}

static const uint8_t *page_entry(const points_page *page, size_t i)
{
    return page->bytes + POINTS_PAGE_ENTRIES + i * POINTS_ENTRY_BYTES;
}

static ksv_status load_page(points_reader *r, points_page *page,
                            uint64_t number, datafile_cost *cost,
                            ksv_error *error)
{
    if (page->valid && page->number == number)
        return KSV_OK;
    const uint8_t *directory;
    KSV_TRY(get_directory(r, &directory, cost, error));
    const uint64_t offset = directory_page(directory, number);
    const size_t size = page_bytes(r, number);
    page->valid = false;
    KSV_TRY(read_part(r, offset, page->bytes, size, cost, error));
    const uint8_t *p = page->bytes;
    if (load_u32(p + POINTS_PAGE_CHECKSUM) !=
        hash_checksum32(p + POINTS_PAGE_COUNT, size - POINTS_PAGE_COUNT))
        return corrupt_at(r, offset, "the checksum of a page is wrong", error);
    if (memcmp(p + POINTS_PAGE_ID, r->info.id, POINTS_ID_BYTES) != 0 ||
        load_u64(p + POINTS_PAGE_NUMBER) != number ||
        load_u32(p + POINTS_PAGE_COUNT) != page_entries(r, number) ||
        load_u64(page_entry(page, 0)) != directory_content(directory, number))
        return corrupt_at(r, offset, "a page is not where it belongs", error);
    page->valid = true;
    page->number = number;
    return KSV_OK;
}

ksv_status points_reader_find(points_reader *reader, points_page *page,
                              uint64_t content, uint64_t *number,
                              datafile_cost *cost, ksv_error *error)
{
    points_reader *r = reader;
    if (content >= r->info.content_bytes)
        return error_set(error, KSV_ERROR_ARGUMENT, r->path,
                         "no content at this offset");
    const uint8_t *directory;
    KSV_TRY(get_directory(r, &directory, cost, error));
    uint64_t low = 0, high = r->pages; /* in [low, high) */
    while (high - low > 1) {
        const uint64_t middle = low + (high - low) / 2;
        if (directory_content(directory, middle) <= content)
            low = middle;
        else
            high = middle;
    }
    KSV_TRY(load_page(r, page, low, cost, error));
    size_t first = 0, end = page_entries(r, low);
    while (end - first > 1) {
        const size_t middle = first + (end - first) / 2;
        if (load_u64(page_entry(page, middle)) <= content)
            first = middle;
        else
            end = middle;
    }
    *number = low * POINTS_PER_PAGE + first;
    return KSV_OK;
}

/* Where the span of a point has to end. */
static uint64_t span_end(const points_reader *r, const points_page *page,
                         const uint8_t *directory, uint64_t number)
{
    if (number + 1 == r->info.points)
        return r->info.content_bytes;
    const size_t next = (size_t)(number % POINTS_PER_PAGE) + 1;
    if (next < POINTS_PER_PAGE)
        return load_u64(page_entry(page, next));
    return directory_content(directory, page->number + 1);
}

static bool entry_is_right(const points_reader *r, const points_entry *e,
                           uint64_t end)
{
    const uint64_t data_bits = r->info.data_bytes * 8;
    if (e->span_bytes == 0 || e->content >= end ||
        end - e->content != e->span_bytes)
        return false;
    if (r->info.data_bytes > UINT64_MAX / 8 || e->header_bit >= data_bits ||
        e->symbol_bit < e->header_bit || e->symbol_bit >= data_bits ||
        e->member_offset > e->header_bit / 8 ||
        e->data_end > r->info.data_bytes || e->data_end < e->symbol_bit / 8)
        return false;
    if (e->window_bytes > INFLATE_WINDOW_BYTES ||
        e->window_stored_bytes > e->window_bytes ||
        (e->window_stored_bytes == 0) != (e->window_bytes == 0))
        return false;
    const uint64_t blob_bytes = points_entry_blob_bytes(e);
    return e->blob_offset >= POINTS_HEADER_BYTES &&
           e->blob_offset <= r->directory_offset &&
           blob_bytes <= r->directory_offset - e->blob_offset;
}

ksv_status points_reader_entry(points_reader *reader, points_page *page,
                               uint64_t number, points_entry *entry,
                               datafile_cost *cost, ksv_error *error)
{
    points_reader *r = reader;
    const uint8_t *directory;
    KSV_TRY(get_directory(r, &directory, cost, error));
    KSV_TRY(load_page(r, page, number / POINTS_PER_PAGE, cost, error));
    points_entry_decode(entry,
                        page_entry(page, (size_t)(number % POINTS_PER_PAGE)));
    if (!entry_is_right(r, entry, span_end(r, page, directory, number)))
        return corrupt_at(r, directory_page(directory, page->number),
                          "a page has an impossible entry", error);
    return KSV_OK;
}

ksv_status points_reader_blob(points_reader *reader, const points_entry *entry,
                              byte_buffer *blob, datafile_cost *cost,
                              ksv_error *error)
{
    points_reader *r = reader;
    const size_t size = (size_t)points_entry_blob_bytes(entry);
    buffer_clear(blob);
    if (size == 0)
        return KSV_OK;
    KSV_TRY(buffer_reserve(blob, size + INFLATE_INPUT_PADDING, error));
    memset(blob->data + size, 0, INFLATE_INPUT_PADDING);
    KSV_TRY(read_part(r, entry->blob_offset, blob->data, size, cost, error));
    if (hash_checksum32(blob->data, size) != entry->blob_checksum)
        return corrupt_at(r, entry->blob_offset,
                          "the checksum of a window is wrong", error);
    blob->size = size;
    return KSV_OK;
}

ksv_status points_reader_verify(points_reader *reader, ksv_error *error)
{
    points_reader *r = reader;
    byte_buffer blob;
    buffer_init(&blob, &r->allocator);
    points_page *page = memory_zalloc(&r->allocator, sizeof *page);
    if (page == NULL)
        return error_set_memory(error);
    ksv_status status = KSV_OK;
    uint64_t used = POINTS_HEADER_BYTES;
    for (uint64_t i = 0; i < r->info.points && status == KSV_OK; i++) {
        points_entry entry;
        status = points_reader_entry(r, page, i, &entry, NULL, error);
        if (status == KSV_OK)
            status = points_reader_blob(r, &entry, &blob, NULL, error);
        if (status == KSV_OK && entry.blob_offset != used &&
            entry.blob_offset != used + POINTS_PAGE_BYTES)
            status = corrupt_at(r, used, "bytes belong to nothing", error);
        if (status == KSV_OK)
            used = entry.blob_offset + blob.size;
    }
    if (r->pages != 0)
        used += page_bytes(r, r->pages - 1);
    if (status == KSV_OK && used != r->directory_offset)
        status = corrupt_at(r, used, "bytes belong to nothing", error);
    buffer_release(&blob);
    memory_free(&r->allocator, page, sizeof *page);
    return status;
}
