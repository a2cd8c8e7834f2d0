/* SPDX-License-Identifier: MIT */
/* The index of a sorted table while its blocks come, one level over the other.
 */
#include "sorted/index_builder.h"

#include "base/error.h"

void index_builder_init(index_builder *index, const ksv_allocator *allocator)
{
    *index = (index_builder){.allocator = allocator};
}

void index_builder_release(index_builder *index)
{
    for (unsigned level = 1; level <= index->begun; level++) {
        block_builder_release(&index->levels[level].builder);
        buffer_release(&index->levels[level].first);
    }
    index->begun = 0;
}

ksv_status index_builder_add(index_builder *index, unsigned level,
                             sorted_key key, bool continues,
                             const block_place *place, ksv_error *error)
{
    if (level > SORTED_MOST_LEVELS)
        return error_set(error, KSV_ERROR_UNSUPPORTED, NULL,
                         "a sorted table cannot have so many levels of index");
    index_level *l = &index->levels[level];
    if (level > index->begun) {
        block_builder_init(&l->builder, index->allocator);
        buffer_init(&l->first, index->allocator);
        index->begun = level;
    }
    if (l->builder.entries == 0) {
        buffer_clear(&l->first);
        KSV_TRY(buffer_append(&l->first, key.data, key.size_bytes, error));
        l->continues = continues;
    }
    return block_builder_add_place(&l->builder, key, continues, place, error);
}

ksv_status index_builder_move_up(index_builder *index, unsigned level,
                                 const block_place *place, ksv_error *error)
{
    index_level *l = &index->levels[level];
    sorted_key first = {l->first.data, l->first.size};
    block_builder_clear(&l->builder);
    return index_builder_add(index, level + 1, first, l->continues, place,
                             error);
}

bool index_builder_has_root(const index_builder *index, unsigned level,
                            block_place *root)
{
    const block_builder *builder = &index->levels[level].builder;
    if (level != index->begun || builder->entries != 1)
        return false;
    for (unsigned below = 1; below < level; below++)
        if (index->levels[below].builder.entries > 0)
            return false;
    *root = builder->last_place;
    return true;
}
