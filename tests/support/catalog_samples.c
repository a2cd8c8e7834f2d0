/* SPDX-License-Identifier: MIT */
/* Random catalog states and a comparison that knows nothing of their coding. */
#include "support/catalog_samples.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

uint64_t sample_random(uint64_t *seed)
{
    uint64_t z = (*seed += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

uint64_t sample_below(uint64_t *seed, uint64_t limit)
{
    return sample_random(seed) % limit;
}

/* Without memory a test has no meaning. */
static void *need(void *memory)
{
    if (memory == NULL) {
        fprintf(stderr, "no memory\n");
        exit(2);
    }
    return memory;
}

static void fill(uint8_t *bytes, size_t size, uint64_t *seed)
{
    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)sample_random(seed);
}

static uint8_t *random_blob(const ksv_allocator *a, size_t size, uint64_t *seed)
{
    if (size == 0)
        return NULL;
    uint8_t *blob = need(memory_alloc(a, size));
    fill(blob, size, seed);
    return blob;
}

/* Mostly small, now and then beyond a page. */
static size_t random_size(uint64_t *seed)
{
    return (size_t)(sample_below(seed, 20) == 0 ? sample_below(seed, 20000)
                                                : sample_below(seed, 100));
}

void sample_start(catalog_state *state, uint64_t *seed)
{
    catalog_state_init(state, NULL);
    catalog_parameters *p = &state->parameters;
    fill(p->index_id, sizeof p->index_id, seed);
    fill(p->hasher.key, sizeof p->hasher.key, seed);
    p->hasher.kind = (ksv_hash_kind)(1 + sample_below(seed, 2));
    p->hash_bits = 36 + (unsigned)sample_below(seed, 13);
    p->organisation = (ksv_organisation)(1 + sample_below(seed, 3));
    p->fpr = (double)(1 + sample_below(seed, 999)) / 1000;
    p->format_bytes = (size_t)sample_below(seed, 50);
    p->format = random_blob(&state->allocator, p->format_bytes, seed);
    p->watch_bytes = (size_t)sample_below(seed, 50);
    p->watch = random_blob(&state->allocator, p->watch_bytes, seed);
}

static char *random_path(const ksv_allocator *a, uint64_t *seed)
{
    size_t length = 1 + random_size(seed);
    char *path = need(memory_alloc(a, length + 1));
    for (size_t i = 0; i < length; i++)
        path[i] = (char)(1 + sample_below(seed, 255));
    path[length] = '\0';
    return path;
}

/* A few stretches of `content_bytes`, one behind the other. */
static size_t random_stretches(uint64_t content_bytes, uint64_t *seed,
                               uint64_t firsts[3], uint64_t lengths[3])
{
    size_t count = 1 + (size_t)sample_below(seed, 3);
    uint64_t step = content_bytes / count;
    for (size_t i = 0; i < count; i++) {
        firsts[i] = i * step + sample_below(seed, step / 2);
        lengths[i] = 1 + sample_below(seed, step / 2);
    }
    return count;
}

static catalog_filter random_filter(catalog_state *state, uint64_t keys,
                                    uint64_t *seed)
{
    return (catalog_filter){.id = state->next_segment_id++,
                            .keys = sample_below(seed, keys + 1),
                            .bytes = sample_random(seed)};
}

static void add_extents(catalog_state *state, catalog_file *f, uint64_t *seed)
{
    uint64_t firsts[3];
    uint64_t lengths[3];
    size_t count = random_stretches(f->content_bytes, seed, firsts, lengths);
    if (catalog_file_make_extents(&state->allocator, f, count, NULL) != KSV_OK)
        need(NULL);
    for (size_t i = 0; i < count; i++) {
        catalog_extent *e = &f->extents[i];
        e->first_offset = firsts[i];
        e->length_bytes = lengths[i];
        e->entries = 1 + (sample_random(seed) >> 8);
        e->distinct_keys = sample_below(seed, e->entries + 1);
        e->filter = random_filter(state, e->distinct_keys, seed);
        e->lost_hashes = sample_below(seed, e->filter.keys + 1);
    }
    if (sample_below(seed, 2) == 0) {
        f->points_id = state->next_segment_id++;
        f->points_bytes = sample_random(seed);
    }
}

/* Covers the extents of a file, and what was a file once. */
static void add_segment(catalog_state *state, const catalog_file *f,
                        uint64_t *seed)
{
    catalog_segment s = {.id = state->next_segment_id++,
                         .tier = (unsigned)sample_below(seed, 256),
                         .payload_bits = 1,
                         .table_bytes = sample_random(seed)};
    size_t count = f->extent_count + 1;
    if (catalog_segment_make_parts(&state->allocator, &s, count, NULL) !=
        KSV_OK)
        need(NULL);
    for (size_t i = 0; i < count; i++) {
        catalog_part *part = &s.parts[i];
        bool is_gone = i == f->extent_count;
        part->ordinal = is_gone ? f->ordinal + 1 : f->ordinal;
        part->first_offset = is_gone ? 7 : f->extents[i].first_offset;
        part->length_bytes = is_gone ? 77 : f->extents[i].length_bytes;
        part->entries = sample_random(seed) >> 16;
        part->is_dead = is_gone || sample_below(seed, 4) == 0;
        s.entries += part->entries;
    }
    while ((catalog_segment_span(&s) - 1) >> s.payload_bits != 0)
        s.payload_bits++;
    s.filter = random_filter(state, s.entries, seed);
    if (catalog_state_add_segment(state, &s, NULL) != KSV_OK)
        need(NULL);
}

static void change_file(catalog_file *f, uint64_t *seed)
{
    f->size_bytes = sample_random(seed);
    f->mtime_ns = (int64_t)sample_random(seed);
    f->ctime_ns = (int64_t)sample_random(seed);
    f->inode = sample_random(seed);
    f->device = sample_random(seed);
    fill(f->fingerprint, sizeof f->fingerprint, seed);
    fill(f->content_hash, sizeof f->content_hash, seed);
    fill(f->content_chain, sizeof f->content_chain, seed);
    f->chain_blocks = sample_random(seed);
    f->data_kind = (uint32_t)sample_random(seed);
    f->complete_bytes = sample_below(seed, f->content_bytes + 1);
    f->records = sample_random(seed) >> 1;
    f->records_without_key = sample_below(seed, f->records + 1);
    f->bad_records = sample_random(seed);
    f->longest_record_bytes = sample_random(seed);
}

void sample_add_files(catalog_state *state, uint64_t *seed, size_t count)
{
    const ksv_allocator *a = &state->allocator;
    for (size_t i = 0; i < count; i++) {
        catalog_file f = {.ordinal = state->next_ordinal};
        state->next_ordinal += 2 + sample_below(seed, 3);
        /* The parts of a segment fit 57 bits. */
        f.content_bytes = 100 + (sample_random(seed) >> 9);
        change_file(&f, seed);
        if (sample_below(seed, 5) != 0) {
            add_extents(state, &f, seed);
            add_segment(state, &f, seed);
        }
        f.given_path = random_path(a, seed);
        f.relative_path = random_path(a, seed);
        f.layout_bytes = random_size(seed);
        f.layout = random_blob(a, f.layout_bytes, seed);
        if (catalog_state_add_file(state, &f, NULL) != KSV_OK)
            need(NULL);
    }
}

/* Its parts die, or the whole segment goes. */
static void remove_file(catalog_state *state, uint64_t ordinal, uint64_t *seed)
{
    size_t kept = 0;
    bool all = sample_below(seed, 2) == 0;
    for (size_t i = 0; i < state->segment_count; i++) {
        catalog_segment *s = &state->segments[i];
        bool is_of_it = s->parts[0].ordinal == ordinal;
        for (size_t p = 0; p < s->part_count && is_of_it; p++)
            s->parts[p].is_dead = true;
        if (is_of_it && all)
            catalog_segment_release(&state->allocator, s);
        else
            state->segments[kept++] = *s;
    }
    state->segment_count = kept;
}

void sample_change(catalog_state *state, uint64_t *seed)
{
    size_t kept = 0;
    for (size_t i = 0; i < state->file_count; i++) {
        catalog_file f = state->files[i];
        if (sample_below(seed, 4) == 0) {
            remove_file(state, f.ordinal, seed);
            catalog_file_release(&state->allocator, &f);
            continue;
        }
        if (sample_below(seed, 4) == 0)
            change_file(&f, seed);
        state->files[kept++] = f;
    }
    state->file_count = kept;
}

static void *copy_bytes(const ksv_allocator *a, const void *from, size_t size)
{
    if (size == 0)
        return NULL;
    return memcpy(need(memory_alloc(a, size)), from, size);
}

void sample_copy(const catalog_state *from, catalog_state *to)
{
    catalog_state_init(to, &from->allocator);
    const ksv_allocator *a = &to->allocator;
    to->generation = from->generation;
    to->parameters = from->parameters;
    to->parameters.format =
        copy_bytes(a, from->parameters.format, from->parameters.format_bytes);
    to->parameters.watch =
        copy_bytes(a, from->parameters.watch, from->parameters.watch_bytes);
    to->next_ordinal = from->next_ordinal;
    to->next_segment_id = from->next_segment_id;
    for (size_t i = 0; i < from->file_count; i++) {
        catalog_file f = from->files[i];
        f.given_path =
            need(memory_copy_string(a, f.given_path, strlen(f.given_path)));
        f.relative_path = need(
            memory_copy_string(a, f.relative_path, strlen(f.relative_path)));
        f.layout = copy_bytes(a, f.layout, f.layout_bytes);
        f.extents =
            copy_bytes(a, f.extents, f.extent_count * sizeof *f.extents);
        if (catalog_state_add_file(to, &f, NULL) != KSV_OK)
            need(NULL);
    }
    for (size_t i = 0; i < from->segment_count; i++) {
        catalog_segment s = from->segments[i];
        s.parts = copy_bytes(a, s.parts, s.part_count * sizeof *s.parts);
        if (catalog_state_add_segment(to, &s, NULL) != KSV_OK)
            need(NULL);
    }
}

static bool equal_bytes(const void *a, const void *b, size_t size)
{
    return size == 0 || memcmp(a, b, size) == 0;
}

static bool equal_parameters(const catalog_parameters *a,
                             const catalog_parameters *b)
{
    return memcmp(a->index_id, b->index_id, 16) == 0 &&
           a->hasher.kind == b->hasher.kind &&
           memcmp(a->hasher.key, b->hasher.key, 16) == 0 &&
           a->hash_bits == b->hash_bits && a->organisation == b->organisation &&
           a->fpr == b->fpr && a->format_bytes == b->format_bytes &&
           equal_bytes(a->format, b->format, a->format_bytes) &&
           a->watch_bytes == b->watch_bytes &&
           equal_bytes(a->watch, b->watch, a->watch_bytes);
}

static bool equal_filters(const catalog_filter *a, const catalog_filter *b)
{
    return a->id == b->id && a->keys == b->keys && a->bytes == b->bytes;
}

static bool equal_extents(const catalog_file *a, const catalog_file *b)
{
    for (size_t i = 0; i < a->extent_count; i++) {
        const catalog_extent *x = &a->extents[i];
        const catalog_extent *y = &b->extents[i];
        if (x->first_offset != y->first_offset ||
            x->length_bytes != y->length_bytes || x->entries != y->entries ||
            x->distinct_keys != y->distinct_keys ||
            x->lost_hashes != y->lost_hashes ||
            !equal_filters(&x->filter, &y->filter))
            return false;
    }
    return true;
}

static bool equal_files(const catalog_file *a, const catalog_file *b)
{
    return a->ordinal == b->ordinal &&
           strcmp(a->given_path, b->given_path) == 0 &&
           strcmp(a->relative_path, b->relative_path) == 0 &&
           a->size_bytes == b->size_bytes && a->mtime_ns == b->mtime_ns &&
           a->ctime_ns == b->ctime_ns && a->inode == b->inode &&
           a->device == b->device &&
           memcmp(a->fingerprint, b->fingerprint, 16) == 0 &&
           memcmp(a->content_hash, b->content_hash, 16) == 0 &&
           a->data_kind == b->data_kind &&
           a->content_bytes == b->content_bytes && a->records == b->records &&
           a->records_without_key == b->records_without_key &&
           a->bad_records == b->bad_records &&
           a->longest_record_bytes == b->longest_record_bytes &&
           memcmp(a->content_chain, b->content_chain, 16) == 0 &&
           a->chain_blocks == b->chain_blocks &&
           a->complete_bytes == b->complete_bytes &&
           a->points_id == b->points_id && a->points_bytes == b->points_bytes &&
           a->extent_count == b->extent_count && equal_extents(a, b) &&
           a->layout_bytes == b->layout_bytes &&
           equal_bytes(a->layout, b->layout, a->layout_bytes);
}

static bool equal_parts(const catalog_segment *a, const catalog_segment *b)
{
    for (size_t i = 0; i < a->part_count; i++) {
        const catalog_part *x = &a->parts[i];
        const catalog_part *y = &b->parts[i];
        if (x->ordinal != y->ordinal || x->first_offset != y->first_offset ||
            x->length_bytes != y->length_bytes || x->entries != y->entries ||
            x->is_dead != y->is_dead)
            return false;
    }
    return true;
}

static bool equal_segments(const catalog_segment *a, const catalog_segment *b)
{
    return a->id == b->id && a->tier == b->tier && a->entries == b->entries &&
           a->payload_bits == b->payload_bits &&
           a->table_bytes == b->table_bytes &&
           equal_filters(&a->filter, &b->filter) &&
           a->part_count == b->part_count && equal_parts(a, b);
}

bool sample_equal(const catalog_state *a, const catalog_state *b)
{
    if (a->file_count != b->file_count ||
        a->segment_count != b->segment_count ||
        a->next_ordinal != b->next_ordinal ||
        a->next_segment_id != b->next_segment_id ||
        !equal_parameters(&a->parameters, &b->parameters))
        return false;
    for (size_t i = 0; i < a->file_count; i++)
        if (!equal_files(&a->files[i], &b->files[i]))
            return false;
    for (size_t i = 0; i < a->segment_count; i++)
        if (!equal_segments(&a->segments[i], &b->segments[i]))
            return false;
    return true;
}
