/* SPDX-License-Identifier: MIT */
/* Codec and checks of the fixed parts of a sorted table. */
#include "sorted/sorted_format.h"

#include <inttypes.h>
#include <string.h>

#include "base/coding.h"
#include "base/error.h"
#include "hash/hash.h"

#define MAGIC_BYTES 8
static const char header_magic[] = "KSVSORT\n";
static const char footer_magic[] = "KSVSEND\n";

/* Deflate makes no more of a byte. */
#define MOST_EXPANSION 1032

/* Offsets in the header. */
enum {
    HEADER_VERSION = 8,
    HEADER_FEATURES = 12,
    HEADER_PAYLOAD_BITS = 16,
    HEADER_SPARSE = 17,
    HEADER_ID = 24,
    HEADER_CHECKSUM = SORTED_HEADER_BYTES - 4
};

/* Offsets in a block. */
enum {
    BLOCK_CHECKSUM = 0,
    BLOCK_NUMBER = 4,
    BLOCK_TAG = 8,
    BLOCK_STORED = 16,
    BLOCK_RAW = 20,
    BLOCK_ENTRIES = 24,
    BLOCK_FLAGS = 28,
    BLOCK_PAYLOAD_BITS = 29,
    BLOCK_LEVEL = 30,
    BLOCK_ZERO = 31,
    BLOCK_BASE = 32
};

/* Offsets in the footer. */
enum {
    FOOTER_CHECKSUM = 0,
    FOOTER_LEVELS = 4,
    FOOTER_ENTRIES = 8,
    FOOTER_DISTINCT = 16,
    FOOTER_LONGEST_RUN = 24,
    FOOTER_KEY_BYTES = 32,
    FOOTER_DATA_BLOCKS = 40,
    FOOTER_BLOCKS = 48,
    FOOTER_RAW_BYTES = 56,
    FOOTER_ROOT_OFFSET = 64,
    FOOTER_ROOT_BYTES = 72,
    FOOTER_ROOT_NUMBER = 76,
    FOOTER_FILE_BYTES = 80,
    FOOTER_ID = 88,
    FOOTER_MAGIC = SORTED_FOOTER_BYTES - MAGIC_BYTES
};

ksv_status sorted_check_options(const sorted_options *options, ksv_error *error)
{
    if (options->payload_bits < 1 ||
        options->payload_bits > SORTED_MOST_PAYLOAD_BITS)
        return error_set(error, KSV_ERROR_ARGUMENT, NULL,
                         "payload_bits of a table is outside 1..57");
    return KSV_OK;
}

uint64_t sorted_tag_of_id(const uint8_t id[16])
{
    return hash_checksum64(id, 16);
}

void sorted_encode_header(const sorted_options *options,
                          uint8_t header[SORTED_HEADER_BYTES])
{
    memset(header, 0, SORTED_HEADER_BYTES);
    memcpy(header, header_magic, MAGIC_BYTES);
    store_u16(header + HEADER_VERSION, SORTED_VERSION);
    header[HEADER_PAYLOAD_BITS] = (uint8_t)options->payload_bits;
    header[HEADER_SPARSE] = options->sparse ? 1 : 0;
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
                            "this is not a sorted table");
    unsigned version = load_u16(header + HEADER_VERSION);
    if (version > SORTED_VERSION)
        return error_set_at(error, KSV_ERROR_VERSION, NULL, HEADER_VERSION,
                            "sorted table format %u is later than %d, which is "
                            "the latest known here",
                            version, SORTED_VERSION);
    if (version < 1)
        return error_set_at(error, KSV_ERROR_CORRUPT, NULL, HEADER_VERSION,
                            "there is no sorted table format 0");
    return KSV_OK;
}

ksv_status sorted_decode_header(const uint8_t *header, size_t size_bytes,
                                sorted_options *options, ksv_error *error)
{
    KSV_TRY(check_version(header, size_bytes, error));
    if (size_bytes < SORTED_HEADER_BYTES)
        return error_set_at(error, KSV_ERROR_CORRUPT, NULL, size_bytes,
                            "the sorted table ends within its header");
    if (load_u32(header + HEADER_CHECKSUM) !=
        hash_checksum32(header, HEADER_CHECKSUM))
        return error_set_at(error, KSV_ERROR_CORRUPT, NULL, 0,
                            "checksum of the sorted table's header is wrong");
    uint32_t features = load_u32(header + HEADER_FEATURES);
    if (features != 0)
        return error_set_at(error, KSV_ERROR_VERSION, NULL, HEADER_FEATURES,
                            "the sorted table uses features (0x%" PRIx32
                            ") that are not known here",
                            features);
    options->payload_bits = header[HEADER_PAYLOAD_BITS];
    options->sparse = header[HEADER_SPARSE] == 1;
    memcpy(options->id, header + HEADER_ID, sizeof options->id);
    if (header[HEADER_SPARSE] > 1 ||
        sorted_check_options(options, NULL) != KSV_OK)
        return error_set_at(error, KSV_ERROR_CORRUPT, NULL, HEADER_PAYLOAD_BITS,
                            "the sorted table's header holds impossible "
                            "values");
    return KSV_OK;
}

void sorted_encode_footer(const sorted_meta *meta,
                          uint8_t footer[SORTED_FOOTER_BYTES])
{
    const sorted_info *info = &meta->info;
    memset(footer, 0, SORTED_FOOTER_BYTES);
    store_u32(footer + FOOTER_LEVELS, meta->levels);
    store_u64(footer + FOOTER_ENTRIES, info->entries);
    store_u64(footer + FOOTER_DISTINCT, info->distinct_keys);
    store_u64(footer + FOOTER_LONGEST_RUN, info->longest_run);
    store_u64(footer + FOOTER_KEY_BYTES, info->key_bytes);
    store_u64(footer + FOOTER_DATA_BLOCKS, info->data_blocks);
    store_u64(footer + FOOTER_BLOCKS, info->blocks);
    store_u64(footer + FOOTER_RAW_BYTES, info->raw_bytes);
    store_u64(footer + FOOTER_ROOT_OFFSET, meta->root.offset);
    store_u32(footer + FOOTER_ROOT_BYTES, meta->root.size_bytes);
    store_u32(footer + FOOTER_ROOT_NUMBER, meta->root.number);
    store_u64(footer + FOOTER_FILE_BYTES, info->file_bytes);
    memcpy(footer + FOOTER_ID, info->options.id, sizeof info->options.id);
    memcpy(footer + FOOTER_MAGIC, footer_magic, MAGIC_BYTES);
    store_u32(footer + FOOTER_CHECKSUM,
              hash_checksum32(footer + 4, SORTED_FOOTER_BYTES - 4));
}

static bool is_root_possible(const sorted_meta *meta)
{
    const sorted_info *info = &meta->info;
    const block_place *root = &meta->root;
    if (info->blocks == 0)
        return meta->levels == 0 && root->offset == 0 &&
               root->size_bytes == 0 && root->number == 0 &&
               info->file_bytes == SORTED_HEADER_BYTES + SORTED_FOOTER_BYTES;
    /* The root is the last block. */
    uint64_t end = info->file_bytes - SORTED_FOOTER_BYTES;
    uint64_t of_kind = meta->levels == 0 ? info->data_blocks
                                         : info->blocks - info->data_blocks;
    return root->size_bytes > SORTED_BLOCK_HEADER_BYTES &&
           root->size_bytes <= end - SORTED_HEADER_BYTES &&
           root->offset == end - root->size_bytes &&
           root->number + UINT64_C(1) == of_kind;
}

/* What cannot be, whatever the entries are; NULL when all is well. */
static const char *check_counts(const sorted_meta *meta, uint64_t file_bytes)
{
    const sorted_info *info = &meta->info;
    if (info->file_bytes != file_bytes)
        return "the sorted table does not have the size that its footer says";
    uint64_t most =
        (file_bytes - SORTED_HEADER_BYTES) / SORTED_BLOCK_HEADER_BYTES;
    if (info->blocks > most || info->data_blocks > info->blocks ||
        (info->data_blocks == 0) != (info->blocks == 0) ||
        meta->levels > SORTED_MOST_LEVELS ||
        (meta->levels == 0) != (info->blocks <= 1) || !is_root_possible(meta))
        return "the sorted table's footer counts blocks wrongly";
    if (info->entries < info->data_blocks ||
        (info->entries == 0) != (info->data_blocks == 0) ||
        info->distinct_keys > info->entries ||
        info->longest_run > info->entries ||
        (info->distinct_keys == 0) != (info->entries == 0) ||
        (info->longest_run == 0) != (info->entries == 0))
        return "the sorted table's footer counts entries wrongly";
    return NULL;
}

ksv_status sorted_decode_footer(const uint8_t footer[SORTED_FOOTER_BYTES],
                                uint64_t file_bytes, sorted_meta *meta,
                                ksv_error *error)
{
    sorted_info *info = &meta->info;
    uint64_t at = file_bytes - SORTED_FOOTER_BYTES;
    if (memcmp(footer + FOOTER_MAGIC, footer_magic, MAGIC_BYTES) != 0)
        return error_set_at(error, KSV_ERROR_CORRUPT, NULL, at,
                            "the sorted table does not end with a footer: it "
                            "is cut short");
    if (load_u32(footer + FOOTER_CHECKSUM) !=
        hash_checksum32(footer + 4, SORTED_FOOTER_BYTES - 4))
        return error_set_at(error, KSV_ERROR_CORRUPT, NULL, at,
                            "checksum of the sorted table's footer is wrong");
    if (memcmp(footer + FOOTER_ID, info->options.id, sizeof info->options.id) !=
        0)
        return error_set_at(error, KSV_ERROR_CORRUPT, NULL, at,
                            "the footer is that of another sorted table");
    meta->levels = load_u32(footer + FOOTER_LEVELS);
    info->entries = load_u64(footer + FOOTER_ENTRIES);
    info->distinct_keys = load_u64(footer + FOOTER_DISTINCT);
    info->longest_run = load_u64(footer + FOOTER_LONGEST_RUN);
    info->key_bytes = load_u64(footer + FOOTER_KEY_BYTES);
    info->data_blocks = load_u64(footer + FOOTER_DATA_BLOCKS);
    info->blocks = load_u64(footer + FOOTER_BLOCKS);
    info->raw_bytes = load_u64(footer + FOOTER_RAW_BYTES);
    info->file_bytes = load_u64(footer + FOOTER_FILE_BYTES);
    meta->root = (block_place){load_u64(footer + FOOTER_ROOT_OFFSET),
                               load_u32(footer + FOOTER_ROOT_BYTES),
                               load_u32(footer + FOOTER_ROOT_NUMBER)};
    meta->tag = sorted_tag_of_id(info->options.id);
    const char *wrong = check_counts(meta, file_bytes);
    if (wrong != NULL)
        return error_set_at(error, KSV_ERROR_CORRUPT, NULL, at, "%s", wrong);
    return KSV_OK;
}

void sorted_encode_block(const block_header *header, uint8_t *block)
{
    store_u32(block + BLOCK_NUMBER, header->number);
    store_u64(block + BLOCK_TAG, header->tag);
    store_u32(block + BLOCK_STORED, header->stored_bytes);
    store_u32(block + BLOCK_RAW, header->raw_bytes);
    store_u32(block + BLOCK_ENTRIES, header->entries);
    block[BLOCK_FLAGS] = (uint8_t)header->flags;
    block[BLOCK_PAYLOAD_BITS] = (uint8_t)header->payload_bits;
    block[BLOCK_LEVEL] = (uint8_t)header->level;
    block[BLOCK_ZERO] = 0;
    store_u64(block + BLOCK_BASE, header->base);
    store_u32(block + BLOCK_CHECKSUM,
              hash_checksum32(block + 4, SORTED_BLOCK_HEADER_BYTES - 4 +
                                             (size_t)header->stored_bytes));
}

ksv_status sorted_set_corrupt(ksv_error *error, const block_place *place,
                              const char *what)
{
    return error_set_at(error, KSV_ERROR_CORRUPT, NULL, place->offset,
                        "block %" PRIu32 " of the sorted table is damaged: %s",
                        place->number, what);
}

uint64_t sorted_peek_block(const uint8_t header[SORTED_BLOCK_HEADER_BYTES],
                           unsigned *level)
{
    *level = header[BLOCK_LEVEL];
    return SORTED_BLOCK_HEADER_BYTES +
           (uint64_t)load_u32(header + BLOCK_STORED);
}

/* Whether the parts of the block are as long as they say; the checksum is
 * right, so that only a writer can have made what is not. */
static bool are_parts_possible(const block_header *h)
{
    uint64_t tail = h->level == 0
                        ? ((uint64_t)h->entries * h->payload_bits + 7) / 8
                        : h->base;
    if (tail > h->stored_bytes || h->entries == 0 ||
        (h->level > 0 && h->payload_bits != 0))
        return false;
    uint64_t keys = h->stored_bytes - tail;
    if ((h->flags & SORTED_FLAG_DEFLATED) == 0)
        return h->raw_bytes == keys;
    return h->raw_bytes / MOST_EXPANSION <= keys;
}

ksv_status sorted_decode_block(const uint8_t *block, const block_place *place,
                               uint64_t tag, unsigned level, block_header *h,
                               ksv_error *error)
{
    unsigned found_level;
    if (sorted_peek_block(block, &found_level) != place->size_bytes)
        return sorted_set_corrupt(error, place, "it has another size");
    if (load_u32(block + BLOCK_CHECKSUM) !=
        hash_checksum32(block + 4, place->size_bytes - 4))
        return sorted_set_corrupt(error, place, "its checksum is wrong");
    *h = (block_header){.number = load_u32(block + BLOCK_NUMBER),
                        .tag = load_u64(block + BLOCK_TAG),
                        .stored_bytes = load_u32(block + BLOCK_STORED),
                        .raw_bytes = load_u32(block + BLOCK_RAW),
                        .entries = load_u32(block + BLOCK_ENTRIES),
                        .flags = block[BLOCK_FLAGS],
                        .payload_bits = block[BLOCK_PAYLOAD_BITS],
                        .level = found_level,
                        .base = load_u64(block + BLOCK_BASE)};
    if (h->number != place->number || h->tag != tag || h->level != level)
        return sorted_set_corrupt(error, place, "it is another block");
    if (h->flags > SORTED_FLAGS || block[BLOCK_ZERO] != 0 ||
        h->payload_bits > SORTED_MOST_PAYLOAD_BITS || !are_parts_possible(h))
        return sorted_set_corrupt(error, place,
                                  "its header holds impossible values");
    return KSV_OK;
}
