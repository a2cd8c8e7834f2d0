/* SPDX-License-Identifier: MIT */
/* Opens a sorted table and keeps its index blocks. */
#include "sorted/sorted_reader.h"

#include "base/error.h"
#include "io/file.h"
#include "sorted/sorted_reader_private.h"

static ksv_status read_meta(ksv_file *file, sorted_meta *meta, ksv_error *error)
{
    uint8_t header[SORTED_HEADER_BYTES];
    uint8_t footer[SORTED_FOOTER_BYTES];
    ksv_file_info info;
    KSV_TRY(file->ops->info(file, &info, error));
    uint64_t size_bytes = info.size_bytes;
    size_t header_bytes =
        size_bytes < sizeof header ? (size_t)size_bytes : sizeof header;
    KSV_TRY(file_read_exactly(file, 0, header, header_bytes, error));
    KSV_TRY(
        sorted_decode_header(header, header_bytes, &meta->info.options, error));
    if (size_bytes < sizeof header + sizeof footer)
        return error_set_at(error, KSV_ERROR_CORRUPT, NULL, size_bytes,
                            "the sorted table is cut short");
    KSV_TRY(file_read_exactly(file, size_bytes - sizeof footer, footer,
                              sizeof footer, error));
    return sorted_decode_footer(footer, size_bytes, meta, error);
}

ksv_status sorted_reader_open(ksv_file *file, const ksv_allocator *allocator,
                              sorted_reader **out, ksv_error *error)
{
    *out = NULL;
    ksv_allocator a = allocator_or_default(allocator);
    sorted_reader *r = memory_zalloc(&a, sizeof *r);
    if (r == NULL)
        return error_set_memory(error);
    r->allocator = a;
    r->file = file;
    atomic_init(&r->root, NULL);
    ksv_status status = read_meta(file, &r->meta, error);
    if (status != KSV_OK) {
        sorted_reader_close(r);
        return status;
    }
    *out = r;
    return KSV_OK;
}

void sorted_reader_close(sorted_reader *reader)
{
    if (reader == NULL)
        return;
    ksv_allocator a = reader->allocator;
    index_node_free(atomic_load(&reader->root));
    memory_free(&a, reader, sizeof *reader);
}

void sorted_reader_get_info(const sorted_reader *reader, sorted_info *info)
{
    *info = reader->meta.info;
}

ksv_status sorted_reader_node(sorted_reader *reader, index_node_slot *slot,
                              const block_place *place, unsigned level,
                              inflater *decoder, index_node **node,
                              ksv_error *error)
{
    *node = atomic_load_explicit(slot, memory_order_acquire);
    if (*node != NULL)
        return KSV_OK;
    index_node *loaded, *other = NULL;
    KSV_TRY(index_node_load(reader->file, &reader->allocator, place,
                            reader->meta.tag, level, decoder, &loaded, error));
    *node = loaded;
    if (!atomic_compare_exchange_strong(slot, &other, loaded)) {
        /* Another thread was faster. */
        index_node_free(loaded);
        *node = other;
    }
    return KSV_OK;
}
