/* SPDX-License-Identifier: MIT */
/* Sidecars: opened, and checked to be the ones expected. */
#include "segment/segment.h"

#include <string.h>

#include "base/coding.h"
#include "base/error.h"
#include "hash/hash.h"
#include "io/file.h"
#include "io/reopening_file.h"

void segment_sidecar_id(const catalog_parameters *parameters, uint64_t id,
                        const char *ending, uint8_t out[16])
{
    uint8_t seed[16 + 8 + 1 + 1];
    memcpy(seed, parameters->index_id, 16);
    store_u64(seed + 16, id);
    seed[24] = (uint8_t)ending[strlen(ending) - 1];
    for (uint8_t half = 0; half < 2; half++) {
        seed[25] = half;
        store_u64(out + 8 * half, hash_checksum64(seed, sizeof seed));
    }
}

unsigned segment_payload_bits(uint64_t limit)
{
    unsigned bits = 1;
    while (bits < 64 && limit > 1 && (limit - 1) >> bits != 0)
        bits++;
    return bits;
}

void segment_error(const segment_place *place, uint64_t id, const char *ending,
                   ksv_error *error)
{
    if (error == NULL)
        return;
    char name[CATALOG_NAME_BYTES];
    catalog_sidecar_name(id, ending, name);
    char *path = path_join(place->allocator, place->directory, name);
    error_replace_path(error, path != NULL ? path : name);
    memory_free_string(place->allocator, path);
    /* An update does not read what is there with the right size. */
    if (error->status == KSV_ERROR_CORRUPT ||
        error->status == KSV_ERROR_VERSION)
        error_add_remedy(error, KSV_REMEDY_BUILD);
}

ksv_status segment_open_sidecar(const segment_place *place, uint64_t id,
                                const char *ending, ksv_file **file,
                                ksv_error *error)
{
    *file = NULL;
    char name[CATALOG_NAME_BYTES];
    catalog_sidecar_name(id, ending, name);
    char *path = path_join(place->allocator, place->directory, name);
    if (path == NULL)
        return error_set_memory(error);
    ksv_error problem;
    error_clear(&problem);
    ksv_status status =
        place->reopen_files
            ? reopening_file_open(place->fs, path, place->allocator, file,
                                  &problem)
            : place->fs->open_read(place->fs->ctx, path, file, &problem);
    if (status != KSV_OK && file_error_is_missing(&problem)) {
        status =
            error_set(error, KSV_ERROR_CORRUPT, path, "index file is missing");
        error_add_remedy(error, KSV_REMEDY_UPDATE);
    } else if (status != KSV_OK && error != NULL) {
        *error = problem;
    }
    memory_free_string(place->allocator, path);
    if (status == KSV_OK && place->random_reads)
        file_expect_random(*file);
    return status;
}

static ksv_status check_identity(bool same, const char *what, ksv_error *error)
{
    if (same)
        return KSV_OK;
    return error_set(error, KSV_ERROR_CORRUPT, NULL,
                     "index file is damaged: %s that belongs to other data",
                     what);
}

static ksv_status start_filter(const segment_place *place,
                               const catalog_filter *filter,
                               segment_filter *out, ksv_error *error)
{
    uint8_t id[16];
    segment_sidecar_id(place->parameters, filter->id, CATALOG_FILTER_ENDING,
                       id);
    KSV_TRY(ksv_filter_open(out->file, place->allocator, &out->filter, error));
    ksv_filter_info info;
    ksv_filter_get_info(out->filter, &info);
    const catalog_parameters *p = place->parameters;
    KSV_TRY(check_identity(
        memcmp(info.options.id, id, 16) == 0 &&
            info.file_bytes == filter->bytes && info.keys == filter->keys &&
            info.options.hash_bits == p->hash_bits &&
            hash_same_hasher(&info.options.hasher, &p->hasher),
        "a filter", error));
    if (info.file_bytes > SEGMENT_FILTER_LOAD_BYTES)
        return KSV_OK;
    KSV_TRY(ksv_filter_load(out->filter, error));
    file_close_quietly(out->file);
    out->file = NULL;
    return KSV_OK;
}

ksv_status segment_open_filter(const segment_place *place,
                               const catalog_filter *filter,
                               segment_filter *out, ksv_error *error)
{
    *out = (segment_filter){NULL, NULL};
    KSV_TRY(segment_open_sidecar(place, filter->id, CATALOG_FILTER_ENDING,
                                 &out->file, error));
    ksv_status status = start_filter(place, filter, out, error);
    if (status != KSV_OK) {
        segment_error(place, filter->id, CATALOG_FILTER_ENDING, error);
        segment_close_filter(out);
    }
    return status;
}

ksv_status segment_load_filter(const segment_place *place,
                               const catalog_filter *filter,
                               segment_filter *out, ksv_error *error)
{
    KSV_TRY(segment_open_filter(place, filter, out, error));
    ksv_status status = ksv_filter_load(out->filter, error);
    if (status != KSV_OK) {
        segment_error(place, filter->id, CATALOG_FILTER_ENDING, error);
        segment_close_filter(out);
    }
    return status;
}

ksv_status segment_check_table_identity(
    const segment_place *place, const catalog_segment *segment,
    const ksv_hasher *hasher, unsigned hash_bits, const uint8_t id[16],
    uint64_t file_bytes, uint64_t entries, ksv_error *error)
{
    const catalog_parameters *p = place->parameters;
    uint8_t expected[16];
    segment_sidecar_id(p, segment->id, segment_table_ending(place), expected);
    return check_identity(
        memcmp(id, expected, 16) == 0 && file_bytes == segment->table_bytes &&
            entries == segment->entries && hash_bits == p->hash_bits &&
            hash_same_hasher(hasher, &p->hasher),
        "a table", error);
}

void segment_close_filter(segment_filter *filter)
{
    ksv_filter_close(filter->filter);
    file_close_quietly(filter->file);
    *filter = (segment_filter){NULL, NULL};
}
