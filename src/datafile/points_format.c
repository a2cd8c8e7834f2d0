/* SPDX-License-Identifier: MIT */
/* The coding of access points. */
#include "datafile/points_format.h"

#include "base/coding.h"

void points_entry_encode(const points_entry *entry,
                         uint8_t bytes[POINTS_ENTRY_BYTES])
{
    store_u64(bytes, entry->content);
    store_u64(bytes + 8, entry->header_bit);
    store_u64(bytes + 16, entry->symbol_bit);
    store_u64(bytes + 24, entry->member_offset);
    store_u64(bytes + 32, entry->blob_offset);
    store_u64(bytes + 40, entry->data_end);
    store_u32(bytes + 48, entry->span_bytes);
    store_u32(bytes + 52, entry->first_crc);
    store_u32(bytes + 56, entry->blob_checksum);
    store_u16(bytes + 60, entry->window_bytes);
    store_u16(bytes + 62, entry->window_stored_bytes);
}

void points_entry_decode(points_entry *entry,
                         const uint8_t bytes[POINTS_ENTRY_BYTES])
{
    entry->content = load_u64(bytes);
    entry->header_bit = load_u64(bytes + 8);
    entry->symbol_bit = load_u64(bytes + 16);
    entry->member_offset = load_u64(bytes + 24);
    entry->blob_offset = load_u64(bytes + 32);
    entry->data_end = load_u64(bytes + 40);
    entry->span_bytes = load_u32(bytes + 48);
    entry->first_crc = load_u32(bytes + 52);
    entry->blob_checksum = load_u32(bytes + 56);
    entry->window_bytes = load_u16(bytes + 60);
    entry->window_stored_bytes = load_u16(bytes + 62);
}
