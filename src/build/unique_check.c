/* SPDX-License-Identifier: MIT */
/* Finds a key that occurs twice in an index. */
#include "build/unique_check.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "catalog/file_identity.h"
#include "scan/record_fetch.h"
#include "segment/organisation.h"
#include "segment/segment_data.h"

typedef struct unique_checker {
    const segment_place *place;
    const char *real_directory;
    const catalog_state *state;
    record_fetch *fetch;
    const merge_space *space; /* of all segments */
    table_entry *group;       /* entries with equal hashes */
    size_t group_size;
    size_t group_capacity;
} unique_checker;

static const catalog_file *find_file(const unique_checker *c,
                                     const table_entry *entry, uint64_t *offset)
{
    const catalog_part *part =
        merge_space_find(c->space, entry->payload, offset);
    return catalog_find_file(c->state, part->ordinal);
}

/* Appends the key of the record that `entry` stands for to `key`. */
static ksv_status read_key(unique_checker *c, const table_entry *entry,
                           byte_buffer *key, ksv_error *error)
{
    uint64_t offset;
    const catalog_file *file = find_file(c, entry, &offset);
    const ksv_allocator *a = c->place->allocator;
    char *path;
    KSV_TRY(file_identity_path(c->place->fs, c->real_directory, file, a, &path,
                               error));
    datafile *opened = NULL;
    ksv_status status = segment_open_data(c->place, file, path, &opened, error);
    if (status != KSV_OK) {
        memory_free_string(a, path);
        return status;
    }
    record_source source = {opened,
                            file->layout,
                            file->layout_bytes,
                            file->content_bytes,
                            file->longest_record_bytes,
                            file->records};
    fetched_record fetched;
    datafile_cost cost = {0, 0, 0};
    status = record_fetch_at(c->fetch, &source, offset, &fetched, &cost, error);
    if (status == KSV_OK)
        status = buffer_append(key, fetched.record.key,
                               fetched.record.key_bytes, error);
    else
        status = segment_data_error(file, path, error);
    datafile_close(opened);
    memory_free_string(a, path);
    return status;
}

static ksv_status duplicate(unique_checker *c, const table_entry *first,
                            const table_entry *second, ksv_error *error)
{
    uint64_t first_offset, second_offset;
    const catalog_file *first_file = find_file(c, first, &first_offset);
    const catalog_file *second_file = find_file(c, second, &second_offset);
    return error_set_at(
        error, KSV_ERROR_DUPLICATE, second_file->given_path, second_offset,
        "the key of this record is already that of %s, byte "
        "%llu",
        first_file->given_path, (unsigned long long)first_offset);
}

/* Compares the keys of a group two by two: groups of more than one key are
 * collisions of the hash and hardly ever larger than two. */
static ksv_status check_group(unique_checker *c, ksv_error *error)
{
    byte_buffer keys[2];
    buffer_init(&keys[0], c->place->allocator);
    buffer_init(&keys[1], c->place->allocator);
    ksv_status status = KSV_OK;
    for (size_t i = 1; i < c->group_size && status == KSV_OK; i++) {
        buffer_clear(&keys[0]);
        status = read_key(c, &c->group[i], &keys[0], error);
        for (size_t j = 0; j < i && status == KSV_OK; j++) {
            buffer_clear(&keys[1]);
            status = read_key(c, &c->group[j], &keys[1], error);
            if (status == KSV_OK && keys[0].size == keys[1].size &&
                memcmp(keys[0].data, keys[1].data, keys[0].size) == 0)
                status = duplicate(c, &c->group[j], &c->group[i], error);
        }
    }
    buffer_release(&keys[0]);
    buffer_release(&keys[1]);
    return status;
}

static ksv_status add_to_group(unique_checker *c, const table_entry *entry,
                               ksv_error *error)
{
    void *items = c->group;
    KSV_TRY(memory_grow(c->place->allocator, &items, &c->group_capacity,
                        c->group_size + 1, sizeof *c->group, error));
    c->group = items;
    c->group[c->group_size++] = *entry;
    return KSV_OK;
}

static ksv_status check_all(unique_checker *c, segment_merge *merge,
                            ksv_error *error)
{
    for (;;) {
        table_entry entry;
        bool end;
        KSV_TRY(segment_merge_next(merge, &entry, &end, error));
        bool new_group =
            c->group_size == 0 || end || entry.hash != c->group[0].hash;
        /* Two equal hashes are looked at at once: a key that occurs a million
         * times must not be collected first. */
        if (new_group || c->group_size == 2) {
            KSV_TRY(check_group(c, error));
            if (new_group)
                c->group_size = 0;
        }
        if (end)
            return KSV_OK;
        KSV_TRY(add_to_group(c, &entry, error));
    }
}

ksv_status unique_check(const segment_place *place, const char *real_directory,
                        const scan_spec *spec, const catalog_state *state,
                        ksv_error *error)
{
    const ksv_allocator *a = place->allocator;
    unique_checker c = {
        .place = place, .real_directory = real_directory, .state = state};
    size_t count = state->segment_count;
    segment_merge *merge = NULL;
    const catalog_segment **segments =
        memory_zalloc_array(a, count, sizeof *segments);
    if (segments == NULL)
        return error_set_memory(error);
    for (size_t i = 0; i < count; i++)
        segments[i] = &state->segments[i];
    ksv_status status = record_fetch_open(spec, a, &c.fetch, error);
    if (status == KSV_OK)
        status = segment_merge_open(place, segments, count, &merge, error);
    if (status == KSV_OK) {
        c.space = segment_merge_space(merge);
        status = check_all(&c, merge, error);
    }
    segment_merge_close(merge);
    record_fetch_close(c.fetch);
    memory_free(a, segments, count * sizeof *segments);
    memory_free(a, c.group, c.group_capacity * sizeof *c.group);
    return status;
}
