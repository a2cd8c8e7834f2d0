/* SPDX-License-Identifier: MIT */
/* Writes entries that come in order as a table, in one pass. */
#include <inttypes.h>

#include "base/error.h"
#include "base/memory.h"
#include "table/page_builder.h"
#include "table/table_format.h"

/* Pages are appended this many at a time. */
#define BUFFER_PAGES 16

struct ksv_table_writer {
    ksv_allocator allocator;
    ksv_file *file;
    table_meta meta;
    page_builder builder;
    uint64_t last_payload; /* with meta.last_hash, once there are entries */
    uint64_t run_entries;  /* so far, of the last hash */
    uint32_t *fences;      /* of the pages so far */
    size_t fence_capacity;
    size_t buffered_bytes;
    bool finished;
    ksv_status failed; /* KSV_OK until an append failed */
    uint8_t buffer[BUFFER_PAGES * TABLE_PAGE_BYTES];
};

ksv_status ksv_table_writer_open(ksv_file *file,
                                 const ksv_table_options *options,
                                 const ksv_allocator *allocator,
                                 ksv_table_writer **writer, ksv_error *error)
{
    *writer = NULL;
    KSV_TRY(table_check_options(options, error));
    ksv_allocator a = allocator_or_default(allocator);
    ksv_table_writer *w = memory_zalloc(&a, sizeof *w);
    if (w == NULL)
        return error_set_memory(error);
    w->allocator = a;
    w->file = file;
    w->meta.info.options = *options;
    w->meta.tag = table_tag_of_id(options->id);
    page_context context = {options->hash_bits, options->payload_bits,
                            w->meta.tag};
    ksv_status status =
        page_builder_init(&w->builder, &context, &w->allocator, error);
    if (status != KSV_OK) {
        ksv_table_writer_close(w);
        return status;
    }
    table_encode_header(options, w->buffer);
    w->buffered_bytes = TABLE_HEADER_BYTES;
    *writer = w;
    return KSV_OK;
}

void ksv_table_writer_close(ksv_table_writer *writer)
{
    if (writer == NULL)
        return;
    ksv_allocator a = writer->allocator;
    page_builder_release(&writer->builder, &a);
    memory_free(&a, writer->fences,
                writer->fence_capacity * sizeof *writer->fences);
    memory_free(&a, writer, sizeof *writer);
}

static ksv_status flush_buffer(ksv_table_writer *w, ksv_error *error)
{
    w->failed =
        w->file->ops->append(w->file, w->buffer, w->buffered_bytes, error);
    w->buffered_bytes = 0;
    return w->failed;
}

/* Room for one more page in the buffer. */
static ksv_status next_page(ksv_table_writer *w, uint8_t **page,
                            ksv_error *error)
{
    if (w->buffered_bytes == sizeof w->buffer)
        KSV_TRY(flush_buffer(w, error));
    *page = w->buffer + w->buffered_bytes;
    w->buffered_bytes += TABLE_PAGE_BYTES;
    return KSV_OK;
}

/* Takes the fence of the page that the builder is about to cut, and finds room
 * for it; nothing has changed when it fails. */
static ksv_status begin_page(ksv_table_writer *w, uint8_t **page,
                             uint32_t *number, ksv_error *error)
{
    ksv_table_info *info = &w->meta.info;
    if (info->pages == TABLE_MAX_PAGES)
        return error_set(error, KSV_ERROR_ARGUMENT, NULL,
                         "a table cannot have more than %" PRIu32 " pages",
                         TABLE_MAX_PAGES);
    void *fences = w->fences;
    ksv_status status =
        memory_grow(&w->allocator, &fences, &w->fence_capacity,
                    (size_t)info->pages + 1, sizeof *w->fences, error);
    w->fences = fences;
    KSV_TRY(status);
    KSV_TRY(next_page(w, page, error));
    w->fences[info->pages] =
        table_fence_of_x(w->builder.entries[0].x, info->options.hash_bits);
    *number = (uint32_t)info->pages++;
    return KSV_OK;
}

/* Refuses what may not be added now. */
static ksv_status check_entry(const ksv_table_writer *w, uint64_t hash,
                              uint64_t payload, ksv_error *error)
{
    const ksv_table_info *info = &w->meta.info;
    const char *wrong = NULL;
    if (w->failed != KSV_OK)
        return error_set(error, w->failed, NULL,
                         "the table could not be written before");
    if (w->finished)
        wrong = "the table is finished";
    else if (hash != ksv_hash_truncate(hash, info->options.hash_bits))
        wrong = "a hash has more bits than the table keeps";
    else if (payload >> info->options.payload_bits != 0)
        wrong = "a payload has more bits than the table keeps";
    else if (info->entries > 0 &&
             (hash < w->meta.last_hash ||
              (hash == w->meta.last_hash && payload < w->last_payload)))
        wrong = "entries of a table are not in ascending order";
    if (wrong != NULL)
        return error_set(error, KSV_ERROR_ARGUMENT, NULL, "%s", wrong);
    return KSV_OK;
}

static void count_entry(ksv_table_writer *w, uint64_t hash, uint64_t payload)
{
    ksv_table_info *info = &w->meta.info;
    if (info->entries == 0)
        w->meta.first_hash = hash;
    if (info->entries == 0 || hash != w->meta.last_hash) {
        info->distinct_hashes++;
        w->run_entries = 0;
    }
    info->entries++;
    w->run_entries++;
    if (w->run_entries > info->longest_run)
        info->longest_run = w->run_entries;
    w->meta.last_hash = hash;
    w->last_payload = payload;
}

ksv_status ksv_table_writer_add(ksv_table_writer *writer, uint64_t hash,
                                uint64_t payload, ksv_error *error)
{
    ksv_table_writer *w = writer;
    KSV_TRY(check_entry(w, hash, payload, error));
    uint64_t x = table_x_of_hash(hash, w->meta.info.options.hash_bits);
    while (!page_builder_fits(&w->builder, x)) {
        uint8_t *page;
        uint32_t number;
        KSV_TRY(begin_page(w, &page, &number, error));
        page_builder_cut(&w->builder, x, number, page);
    }
    page_builder_push(&w->builder, x, payload);
    count_entry(w, hash, payload);
    return KSV_OK;
}

static ksv_status write_fences(ksv_table_writer *w, ksv_error *error)
{
    uint64_t pages = w->meta.info.pages;
    for (uint64_t i = 0; i < w->meta.fence_pages; i++) {
        uint64_t first = i * TABLE_FENCES_PER_PAGE;
        uint64_t count = pages - first < TABLE_FENCES_PER_PAGE
                             ? pages - first
                             : TABLE_FENCES_PER_PAGE;
        uint8_t *page;
        KSV_TRY(next_page(w, &page, error));
        table_encode_fence_page(w->fences + first, (size_t)count, (uint32_t)i,
                                w->meta.tag, page);
    }
    return KSV_OK;
}

static ksv_status write_footer(ksv_table_writer *w, ksv_error *error)
{
    if (w->buffered_bytes + TABLE_FOOTER_BYTES > sizeof w->buffer)
        KSV_TRY(flush_buffer(w, error));
    table_encode_footer(&w->meta, w->buffer + w->buffered_bytes);
    w->buffered_bytes += TABLE_FOOTER_BYTES;
    return flush_buffer(w, error);
}

ksv_status ksv_table_writer_finish(ksv_table_writer *writer,
                                   ksv_table_info *info, ksv_error *error)
{
    ksv_table_writer *w = writer;
    KSV_TRY(check_entry(w, w->meta.last_hash, w->last_payload, error));
    if (w->builder.count > 0) {
        uint8_t *page;
        uint32_t number;
        KSV_TRY(begin_page(w, &page, &number, error));
        page_builder_cut_last(&w->builder, number, page);
    }
    w->meta.fence_pages = table_fence_page_count(w->meta.info.pages);
    w->meta.info.file_bytes = table_file_bytes(w->meta.info.pages);
    w->finished = true;
    KSV_TRY(write_fences(w, error));
    KSV_TRY(write_footer(w, error));
    if (info != NULL)
        *info = w->meta.info;
    return KSV_OK;
}
