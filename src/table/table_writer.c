/* SPDX-License-Identifier: MIT */
/* Writes entries that come in order as a table, in one pass. */
#include "table/table_writer.h"

#include <inttypes.h>

#include "base/error.h"
#include "base/memory.h"
#include "table/table_writer_private.h"

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

ksv_status table_writer_flush(ksv_table_writer *w, ksv_error *error)
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
        KSV_TRY(table_writer_flush(w, error));
    *page = w->buffer + w->buffered_bytes;
    w->buffered_bytes += TABLE_PAGE_BYTES;
    return KSV_OK;
}

ksv_status table_writer_room_for_page(ksv_table_writer *w, ksv_error *error)
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
    return status;
}

uint32_t table_writer_number_page(ksv_table_writer *w, const hash_entry *first)
{
    uint64_t number = w->meta.info.pages++;
    w->fences[number] =
        (uint32_t)table_x_of_hash(first->hash, TABLE_FENCE_BITS);
    return (uint32_t)number;
}

/* Cuts the next page; nothing has changed when it fails. */
static ksv_status cut_page(ksv_table_writer *w, ksv_error *error)
{
    uint8_t *page = NULL;
    KSV_TRY(table_writer_room_for_page(w, error));
    KSV_TRY(next_page(w, &page, error));
    uint32_t number =
        table_writer_number_page(w, page_builder_entries(&w->builder));
    page_builder_cut(&w->builder, number, page);
    return KSV_OK;
}

ksv_status table_writer_check_open(const ksv_table_writer *w, ksv_error *error)
{
    if (w->failed != KSV_OK)
        return error_set(error, w->failed, NULL,
                         "the table could not be written before");
    if (w->finished)
        return error_set(error, KSV_ERROR_ARGUMENT, NULL,
                         "the table is finished");
    return KSV_OK;
}

/* Refuses what may not be added now. */
static ksv_status check_entry(const ksv_table_writer *w, uint64_t hash,
                              uint64_t payload, ksv_error *error)
{
    const ksv_table_info *info = &w->meta.info;
    KSV_TRY(table_writer_check_open(w, error));
    const char *wrong = NULL;
    if (hash != ksv_hash_truncate(hash, info->options.hash_bits))
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

/* What is noticed of entries while they are taken over. */
typedef struct entry_pass {
    uint64_t last_x;
    uint64_t last_payload;
    uint64_t run_entries;
    uint64_t longest_run;
    uint64_t distinct;
    uint64_t wrong; /* 0: none */
} entry_pass;

/* Takes over `count` entries. What is wrong is looked at once, by the caller.
 */
static void take_entries(entry_pass *pass, const hash_entry *from, size_t count,
                         const ksv_table_options *options, hash_entry *to)
{
    unsigned shift = 64 - options->hash_bits;
    entry_pass p = *pass;
    uint64_t all_payloads = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t x = from[i].hash >> shift;
        uint64_t payload = from[i].payload;
        all_payloads |= payload;
        if (x != p.last_x) {
            p.wrong |= (uint64_t)(x < p.last_x);
            p.distinct++;
            p.run_entries = 0;
        } else {
            p.wrong |= (uint64_t)(payload < p.last_payload);
        }
        p.run_entries++;
        if (p.run_entries > p.longest_run)
            p.longest_run = p.run_entries;
        p.last_x = x;
        p.last_payload = payload;
        to[i] = from[i];
    }
    p.wrong |= all_payloads >> options->payload_bits;
    *pass = p;
}

static entry_pass begin_pass(const ksv_table_writer *w, uint64_t first_x)
{
    const ksv_table_info *info = &w->meta.info;
    entry_pass pass = {
        .last_x = table_x_of_hash(w->meta.last_hash, info->options.hash_bits),
        .last_payload = w->last_payload,
        .run_entries = w->run_entries,
        .longest_run = info->longest_run,
        .distinct = info->distinct_hashes};
    if (info->entries == 0) {
        pass.last_x = first_x;
        pass.last_payload = 0;
        pass.distinct = 1;
    }
    return pass;
}

static void end_pass(ksv_table_writer *w, const entry_pass *pass, size_t count)
{
    ksv_table_info *info = &w->meta.info;
    info->distinct_hashes = pass->distinct;
    info->longest_run = pass->longest_run;
    info->entries += count;
    w->run_entries = pass->run_entries;
    w->last_payload = pass->last_payload;
    w->meta.last_hash = table_hash_of_x(pass->last_x, info->options.hash_bits);
    w->builder.count += count;
}

/* Adds as many of `count` entries as there is room for; `*taken` says how many.
 */
static ksv_status add_some(ksv_table_writer *w, const hash_entry *entries,
                           size_t count, size_t *taken, ksv_error *error)
{
    const ksv_table_options *options = &w->meta.info.options;
    while (page_builder_is_full(&w->builder))
        KSV_TRY(cut_page(w, error));
    size_t room;
    hash_entry *to = page_builder_room(&w->builder, &room);
    if (count > room)
        count = room;
    uint64_t first_x = table_x_of_hash(entries[0].hash, options->hash_bits);
    entry_pass pass = begin_pass(w, first_x);
    take_entries(&pass, entries, count, options, to);
    if (pass.wrong != 0)
        return error_set(error, KSV_ERROR_ARGUMENT, NULL,
                         "entries of a table are not in ascending order, or "
                         "have payloads of more bits than it keeps");
    if (w->meta.info.entries == 0)
        w->meta.first_hash = table_hash_of_x(first_x, options->hash_bits);
    end_pass(w, &pass, count);
    *taken = count;
    return KSV_OK;
}

ksv_status table_writer_add_entries(ksv_table_writer *writer,
                                    const hash_entry *entries, size_t count,
                                    ksv_error *error)
{
    if (count > 0)
        KSV_TRY(table_writer_check_open(writer, error));
    for (size_t done = 0; done < count;) {
        size_t taken = 0;
        KSV_TRY(add_some(writer, entries + done, count - done, &taken, error));
        done += taken;
    }
    return KSV_OK;
}

ksv_status ksv_table_writer_add(ksv_table_writer *writer, uint64_t hash,
                                uint64_t payload, ksv_error *error)
{
    hash_entry entry = {hash, payload};
    size_t taken;
    KSV_TRY(check_entry(writer, hash, payload, error));
    return add_some(writer, &entry, 1, &taken, error);
}

static ksv_status write_fences(ksv_table_writer *w, ksv_error *error)
{
    uint64_t pages = w->meta.info.pages;
    for (uint64_t i = 0; i < w->meta.fence_pages; i++) {
        uint64_t first = i * TABLE_FENCES_PER_PAGE;
        uint64_t count = pages - first < TABLE_FENCES_PER_PAGE
                             ? pages - first
                             : TABLE_FENCES_PER_PAGE;
        uint8_t *page = NULL;
        KSV_TRY(next_page(w, &page, error));
        table_encode_fence_page(w->fences + first, (size_t)count, (uint32_t)i,
                                w->meta.tag, page);
    }
    return KSV_OK;
}

static ksv_status write_footer(ksv_table_writer *w, ksv_error *error)
{
    if (w->buffered_bytes + TABLE_FOOTER_BYTES > sizeof w->buffer)
        KSV_TRY(table_writer_flush(w, error));
    table_encode_footer(&w->meta, w->buffer + w->buffered_bytes);
    w->buffered_bytes += TABLE_FOOTER_BYTES;
    return table_writer_flush(w, error);
}

ksv_status ksv_table_writer_finish(ksv_table_writer *writer,
                                   ksv_table_info *info, ksv_error *error)
{
    ksv_table_writer *w = writer;
    KSV_TRY(table_writer_check_open(w, error));
    while (w->builder.count > 0)
        KSV_TRY(cut_page(w, error));
    w->meta.fence_pages = table_fence_page_count(w->meta.info.pages);
    w->meta.info.file_bytes = table_file_bytes(w->meta.info.pages);
    w->finished = true;
    KSV_TRY(write_fences(w, error));
    KSV_TRY(write_footer(w, error));
    if (info != NULL)
        *info = w->meta.info;
    return KSV_OK;
}
