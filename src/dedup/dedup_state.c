/* SPDX-License-Identifier: MIT */
/* What is kept of passed keys across runs and crashes: a directory. */
#include "dedup/dedup_state.h"

#include <string.h>

#include "base/coding.h"
#include "base/error.h"
#include "dedup/dedup_state_private.h"
#include "hash/hash.h"
#include "io/atomic_file.h"
#include "io/file.h"

/* More journals, or longer ones, take too long to read again. */
#define JOURNALS_MOST 8
#define JOURNAL_BYTES_LEAST ((uint64_t)64 << 20)

uint64_t state_epoch(const dedup_state *s)
{
    const ksv_dedup *d = s->dedup;
    return d->exact != NULL ? exact_keys_flushes(d->exact)
                            : generations_begun(d->filters);
}

journal_info state_journal_info(const dedup_state *s, const uint8_t id[16])
{
    const ksv_dedup *d = s->dedup;
    journal_info info = {
        .content = (d->options.window_ms > 0 ? JOURNAL_HAS_TIMES : 0) |
                   (d->exact != NULL ? JOURNAL_HAS_KEYS : 0),
    };
    memcpy(info.id, id, sizeof info.id);
    return info;
}

void state_filter_id(uint64_t number, uint8_t id[16])
{
    memset(id, 0, 16);
    store_u64(id, number);
}

void dedup_state_close(dedup_state *s)
{
    if (s == NULL)
        return;
    ksv_allocator a = s->allocator;
    journal_writer_close(s->journal);
    buffer_release(&s->journals);
    buffer_release(&s->specs);
    memory_free_string(&a, s->directory);
    file_close_quietly(s->lock);
    memory_free(&a, s, sizeof *s);
}

/* The keys of all journals are elsewhere; their files go when the state that
 * does not need them is stored. */
static void drop_journals(dedup_state *s)
{
    journal_writer_close(s->journal);
    s->journal = NULL;
    s->noted_committed = 0;
    buffer_clear(&s->journals);
    s->journals_changed = true;
}

static void settle_epoch(dedup_state *s)
{
    uint64_t epoch = state_epoch(s);
    if (epoch == s->epoch)
        return;
    s->epoch = epoch;
    drop_journals(s);
}

static ksv_status begin_journal(dedup_state *s, ksv_error *error)
{
    char *path;
    state_journal entry = {.number = s->dedup->next_number++};
    hash_random_id(entry.id);
    journal_info info = state_journal_info(s, entry.id);
    KSV_TRY(state_file_path(s->directory, STATE_JOURNAL, entry.number,
                            &s->allocator, &path, error));
    ksv_status status = journal_writer_open(s->fs, path, &info, &s->allocator,
                                            &s->journal, error);
    memory_free_string(&s->allocator, path);
    KSV_TRY(status);
    s->journals_changed = true;
    return buffer_append(&s->journals, &entry, sizeof entry, error);
}

/* Keys of closed generations are stored with these: in the journal, which is
 * read into the open one, they would be kept as long as that. */
static int64_t earliest_noted_ms(const dedup_state *s)
{
    generations *filters = s->dedup->filters;
    size_t count = filters != NULL ? generations_count(filters) : 0;
    return count > 0 ? generations_get(filters, count - 1)->first_ms
                     : INT64_MIN;
}

ksv_status dedup_state_note(dedup_state *s, const offered_key *keys,
                            const bool *fresh, size_t count, ksv_error *error)
{
    settle_epoch(s);
    int64_t earliest_ms = earliest_noted_ms(s);
    for (size_t i = 0; i < count; i++) {
        if (!fresh[i] || keys[i].time_ms < earliest_ms)
            continue;
        if (s->journal == NULL)
            KSV_TRY(begin_journal(s, error));
        KSV_TRY(journal_writer_add(s->journal, &keys[i], error));
    }
    return KSV_OK;
}

static ksv_status write_filter(dedup_state *s, generation *g, ksv_error *error)
{
    char *path;
    uint8_t id[16];
    ksv_file *file;
    uint64_t number = s->dedup->next_number++;
    KSV_TRY(state_file_path(s->directory, STATE_GENERATION, number,
                            &s->allocator, &path, error));
    ksv_status status = s->fs->create(s->fs->ctx, path, &file, error);
    memory_free_string(&s->allocator, path);
    KSV_TRY(status);
    state_filter_id(number, id);
    status = memory_filter_write(&g->filter, &s->dedup->hasher, id, g->keys,
                                 &s->allocator, file, error);
    if (status == KSV_OK)
        status = file->ops->sync(file, error);
    ksv_status closed = file->ops->close(file, status == KSV_OK ? error : NULL);
    KSV_TRY(status != KSV_OK ? status : closed);
    g->file_number = number;
    g->file_keys = g->keys;
    g->is_stored = true;
    return KSV_OK;
}

/* Stores the closed generations, and the open one when its journals have become
 * too long. */
static ksv_status store_generations(dedup_state *s, bool with_open,
                                    ksv_error *error)
{
    generations *filters = s->dedup->filters;
    size_t count = filters != NULL ? generations_count(filters) : 0;
    for (size_t i = 0; i < count; i++) {
        generation *g = generations_get(filters, i);
        bool is_open = i + 1 == count;
        if (!g->is_stored && (!is_open || with_open))
            KSV_TRY(write_filter(s, g, error));
    }
    if (with_open && count > 0)
        drop_journals(s);
    return KSV_OK;
}

static ksv_status list_files(const dedup_state *s, state_record *r,
                             ksv_error *error)
{
    const ksv_dedup *d = s->dedup;
    if (d->exact != NULL) {
        const run_set *runs = exact_keys_runs(d->exact);
        for (size_t i = 0; i < run_set_count(runs); i++) {
            uint64_t number = run_set_get(runs, i)->number;
            KSV_TRY(buffer_append(&r->runs, &number, sizeof number, error));
        }
    } else {
        for (size_t i = 0; i < generations_count(d->filters); i++) {
            const generation *g = generations_get(d->filters, i);
            state_generation entry = {g->first_ms, g->newest_ms, g->file_number,
                                      g->file_keys};
            KSV_TRY(
                buffer_append(&r->generations, &entry, sizeof entry, error));
        }
    }
    return buffer_append(&r->journals, s->journals.data, s->journals.size,
                         error);
}

static ksv_status fill_record(const dedup_state *s, state_record *r,
                              ksv_error *error)
{
    const ksv_dedup *d = s->dedup;
    const ksv_dedup_options *o = &d->options;
    r->hasher = d->hasher;
    r->approximate = o->approximate;
    r->window_ms = o->window_ms;
    r->generation_slices = o->generations;
    r->expected_keys = o->expected_keys;
    r->fpr = o->fpr;
    r->has_time = d->has_time;
    r->stream_ms = d->stream_ms;
    r->next_number = d->next_number;
    KSV_TRY(buffer_append(&r->specs, s->specs.data, s->specs.size, error));
    return list_files(s, r, error);
}

static ksv_status write_record(dedup_state *s, ksv_error *error)
{
    state_record record;
    byte_buffer bytes;
    atomic_file *file = NULL;
    state_record_init(&record, &s->allocator);
    buffer_init(&bytes, &s->allocator);
    ksv_status status = fill_record(s, &record, error);
    if (status == KSV_OK)
        status = state_record_encode(&record, &bytes, error);
    if (status == KSV_OK)
        status = atomic_file_create(s->fs, s->directory, STATE_FILE,
                                    &s->allocator, &file, error);
    if (status == KSV_OK) {
        ksv_file *handle = atomic_file_handle(file);
        status = handle->ops->append(handle, bytes.data, bytes.size, error);
        if (status == KSV_OK)
            status = atomic_file_publish(file, error);
        else
            atomic_file_abandon(file);
    }
    buffer_release(&bytes);
    state_record_release(&record);
    return status;
}

/* Replaces the file "state". New files have their names first. */
static ksv_status store(dedup_state *s, ksv_error *error)
{
    uint64_t committed =
        s->journal != NULL ? journal_writer_committed(s->journal) : 0;
    if (s->journal != NULL) {
        state_journal *last =
            (state_journal *)(void *)(s->journals.data + s->journals.size) - 1;
        last->committed_bytes = committed;
    }
    KSV_TRY(s->fs->sync_directory(s->fs->ctx, s->directory, error));
    KSV_TRY(write_record(s, error));
    KSV_TRY(s->fs->sync_directory(s->fs->ctx, s->directory, error));
    s->is_stored = true;
    s->journals_changed = false;
    s->noted_committed = committed;
    if (s->dedup->exact != NULL)
        run_set_accept(exact_keys_runs(s->dedup->exact));
    else
        s->changes = generations_changes(s->dedup->filters);
    return KSV_OK;
}

static bool is_changed(const dedup_state *s)
{
    const ksv_dedup *d = s->dedup;
    if (!s->is_stored || s->journals_changed)
        return true;
    return d->exact != NULL ? run_set_has_changed(exact_keys_runs(d->exact))
                            : s->changes != generations_changes(d->filters);
}

static bool is_journal_long(const dedup_state *s)
{
    uint64_t most = JOURNAL_BYTES_LEAST;
    uint64_t bytes = s->journal != NULL ? journal_writer_bytes(s->journal) : 0;
    if (s->journals.size / sizeof(state_journal) > JOURNALS_MOST)
        return true;
    if (s->dedup->filters == NULL)
        return false;
    size_t count = generations_count(s->dedup->filters);
    if (count > 0) {
        const generation *open = generations_get(s->dedup->filters, count - 1);
        if (open->filter.memory.size_bytes > most)
            most = open->filter.memory.size_bytes;
    }
    return bytes > most;
}

ksv_status dedup_state_commit(dedup_state *s, ksv_error *error)
{
    ksv_dedup *d = s->dedup;
    bool is_long = is_journal_long(s);
    if (is_long && d->exact != NULL)
        KSV_TRY(exact_keys_flush(d->exact, d->stream_ms, error));
    settle_epoch(s);
    if (s->journal != NULL)
        KSV_TRY(journal_writer_commit(s->journal, error));
    if (!is_long && !is_changed(s))
        return KSV_OK;
    KSV_TRY(store_generations(s, is_long && d->filters != NULL, error));
    KSV_TRY(store(s, error));
    state_clean(s);
    return KSV_OK;
}

void dedup_state_finish(dedup_state *s)
{
    if (s->journal == NULL || is_changed(s) ||
        journal_writer_committed(s->journal) == s->noted_committed)
        return;
    (void)store(s, NULL);
}
