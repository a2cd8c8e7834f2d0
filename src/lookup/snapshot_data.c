/* SPDX-License-Identifier: MIT */
/* The data files of a snapshot, for its tables. */
#include "lookup/snapshot_data.h"

#include <string.h>

#include "base/error.h"
#include "io/file.h"
#include "lookup/index_snapshot.h"

static ksv_status open(const table_data *data, const catalog_part *part,
                       data_source *out, ksv_error *error)
{
    index_snapshot *s = ((const snapshot_table_data *)data)->snapshot;
    const catalog_file *file = catalog_find_file(&s->state, part->ordinal);
    *out = (data_source){.facts = file};
    if (file == NULL)
        return error_set(error, KSV_ERROR_CORRUPT, s->directory,
                         "a segment names a data file that does not exist");
    ksv_receipt receipt;
    memset(&receipt, 0, sizeof receipt);
    ksv_status status =
        snapshot_data(s, (size_t)(file - s->state.files), clock_monotonic_ns(),
                      &out->file, &receipt, error);
    out->path = s->files[file - s->state.files].path;
    out->was_opened = receipt.files_opened > 0;
    return status;
}

/* It is the snapshot's. */
static void close(const table_data *data, data_source *source)
{
    (void)data;
    source->file = NULL;
}

void snapshot_table_data_init(snapshot_table_data *data,
                              struct index_snapshot *snapshot)
{
    *data = (snapshot_table_data){
        .base = {.spec = snapshot->spec, .open = open, .close = close},
        .snapshot = snapshot};
}
