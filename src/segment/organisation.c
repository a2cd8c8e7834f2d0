/* SPDX-License-Identifier: MIT */
/* Which organisations there are, and tables opened by that of their index. */
#include "segment/organisation.h"

#include "base/error.h"
#include "io/file.h"
#include "table/table_reader.h"

static const organisation *const all[] = {
    &organisation_hash, &organisation_sorted, &organisation_btree};

const organisation *organisation_find(ksv_organisation kind)
{
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (all[i]->kind == kind)
            return all[i];
    return NULL;
}

const organisation *organisation_of(const segment_place *place)
{
    return organisation_find(place->parameters->organisation);
}

ksv_status organisation_require(const catalog_parameters *parameters,
                                const char *directory, ksv_error *error)
{
    if (organisation_find(parameters->organisation) != NULL)
        return KSV_OK;
    return error_set(error, KSV_ERROR_UNSUPPORTED, directory,
                     "this version cannot read the organisation of the index");
}

const char *segment_table_ending(const segment_place *place)
{
    return catalog_table_ending(place->parameters->organisation);
}

void segment_table_error(const segment_place *place, uint64_t id,
                         ksv_error *error)
{
    /* An error of data that a table leads to names the data. */
    if (error != NULL && error->status != KSV_ERROR_CORRUPT &&
        error->status != KSV_ERROR_VERSION && error->path[0] != '\0')
        return;
    segment_error(place, id, segment_table_ending(place), error);
}

ksv_status segment_open_table(const segment_place *place,
                              const catalog_segment *segment,
                              segment_table *out, ksv_error *error)
{
    const organisation *o = organisation_of(place);
    *out = (segment_table){.organisation = o,
                           .allocator = place->allocator,
                           .parameters = place->parameters};
    ksv_status status = segment_open_sidecar(
        place, segment->id, segment_table_ending(place), &out->file, error);
    if (status == KSV_OK) {
        status = o->open_table(place, segment, out, error);
        if (status != KSV_OK)
            segment_table_error(place, segment->id, error);
    }
    /* What failed is closed: nobody takes it for a table. */
    if (status != KSV_OK)
        segment_close_table(out);
    return status;
}

ksv_status segment_map_table(segment_table *table, ksv_error *error)
{
    return table->pages != NULL ? table_map(table->pages, error) : KSV_OK;
}

void segment_close_table(segment_table *table)
{
    if (table->organisation != NULL)
        table->organisation->close_table(table);
    file_close_quietly(table->file);
    *table = (segment_table){.organisation = NULL};
}
