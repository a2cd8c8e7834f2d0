/* SPDX-License-Identifier: MIT */
/* Any bytes as a sorted table: as they are, and with all checksums made right.
 * What the iterator has accepted as a whole, finding and going both ways have
 * to agree with. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "io/file.h"
#include "io/memory_file_system.h"
#include "sorted/sorted_cursor.h"
#include "sorted/sorted_iterator.h"
#include "support/sorted_fixture.h"

#define MODEL_ENTRIES 2048
#define MODEL_BYTES ((size_t)1 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The first entries of a table that is in order as a whole. */
typedef struct model {
    model_entry entries[MODEL_ENTRIES];
    size_t count;
    uint8_t bytes[MODEL_BYTES];
    size_t used;
    bool whole;
} model;

static void take(model *m, sorted_key key, uint64_t payload)
{
    if (m->count == MODEL_ENTRIES || key.size_bytes > MODEL_BYTES - m->used) {
        m->whole = false;
        return;
    }
    uint8_t *copy = m->bytes + m->used;
    if (key.size_bytes > 0)
        memcpy(copy, key.data, key.size_bytes);
    m->used += key.size_bytes;
    m->entries[m->count++] = (model_entry){copy, key.size_bytes, payload};
}

static bool iterate(sorted_reader *reader, model *m)
{
    sorted_iterator *it;
    if (sorted_iterator_open(reader, 0, &it, NULL) != KSV_OK)
        abort();
    m->count = m->used = 0;
    m->whole = true;
    bool end = false;
    ksv_status status = KSV_OK;
    while (!end && status == KSV_OK) {
        sorted_key key;
        uint64_t payload;
        status = sorted_iterator_next(it, &key, &payload, &end, NULL);
        if (status == KSV_OK && !end)
            take(m, key, payload);
    }
    sorted_iterator_close(it);
    return status == KSV_OK;
}

static bool count_payload(void *ctx, uint64_t payload)
{
    (void)payload;
    ++*(size_t *)ctx;
    return true;
}

static void find_all(sorted_cursor *cursor, const model *m, bool sound)
{
    for (size_t i = 0, end; i < m->count; i = end) {
        end = i + 1;
        while (end < m->count &&
               model_key_order(&m->entries[i], &m->entries[end]) == 0)
            end++;
        sorted_key key = {m->entries[i].key, m->entries[i].key_bytes};
        size_t visited = 0;
        ksv_status status =
            sorted_cursor_find(cursor, key, count_payload, &visited, NULL);
        if (sound && m->whole && (status != KSV_OK || visited != end - i))
            abort();
    }
}

static void walk(sorted_cursor *cursor, const model *m, bool back, bool sound)
{
    bool found = false;
    ksv_status status = back ? sorted_cursor_last(cursor, &found, NULL)
                             : sorted_cursor_first(cursor, &found, NULL);
    size_t steps = 0;
    while (status == KSV_OK && found && steps <= MODEL_ENTRIES) {
        size_t at = back ? m->count - 1 - steps : steps;
        if (sound && m->whole &&
            (steps >= m->count ||
             m->entries[at].payload != sorted_cursor_payload(cursor)))
            abort();
        steps++;
        status = back ? sorted_cursor_previous(cursor, &found, NULL)
                      : sorted_cursor_next(cursor, &found, NULL);
    }
    if (sound && m->whole && (status != KSV_OK || steps != m->count))
        abort();
}

static void read_table(const uint8_t *data, size_t size)
{
    static model m;
    ksv_file *file;
    sorted_reader *reader;
    sorted_cursor *cursor;
    if (memory_file_over(data, size, NULL, &file, NULL) != KSV_OK)
        abort();
    if (sorted_reader_open(file, NULL, &reader, NULL) == KSV_OK) {
        bool sound = iterate(reader, &m);
        if (sorted_cursor_open(reader, &cursor, NULL) != KSV_OK)
            abort();
        find_all(cursor, &m, sound);
        walk(cursor, &m, false, sound);
        walk(cursor, &m, true, sound);
        sorted_cursor_close(cursor);
        sorted_reader_close(reader);
    }
    file_close_quietly(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_table(data, size);
    uint8_t *copy = malloc(size > 0 ? size : 1);
    if (copy == NULL)
        return 0;
    if (size > 0)
        memcpy(copy, data, size);
    sorted_reseal(copy, size);
    read_table(copy, size);
    free(copy);
    return 0;
}
