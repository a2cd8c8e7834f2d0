/* SPDX-License-Identifier: MIT */
/* Codec and checks of the fixed parts of a table file. */
#include "table/table_format.h"

#include <inttypes.h>
#include <string.h>

#include "base/coding.h"
#include "base/error.h"
#include "hash/hash.h"

#define MAGIC_BYTES 8
static const char header_magic[] = "KSVTABL\n";
static const char footer_magic[] = "KSVTEND\n";

/* Offsets in the header. */
enum {
    HEADER_VERSION = 8,
    HEADER_FEATURES = 12,
    HEADER_HASH_KIND = 16,
    HEADER_HASH_BITS = 17,
    HEADER_PAYLOAD_BITS = 18,
    HEADER_HASH_KEY = 24,
    HEADER_ID = 40,
    HEADER_CHECKSUM = TABLE_HEADER_BYTES - 4
};

/* Offsets in the footer. */
enum {
    FOOTER_CHECKSUM = 0,
    FOOTER_ENTRIES = 8,
    FOOTER_DISTINCT = 16,
    FOOTER_PAGES = 24,
    FOOTER_FENCE_PAGES = 32,
    FOOTER_LONGEST_RUN = 40,
    FOOTER_FIRST_HASH = 48,
    FOOTER_LAST_HASH = 56,
    FOOTER_FILE_BYTES = 64,
    FOOTER_ID = 72,
    FOOTER_MAGIC = TABLE_FOOTER_BYTES - MAGIC_BYTES
};

/* Offsets in a fence page. */
enum { FENCE_CHECKSUM = 0, FENCE_NUMBER = 4, FENCE_TAG = 8, FENCE_FIRST = 16 };

ksv_status table_check_options(const ksv_table_options *options,
                               ksv_error *error)
{
    const char *wrong = NULL;
    if (options->hash_bits < TABLE_MIN_HASH_BITS ||
        options->hash_bits > TABLE_MAX_HASH_BITS)
        wrong = "hash_bits of a table is outside 36..64";
    else if (options->payload_bits < 1 ||
             options->payload_bits > TABLE_MAX_PAYLOAD_BITS)
        wrong = "payload_bits of a table is outside 1..57";
    else if (options->hasher.kind != KSV_HASH_XXH3 &&
             options->hasher.kind != KSV_HASH_SIPHASH)
        wrong = "unknown kind of hash";
    if (wrong != NULL)
        return error_set(error, KSV_ERROR_ARGUMENT, NULL, "%s", wrong);
    return KSV_OK;
}

uint64_t table_tag_of_id(const uint8_t id[16])
{
    return hash_checksum64(id, 16);
}

uint64_t table_fence_page_count(uint64_t pages)
{
    return (pages + TABLE_FENCES_PER_PAGE - 1) / TABLE_FENCES_PER_PAGE;
}

uint64_t table_file_bytes(uint64_t pages)
{
    return table_page_offset(pages + table_fence_page_count(pages)) +
           TABLE_FOOTER_BYTES;
}

void table_encode_header(const ksv_table_options *options,
                         uint8_t header[TABLE_HEADER_BYTES])
{
    memset(header, 0, TABLE_HEADER_BYTES);
    memcpy(header, header_magic, MAGIC_BYTES);
    store_u16(header + HEADER_VERSION, TABLE_VERSION);
    header[HEADER_HASH_KIND] = (uint8_t)options->hasher.kind;
    header[HEADER_HASH_BITS] = (uint8_t)options->hash_bits;
    header[HEADER_PAYLOAD_BITS] = (uint8_t)options->payload_bits;
    memcpy(header + HEADER_HASH_KEY, options->hasher.key,
           sizeof options->hasher.key);
    memcpy(header + HEADER_ID, options->id, sizeof options->id);
    store_u32(header + HEADER_CHECKSUM,
              hash_checksum32(header, HEADER_CHECKSUM));
}

/* The bytes that mean the same in every version. */
static ksv_status check_version(const uint8_t *header, size_t size_bytes,
                                ksv_error *error)
{
    if (size_bytes < HEADER_VERSION + 2 ||
        memcmp(header, header_magic, MAGIC_BYTES) != 0)
        return error_set_at(error, KSV_ERROR_CORRUPT, NULL, 0,
                            "this is not a table");
    unsigned version = load_u16(header + HEADER_VERSION);
    if (version > TABLE_VERSION)
        return error_set_at(error, KSV_ERROR_VERSION, NULL, HEADER_VERSION,
                            "table format %u is later than %d, which is the "
                            "latest known here",
                            version, TABLE_VERSION);
    if (version < 1)
        return error_set_at(error, KSV_ERROR_CORRUPT, NULL, HEADER_VERSION,
                            "there is no table format 0");
    return KSV_OK;
}

ksv_status table_decode_header(const uint8_t *header, size_t size_bytes,
                               ksv_table_options *options, ksv_error *error)
{
    KSV_TRY(check_version(header, size_bytes, error));
    if (size_bytes < TABLE_HEADER_BYTES)
        return error_set_at(error, KSV_ERROR_CORRUPT, NULL, size_bytes,
                            "the table ends within its header");
    if (load_u32(header + HEADER_CHECKSUM) !=
        hash_checksum32(header, HEADER_CHECKSUM))
        return error_set_at(error, KSV_ERROR_CORRUPT, NULL, 0,
                            "checksum of the table's header is wrong");
    uint32_t features = load_u32(header + HEADER_FEATURES);
    if (features != 0)
        return error_set_at(error, KSV_ERROR_VERSION, NULL, HEADER_FEATURES,
                            "the table uses features (0x%" PRIx32
                            ") that are not known here",
                            features);
    options->hash_bits = header[HEADER_HASH_BITS];
    options->payload_bits = header[HEADER_PAYLOAD_BITS];
    options->hasher.kind = (ksv_hash_kind)header[HEADER_HASH_KIND];
    memcpy(options->hasher.key, header + HEADER_HASH_KEY,
           sizeof options->hasher.key);
    memcpy(options->id, header + HEADER_ID, sizeof options->id);
    if (table_check_options(options, NULL) != KSV_OK)
        return error_set_at(error, KSV_ERROR_CORRUPT, NULL, HEADER_HASH_KIND,
                            "the table's header holds impossible values");
    return KSV_OK;
}

void table_encode_footer(const table_meta *meta,
                         uint8_t footer[TABLE_FOOTER_BYTES])
{
    const ksv_table_info *info = &meta->info;
    memset(footer, 0, TABLE_FOOTER_BYTES);
    store_u64(footer + FOOTER_ENTRIES, info->entries);
    store_u64(footer + FOOTER_DISTINCT, info->distinct_hashes);
    store_u64(footer + FOOTER_PAGES, info->pages);
    store_u64(footer + FOOTER_FENCE_PAGES, meta->fence_pages);
    store_u64(footer + FOOTER_LONGEST_RUN, info->longest_run);
    store_u64(footer + FOOTER_FIRST_HASH, meta->first_hash);
    store_u64(footer + FOOTER_LAST_HASH, meta->last_hash);
    store_u64(footer + FOOTER_FILE_BYTES, info->file_bytes);
    memcpy(footer + FOOTER_ID, info->options.id, sizeof info->options.id);
    memcpy(footer + FOOTER_MAGIC, footer_magic, MAGIC_BYTES);
    store_u32(footer + FOOTER_CHECKSUM,
              hash_checksum32(footer + 4, TABLE_FOOTER_BYTES - 4));
}

/* What cannot be, whatever the entries are; NULL when all is well. */
static const char *check_counts(const table_meta *meta, uint64_t file_bytes)
{
    const ksv_table_info *info = &meta->info;
    uint64_t page_entries =
        TABLE_PAGE_BODY_BITS / (1 + info->options.payload_bits);
    if (info->pages > TABLE_MAX_PAGES ||
        meta->fence_pages != table_fence_page_count(info->pages) ||
        info->file_bytes != table_file_bytes(info->pages))
        return "the table's footer counts pages wrongly";
    if (info->file_bytes != file_bytes)
        return "the table does not have the size that its footer says";
    if (info->entries < info->pages ||
        info->entries > info->pages * page_entries)
        return "the table's footer counts entries wrongly";
    if ((info->distinct_hashes == 0) != (info->entries == 0) ||
        info->distinct_hashes > info->entries)
        return "the table's footer counts hashes wrongly";
    if ((info->longest_run == 0) != (info->entries == 0) ||
        (info->entries > 0 &&
         info->longest_run > info->entries - info->distinct_hashes + 1))
        return "the table's footer counts repeated hashes wrongly";
    uint64_t beyond =
        UINT64_MAX ^ ksv_hash_truncate(UINT64_MAX, info->options.hash_bits);
    if (meta->first_hash > meta->last_hash ||
        ((meta->first_hash | meta->last_hash) & beyond) != 0)
        return "the table's footer has impossible bounds";
    return NULL;
}

ksv_status table_decode_footer(const uint8_t footer[TABLE_FOOTER_BYTES],
                               uint64_t file_bytes, table_meta *meta,
                               ksv_error *error)
{
    ksv_table_info *info = &meta->info;
    const char *wrong = NULL;
    if (memcmp(footer + FOOTER_MAGIC, footer_magic, MAGIC_BYTES) != 0)
        wrong = "the table has no end: it is cut short or damaged";
    else if (load_u32(footer + FOOTER_CHECKSUM) !=
             hash_checksum32(footer + 4, TABLE_FOOTER_BYTES - 4))
        wrong = "checksum of the table's footer is wrong";
    else if (memcmp(footer + FOOTER_ID, info->options.id,
                    sizeof info->options.id) != 0)
        wrong = "header and footer belong to different tables";
    if (wrong == NULL) {
        info->entries = load_u64(footer + FOOTER_ENTRIES);
        info->distinct_hashes = load_u64(footer + FOOTER_DISTINCT);
        info->pages = load_u64(footer + FOOTER_PAGES);
        info->longest_run = load_u64(footer + FOOTER_LONGEST_RUN);
        info->file_bytes = load_u64(footer + FOOTER_FILE_BYTES);
        meta->fence_pages = load_u64(footer + FOOTER_FENCE_PAGES);
        meta->first_hash = load_u64(footer + FOOTER_FIRST_HASH);
        meta->last_hash = load_u64(footer + FOOTER_LAST_HASH);
        meta->tag = table_tag_of_id(info->options.id);
        wrong = check_counts(meta, file_bytes);
    }
    if (wrong != NULL)
        return error_set_at(error, KSV_ERROR_CORRUPT, NULL,
                            file_bytes - TABLE_FOOTER_BYTES, "%s", wrong);
    return KSV_OK;
}

void table_encode_fence_page(const uint32_t *fences, size_t count,
                             uint32_t number, uint64_t tag,
                             uint8_t page[TABLE_PAGE_BYTES])
{
    memset(page, 0, TABLE_PAGE_BYTES);
    store_u32(page + FENCE_NUMBER, number);
    store_u64(page + FENCE_TAG, tag);
    for (size_t i = 0; i < count; i++)
        store_u32(page + FENCE_FIRST + 4 * i, fences[i]);
    store_u32(page + FENCE_CHECKSUM,
              hash_checksum32(page + 4, TABLE_PAGE_BYTES - 4));
}

ksv_status table_decode_fence_page(const uint8_t page[TABLE_PAGE_BYTES],
                                   uint32_t number, uint64_t tag,
                                   uint64_t offset, uint32_t *fences,
                                   size_t count, ksv_error *error)
{
    const char *wrong = NULL;
    if (load_u32(page + FENCE_CHECKSUM) !=
        hash_checksum32(page + 4, TABLE_PAGE_BYTES - 4))
        wrong = "checksum of a fence page is wrong";
    else if (load_u64(page + FENCE_TAG) != tag)
        wrong = "a fence page belongs to another table";
    else if (load_u32(page + FENCE_NUMBER) != number)
        wrong = "a fence page stands in the place of another";
    for (size_t i = 0; i < count && wrong == NULL; i++) {
        fences[i] = load_u32(page + FENCE_FIRST + 4 * i);
        if (i > 0 && fences[i] < fences[i - 1])
            wrong = "fences are not in order";
    }
    if (wrong != NULL)
        return error_set_at(error, KSV_ERROR_CORRUPT, NULL, offset, "%s",
                            wrong);
    return KSV_OK;
}
