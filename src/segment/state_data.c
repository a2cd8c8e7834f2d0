/* SPDX-License-Identifier: MIT */
/* Data files of an index, opened by what its catalog says of them. */
#include "segment/state_data.h"

#include "base/error.h"
#include "base/memory.h"
#include "catalog/file_identity.h"
#include "segment/segment_data.h"

static ksv_status open(const table_data *data, const catalog_part *part,
                       data_source *out, ksv_error *error)
{
    const state_data *d = (const state_data *)data;
    const catalog_file *file = catalog_find_file(d->state, part->ordinal);
    const segment_place place = {.fs = d->fs,
                                 .directory = d->directory,
                                 .allocator = d->allocator,
                                 .parameters = &d->state->parameters};
    *out = (data_source){.facts = file, .was_opened = true};
    if (file == NULL)
        return error_set(error, KSV_ERROR_CORRUPT, d->directory,
                         "a segment names a data file that does not exist");
    KSV_TRY(file_identity_path(d->fs, d->directory, file, d->allocator,
                               &out->path, error));
    ksv_status status =
        segment_open_data(&place, file, out->path, &out->file, error);
    if (status != KSV_OK)
        memory_free_string(d->allocator, out->path);
    return status;
}

static void close(const table_data *data, data_source *source)
{
    const state_data *d = (const state_data *)data;
    datafile_close(source->file);
    memory_free_string(d->allocator, source->path);
    *source = (data_source){.file = NULL};
}

void state_data_init(state_data *data, const segment_place *place,
                     const char *directory, const catalog_state *state,
                     const scan_spec *spec)
{
    *data = (state_data){.base = {.spec = spec, .open = open, .close = close},
                         .fs = place->fs,
                         .directory = directory,
                         .allocator = place->allocator,
                         .state = state};
}
