/* SPDX-License-Identifier: MIT */
/* How fast sorted tables and filters come to be, in nanoseconds of processor
 * time an entry with one thread: adding entries to the sorter, sorting them,
 * and writing table and filter of what was sorted, to nowhere. Lines of
 * `name value unit`; best of all runs. Arguments: entries (4000000), runs (3).
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "filter/filter_writer.h"
#include "segment/segment_pipeline.h"
#include "sort/entry_sorter.h"

#define HASH_BITS 40
#define PAYLOAD_BITS 32
#define BATCH 256

typedef struct bench {
    uint64_t entries;
    double add_ns; /* of the best run, an entry */
    double sort_ns;
    double write_ns;
} bench;

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void check(ksv_status status, const char *what)
{
    if (status == KSV_OK)
        return;
    fprintf(stderr, "bench_sort: %s failed\n", what);
    exit(1);
}

static uint64_t mix(uint64_t z)
{
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static entry_sorter *fill(const bench *b)
{
    entry_sorter_options options = {.expected_entries = b->entries};
    entry_sorter *sorter;
    check(entry_sorter_open(&options, &sorter, NULL), "sorter");
    entry_adder *adder = entry_sorter_adder(sorter, 0);
    hash_entry batch[BATCH];
    for (uint64_t done = 0; done < b->entries; done += BATCH) {
        for (uint64_t i = 0; i < BATCH; i++)
            batch[i] = (hash_entry){mix((done + i) * 0x9e3779b97f4a7c15u),
                                    (done + i) * 90 & UINT32_MAX};
        check(entry_adder_add_many(adder, batch, BATCH, NULL), "adding");
    }
    return sorter;
}

static void keep_least(double *least, double value)
{
    if (*least == 0 || value < *least)
        *least = value;
}

static void run_sort(bench *b)
{
    double start = now_ns();
    entry_sorter *sorter = fill(b);
    double filled = now_ns();
    check(entry_sorter_finish(sorter, HASH_BITS, NULL, 0, NULL), "sorting");
    size_t count;
    do {
        const hash_entry *entries;
        check(entry_sorter_next(sorter, &entries, &count, NULL), "sorting");
    } while (count > 0);
    keep_least(&b->add_ns, (filled - start) / (double)b->entries);
    keep_least(&b->sort_ns, (now_ns() - filled) / (double)b->entries);
    entry_sorter_close(sorter);
}

static ksv_status drop(ksv_file *file, const void *data, size_t size_bytes,
                       ksv_error *error)
{
    (void)file;
    (void)data;
    (void)size_bytes;
    (void)error;
    return KSV_OK;
}

/* Forgets what is appended. */
static const ksv_file_ops SINK_OPS = {.append = drop};

static void write_files(const bench *b, entry_sorter *sorter)
{
    ksv_table_options table = {.hash_bits = HASH_BITS,
                               .payload_bits = PAYLOAD_BITS,
                               .hasher = {.kind = KSV_HASH_XXH3}};
    ksv_filter_options filter = {.hash_bits = HASH_BITS,
                                 .hasher = {.kind = KSV_HASH_XXH3}};
    check(
        ksv_filter_make_plan(b->entries, 0.005, HASH_BITS, &filter.plan, NULL),
        "planning");
    ksv_file sink = {&SINK_OPS};
    segment_target target = {.filter_options = &filter};
    ksv_allocator allocator = allocator_or_default(NULL);
    target.allocator = &allocator;
    bool has_filter;
    check(ksv_table_writer_open(&sink, &table, NULL, &target.table, NULL),
          "table");
    check(ksv_filter_writer_open(&sink, &filter, NULL, &target.filter, NULL),
          "filter");
    check(segment_pipeline_run(&target, sorter, &has_filter, NULL), "writing");
    check(ksv_table_writer_finish(target.table, NULL, NULL), "table");
    check(ksv_filter_writer_finish(target.filter, NULL, NULL), "filter");
    ksv_table_writer_close(target.table);
    ksv_filter_writer_close(target.filter);
}

static void run_write(bench *b)
{
    entry_sorter *sorter = fill(b);
    double start = now_ns();
    check(entry_sorter_finish(sorter, HASH_BITS, NULL, 0, NULL), "sorting");
    write_files(b, sorter);
    keep_least(&b->write_ns, (now_ns() - start) / (double)b->entries);
    entry_sorter_close(sorter);
}

int main(int argc, char **argv)
{
    bench b = {argc > 1 ? strtoull(argv[1], NULL, 10) : 4000000, 0, 0, 0};
    int runs = argc > 2 ? atoi(argv[2]) : 3;
    b.entries -= b.entries % BATCH;
    for (int i = 0; i < runs; i++) {
        run_sort(&b);
        run_write(&b);
    }
    printf("sort_add %.2f ns/entry\n", b.add_ns);
    printf("sort %.2f ns/entry\n", b.sort_ns);
    printf("sort_and_write %.2f ns/entry\n", b.write_ns);
    return 0;
}
