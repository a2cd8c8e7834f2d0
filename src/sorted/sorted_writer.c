/* SPDX-License-Identifier: MIT */
/* Writes entries that come in order as a sorted table, in one pass. */
#include "sorted/sorted_writer.h"

#include "base/bytes.h"
#include "base/error.h"
#include "sorted/block_seal.h"
#include "sorted/index_builder.h"

/* What is appended to the file at a time. */
#define APPEND_BYTES ((size_t)256 << 10)
/* Blocks that are made while others are deflated. */
#define SLOTS_PER_THREAD 4u
#define MOST_SLOTS 64u

struct sorted_writer {
    ksv_allocator allocator;
    ksv_file *file;
    thread_pool *pool; /* NULL: the caller does all */
    sorted_meta meta;
    ksv_status failed; /* of an append, for all later calls */
    bool finished;
    size_t block_bytes;
    byte_buffer out;
    uint64_t out_offset; /* in the file, of what comes next to `out` */
    block_slot *slots;   /* a ring */
    size_t slot_count;
    size_t head; /* the slot that is to be written next */
    size_t busy; /* slots from `head` on whose blocks are complete */
    index_builder index;
    block_slot index_slot;
    byte_buffer last;      /* key */
    uint64_t last_payload; /* its last one */
    uint64_t run_entries;  /* so far */
    size_t
        run_separator;  /* bytes of its key that tell it from the one before */
    uint32_t run_start; /* its first entry in the block that is made */
    size_t run_start_bytes; /* of keys before that */
};

static block_slot *current_slot(const sorted_writer *w)
{
    return &w->slots[(w->head + w->busy) % w->slot_count];
}

static ksv_status start(sorted_writer *w, unsigned threads, ksv_error *error)
{
    const ksv_allocator *a = &w->allocator;
    size_t slots = w->pool != NULL ? threads * SLOTS_PER_THREAD + 2u : 2;
    if (slots > MOST_SLOTS)
        slots = MOST_SLOTS;
    w->slots = memory_zalloc_array(a, slots, sizeof *w->slots);
    if (w->slots == NULL)
        return error_set_memory(error);
    w->slot_count = slots;
    for (size_t i = 0; i < slots; i++)
        KSV_TRY(block_slot_init(&w->slots[i], a, error));
    KSV_TRY(block_slot_init(&w->index_slot, a, error));
    KSV_TRY(buffer_reserve(&w->out, APPEND_BYTES, error));
    sorted_encode_header(&w->meta.info.options, w->out.data);
    w->out.size = w->out_offset = SORTED_HEADER_BYTES;
    return KSV_OK;
}

ksv_status sorted_writer_open(ksv_file *file, const sorted_options *options,
                              thread_pool *pool, unsigned threads,
                              const ksv_allocator *allocator,
                              sorted_writer **out, ksv_error *error)
{
    *out = NULL;
    KSV_TRY(sorted_check_options(options, error));
    ksv_allocator a = allocator_or_default(allocator);
    sorted_writer *w = memory_zalloc(&a, sizeof *w);
    if (w == NULL)
        return error_set_memory(error);
    w->allocator = a;
    w->file = file;
    w->pool = pool;
    w->meta.info.options = *options;
    w->block_bytes =
        options->block_bytes > 0 ? options->block_bytes : SORTED_BLOCK_BYTES;
    w->meta.tag = sorted_tag_of_id(options->id);
    buffer_init(&w->out, &w->allocator);
    buffer_init(&w->last, &w->allocator);
    index_builder_init(&w->index, &w->allocator);
    ksv_status status = start(w, threads, error);
    if (status != KSV_OK) {
        sorted_writer_close(w);
        return status;
    }
    *out = w;
    return KSV_OK;
}

void sorted_writer_close(sorted_writer *writer)
{
    if (writer == NULL)
        return;
    ksv_allocator a = writer->allocator;
    for (size_t i = 0; i < writer->slot_count; i++)
        block_slot_release(&writer->slots[i], writer->pool);
    memory_free(&a, writer->slots, writer->slot_count * sizeof(block_slot));
    block_slot_release(&writer->index_slot, NULL);
    index_builder_release(&writer->index);
    buffer_release(&writer->out);
    buffer_release(&writer->last);
    memory_free(&a, writer, sizeof *writer);
}

static ksv_status flush(sorted_writer *w, ksv_error *error)
{
    w->failed = w->file->ops->append(w->file, w->out.data, w->out.size, error);
    buffer_clear(&w->out);
    return w->failed;
}

/* Writes a block that is sealed; `*place` is where it is. */
static ksv_status write_block(sorted_writer *w, const block_slot *slot,
                              block_place *place, ksv_error *error)
{
    const byte_buffer *sealed = &slot->sealed;
    sorted_info *info = &w->meta.info;
    if (w->out.size + sealed->size > APPEND_BYTES)
        KSV_TRY(flush(w, error));
    KSV_TRY(buffer_append(&w->out, sealed->data, sealed->size, error));
    *place = (block_place){w->out_offset, (uint32_t)sealed->size,
                           slot->header.number};
    w->out_offset += sealed->size;
    info->blocks++;
    info->raw_bytes += block_slot_raw_bytes(slot);
    return KSV_OK;
}

/* Writes what a level of the index has, and adds it to the next one. */
static ksv_status write_index_block(sorted_writer *w, unsigned level,
                                    ksv_error *error)
{
    const sorted_info *info = &w->meta.info;
    block_builder *builder = &w->index.levels[level].builder;
    block_slot *slot = &w->index_slot;
    block_place place;
    slot->header =
        (block_header){.number = (uint32_t)(info->blocks - info->data_blocks),
                       .tag = w->meta.tag,
                       .level = level};
    KSV_TRY(block_builder_end(builder, error));
    KSV_TRY(block_builder_seal(builder, &slot->header, slot->deflater,
                               &slot->sealed, error));
    KSV_TRY(write_block(w, slot, &place, error));
    return index_builder_move_up(&w->index, level, &place, error);
}

/* Writes the index blocks that have no room for one more key of this length,
 * from the lowest level on: each gives one more to the level above. */
static ksv_status make_room_in_index(sorted_writer *w, sorted_key key,
                                     ksv_error *error)
{
    for (unsigned level = 1; level <= w->index.begun; level++) {
        index_level *l = &w->index.levels[level];
        if (l->builder.entries < 2 ||
            block_builder_size_with(&l->builder, key, 0) <= w->block_bytes)
            return KSV_OK;
        KSV_TRY(write_index_block(w, level, error));
        key = (sorted_key){l->first.data, l->first.size};
    }
    return KSV_OK;
}

/* Writes the block of the slot at the head. */
static ksv_status retire(sorted_writer *w, ksv_error *error)
{
    block_slot *slot = &w->slots[w->head];
    block_place place;
    KSV_TRY(block_slot_wait(slot, w->pool, error));
    sorted_key separator = {slot->separator.data, slot->separator.size};
    KSV_TRY(make_room_in_index(w, separator, error));
    KSV_TRY(write_block(w, slot, &place, error));
    w->meta.info.data_blocks++;
    KSV_TRY(index_builder_add(&w->index, 1, separator, slot->continues, &place,
                              error));
    block_builder_clear(&slot->builder);
    w->head = (w->head + 1) % w->slot_count;
    w->busy--;
    return KSV_OK;
}

/* The block that is made is complete; `flags` are its. Afterwards there is a
 * slot for the next one, and another for a run that is carried over. */
static ksv_status complete(sorted_writer *w, unsigned flags, ksv_error *error)
{
    block_slot *slot = current_slot(w);
    uint64_t number = w->meta.info.data_blocks + w->busy;
    if (number >= UINT32_MAX)
        return error_set(error, KSV_ERROR_ARGUMENT, NULL,
                         "a sorted table cannot have more than 2^32 blocks");
    slot->header = (block_header){
        .number = (uint32_t)number,
        .tag = w->meta.tag,
        .flags = flags | (slot->continues ? SORTED_FLAG_RUN_BEFORE : 0u)};
    KSV_TRY(block_builder_end(&slot->builder, error));
    block_slot_seal(slot, w->pool);
    w->busy++;
    return w->busy + 1 == w->slot_count ? retire(w, error) : KSV_OK;
}

/* Says with what the index leads to the block that begins with `key`. */
static ksv_status begin_block(sorted_writer *w, sorted_key key, bool continues,
                              ksv_error *error)
{
    block_slot *slot = current_slot(w);
    size_t size_bytes = continues ? key.size_bytes : w->run_separator;
    slot->continues = continues;
    buffer_clear(&slot->separator);
    w->run_start = 0;
    w->run_start_bytes = 0;
    return buffer_append(&slot->separator, key.data, size_bytes, error);
}

/* Ends the block before the run that does not fit into it as a whole, which
 * then begins the next block. */
static ksv_status carry_run(sorted_writer *w, sorted_key key, ksv_error *error)
{
    block_slot *from = current_slot(w);
    uint32_t entries = from->builder.entries;
    uint32_t start = w->run_start;
    block_builder_cut(&from->builder, start, w->run_start_bytes);
    w->busy++;
    block_slot *to = current_slot(w);
    ksv_status status = begin_block(w, key, false, error);
    w->busy--;
    KSV_TRY(status);
    for (uint32_t i = start; i < entries; i++)
        KSV_TRY(block_builder_add(&to->builder, key, from->builder.payloads[i],
                                  error));
    return complete(w, 0, error);
}

/* Makes room for an entry in the block that is made, and begins one. */
static ksv_status make_room(sorted_writer *w, sorted_key key, bool is_new,
                            ksv_error *error)
{
    const block_builder *builder = &current_slot(w)->builder;
    bool continues = false;
    if (builder->entries > 0) {
        unsigned bits = w->meta.info.options.payload_bits;
        if (block_builder_size_with(builder, key, bits) <= w->block_bytes)
            return KSV_OK;
        if (!is_new && w->run_start > 0)
            return carry_run(w, key, error);
        continues = !is_new;
        KSV_TRY(complete(w, continues ? SORTED_FLAG_RUN_AFTER : 0, error));
    }
    return begin_block(w, key, continues, error);
}

static ksv_status check_entry(const sorted_writer *w, uint64_t payload,
                              int order, ksv_error *error)
{
    const sorted_info *info = &w->meta.info;
    const char *wrong = NULL;
    if (payload >> info->options.payload_bits != 0)
        wrong = "a payload has more bits than the table keeps";
    else if (order < 0 || (order == 0 && payload < w->last_payload))
        wrong = "entries of a table are not in ascending order";
    if (wrong != NULL)
        return error_set(error, KSV_ERROR_ARGUMENT, NULL, "%s", wrong);
    return KSV_OK;
}

static ksv_status check_open(const sorted_writer *w, ksv_error *error)
{
    if (w->failed != KSV_OK)
        return error_set(error, w->failed, NULL,
                         "the sorted table could not be written before");
    if (w->finished)
        return error_set(error, KSV_ERROR_ARGUMENT, NULL,
                         "the sorted table is finished");
    return KSV_OK;
}

/* Below 0, 0 or above as `key` comes before, is or comes after the last one;
 * `*common` bytes are the same. */
static int compare_with_last(const sorted_writer *w, sorted_key key,
                             size_t *common)
{
    size_t most = key.size_bytes < w->last.size ? key.size_bytes : w->last.size;
    *common = bytes_common(key.data, w->last.data, 0, most);
    if (*common < most)
        return key.data[*common] < w->last.data[*common] ? -1 : 1;
    return (key.size_bytes > most) - (w->last.size > most);
}

static ksv_status add(sorted_writer *w, sorted_key key, uint64_t payload,
                      bool is_new, ksv_error *error)
{
    KSV_TRY(make_room(w, key, is_new, error));
    block_builder *builder = &current_slot(w)->builder;
    if (is_new) {
        w->run_start = builder->entries;
        w->run_start_bytes = builder->keys.size;
    }
    return block_builder_add(builder, key, payload, error);
}

static void count_entry(sorted_writer *w, sorted_key key, bool is_new)
{
    sorted_info *info = &w->meta.info;
    info->entries++;
    info->key_bytes += key.size_bytes;
    info->distinct_keys += is_new;
    w->run_entries = is_new ? 1 : w->run_entries + 1;
    if (w->run_entries > info->longest_run)
        info->longest_run = w->run_entries;
}

ksv_status sorted_writer_add(sorted_writer *writer, sorted_key key,
                             uint64_t payload, bool *is_new, ksv_error *error)
{
    sorted_writer *w = writer;
    bool first = w->meta.info.entries == 0;
    size_t common = 0;
    KSV_TRY(check_open(w, error));
    int order = first ? 1 : compare_with_last(w, key, &common);
    KSV_TRY(check_entry(w, payload, order, error));
    if (order > 0)
        w->run_separator = first ? 0 : common + 1;
    w->failed = add(w, key, payload, order > 0, error);
    if (w->failed != KSV_OK)
        return w->failed;
    count_entry(w, key, order > 0);
    w->last_payload = payload;
    if (is_new != NULL)
        *is_new = order > 0;
    w->last.size = common;
    if (key.size_bytes == common)
        return KSV_OK;
    w->failed = buffer_append(&w->last, key.data + common,
                              key.size_bytes - common, error);
    return w->failed;
}

static ksv_status write_root(sorted_writer *w, ksv_error *error)
{
    for (unsigned level = 1; level <= w->index.begun; level++) {
        w->meta.levels = level - 1;
        if (index_builder_has_root(&w->index, level, &w->meta.root))
            return KSV_OK;
        KSV_TRY(write_index_block(w, level, error));
    }
    return KSV_OK;
}

static ksv_status finish(sorted_writer *w, ksv_error *error)
{
    if (w->meta.info.entries > 0)
        KSV_TRY(complete(w, 0, error));
    while (w->busy > 0)
        KSV_TRY(retire(w, error));
    KSV_TRY(write_root(w, error));
    KSV_TRY(buffer_reserve(&w->out, SORTED_FOOTER_BYTES, error));
    w->meta.info.file_bytes = w->out_offset + SORTED_FOOTER_BYTES;
    sorted_encode_footer(&w->meta, w->out.data + w->out.size);
    w->out.size += SORTED_FOOTER_BYTES;
    return flush(w, error);
}

ksv_status sorted_writer_finish(sorted_writer *writer, sorted_info *info,
                                ksv_error *error)
{
    KSV_TRY(check_open(writer, error));
    writer->finished = true;
    writer->failed = finish(writer, error);
    if (writer->failed == KSV_OK && info != NULL)
        *info = writer->meta.info;
    return writer->failed;
}
