/* SPDX-License-Identifier: MIT */
/* Any bytes as a table: as they are, and with all checksums made right. What
 * the iterator has accepted as a whole, finding has to agree with. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "io/file.h"
#include "io/memory_file_system.h"
#include "support/table_fixture.h"

#define MODEL_ENTRIES 4096

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Returns whether all of it is in order; the first entries go to `model`. */
static bool iterate(ksv_table *table, table_fixture *model)
{
    ksv_table_iterator *iterator;
    if (ksv_table_iterator_open(table, &iterator, NULL) != KSV_OK)
        abort();
    bool end = false;
    ksv_status status = KSV_OK;
    while (!end && status == KSV_OK) {
        table_entry entry;
        status = ksv_table_iterator_next(iterator, &entry.hash, &entry.payload,
                                         &end, NULL);
        if (status == KSV_OK && !end && model->count < MODEL_ENTRIES)
            model->entries[model->count++] = entry;
    }
    ksv_table_iterator_close(iterator);
    return status == KSV_OK;
}

/* Finds what is there and its neighbours, of which the model may know the last
 * one in part only. */
static void find_all(ksv_table *table, const table_fixture *model, bool sound)
{
    for (size_t i = 0; i < model->count; i++) {
        uint64_t hash = model->entries[i].hash;
        if (i > 0 && hash == model->entries[i - 1].hash)
            continue;
        payload_list list = payload_list_of(model, hash);
        bool whole = list.expected + list.expected_count !=
                     model->entries + MODEL_ENTRIES;
        ksv_status status =
            ksv_table_find(table, hash, payload_list_visit, &list, NULL, NULL);
        if (sound && whole &&
            (status != KSV_OK || list.wrong ||
             list.visited != list.expected_count))
            abort();
    }
    for (uint64_t i = 0; i < 64; i++) {
        payload_list list = {0};
        ksv_status status = ksv_table_find(
            table, i << 58 | i * 12345, payload_list_visit, &list, NULL, NULL);
        if (sound && status != KSV_OK)
            abort();
    }
}

static void read_table(const uint8_t *data, size_t size)
{
    static table_entry entries[MODEL_ENTRIES];
    ksv_file *file;
    ksv_table *table;
    if (memory_file_over(data, size, NULL, &file, NULL) != KSV_OK)
        abort();
    if (ksv_table_open(file, NULL, &table, NULL) == KSV_OK) {
        table_fixture model = {.entries = entries};
        ksv_table_info info;
        ksv_table_get_info(table, &info);
        model.options = info.options;
        bool sound = iterate(table, &model);
        find_all(table, &model, sound);
        ksv_table_close(table);
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
    table_reseal(copy, size);
    read_table(copy, size);
    free(copy);
    return 0;
}
