/* SPDX-License-Identifier: MIT */
/* Opens a state: locks it, checks that it is the right one, takes up its keys.
 */
#include <string.h>

#include "base/error.h"
#include "dedup/dedup_state_private.h"
#include "hash/hash.h"
#include "io/file.h"

#define STATE_BYTES_MAX ((uint64_t)16 << 20)

static ksv_status encode_specs(dedup_state *s, ksv_error *error)
{
    const ksv_dedup *d = s->dedup;
    if (d->spec != NULL)
        KSV_TRY(scan_spec_encode(d->spec, &s->specs, error));
    if (d->time_spec != NULL)
        KSV_TRY(scan_spec_encode(d->time_spec, &s->specs, error));
    return KSV_OK;
}

static ksv_status take_lock(dedup_state *s, ksv_error *error)
{
    char *path = path_join(&s->allocator, s->directory, STATE_LOCK_FILE);
    if (path == NULL)
        return error_set_memory(error);
    ksv_status status = s->fs->lock(s->fs->ctx, path, &s->lock, error);
    memory_free_string(&s->allocator, path);
    if (status == KSV_ERROR_BUSY)
        return error_set(error, KSV_ERROR_BUSY, s->directory,
                         "another process is using this state");
    return status;
}

static ksv_status mismatch(const dedup_state *s, const char *what,
                           ksv_error *error)
{
    return error_set(error, KSV_ERROR_MISMATCH, s->directory,
                     "the state was made with %s", what);
}

/* What belongs to a state is what it was made with. */
static ksv_status check_options(const dedup_state *s, const state_record *r,
                                const ksv_dedup_options *o, ksv_error *error)
{
    if (r->approximate != o->approximate)
        return mismatch(s, r->approximate ? "--approximate" : "the exact way",
                        error);
    if (r->window_ms != o->window_ms)
        return mismatch(s, r->window_ms > 0 ? "another window" : "no window",
                        error);
    if (o->window_ms > 0 && r->generation_slices != o->generations)
        return mismatch(s, "another number of generations", error);
    if (o->approximate &&
        (r->expected_keys != o->expected_keys || r->fpr != o->fpr))
        return mismatch(s, "another number of keys to expect, or rate", error);
    if (o->hash != 0 && r->hasher.kind != o->hash)
        return mismatch(s, "another hash", error);
    if (r->specs.size != s->specs.size ||
        (s->specs.size > 0 &&
         memcmp(r->specs.data, s->specs.data, s->specs.size) != 0))
        return mismatch(s, "another format, key or time field", error);
    return KSV_OK;
}

static ksv_status adopt_generation(const dedup_state *s,
                                   const state_generation *stored,
                                   ksv_error *error)
{
    generation *g;
    char *path;
    uint8_t id[16];
    ksv_file *file;
    KSV_TRY(generations_add(s->dedup->filters, &g, error));
    g->first_ms = stored->first_ms;
    g->newest_ms = stored->newest_ms;
    if (stored->file_number == 0)
        return KSV_OK;
    g->file_number = stored->file_number;
    g->file_keys = stored->file_keys;
    g->keys = stored->file_keys;
    g->is_stored = true;
    KSV_TRY(state_file_path(s->directory, STATE_GENERATION, g->file_number,
                            &s->allocator, &path, error));
    state_filter_id(g->file_number, id);
    ksv_status status = s->fs->open_read(s->fs->ctx, path, &file, error);
    if (status == KSV_OK) {
        status = memory_filter_read(&g->filter, &s->dedup->hasher, id,
                                    &s->allocator, file, error);
        file_close_quietly(file);
    }
    if (status != KSV_OK)
        error_add_path(error, path);
    memory_free_string(&s->allocator, path);
    return status;
}

static ksv_status adopt_files(const dedup_state *s, const state_record *r,
                              ksv_error *error)
{
    ksv_dedup *d = s->dedup;
    size_t runs = r->runs.size / sizeof(uint64_t);
    size_t filters = r->generations.size / sizeof(state_generation);
    if ((runs > 0 && d->exact == NULL) || (filters > 0 && d->filters == NULL))
        return error_set(error, KSV_ERROR_CORRUPT, s->directory,
                         "the state is damaged");
    for (size_t i = 0; i < runs; i++) {
        uint64_t number;
        memcpy(&number, r->runs.data + i * sizeof number, sizeof number);
        KSV_TRY(run_set_adopt(exact_keys_runs(d->exact), number, error));
    }
    for (size_t i = 0; i < filters; i++) {
        state_generation g;
        memcpy(&g, r->generations.data + i * sizeof g, sizeof g);
        KSV_TRY(adopt_generation(s, &g, error));
    }
    return KSV_OK;
}

static ksv_status replay_key(void *ctx, const offered_key *key,
                             ksv_error *error)
{
    ksv_dedup *d = ctx;
    if (key->time_ms < INT64_MIN / 4 || key->time_ms > INT64_MAX / 4)
        return error_set(error, KSV_ERROR_CORRUPT, NULL,
                         "a time in the journal is out of range");
    if (d->options.window_ms > 0 &&
        (!d->has_time || key->time_ms > d->stream_ms)) {
        d->has_time = true;
        d->stream_ms = key->time_ms;
    }
    return dedup_note_passed(d, key, error);
}

static ksv_status replay_journals(dedup_state *s, ksv_error *error)
{
    ksv_dedup *d = s->dedup;
    for (size_t at = 0; at < s->journals.size; at += sizeof(state_journal)) {
        state_journal j;
        char *path;
        memcpy(&j, s->journals.data + at, sizeof j);
        journal_info info = state_journal_info(s, j.id);
        KSV_TRY(state_file_path(s->directory, STATE_JOURNAL, j.number,
                                &s->allocator, &path, error));
        ksv_status status = journal_read(s->fs, path, &info, j.committed_bytes,
                                         &s->allocator, replay_key, d, error);
        memory_free_string(&s->allocator, path);
        KSV_TRY(status);
    }
    s->epoch = state_epoch(s);
    /* Where some went to disk already, all do: then no journal is needed, which
     * the next checkpoint will see. */
    if (d->exact != NULL && s->epoch > 0)
        return exact_keys_flush(d->exact, d->stream_ms, error);
    return KSV_OK;
}

static ksv_status take_up(dedup_state *s, const state_record *r,
                          ksv_error *error)
{
    ksv_dedup *d = s->dedup;
    d->hasher = r->hasher;
    d->has_time = r->has_time;
    d->stream_ms = r->stream_ms;
    d->next_number = r->next_number;
    KSV_TRY(dedup_open_engine(d, s->directory, true, error));
    KSV_TRY(adopt_files(s, r, error));
    KSV_TRY(
        buffer_append(&s->journals, r->journals.data, r->journals.size, error));
    s->is_stored = true;
    return replay_journals(s, error);
}

static ksv_status decode_and_take_up(dedup_state *s, const byte_buffer *bytes,
                                     ksv_error *error)
{
    state_record record;
    state_record_init(&record, &s->allocator);
    ksv_status status =
        state_record_decode(bytes->data, bytes->size, &record, error);
    if (status == KSV_OK)
        status = check_options(s, &record, &s->dedup->options, error);
    if (status == KSV_OK)
        status = take_up(s, &record, error);
    state_record_release(&record);
    return status;
}

static ksv_status begin_new(dedup_state *s, ksv_error *error)
{
    ksv_dedup *d = s->dedup;
    d->hasher.kind = d->options.hash != 0 ? d->options.hash : KSV_HASH_XXH3;
    d->next_number = 1;
    hash_random_id(d->hasher.key);
    return dedup_open_engine(d, s->directory, true, error);
}

static ksv_status read_state(dedup_state *s, ksv_error *error)
{
    byte_buffer bytes;
    ksv_error problem;
    char *path = path_join(&s->allocator, s->directory, STATE_FILE);
    if (path == NULL)
        return error_set_memory(error);
    buffer_init(&bytes, &s->allocator);
    ksv_status status =
        file_read_all(s->fs, path, STATE_BYTES_MAX, &bytes, &problem);
    if (status == KSV_OK) {
        status = decode_and_take_up(s, &bytes, &problem);
        if (status != KSV_OK)
            error_add_path(&problem, path);
    } else if (file_error_is_missing(&problem)) {
        status = begin_new(s, &problem);
    }
    if (status != KSV_OK && error != NULL)
        *error = problem;
    buffer_release(&bytes);
    memory_free_string(&s->allocator, path);
    return status;
}

/* Whether a file belongs to the state: to be asked when it is stored. */
static bool is_used(const void *ctx, state_file_kind kind, uint64_t number)
{
    const dedup_state *s = ctx;
    const ksv_dedup *d = s->dedup;
    if (kind == STATE_RUN) {
        size_t count =
            d->exact != NULL ? run_set_count(exact_keys_runs(d->exact)) : 0;
        for (size_t i = 0; i < count; i++) {
            if (run_set_get(exact_keys_runs(d->exact), i)->number == number)
                return true;
        }
    } else if (kind == STATE_GENERATION) {
        size_t count = d->filters != NULL ? generations_count(d->filters) : 0;
        for (size_t i = 0; i < count; i++) {
            if (generations_get(d->filters, i)->file_number == number)
                return true;
        }
    } else {
        for (size_t at = 0; at < s->journals.size;
             at += sizeof(state_journal)) {
            state_journal j;
            memcpy(&j, s->journals.data + at, sizeof j);
            if (j.number == number)
                return true;
        }
    }
    return false;
}

void state_clean(const dedup_state *s)
{
    state_files_clean(s->fs, s->directory, &s->allocator, is_used, s);
}

static ksv_status open_state(dedup_state *s, ksv_error *error)
{
    KSV_TRY(encode_specs(s, error));
    KSV_TRY(state_files_check(s->fs, s->directory, error));
    KSV_TRY(s->fs->make_directory(s->fs->ctx, s->directory, error));
    KSV_TRY(take_lock(s, error));
    KSV_TRY(read_state(s, error));
    if (s->dedup->filters != NULL)
        s->changes = generations_changes(s->dedup->filters);
    return KSV_OK;
}

ksv_status dedup_state_open(ksv_dedup *dedup, const char *directory,
                            ksv_error *error)
{
    ksv_allocator *a = &dedup->allocator;
    dedup_state *s = memory_zalloc(a, sizeof *s);
    if (s == NULL)
        return error_set_memory(error);
    s->dedup = dedup;
    s->allocator = *a;
    s->fs = dedup->fs;
    buffer_init(&s->journals, &s->allocator);
    buffer_init(&s->specs, &s->allocator);
    s->directory = memory_copy_string(a, directory, strlen(directory));
    ksv_status status =
        s->directory != NULL ? open_state(s, error) : error_set_memory(error);
    if (status != KSV_OK) {
        dedup_state_close(s);
        return status;
    }
    dedup->state = s;
    return KSV_OK;
}
