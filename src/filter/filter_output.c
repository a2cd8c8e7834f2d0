/* SPDX-License-Identifier: MIT */
/* Writing a filter file in one pass, given its blocks in order. */
#include "filter/filter_output.h"

#include <string.h>

#include "base/coding.h"
#include "base/error.h"

static ksv_status append(filter_output *output, const void *data,
                         size_t size_bytes, ksv_error *error)
{
    ksv_file *file = output->file;
    return file->ops->append(file, data, size_bytes, error);
}

ksv_status filter_output_begin(filter_output *output, ksv_file *file,
                               const ksv_filter_options *options,
                               const ksv_allocator *allocator, ksv_error *error)
{
    *output = (filter_output){.file = file,
                              .allocator = allocator_or_default(allocator),
                              .options = *options};
    buffer_init(&output->checksums, &output->allocator);
    KSV_TRY(filter_options_check(options, error));
    output->layout = filter_layout_of(options->plan.blocks);
    uint8_t header[FILTER_PAGE_BYTES];
    filter_header_encode(options, header);
    return append(output, header, (size_t)output->layout.body_offset, error);
}

void filter_output_release(filter_output *output)
{
    buffer_release(&output->checksums);
}

ksv_status filter_output_body(filter_output *output, const uint8_t *data,
                              size_t size_bytes, ksv_error *error)
{
    for (size_t done = 0; done < size_bytes;) {
        size_t page_bytes = filter_page_bytes(&output->layout, output->pages);
        uint32_t checksum = filter_page_checksum(
            output->options.id, output->pages, data + done, page_bytes);
        KSV_TRY(buffer_put_u32(&output->checksums, checksum, error));
        output->pages++;
        done += page_bytes;
    }
    return append(output, data, size_bytes, error);
}

static ksv_status write_checksum_page(filter_output *output, uint64_t number,
                                      ksv_error *error)
{
    uint8_t page[FILTER_PAGE_BYTES];
    size_t page_bytes = filter_checksum_page_bytes(&output->layout, number);
    size_t first = (size_t)number * FILTER_CHECKSUMS_PER_PAGE;
    memcpy(page + FILTER_CHECKSUM_HEAD_BYTES,
           output->checksums.data + first * sizeof(uint32_t),
           page_bytes - FILTER_CHECKSUM_HEAD_BYTES);
    filter_checksum_page_seal(output->options.id, number, page, page_bytes);
    return append(output, page, page_bytes, error);
}

ksv_status filter_output_finish(filter_output *output, uint64_t keys,
                                ksv_error *error)
{
    for (uint64_t i = 0; i < output->layout.checksum_pages; i++)
        KSV_TRY(write_checksum_page(output, i, error));
    uint8_t footer[FILTER_FOOTER_BYTES];
    filter_footer_encode(&output->options, keys, footer);
    return append(output, footer, sizeof footer, error);
}
