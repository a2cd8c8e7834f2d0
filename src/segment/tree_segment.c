/* SPDX-License-Identifier: MIT */
/* Writes the tree of a segment from entries in the order of their keys. */
#include "segment/tree_segment.h"

#include "base/error.h"
#include "btree/tree_loader.h"

static ksv_status feed(tree_loader *loader, const sorted_source *source,
                       uint64_t part, uint64_t *distinct_keys, ksv_error *error)
{
    for (;;) {
        sorted_key key;
        tree_place at = {.part = part};
        bool end;
        bool is_new;
        KSV_TRY(source->next(source->ctx, &key, &at.offset, &end, error));
        if (end)
            return KSV_OK;
        KSV_TRY(tree_loader_add(loader, (tree_key){key.data, key.size_bytes},
                                at, &is_new, error));
        *distinct_keys += is_new;
    }
}

ksv_status tree_segment_write(const segment_place *place,
                              const sorted_source *source,
                              catalog_segment *segment, segment_files *files,
                              uint64_t *distinct_keys, ksv_error *error)
{
    char name[CATALOG_NAME_BYTES];
    uint8_t id[16];
    tree_loader *loader;
    tree_info info = {.entries = 0};
    *distinct_keys = 0;
    catalog_sidecar_name(segment->id, CATALOG_TREE_ENDING, name);
    segment_sidecar_id(place->parameters, segment->id, CATALOG_TREE_ENDING, id);
    /* LMDB writes the file; all else that befalls it is as with others. */
    KSV_TRY(atomic_file_adopt(place->fs, place->directory, name,
                              place->allocator, &files->table, error));
    KSV_TRY(tree_loader_open(place->fs, place->directory, name, id,
                             place->allocator, &loader, error));
    ksv_status status = feed(loader, source, segment->id, distinct_keys, error);
    if (status == KSV_OK)
        status = tree_loader_finish_unnamed(loader, &info, error);
    tree_loader_close(loader);
    segment->entries = info.entries;
    segment->table_bytes = info.file_bytes;
    return status;
}
