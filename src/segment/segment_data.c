/* SPDX-License-Identifier: MIT */
/* Opens a data file, with its access points where it needs them. */
#include "segment/segment_data.h"

#include <string.h>

#include "base/error.h"
#include "catalog/file_identity.h"
#include "io/file.h"
#include "io/reopening_file.h"

/* That the data file is not there, and not that its access points are not. A
 * path that is too long for an error has lost its beginning. */
static bool is_missing(const ksv_error *error, const char *path)
{
    size_t told = strlen(error->path);
    size_t whole = strlen(path);
    return file_error_is_missing(error) && told <= whole &&
           strcmp(error->path, path + (whole - told)) == 0;
}

ksv_status segment_data_error(const catalog_file *file, const char *path,
                              ksv_error *error)
{
    if (is_missing(error, path))
        return file_identity_error(file, FILE_IDENTITY_MISSING, error);
    /* Damage of the access points has their path in it. An update does not read
     * what is there with the right size. */
    if (error->status == KSV_ERROR_CORRUPT)
        error_add_remedy(error, KSV_REMEDY_BUILD);
    else
        error_replace_path(error, file->given_path);
    if (error->status == KSV_ERROR_DATA || error->status == KSV_ERROR_STALE)
        error_add_remedy(error, KSV_REMEDY_UPDATE);
    return error->status;
}

static ksv_status missing_points(const char *path, ksv_error *error)
{
    error_set(error, KSV_ERROR_CORRUPT, path, "index file is missing");
    error_add_remedy(error, KSV_REMEDY_UPDATE);
    return KSV_ERROR_CORRUPT;
}

ksv_status segment_points_path(const segment_place *place,
                               const catalog_file *file, char **path,
                               uint8_t id[16], ksv_error *error)
{
    char name[CATALOG_NAME_BYTES];
    catalog_sidecar_name(file->points_id, CATALOG_POINTS_ENDING, name);
    segment_sidecar_id(place->parameters, file->points_id,
                       CATALOG_POINTS_ENDING, id);
    *path = path_join(place->allocator, place->directory, name);
    return *path != NULL ? KSV_OK : error_set_memory(error);
}

/* One of the functions of datafile.h that open by access points. */
typedef ksv_status (*open_fn)(const ksv_file_system *fs, const char *path,
                              const char *points_path, const uint8_t *points_id,
                              const ksv_allocator *allocator, datafile **out,
                              ksv_error *error);

static ksv_status open_compressed(const segment_place *place,
                                  const catalog_file *file, const char *path,
                                  open_fn open, datafile **out,
                                  ksv_error *error)
{
    char *points;
    uint8_t id[16];
    KSV_TRY(segment_points_path(place, file, &points, id, error));
    ksv_file_info info;
    ksv_error problem;
    error_clear(&problem);
    ksv_status status =
        place->fs->info(place->fs->ctx, points, &info, &problem);
    if (status != KSV_OK && file_error_is_missing(&problem))
        status = missing_points(points, error);
    else if (status == KSV_OK && info.size_bytes != file->points_bytes)
        status = error_set(error, KSV_ERROR_CORRUPT, points,
                           "index file is damaged: its size is wrong");
    else if (status == KSV_OK)
        status =
            open(place->fs, path, points, id, place->allocator, out, error);
    else if (error != NULL)
        *error = problem;
    memory_free_string(place->allocator, points);
    return status;
}

static ksv_status open_data(const segment_place *place,
                            const catalog_file *file, const char *path,
                            open_fn open, datafile **out, ksv_error *error)
{
    datafile_kind kind = (datafile_kind)file->data_kind;
    if (kind == DATAFILE_PLAIN || file->points_id == 0)
        return datafile_open(place->fs, path, kind, place->allocator, out,
                             error);
    return open_compressed(place, file, path, open, out, error);
}

static ksv_status open_and_tell(const segment_place *place,
                                const catalog_file *file, const char *path,
                                open_fn open, datafile **out, ksv_error *error)
{
    *out = NULL;
    /* What is opened does not keep the file system, only files do. */
    segment_place reopening = *place;
    reopening_file_system fs;
    reopening_file_system_init(&fs, place->fs, place->allocator);
    if (place->reopen_files)
        reopening.fs = &fs.fs;
    ksv_error unwanted;
    ksv_error *told = error != NULL ? error : &unwanted;
    ksv_status status = open_data(&reopening, file, path, open, out, told);
    return status == KSV_OK ? status : segment_data_error(file, path, told);
}

ksv_status segment_open_data(const segment_place *place,
                             const catalog_file *file, const char *path,
                             datafile **out, ksv_error *error)
{
    return open_and_tell(place, file, path, datafile_open_compressed, out,
                         error);
}

ksv_status segment_open_grown_data(const segment_place *place,
                                   const catalog_file *file, const char *path,
                                   datafile **out, ksv_error *error)
{
    return open_and_tell(place, file, path, datafile_open_grown, out, error);
}
