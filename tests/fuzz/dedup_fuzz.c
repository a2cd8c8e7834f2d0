/* SPDX-License-Identifier: MIT */
/* Any bytes as a file of a state of dedup: a run, a journal or "state", as the
 * first byte says. In half of the runs checksums that a fuzzer cannot guess are
 * made right first, so that it gets behind them. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/coding.h"
#include "dedup/journal_frame.h"
#include "hash/hash.h"
#include "support/dedup_files.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void seal64(uint8_t *at, size_t size)
{
    store_u64(at + size, hash_checksum64(at, size));
}

static void repair_run(uint8_t *data, size_t size)
{
    if (size < RUN_FIRST_PAGE_OFFSET + RUN_FOOTER_BYTES)
        return;
    ksv_hasher hasher = dedup_sample_hasher();
    run_info info = {.hasher = hasher, .page_bytes = load_u32(data + 12)};
    memcpy(info.id, data + 16, sizeof info.id);
    seal64(data, 56);
    uint8_t *footer = data + size - RUN_FOOTER_BYTES;
    memcpy(footer + 8, info.id, sizeof info.id);
    info.pages = load_u64(footer + 24);
    info.filter_blocks = load_u64(footer + 56);
    if (info.page_bytes < RUN_PAGE_BYTES_MIN || info.page_bytes > size ||
        info.pages > size / info.page_bytes || info.filter_blocks > size ||
        run_file_bytes(&info) != size)
        return;
    for (uint64_t i = 0; i < info.pages; i++) {
        uint8_t *page = data + run_page_offset(&info, i);
        memcpy(page + 24, info.id, 8);
        store_u32(page, hash_checksum32(page + 4, info.page_bytes - 4));
    }
    hash_wide_state *content;
    uint8_t sum[HASH_WIDE_BYTES];
    if (hash_wide_open(NULL, &content, NULL) != KSV_OK)
        return;
    if (run_tail_bytes(&info) > 0)
        hash_wide_add(content, data + run_page_offset(&info, info.pages),
                      (size_t)run_tail_bytes(&info));
    hash_wide_take(content, sum);
    hash_wide_close(content);
    memcpy(footer + 72, sum, sizeof sum);
    seal64(footer, 136);
}

static void repair_journal(uint8_t *data, size_t size, const journal_info *info)
{
    if (size < JOURNAL_HEADER_BYTES)
        return;
    journal_header_encode(info, data);
    uint64_t sequence = 0;
    for (size_t at = JOURNAL_HEADER_BYTES; size - at >= JOURNAL_FRAME_BYTES;) {
        journal_frame frame;
        if (!journal_frame_decode(data + at, size - at - JOURNAL_FRAME_BYTES,
                                  &frame))
            return;
        frame.sequence = sequence++;
        journal_frame_seal(info, &frame, data + at);
        at += JOURNAL_FRAME_BYTES + (size_t)frame.payload_bytes;
    }
}

static void try_run(uint8_t *data, size_t size, int repair)
{
    uint64_t entries;
    uint64_t sum;
    unsigned found;
    ksv_hasher hasher = dedup_sample_hasher();
    if (repair)
        repair_run(data, size);
    (void)!dedup_read_run(data, size, &hasher, &entries, &sum, &found, NULL);
}

static void try_journal(uint8_t *data, size_t size, int repair)
{
    uint64_t entries;
    bool is_sample;
    journal_info info = dedup_sample_journal();
    if (repair)
        repair_journal(data, size, &info);
    ksv_status status =
        dedup_read_journal(data, size, &info, 0, &entries, &is_sample, NULL);
    /* Bytes that nobody could make without the checksums give no entry but
     * those of the corpus. */
    if (status == KSV_OK && !repair && !is_sample)
        abort();
}

static void try_state(uint8_t *data, size_t size, int repair)
{
    state_record record;
    byte_buffer again;
    state_record_init(&record, dedup_sample_allocator());
    buffer_init(&again, dedup_sample_allocator());
    if (repair && size >= 8)
        seal64(data, size - 8);
    if (state_record_decode(data, size, &record, NULL) == KSV_OK &&
        (state_record_encode(&record, &again, NULL) != KSV_OK ||
         again.size != size))
        abort();
    buffer_release(&again);
    state_record_release(&record);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    int repair = (data[0] & 4) != 0;
    uint8_t *copy = malloc(size);
    if (copy == NULL)
        return 0;
    memcpy(copy, data + 1, size - 1);
    switch (data[0] & 3) {
    case 0:
        try_run(copy, size - 1, repair);
        break;
    case 1:
        try_journal(copy, size - 1, repair);
        break;
    default:
        try_state(copy, size - 1, repair);
    }
    free(copy);
    return 0;
}
