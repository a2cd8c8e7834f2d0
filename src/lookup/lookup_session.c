/* SPDX-License-Identifier: MIT */
/* Looks single keys up in a snapshot: filters, tables, then the data. */
#include "lookup/lookup_session.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "io/file.h"
#include "lookup/record_source.h"
#include "segment/segment_data.h"

#define SPARE_FETCH_BYTES_MOST ((size_t)1 << 20)

ksv_status lookup_session_open(lookup_session *session,
                               index_snapshot *snapshot, ksv_error *error)
{
    memset(session, 0, sizeof *session);
    session->snapshot = snapshot;
    session->start_ns = clock_monotonic_ns();
    session->fetch = atomic_exchange(&snapshot->spare_fetch, NULL);
    if (session->fetch != NULL)
        return KSV_OK;
    return record_fetch_open(snapshot->spec, &snapshot->allocator,
                             &session->fetch, error);
}

void lookup_session_close(lookup_session *session)
{
    record_fetch *none = NULL;
    /* One that has met a long record holds more memory than it is worth. */
    if (record_fetch_held_bytes(session->fetch) > SPARE_FETCH_BYTES_MOST ||
        !atomic_compare_exchange_strong(&session->snapshot->spare_fetch, &none,
                                        session->fetch))
        record_fetch_close(session->fetch);
    memory_free(&session->snapshot->allocator, session->candidates,
                session->candidate_capacity * sizeof *session->candidates);
}

/* A filter that cannot be used says "maybe". */
static ksv_status ask_filter(lookup_session *session, size_t segment,
                             uint64_t hash, bool *maybe, ksv_receipt *receipt,
                             ksv_error *error)
{
    index_snapshot *s = session->snapshot;
    ksv_filter *filter;
    *maybe = true;
    KSV_TRY(snapshot_filter(s, segment, &filter, receipt, error));
    if (filter == NULL)
        return KSV_OK;
    receipt->filter_probes++;
    ksv_error problem;
    error_clear(&problem);
    ksv_status status = ksv_filter_may_contain(filter, hash, maybe, &problem);
    if (status == KSV_ERROR_MEMORY)
        return error_set_memory(error);
    if (status != KSV_OK) {
        KSV_TRY(snapshot_filter_failed(s, segment, &problem, error));
        *maybe = true;
    }
    receipt->filter_positives += *maybe;
    return KSV_OK;
}

static ksv_status refuse_payload(candidate_sink *sink)
{
    const index_snapshot *s = sink->session->snapshot;
    error_set(sink->error, KSV_ERROR_CORRUPT, NULL,
              "index file is damaged: an entry beyond the end of the data");
    segment_table_error(&s->place, s->segments[sink->segment].facts->id,
                        sink->error);
    return KSV_ERROR_CORRUPT;
}

static ksv_status add_candidate(candidate_sink *sink, uint32_t file,
                                uint64_t offset)
{
    lookup_session *session = sink->session;
    if (session->candidate_count == session->candidate_capacity) {
        void *items = session->candidates;
        ksv_status status = memory_grow(
            &session->snapshot->allocator, &items, &session->candidate_capacity,
            session->candidate_count + 1, sizeof *session->candidates,
            sink->error);
        session->candidates = items;
        KSV_TRY(status);
    }
    session->candidates[session->candidate_count++] =
        (lookup_candidate){.offset = offset,
                           .file = file,
                           .segment = (uint32_t)sink->segment,
                           .key = sink->key};
    return KSV_OK;
}

bool lookup_take_candidate(void *ctx, uint64_t payload)
{
    candidate_sink *sink = ctx;
    const snapshot_segment *segment =
        &sink->session->snapshot->segments[sink->segment];
    if (payload >= part_map_span(&segment->map)) {
        sink->status = refuse_payload(sink);
        return false;
    }
    size_t number = part_map_find(&segment->map, payload);
    const snapshot_part *part = &segment->parts[number];
    if (part->file == SNAPSHOT_DEAD)
        return true;
    uint64_t position = payload - segment->map.bases[number];
    sink->status =
        add_candidate(sink, part->file, part->first_offset + position);
    return sink->status == KSV_OK;
}

ksv_status lookup_ask_table(lookup_session *session, size_t segment,
                            const table_key *key, uint32_t number,
                            ksv_receipt *receipt, ksv_error *error)
{
    index_snapshot *s = session->snapshot;
    const segment_table *table;
    KSV_TRY(snapshot_table(s, segment, &table, receipt, error));
    candidate_sink sink = {session, segment, number, KSV_OK, error};
    table_cost cost = {.pages = 0};
    ksv_status status = table->organisation->find(
        table, key, lookup_take_candidate, &sink, &cost, error);
    lookup_add_table_cost(receipt, &cost);
    if (status != KSV_OK) {
        segment_table_error(&s->place, s->segments[segment].facts->id, error);
        return status;
    }
    return sink.status;
}

/* All places where a record of the hash may be, in the order of the answer. */
static ksv_status collect(lookup_session *session, const table_key *key,
                          ksv_receipt *receipt, ksv_error *error)
{
    session->candidate_count = 0;
    for (size_t i = 0; i < session->snapshot->segment_count; i++) {
        bool maybe;
        KSV_TRY(ask_filter(session, i, key->hash, &maybe, receipt, error));
        if (!maybe)
            continue;
        size_t before = session->candidate_count;
        KSV_TRY(lookup_ask_table(session, i, key, 0, receipt, error));
        receipt->false_positives += session->candidate_count == before;
    }
    lookup_sort_candidates(session->candidates, session->candidate_count);
    return KSV_OK;
}

/* Changed data must not be found out in the middle of an answer. */
static ksv_status require_data(lookup_session *session, ksv_receipt *receipt,
                               ksv_error *error)
{
    size_t last = SIZE_MAX;
    for (size_t i = 0; i < session->candidate_count; i++) {
        size_t file = session->candidates[i].file;
        if (file == last)
            continue;
        last = file;
        datafile *data;
        KSV_TRY(snapshot_data(session->snapshot, file, session->start_ns, &data,
                              receipt, error));
    }
    return KSV_OK;
}

static bool same_key(const scan_record *record, ksv_key key)
{
    return record->kind == SCAN_RECORD_KEYED &&
           record->key_bytes == key.bytes &&
           memcmp(record->key, key.data, key.bytes) == 0;
}

/* A record with another key is a collision of truncated hashes, or the data has
 * changed although its size and times have not. */
static bool is_collision(const index_snapshot *s, const scan_record *record,
                         uint64_t hash)
{
    const catalog_parameters *p = &s->state.parameters;
    if (record->kind != SCAN_RECORD_KEYED)
        return false;
    uint64_t other = ksv_hash(&p->hasher, record->key, record->key_bytes);
    return ksv_hash_truncate(other, p->hash_bits) ==
           ksv_hash_truncate(hash, p->hash_bits);
}

static ksv_status visit_record(lookup_session *session,
                               const lookup_request *request, size_t file,
                               datafile *data, const fetched_record *fetched,
                               ksv_receipt *receipt, ksv_error *error)
{
    if (request->visit == NULL)
        return KSV_OK;
    const snapshot_file *from = &session->snapshot->files[file];
    lookup_source source = {data, from->facts->given_path,
                            fetched->record.offset, fetched->record.length,
                            receipt};
    ksv_record record = {.key = request->key.data,
                         .key_bytes = request->key.bytes,
                         .file = from->facts->given_path,
                         .offset = fetched->record.offset,
                         .length = fetched->record.length,
                         .data = request->no_data ? NULL : fetched->data,
                         .source = &source};
    if (!request->visit(request->ctx, request->key_number, &record))
        return error_set(error, KSV_ERROR_CANCELLED, NULL, "stopped");
    return KSV_OK;
}

const record_source *lookup_record_source(lookup_session *session, size_t file)
{
    index_snapshot *s = session->snapshot;
    record_source *source = &session->source;
    if (source->file != NULL && session->source_file == file)
        return source;
    const catalog_file *facts = s->files[file].facts;
    *source =
        (record_source){.file = snapshot_opened_data(s, file),
                        .layout = facts->layout,
                        .layout_bytes = facts->layout_bytes,
                        .content_bytes = facts->content_bytes,
                        .longest_record_bytes = facts->longest_record_bytes,
                        .records = facts->records};
    record_source_measure(source);
    record_match_init(&session->match, s->spec, facts->layout,
                      facts->layout_bytes);
    session->source_file = file;
    return source;
}

bool lookup_find_mapped(const snapshot_file *file, const record_source *source,
                        lookup_candidate *candidate)
{
    if (file->mapped == NULL)
        return false;
    fetch_span span = record_fetch_span(source, candidate->offset);
    uint64_t left =
        span.offset < file->mapped_bytes ? file->mapped_bytes - span.offset : 0;
    candidate->bytes = file->mapped + (left > 0 ? span.offset : 0);
    candidate->size_bytes =
        (uint32_t)(left < span.size_bytes ? left : span.size_bytes);
    return true;
}

/* Takes a record in memory that is plainly the one of the key; false: it has to
 * be read with care. */
static bool match_candidate(const lookup_session *session,
                            const lookup_candidate *here, ksv_key key,
                            fetched_record *out)
{
    uint64_t length;
    if (here->bytes == NULL ||
        !record_match_key(&session->match, here->offset, here->bytes,
                          here->size_bytes, key.data, key.bytes, &length))
        return false;
    out->data = here->bytes + 1;
    out->record = (scan_record){.offset = here->offset,
                                .length = length,
                                .key = key.data,
                                .key_bytes = key.bytes,
                                .kind = SCAN_RECORD_KEYED};
    return true;
}

static ksv_status fetch_candidate(lookup_session *session,
                                  const record_source *source,
                                  const lookup_candidate *candidate,
                                  ksv_key key, fetched_record *out,
                                  bool *matches, datafile_cost *cost,
                                  ksv_error *error)
{
    const index_snapshot *s = session->snapshot;
    lookup_candidate here = *candidate;
    if (here.bytes == NULL &&
        lookup_find_mapped(&s->files[here.file], source, &here))
        *cost = (datafile_cost){.reads = 1, .bytes_read = here.size_bytes};
    *matches = match_candidate(session, &here, key, out);
    if (*matches)
        return KSV_OK;
    if (here.bytes == NULL)
        KSV_TRY(record_fetch_at(session->fetch, source, here.offset, out, cost,
                                error));
    else
        KSV_TRY(record_fetch_in(session->fetch, source, here.offset, here.bytes,
                                here.size_bytes, out, cost, error));
    *matches = same_key(&out->record, key);
    return KSV_OK;
}

/* Reads the record of a candidate and visits it if it has the key. */
static ksv_status try_candidate(lookup_session *session,
                                const lookup_request *request,
                                const lookup_candidate *candidate,
                                uint64_t hash, bool *matches,
                                ksv_receipt *receipt, ksv_error *error)
{
    index_snapshot *s = session->snapshot;
    size_t file = candidate->file;
    const catalog_file *facts = s->files[file].facts;
    ksv_error unwanted;
    ksv_error *told = error != NULL ? error : &unwanted;
    datafile *data = snapshot_opened_data(s, file);
    if (candidate->bytes == NULL)
        KSV_TRY(
            snapshot_data(s, file, session->start_ns, &data, receipt, error));
    const record_source *source = lookup_record_source(session, file);
    datafile_cost cost = {0, 0, 0};
    fetched_record fetched;
    ksv_status status =
        fetch_candidate(session, source, candidate, request->key, &fetched,
                        matches, &cost, told);
    lookup_add_cost(receipt, &cost);
    if (status != KSV_OK)
        return segment_data_error(facts, s->files[file].path, told);
    if (*matches)
        return visit_record(session, request, file, data, &fetched, receipt,
                            error);
    if (is_collision(s, &fetched.record, hash))
        return KSV_OK;
    return file_identity_error(facts, FILE_IDENTITY_CHANGED, error);
}

ksv_status lookup_try_candidates(lookup_session *session,
                                 const lookup_request *request, uint64_t hash,
                                 const lookup_candidate *candidates,
                                 size_t count, uint64_t *found,
                                 ksv_receipt *receipt, ksv_error *error)
{
    bool enough_with_one = request->first_only || request->visit == NULL;
    size_t i = 0;
    while (i < count) {
        size_t segment = candidates[i].segment;
        uint64_t before = *found;
        for (; i < count && candidates[i].segment == segment; i++) {
            bool matches = false;
            KSV_TRY(try_candidate(session, request, &candidates[i], hash,
                                  &matches, receipt, error));
            *found += matches;
            if (*found > 0 && enough_with_one)
                return KSV_OK;
        }
        receipt->false_positives += *found == before;
    }
    return KSV_OK;
}

uint64_t lookup_hash(const lookup_session *session, ksv_key key)
{
    const catalog_parameters *p = &session->snapshot->state.parameters;
    return ksv_hash(&p->hasher, key.data, key.bytes);
}

/* Once a call: what was found is right, but may not be all. */
void lookup_warn_of_changes(lookup_session *session)
{
    if (!session->has_warned)
        snapshot_warn_of_changes(session->snapshot, session->start_ns);
    session->has_warned = true;
}

ksv_status lookup_key(lookup_session *session, const lookup_request *request,
                      uint64_t *found, ksv_receipt *receipt, ksv_error *error)
{
    *found = 0;
    receipt->keys++;
    if (request->key.bytes == 0)
        return KSV_OK;
    uint64_t hash = lookup_hash(session, request->key);
    table_key key = {request->key.data, request->key.bytes, hash, false};
    KSV_TRY(collect(session, &key, receipt, error));
    KSV_TRY(require_data(session, receipt, error));
    KSV_TRY(lookup_try_candidates(session, request, hash, session->candidates,
                                  session->candidate_count, found, receipt,
                                  error));
    receipt->found += *found > 0;
    if (*found > 0) {
        if (request->visit != NULL && !request->first_only)
            lookup_warn_of_changes(session);
        return KSV_OK;
    }
    return snapshot_check_all_fresh(session->snapshot, session->start_ns,
                                    error);
}

ksv_status lookup_maybe(lookup_session *session, ksv_key key, bool *maybe,
                        ksv_receipt *receipt, ksv_error *error)
{
    *maybe = false;
    receipt->keys++;
    if (key.bytes == 0)
        return KSV_OK;
    uint64_t hash = lookup_hash(session, key);
    for (size_t i = 0; i < session->snapshot->segment_count && !*maybe; i++)
        KSV_TRY(ask_filter(session, i, hash, maybe, receipt, error));
    receipt->found += *maybe;
    if (*maybe)
        return KSV_OK;
    return snapshot_check_all_fresh(session->snapshot, session->start_ns,
                                    error);
}

void lookup_add_receipt(ksv_receipt *sum, const ksv_receipt *one)
{
    if (sum == NULL)
        return;
    sum->keys += one->keys;
    sum->found += one->found;
    sum->filter_probes += one->filter_probes;
    sum->filter_positives += one->filter_positives;
    sum->false_positives += one->false_positives;
    sum->table_pages_read += one->table_pages_read;
    sum->data_reads += one->data_reads;
    sum->bytes_read += one->bytes_read;
    sum->bytes_inflated += one->bytes_inflated;
    sum->files_opened += one->files_opened;
    sum->elapsed_ns += one->elapsed_ns;
}
