/* SPDX-License-Identifier: MIT */
/* The filter sidecar: layout, and the codec of its small parts. */
#include "filter/filter_format.h"

#include <string.h>

#include "base/coding.h"
#include "base/error.h"
#include "filter/bloom_block.h"
#include "filter/bloom_classic.h"
#include "hash/hash.h"

/* Offsets in the header. */
enum {
    HEADER_VERSION = 8,
    HEADER_FEATURES = 12,
    HEADER_ID = 16,
    HEADER_HASH_KEY = 32,
    HEADER_HASH_KIND = 48,
    HEADER_HASH_BITS = 49,
    HEADER_FUNCTIONS = 50,
    HEADER_BODY_OFFSET = 52,
    HEADER_BLOCKS = 56,
    HEADER_FPR = 64,
    HEADER_BITS = 72, /* of a textbook filter, else 0 */
    HEADER_CHECKSUM = 120
};

/* Offsets in the footer. */
enum {
    FOOTER_KEYS = 0,
    FOOTER_FILE_BYTES = 8,
    FOOTER_ID = 16,
    FOOTER_CHECKSUM = 48,
    FOOTER_MAGIC = 56
};

/* Offsets in a checksum page. */
enum { SEAL_CHECKSUM = 0, SEAL_COUNT = 4, SEAL_NUMBER = 8, SEAL_ID = 16 };

#define ID_BYTES 16

static uint64_t divide_up(uint64_t value, uint64_t by)
{
    return value / by + (value % by != 0);
}

filter_layout filter_layout_of(uint64_t blocks)
{
    filter_layout l;
    l.body_bytes = blocks * BLOOM_BLOCK_BYTES;
    l.body_offset = l.body_bytes > FILTER_SMALL_BODY_BYTES
                        ? FILTER_PAGE_BYTES
                        : FILTER_HEADER_BYTES;
    l.pages = divide_up(blocks, FILTER_PAGE_BLOCKS);
    l.checksums_offset = l.body_offset + l.body_bytes;
    l.checksum_pages = divide_up(l.pages, FILTER_CHECKSUMS_PER_PAGE);
    l.footer_offset = l.checksums_offset +
                      l.checksum_pages * FILTER_CHECKSUM_HEAD_BYTES +
                      l.pages * sizeof(uint32_t);
    l.file_bytes = l.footer_offset + FILTER_FOOTER_BYTES;
    return l;
}

size_t filter_page_bytes(const filter_layout *layout, uint64_t page)
{
    uint64_t left = layout->body_bytes - page * FILTER_PAGE_BYTES;
    return left < FILTER_PAGE_BYTES ? (size_t)left : FILTER_PAGE_BYTES;
}

size_t filter_checksum_page_bytes(const filter_layout *layout, uint64_t page)
{
    uint64_t left = layout->footer_offset - layout->checksums_offset -
                    page * FILTER_PAGE_BYTES;
    return left < FILTER_PAGE_BYTES ? (size_t)left : FILTER_PAGE_BYTES;
}

bool filter_hash_bits_valid(unsigned hash_bits)
{
    return hash_bits >= 32 && hash_bits <= 64;
}

static unsigned most_functions(ksv_filter_kind kind)
{
    return kind == KSV_FILTER_CLASSIC ? CLASSIC_MAX_FUNCTIONS
                                      : BLOOM_MAX_FUNCTIONS;
}

/* Whether the last block is used, and no more than it. */
static bool classic_bits_fit(const ksv_filter_plan *plan)
{
    return plan->bits > (plan->blocks - 1) * BLOOM_BLOCK_BITS &&
           plan->bits <= plan->blocks * BLOOM_BLOCK_BITS;
}

/* What is wrong with the numbers of a filter, or NULL. */
static const char *find_fault(const ksv_filter_options *o)
{
    if (o->plan.kind != KSV_FILTER_BLOCKED &&
        o->plan.kind != KSV_FILTER_CLASSIC)
        return "the kind of the filter";
    if (o->plan.blocks == 0 || o->plan.blocks > FILTER_MAX_BLOCKS)
        return "the number of blocks of the filter";
    if (o->plan.hash_functions == 0 ||
        o->plan.hash_functions > most_functions(o->plan.kind))
        return "the number of hash functions of the filter";
    if (o->plan.kind == KSV_FILTER_CLASSIC && !classic_bits_fit(&o->plan))
        return "the number of bits of the filter";
    if (!(o->plan.fpr >= 0 && o->plan.fpr <= 1))
        return "the false-positive rate of the filter";
    if (!filter_hash_bits_valid(o->hash_bits))
        return "the number of hash bits of the filter";
    if (o->hasher.kind != KSV_HASH_XXH3 && o->hasher.kind != KSV_HASH_SIPHASH)
        return "the kind of hash of the filter";
    return NULL;
}

ksv_status filter_options_check(const ksv_filter_options *options,
                                ksv_error *error)
{
    const char *fault = find_fault(options);
    if (fault != NULL)
        return error_set(error, KSV_ERROR_ARGUMENT, NULL, "%s is out of range",
                         fault);
    return KSV_OK;
}

static uint32_t features_of(const ksv_filter_options *options)
{
    uint32_t features = 0;
    if (options->is_standalone)
        features |= FILTER_FEATURE_STANDALONE;
    if (options->plan.kind == KSV_FILTER_CLASSIC)
        features |= FILTER_FEATURE_CLASSIC;
    return features;
}

void filter_header_encode(const ksv_filter_options *options, uint8_t *out)
{
    filter_layout layout = filter_layout_of(options->plan.blocks);
    memset(out, 0, (size_t)layout.body_offset);
    memcpy(out, FILTER_MAGIC, FILTER_MAGIC_BYTES);
    store_u16(out + HEADER_VERSION, FILTER_VERSION);
    store_u32(out + HEADER_FEATURES, features_of(options));
    memcpy(out + HEADER_ID, options->id, ID_BYTES);
    memcpy(out + HEADER_HASH_KEY, options->hasher.key,
           sizeof options->hasher.key);
    out[HEADER_HASH_KIND] = (uint8_t)options->hasher.kind;
    out[HEADER_HASH_BITS] = (uint8_t)options->hash_bits;
    out[HEADER_FUNCTIONS] = (uint8_t)options->plan.hash_functions;
    store_u32(out + HEADER_BODY_OFFSET, (uint32_t)layout.body_offset);
    store_u64(out + HEADER_BLOCKS, options->plan.blocks);
    store_f64(out + HEADER_FPR, options->plan.fpr);
    if (options->plan.kind == KSV_FILTER_CLASSIC)
        store_u64(out + HEADER_BITS, options->plan.bits);
    store_u64(out + HEADER_CHECKSUM, hash_checksum64(out, HEADER_CHECKSUM));
}

static ksv_status corrupt_at(ksv_error *error, uint64_t offset,
                             const char *what)
{
    return error_set_at(error, KSV_ERROR_CORRUPT, NULL, offset, "%s", what);
}

static bool all_zero(const uint8_t *data, size_t size_bytes)
{
    uint8_t any = 0;
    for (size_t i = 0; i < size_bytes; i++)
        any |= data[i];
    return any == 0;
}

/* Before anything else, so that a later version may change all the rest. */
static ksv_status check_version(const uint8_t *data, size_t size_bytes,
                                ksv_error *error)
{
    if (size_bytes < HEADER_VERSION + 2 ||
        memcmp(data, FILTER_MAGIC, FILTER_MAGIC_BYTES) != 0)
        return corrupt_at(error, 0, "not a keysieve filter");
    unsigned version = load_u16(data + HEADER_VERSION);
    if (version > FILTER_VERSION)
        return error_set_at(error, KSV_ERROR_VERSION, NULL, HEADER_VERSION,
                            "format version %u, this keysieve reads up to %u",
                            version, (unsigned)FILTER_VERSION);
    if (version == 0)
        return corrupt_at(error, HEADER_VERSION, "format version 0");
    return KSV_OK;
}

static ksv_status check_integrity(const uint8_t *data, size_t size_bytes,
                                  ksv_error *error)
{
    if (size_bytes < FILTER_HEADER_BYTES)
        return corrupt_at(error, size_bytes,
                          "the filter ends within its header");
    if (hash_checksum64(data, HEADER_CHECKSUM) !=
        load_u64(data + HEADER_CHECKSUM))
        return corrupt_at(error, 0, "the filter's header has a bad checksum");
    uint32_t features =
        load_u32(data + HEADER_FEATURES) & ~(uint32_t)FILTER_FEATURES;
    if (features != 0)
        return error_set_at(error, KSV_ERROR_VERSION, NULL, HEADER_FEATURES,
                            "format features 0x%x are not known to this "
                            "keysieve",
                            (unsigned)features);
    return KSV_OK;
}

static bool reserved_is_zero(const uint8_t *data)
{
    bool has_bits =
        (load_u32(data + HEADER_FEATURES) & FILTER_FEATURE_CLASSIC) != 0;
    size_t used = HEADER_BITS + (has_bits ? 8 : 0);
    return all_zero(data + HEADER_VERSION + 2, 2) &&
           data[HEADER_FUNCTIONS + 1] == 0 &&
           all_zero(data + used, HEADER_CHECKSUM - used);
}

/* The sizes that the header names, against the file that there is. */
static ksv_status check_layout(const uint8_t *data, size_t size_bytes,
                               uint64_t file_bytes, uint64_t blocks,
                               ksv_error *error)
{
    filter_layout layout = filter_layout_of(blocks);
    if (layout.body_offset != load_u32(data + HEADER_BODY_OFFSET) ||
        !reserved_is_zero(data))
        return corrupt_at(error, HEADER_BODY_OFFSET,
                          "the filter's header is not valid");
    if (layout.file_bytes != file_bytes)
        return error_set(error, KSV_ERROR_CORRUPT, NULL,
                         "the filter has %llu bytes, its header says %llu",
                         (unsigned long long)file_bytes,
                         (unsigned long long)layout.file_bytes);
    size_t body_offset = (size_t)layout.body_offset;
    if (size_bytes < body_offset ||
        !all_zero(data + FILTER_HEADER_BYTES,
                  body_offset - FILTER_HEADER_BYTES))
        return corrupt_at(error, FILTER_HEADER_BYTES,
                          "the filter's header is followed by stray bytes");
    return KSV_OK;
}

ksv_status filter_header_decode(const uint8_t *data, size_t size_bytes,
                                uint64_t file_bytes,
                                ksv_filter_options *options, ksv_error *error)
{
    KSV_TRY(check_version(data, size_bytes, error));
    KSV_TRY(check_integrity(data, size_bytes, error));
    ksv_filter_options o = {0};
    uint32_t features = load_u32(data + HEADER_FEATURES);
    bool is_classic = (features & FILTER_FEATURE_CLASSIC) != 0;
    o.is_standalone = (features & FILTER_FEATURE_STANDALONE) != 0;
    o.plan.kind = is_classic ? KSV_FILTER_CLASSIC : KSV_FILTER_BLOCKED;
    o.plan.blocks = load_u64(data + HEADER_BLOCKS);
    o.plan.bits = load_u64(data + HEADER_BITS);
    o.plan.hash_functions = data[HEADER_FUNCTIONS];
    o.plan.fpr = load_f64(data + HEADER_FPR);
    o.hash_bits = data[HEADER_HASH_BITS];
    o.hasher.kind = (ksv_hash_kind)data[HEADER_HASH_KIND];
    memcpy(o.hasher.key, data + HEADER_HASH_KEY, sizeof o.hasher.key);
    memcpy(o.id, data + HEADER_ID, ID_BYTES);
    const char *fault = find_fault(&o);
    if (fault != NULL)
        return error_set_at(error, KSV_ERROR_CORRUPT, NULL, HEADER_HASH_KIND,
                            "%s is out of range", fault);
    KSV_TRY(check_layout(data, size_bytes, file_bytes, o.plan.blocks, error));
    if (!is_classic)
        o.plan.bits = o.plan.blocks * BLOOM_BLOCK_BITS;
    o.plan.file_bytes = file_bytes;
    *options = o;
    return KSV_OK;
}

void filter_footer_encode(const ksv_filter_options *options, uint64_t keys,
                          uint8_t out[FILTER_FOOTER_BYTES])
{
    memset(out, 0, FILTER_FOOTER_BYTES);
    store_u64(out + FOOTER_KEYS, keys);
    store_u64(out + FOOTER_FILE_BYTES,
              filter_layout_of(options->plan.blocks).file_bytes);
    memcpy(out + FOOTER_ID, options->id, ID_BYTES);
    store_u64(out + FOOTER_CHECKSUM, hash_checksum64(out, FOOTER_CHECKSUM));
    memcpy(out + FOOTER_MAGIC, FILTER_END_MAGIC, FILTER_MAGIC_BYTES);
}

ksv_status filter_footer_decode(const uint8_t data[FILTER_FOOTER_BYTES],
                                const ksv_filter_options *options,
                                uint64_t *keys, ksv_error *error)
{
    filter_layout layout = filter_layout_of(options->plan.blocks);
    if (memcmp(data + FOOTER_MAGIC, FILTER_END_MAGIC, FILTER_MAGIC_BYTES) != 0)
        return corrupt_at(error, layout.footer_offset,
                          "the filter has no footer");
    if (hash_checksum64(data, FOOTER_CHECKSUM) !=
        load_u64(data + FOOTER_CHECKSUM))
        return corrupt_at(error, layout.footer_offset,
                          "the filter's footer has a bad checksum");
    size_t after_id = FOOTER_ID + ID_BYTES;
    if (memcmp(data + FOOTER_ID, options->id, ID_BYTES) != 0 ||
        load_u64(data + FOOTER_FILE_BYTES) != layout.file_bytes ||
        !all_zero(data + after_id, FOOTER_CHECKSUM - after_id))
        return corrupt_at(error, layout.footer_offset,
                          "the filter's footer belongs to another filter");
    *keys = load_u64(data + FOOTER_KEYS);
    return KSV_OK;
}

uint32_t filter_page_checksum(const uint8_t id[16], uint64_t page,
                              const uint8_t *data, size_t size_bytes)
{
    uint8_t text[ID_BYTES + 8 + 8];
    memcpy(text, id, ID_BYTES);
    store_u64(text + ID_BYTES, page);
    store_u64(text + ID_BYTES + 8, hash_checksum64(data, size_bytes));
    return hash_checksum32(text, sizeof text);
}

static uint32_t count_checksums(size_t page_bytes)
{
    return (uint32_t)((page_bytes - FILTER_CHECKSUM_HEAD_BYTES) /
                      sizeof(uint32_t));
}

void filter_checksum_page_seal(const uint8_t id[16], uint64_t number,
                               uint8_t *page, size_t page_bytes)
{
    store_u32(page + SEAL_COUNT, count_checksums(page_bytes));
    store_u64(page + SEAL_NUMBER, number);
    memcpy(page + SEAL_ID, id, ID_BYTES);
    store_u32(page + SEAL_CHECKSUM,
              hash_checksum32(page + SEAL_COUNT, page_bytes - SEAL_COUNT));
}

ksv_status filter_checksum_page_check(const uint8_t id[16], uint64_t number,
                                      const uint8_t *page, size_t page_bytes,
                                      uint64_t offset, ksv_error *error)
{
    if (hash_checksum32(page + SEAL_COUNT, page_bytes - SEAL_COUNT) !=
        load_u32(page + SEAL_CHECKSUM))
        return corrupt_at(error, offset,
                          "a checksum page of the filter is damaged");
    if (memcmp(page + SEAL_ID, id, ID_BYTES) != 0 ||
        load_u64(page + SEAL_NUMBER) != number ||
        load_u32(page + SEAL_COUNT) != count_checksums(page_bytes))
        return corrupt_at(error, offset,
                          "a checksum page of the filter belongs to another "
                          "filter or place");
    return KSV_OK;
}
