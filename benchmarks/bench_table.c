/* SPDX-License-Identifier: MIT */
/* Hashes of keys, and a table in memory: writing it, finding hashes in it:
 * bench_table [ROUNDS [ENTRIES]] */
#include <stdio.h>
#include <stdlib.h>

#include "harness.h"
#include "io/memory_file_system.h"

#define ASKED ((size_t)1 << 18)
#define HASH_BITS 40

static const ksv_hasher HASHER = {KSV_HASH_XXH3, {1, 2, 3}};

typedef struct hashing {
    char keys[4096 * 64];
    size_t key_bytes;
    uint64_t sum;
} hashing;

static void hash_all(void *ctx)
{
    hashing *h = ctx;
    for (size_t i = 0; i < ASKED; i++)
        h->sum += ksv_hash(&HASHER, h->keys + i % 4096 * 64, h->key_bytes);
}

static void measure_hash(unsigned rounds)
{
    static hashing h;
    static const size_t SIZES[] = {8, 16, 36, 64};
    for (size_t i = 0; i < sizeof h.keys; i++)
        h.keys[i] = (char)bench_random(i);
    for (size_t i = 0; i < sizeof SIZES / sizeof SIZES[0]; i++) {
        char name[64];
        h.key_bytes = SIZES[i];
        snprintf(name, sizeof name, "hash.of_%zu_bytes", SIZES[i]);
        bench_run(name, hash_all, &h, ASKED, rounds);
    }
}

typedef struct finding {
    ksv_table *table;
    uint64_t entries;
    uint64_t found;
    uint64_t pages;
} finding;

/* In ascending order. */
static uint64_t hash_of_entry(uint64_t number, uint64_t entries)
{
    uint64_t step = UINT64_MAX / entries;
    return ksv_hash_truncate(number * step + bench_random(number) % step,
                             HASH_BITS);
}

static bool count_payload(void *ctx, uint64_t payload)
{
    (void)payload;
    ((finding *)ctx)->found++;
    return true;
}

static void find_all(void *ctx)
{
    finding *f = ctx;
    f->found = 0;
    for (size_t i = 0; i < ASKED; i++) {
        uint64_t pages;
        uint64_t hash = hash_of_entry(bench_random(i) % f->entries, f->entries);
        bench_check(
            ksv_table_find(f->table, hash, count_payload, f, &pages, NULL),
            NULL);
        f->pages += pages;
    }
}

static void write_table(ksv_file *file, uint64_t entries)
{
    ksv_table_options options = {
        .hash_bits = HASH_BITS, .payload_bits = 34, .hasher = HASHER};
    ksv_table_writer *writer;
    ksv_error error;
    bench_check(ksv_table_writer_open(file, &options, NULL, &writer, &error),
                &error);
    for (uint64_t i = 0; i < entries; i++)
        bench_check(ksv_table_writer_add(writer, hash_of_entry(i, entries),
                                         i * 97, &error),
                    &error);
    bench_check(ksv_table_writer_finish(writer, NULL, &error), &error);
    ksv_table_writer_close(writer);
}

static void measure_table(unsigned rounds, uint64_t entries)
{
    ksv_file_system fs;
    ksv_file *file;
    ksv_error error;
    ksv_table_info info;
    finding f = {.entries = entries};
    bench_check(memory_file_system_open(NULL, &fs, &error), &error);
    bench_check(fs.create(fs.ctx, "table", &file, &error), &error);
    double start = bench_now_ns();
    write_table(file, entries);
    bench_print("table.add", (bench_now_ns() - start) / (double)entries, "ns");
    bench_check(file->ops->close(file, &error), &error);
    bench_check(fs.open_read(fs.ctx, "table", &file, &error), &error);
    bench_check(ksv_table_open(file, NULL, &f.table, &error), &error);
    ksv_table_get_info(f.table, &info);
    bench_print("table.bytes_an_entry",
                (double)info.file_bytes / (double)entries, "B");
    bench_run("table.find", find_all, &f, (double)ASKED, rounds);
    if (f.found < ASKED)
        bench_fail("an entry was not found");
    ksv_table_close(f.table);
    bench_check(file->ops->close(file, &error), &error);
    memory_file_system_close(&fs);
}

int main(int argc, char **argv)
{
    unsigned rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 5;
    uint64_t entries = argc > 2 ? strtoull(argv[2], NULL, 10) : 1000000;
    measure_hash(rounds);
    measure_table(rounds, entries);
    return 0;
}
