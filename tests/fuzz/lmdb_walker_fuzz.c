/* SPDX-License-Identifier: MIT */
/* Fuzzes the judgement of environments: meta pages, pages, records. */
#include <stdlib.h>

#include "base/memory.h"
#include "catalog/catalog_records.h"
#include "io/file.h"
#include "io/memory_file_system.h"
#include "mdb/lmdb_walker.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Every byte that a visitor is given has to be there. */
static ksv_status visit(void *ctx, const uint8_t *key, size_t key_bytes,
                        const uint8_t *value, size_t value_bytes,
                        ksv_error *error)
{
    (void)error;
    uint64_t *sum = ctx;
    for (size_t i = 0; i < key_bytes; i++)
        *sum += key[i];
    for (size_t i = 0; i < value_bytes; i++)
        *sum += value[i];
    return KSV_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ksv_allocator a = allocator_or_default(NULL);
    ksv_file *file;
    lmdb_head head;
    if (memory_file_over(data, size, NULL, &file, NULL) != KSV_OK)
        return 0;
    if (lmdb_head_read(file, "fuzz", &head, NULL) == KSV_OK) {
        uint64_t sum = 0;
        catalog_state state;
        uint64_t checksum;
        lmdb_walk_options options = {.visit = visit, .ctx = &sum};
        if (lmdb_walk(file, "fuzz", &head, &a, &options, NULL, NULL) ==
                KSV_OK &&
            records_read(file, "fuzz", &head, &a, &state, &checksum, NULL,
                         NULL) == KSV_OK)
            catalog_state_release(&state);
    }
    file_close_quietly(file);
    return 0;
}
