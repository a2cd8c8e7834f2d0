/* SPDX-License-Identifier: MIT */
/* The public iterator: entries of the keys that a walk goes over. */
#include <keysieve/range.h>

#include "base/error.h"
#include "base/memory.h"
#include "io/file.h"
#include "lookup/index_handle.h"
#include "lookup/key_walk.h"

struct ksv_iterator {
    ksv_index *index;
    shared_snapshot *shared;
    key_walk walk;
    /* Of the key that the walk went over last the iterator stands before entry
     * number `at`. */
    bool has_key;
    size_t at;
    bool has_told;
    size_t told; /* number of the entry that was told last */
};

/* A state that a build has replaced on the way is left for the new one. */
static ksv_status open_walk(ksv_iterator *it, const ksv_range *range,
                            ksv_error *error)
{
    unsigned renewals = 0;
    for (;;) {
        ksv_status status =
            key_walk_open(&it->walk, it->shared->snapshot, range, error);
        if (status == KSV_OK)
            return KSV_OK;
        key_walk_close(&it->walk);
        if (!index_renew(it->index, &it->shared, status, &renewals))
            return status;
    }
}

ksv_status ksv_iterator_open(ksv_index *index, const ksv_range *range,
                             ksv_iterator **iterator, ksv_error *error)
{
    *iterator = NULL;
    ksv_iterator *it = memory_zalloc(&index->allocator, sizeof *it);
    if (it == NULL)
        return error_set_memory(error);
    it->index = index;
    it->shared = index_acquire(index);
    ksv_status status = open_walk(it, range, error);
    if (status != KSV_OK) {
        index_release(index, it->shared);
        memory_free(&index->allocator, it, sizeof *it);
        return status;
    }
    *iterator = it;
    return KSV_OK;
}

void ksv_iterator_close(ksv_iterator *iterator)
{
    if (iterator == NULL)
        return;
    ksv_index *index = iterator->index;
    key_walk_close(&iterator->walk);
    index_release(index, iterator->shared);
    memory_free(&index->allocator, iterator, sizeof *iterator);
}

static void tell(ksv_iterator *it, size_t number, ksv_entry *entry)
{
    const key_walk *w = &it->walk;
    const lookup_candidate *c = &w->session.candidates[number];
    it->has_told = true;
    it->told = number;
    *entry = (ksv_entry){
        .key = w->key.data,
        .key_bytes = w->key.size,
        .file = w->session.snapshot->files[c->file].facts->given_path,
        .offset = c->offset};
}

ksv_status ksv_iterator_next(ksv_iterator *iterator, ksv_entry *entry,
                             bool *end, ksv_error *error)
{
    ksv_iterator *it = iterator;
    key_walk *w = &it->walk;
    *end = false;
    it->has_told = false;
    if (!it->has_key || it->at == w->session.candidate_count) {
        if (it->has_key && w->direction == WALK_BACKWARD)
            KSV_TRY(key_walk_turn(w, error));
        it->has_key = false;
        KSV_TRY(key_walk_next(w, &it->has_key, error));
        it->at = 0;
    }
    *end = !it->has_key;
    if (!*end)
        tell(it, it->at++, entry);
    return KSV_OK;
}

ksv_status ksv_iterator_previous(ksv_iterator *iterator, ksv_entry *entry,
                                 bool *end, ksv_error *error)
{
    ksv_iterator *it = iterator;
    key_walk *w = &it->walk;
    *end = false;
    it->has_told = false;
    if (!it->has_key || it->at == 0) {
        if (it->has_key && w->direction == WALK_FORWARD)
            KSV_TRY(key_walk_turn(w, error));
        it->has_key = false;
        KSV_TRY(key_walk_previous(w, &it->has_key, error));
        it->at = w->session.candidate_count;
    }
    *end = !it->has_key;
    if (!*end)
        tell(it, --it->at, entry);
    return KSV_OK;
}

ksv_status ksv_iterator_seek(ksv_iterator *iterator, const void *key,
                             size_t key_bytes, ksv_error *error)
{
    iterator->has_key = false;
    iterator->has_told = false;
    return key_walk_seek(&iterator->walk, (ksv_key){key, key_bytes}, error);
}

ksv_status ksv_iterator_seek_end(ksv_iterator *iterator, ksv_error *error)
{
    iterator->has_key = false;
    iterator->has_told = false;
    return key_walk_seek_end(&iterator->walk, error);
}

ksv_status ksv_iterator_read(ksv_iterator *iterator, bool no_data,
                             ksv_record_fn visit, void *ctx, ksv_error *error)
{
    if (!iterator->has_told)
        return error_set(error, KSV_ERROR_ARGUMENT, NULL,
                         "no entry was told that could be read");
    /* What was seen of the data files before this call counts no more. */
    iterator->walk.session.start_ns = clock_monotonic_ns();
    return key_walk_read(&iterator->walk, iterator->told, 0, no_data, visit,
                         ctx, error);
}

void ksv_iterator_receipt(const ksv_iterator *iterator, ksv_receipt *receipt)
{
    *receipt = iterator->walk.receipt;
}
