/* SPDX-License-Identifier: MIT */
/* The second step of a batch: the data of its candidates in waves. */
#include "base/error.h"
#include "base/memory.h"
#include "lookup/batch_run.h"

/* Of a key with very many candidates the others are read when its turn comes.
 */
#define CANDIDATES_MOST 64

/* How many candidates of a key are read together. */
static size_t wanted_of(const batch_run *run, size_t key)
{
    size_t count = run->starts[key + 1] - run->starts[key];
    bool enough_with_one = run->batch->first_only || run->batch->visit == NULL;
    size_t most = enough_with_one ? 1 : CANDIDATES_MOST;
    return count < most ? count : most;
}

static fetch_span span_of(const batch_run *run, const lookup_candidate *c)
{
    return record_fetch_span(lookup_record_source(run->session, c->file),
                             c->offset);
}

/* Opens and checks the data file of a candidate, once a batch. */
static ksv_status need_file(batch_run *run, const lookup_candidate *c,
                            ksv_error *error)
{
    index_snapshot *s = run->session->snapshot;
    if (run->checked_files[c->file])
        return KSV_OK;
    datafile *data;
    KSV_TRY(snapshot_data(s, c->file, run->session->start_ns, &data,
                          batch_receipt(run, c->key), error));
    run->checked_files[c->file] = true;
    return KSV_OK;
}

/* The bytes of a mapped file stay where they are, to be looked at when their
 * key's turn comes. */
static void take_mapped(batch_run *run, lookup_candidate *c)
{
    lookup_session *session = run->session;
    if (!lookup_find_mapped(&session->snapshot->files[c->file],
                            lookup_record_source(session, c->file), c))
        return;
    ksv_receipt *receipt = batch_receipt(run, c->key);
    receipt->data_reads++;
    receipt->bytes_read += c->size_bytes;
}

ksv_status batch_map_data(batch_run *run, ksv_error *error)
{
    size_t files = run->session->snapshot->state.file_count;
    run->checked_files = memory_zalloc(run->allocator, files);
    if (run->checked_files == NULL && files > 0)
        return error_set_memory(error);
    for (size_t key = 0; key < run->batch->count; key++) {
        size_t from = run->starts[key];
        size_t until = from + wanted_of(run, key);
        for (size_t i = from; i < until; i++) {
            KSV_TRY(need_file(run, &run->ordered[i], error));
            take_mapped(run, &run->ordered[i]);
        }
    }
    return KSV_OK;
}

/* Makes an item of each candidate to be read of the keys from `first` on, of
 * as many keys as the wave has room for; `*wave_bytes` is what they take. */
static ksv_status choose_candidates(batch_run *run, size_t first, size_t *end,
                                    size_t *wave_bytes, ksv_error *error)
{
    size_t bytes = 0;
    size_t key = first;
    run->item_count = 0;
    for (; key < run->batch->count; key++) {
        size_t from = run->starts[key];
        size_t until = from + wanted_of(run, key);
        size_t more = 0;
        for (size_t i = from; i < until; i++)
            if (run->ordered[i].bytes == NULL)
                more += span_of(run, &run->ordered[i]).size_bytes;
        if (key > first && bytes + more > run->wave.capacity_bytes)
            break;
        bytes += more;
        for (size_t i = from; i < until; i++)
            if (run->ordered[i].bytes == NULL)
                KSV_TRY(batch_add_item(run, run->ordered[i].offset, (uint32_t)i,
                                       run->ordered[i].file, error));
    }
    *end = key;
    *wave_bytes = bytes;
    return KSV_OK;
}

/* Adds the read for an item; it may find no room, then it is done later. */
static ksv_status add_read(batch_run *run, size_t i, ksv_file *file,
                           size_t *left_bytes, ksv_error *error)
{
    lookup_candidate *c = &run->ordered[run->items[i].owner];
    fetch_span span = span_of(run, c);
    read_wave *wave = &run->wave;
    *left_bytes -= span.size_bytes;
    /* Gaps are read as long as that takes no room from others. */
    size_t room = wave->capacity_bytes - wave->used_bytes;
    size_t taken = *left_bytes + span.size_bytes;
    size_t gap_bytes = room > taken ? room - taken : 0;
    if (gap_bytes > READ_WAVE_GAP_BYTES)
        gap_bytes = READ_WAVE_GAP_BYTES;
    if (!run->shares)
        gap_bytes = READ_WAVE_APART;
    bool added;
    KSV_TRY(read_wave_add(wave, file, span.offset, span.size_bytes, gap_bytes,
                          &run->parts[i], &added, error));
    /* Until the wave has run, this marks those that are in it. */
    c->size_bytes = added ? (uint32_t)span.size_bytes : 0;
    return KSV_OK;
}

/* Items of one file: opens and checks it, and adds their reads. */
static ksv_status add_file(batch_run *run, size_t from, size_t until,
                           size_t *left_bytes, ksv_error *error)
{
    index_snapshot *s = run->session->snapshot;
    size_t number = run->items[from].source;
    const snapshot_file *file = &s->files[number];
    datafile *data;
    uint32_t key = run->ordered[run->items[from].owner].key;
    KSV_TRY(snapshot_data(s, number, run->session->start_ns, &data,
                          batch_receipt(run, key), error));
    bool is_plain = file->facts->data_kind == DATAFILE_PLAIN;
    for (size_t i = from; i < until; i++) {
        run->ordered[run->items[i].owner].size_bytes = 0;
        if (is_plain && file->mapped == NULL)
            KSV_TRY(add_read(run, i, datafile_file(data), left_bytes, error));
    }
    return KSV_OK;
}

/* Tells the candidates where their bytes are. */
static void hand_out(batch_run *run)
{
    const read_wave *wave = &run->wave;
    for (size_t i = 0; i < run->item_count; i++) {
        lookup_candidate *c = &run->ordered[run->items[i].owner];
        if (c->bytes != NULL || c->size_bytes == 0)
            continue;
        const wave_part *part = &run->parts[i];
        c->bytes = wave->buffer + part->position;
        c->size_bytes = (uint32_t)read_wave_got(wave, part, c->size_bytes);
        if (run->shares)
            continue;
        ksv_receipt *receipt = batch_receipt(run, c->key);
        receipt->data_reads++;
        receipt->bytes_read += c->size_bytes;
    }
    if (run->shares) {
        run->batch->sum->data_reads += wave->count;
        run->batch->sum->bytes_read += read_wave_bytes(wave);
    }
}

ksv_status batch_read_data(batch_run *run, size_t first, size_t *end,
                           ksv_error *error)
{
    size_t left_bytes;
    KSV_TRY(choose_candidates(run, first, end, &left_bytes, error));
    if (run->item_count == 0)
        return KSV_OK;
    KSV_TRY(batch_sort_items(run, 0, error));
    KSV_TRY(batch_make_parts(run, error));
    read_wave_clear(&run->wave);
    for (size_t i = 0; i < run->item_count;) {
        size_t from = i;
        while (i < run->item_count &&
               run->items[i].source == run->items[from].source)
            i++;
        KSV_TRY(add_file(run, from, i, &left_bytes, error));
    }
    KSV_TRY(read_wave_run(&run->wave, error));
    hand_out(run);
    return KSV_OK;
}
