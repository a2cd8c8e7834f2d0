/* SPDX-License-Identifier: MIT */
/* What holds for every state of an index. */
#include "catalog/catalog_check.h"

#define HASH_BITS_LEAST 36
#define HASH_BITS_MOST 48
#define PAYLOAD_BITS_MOST 57

const char *catalog_check_parameters(const catalog_parameters *p)
{
    if (p->hasher.kind != KSV_HASH_XXH3 && p->hasher.kind != KSV_HASH_SIPHASH)
        return "the index has an unknown hash";
    if (p->hash_bits < HASH_BITS_LEAST || p->hash_bits > HASH_BITS_MOST)
        return "the index has an impossible number of hash bits";
    if (p->organisation < KSV_ORGANISATION_HASH ||
        p->organisation > KSV_ORGANISATION_BTREE)
        return "the index has an unknown organisation";
    if (!(p->fpr > 0 && p->fpr < 1))
        return "the index has an impossible false-positive rate";
    return NULL;
}

/* Whether a stretch is not empty and begins at `from` or behind it; `*end` is
 * where it ends. */
static bool is_stretch(uint64_t first, uint64_t length, uint64_t from,
                       uint64_t *end)
{
    *end = first + length;
    return length > 0 && *end > first && first >= from;
}

static const char *check_extents(const catalog_file *f)
{
    uint64_t end = 0;
    for (size_t i = 0; i < f->extent_count; i++) {
        const catalog_extent *e = &f->extents[i];
        if (!is_stretch(e->first_offset, e->length_bytes, end, &end) ||
            end > f->content_bytes)
            return "the extents of a data file do not fit it";
        if (e->filter.id == 0 || e->entries == 0 ||
            e->distinct_keys > e->entries || e->lost_hashes > e->filter.keys ||
            e->filter.keys - e->lost_hashes > e->distinct_keys)
            return "an extent of a data file has impossible counts";
    }
    return NULL;
}

const char *catalog_check_file(const catalog_file *f)
{
    if (f->given_path == NULL || f->relative_path == NULL ||
        f->given_path[0] == '\0' || f->relative_path[0] == '\0')
        return "a data file has no path";
    if (f->records_without_key > f->records)
        return "a data file has impossible counts";
    if (f->complete_bytes > f->content_bytes)
        return "a data file has impossible sizes";
    return check_extents(f);
}

static bool is_behind(const catalog_part *part, const catalog_part *before)
{
    if (part->ordinal != before->ordinal)
        return part->ordinal > before->ordinal;
    return part->first_offset >= before->first_offset + before->length_bytes;
}

static const char *check_parts(const catalog_segment *s)
{
    uint64_t span = 0;
    uint64_t entries = 0;
    for (size_t i = 0; i < s->part_count; i++) {
        const catalog_part *part = &s->parts[i];
        uint64_t end;
        if (!is_stretch(part->first_offset, part->length_bytes, 0, &end) ||
            (i > 0 && !is_behind(part, part - 1)))
            return "the parts of a segment are out of order";
        span += part->length_bytes;
        entries += part->entries;
        if (span < part->length_bytes || entries < part->entries)
            return "a segment has impossible counts";
    }
    if (span == 0 || entries != s->entries ||
        (span - 1) >> s->payload_bits != 0)
        return "the parts of a segment do not fit it";
    return NULL;
}

const char *catalog_check_segment(const catalog_segment *s)
{
    if (s->id == 0 || s->filter.id == 0)
        return "a segment has no id";
    if (s->tier > CATALOG_TIER_MOST || s->payload_bits < 1 ||
        s->payload_bits > PAYLOAD_BITS_MOST || s->filter.keys > s->entries)
        return "a segment has impossible counts";
    return check_parts(s);
}

static const char *check_living_parts(const catalog_state *state,
                                      const catalog_segment *s)
{
    size_t hint = 0;
    for (size_t i = 0; i < s->part_count; i++) {
        const catalog_part *part = &s->parts[i];
        if (part->is_dead)
            continue;
        const catalog_file *file =
            catalog_find_file_near(state, part->ordinal, &hint);
        if (file == NULL)
            return "a segment names a data file that does not exist";
        if (part->first_offset + part->length_bytes > file->content_bytes)
            return "a segment covers more than there is of a data file";
    }
    return NULL;
}

static const char *check_segments(const catalog_state *state)
{
    for (size_t i = 0; i < state->segment_count; i++) {
        const catalog_segment *s = &state->segments[i];
        if (i > 0 && s->id <= state->segments[i - 1].id)
            return "the segments are out of order";
        if (s->id >= state->next_segment_id ||
            s->filter.id >= state->next_segment_id)
            return "a segment has an id that was not given yet";
        const char *wrong = check_living_parts(state, s);
        if (wrong != NULL)
            return wrong;
    }
    return NULL;
}

const char *catalog_check_state(const catalog_state *state)
{
    for (size_t i = 0; i < state->file_count; i++) {
        const catalog_file *f = &state->files[i];
        if (i > 0 && f->ordinal <= state->files[i - 1].ordinal)
            return "the data files are out of order";
        if (f->ordinal >= state->next_ordinal)
            return "a data file has a number that was not given yet";
        bool unknown_id = f->points_id >= state->next_segment_id;
        for (size_t e = 0; e < f->extent_count; e++)
            unknown_id |= f->extents[e].filter.id >= state->next_segment_id;
        if (unknown_id)
            return "a data file has a sidecar that was not given yet";
    }
    return check_segments(state);
}
