/* SPDX-License-Identifier: MIT */
/* What the machine charges for what a lookup and a build need: memory, calls,
 * cached and uncached reads of a file of 16 MiB or more:
 * bench_floors FILE [ROUNDS [MEMORY_MB]] */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "harness.h"

#define SMALL_BYTES ((size_t)12 << 20)
#define ACCESSES ((size_t)1 << 18)
#define READ_BYTES ((size_t)1 << 20)
#define COLD_READS 500
#define LARGE_PAGE_BYTES ((size_t)2 << 20)
#define GROUP 32

typedef struct floors {
    uint8_t *memory;
    uint8_t *copy;
    size_t memory_bytes;
    uint8_t *small;        /* SMALL_BYTES, for touch_groups() */
    const uint8_t *mapped; /* the file, for touch_records() */
    int fd;
    uint64_t file_bytes;
    size_t read_bytes;
    uint8_t buffer[READ_BYTES];
    uint64_t sum;
} floors;

static void read_memory(void *ctx)
{
    floors *f = ctx;
    uint64_t sums[4] = {0};
    for (size_t i = 0; i + 32 <= f->memory_bytes; i += 32)
        for (size_t k = 0; k < 4; k++) {
            uint64_t word;
            memcpy(&word, f->memory + i + 8 * k, 8);
            sums[k] += word;
        }
    f->sum += sums[0] + sums[1] + sums[2] + sums[3];
}

static void copy_memory(void *ctx)
{
    floors *f = ctx;
    memcpy(f->copy, f->memory, f->memory_bytes);
}

/* Each place depends on what stood at the one before. */
static void chase(void *ctx)
{
    floors *f = ctx;
    uint64_t at = 0;
    for (size_t i = 0; i < ACCESSES; i++)
        at = (bench_random(i) + f->memory[at]) % SMALL_BYTES;
    f->sum += at;
}

static void touch(void *ctx)
{
    floors *f = ctx;
    for (size_t i = 0; i < ACCESSES; i++)
        f->sum += f->memory[bench_random(i) % SMALL_BYTES];
}

/* As touch(), a group of places asked for before they are looked at: what
 * probes of a filter in batches cannot do without. */
static void touch_groups(void *ctx)
{
    floors *f = ctx;
    for (size_t i = 0; i < ACCESSES; i += GROUP) {
        const uint8_t *places[GROUP];
        for (size_t k = 0; k < GROUP; k++) {
            places[k] = f->small + bench_random(i + k) % SMALL_BYTES;
            __builtin_prefetch(places[k]);
        }
        for (size_t k = 0; k < GROUP; k++)
            f->sum += *places[k];
    }
}

/* The first three lines of records at random places of the mapped file. */
static void touch_records(void *ctx)
{
    floors *f = ctx;
    for (size_t i = 0; i < ACCESSES; i += GROUP) {
        const uint8_t *places[GROUP];
        for (size_t k = 0; k < GROUP; k++) {
            places[k] = f->mapped + bench_random(i + k) % (f->file_bytes - 192);
            for (size_t line = 0; line < 192; line += 64)
                __builtin_prefetch(places[k] + line);
        }
        for (size_t k = 0; k < GROUP; k++)
            f->sum += places[k][0] + places[k][64] + places[k][128];
    }
}

static void fault(void *ctx)
{
    floors *f = ctx;
    uint8_t *fresh = mmap(NULL, SMALL_BYTES, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (fresh == MAP_FAILED)
        bench_fail("mmap");
    for (size_t i = 0; i < SMALL_BYTES; i += 4096)
        fresh[i] = 1;
    f->sum += fresh[4096];
    munmap(fresh, SMALL_BYTES);
}

static void read_at(floors *f, uint64_t offset)
{
    if (pread(f->fd, f->buffer, f->read_bytes, (off_t)offset) < 0)
        bench_fail("pread");
}

static void read_random(void *ctx)
{
    floors *f = ctx;
    for (size_t i = 0; i < ACCESSES / 8; i++)
        read_at(f, bench_random(i) % (f->file_bytes - f->read_bytes));
}

static void read_whole(void *ctx)
{
    floors *f = ctx;
    for (uint64_t at = 0; at < f->file_bytes; at += f->read_bytes)
        read_at(f, at);
}

/* Gigabytes a second of work that prints its time by the byte. */
static void print_rate(const char *name, bench_work work, floors *f,
                       double bytes, unsigned rounds)
{
    double times[16];
    if (rounds > 16)
        rounds = 16;
    work(f);
    for (unsigned i = 0; i < rounds; i++) {
        double start = bench_now_ns();
        work(f);
        times[i] = bench_now_ns() - start;
    }
    bench_print(name, bytes / bench_median(times, rounds), "GB/s");
}

/* In memory whose pages are large, or small, as far as the system lets choose.
 */
static void measure_groups(floors *f, const char *name, int advice,
                           unsigned rounds)
{
    size_t bytes = SMALL_BYTES + LARGE_PAGE_BYTES;
    uint8_t *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        bench_fail("mmap");
    size_t misplaced = (uintptr_t)memory % LARGE_PAGE_BYTES;
    f->small = memory + (misplaced > 0 ? LARGE_PAGE_BYTES - misplaced : 0);
    int ignored = madvise(f->small, SMALL_BYTES, advice);
    (void)ignored;
    memset(f->small, 1, SMALL_BYTES);
    bench_run(name, touch_groups, f, ACCESSES, rounds);
    munmap(memory, bytes);
}

static void measure_memory(floors *f, unsigned rounds)
{
    double bytes = (double)f->memory_bytes;
    memset(f->memory, 0, f->memory_bytes);
    print_rate("floor.memory.read", read_memory, f, bytes, rounds);
    print_rate("floor.memory.copy", copy_memory, f, bytes, rounds);
    bench_run("floor.memory.12_MiB.dependent", chase, f, ACCESSES, rounds);
    bench_run("floor.memory.12_MiB.independent", touch, f, ACCESSES, rounds);
    measure_groups(f, "floor.memory.12_MiB.groups_of_32", MADV_NOHUGEPAGE,
                   rounds);
    measure_groups(f, "floor.memory.12_MiB.groups_of_32.large_pages",
                   MADV_HUGEPAGE, rounds);
    bench_run("floor.page_fault", fault, f, SMALL_BYTES / 4096.0, rounds);
}

static void measure_mapped(floors *f, unsigned rounds)
{
    void *mapped =
        mmap(NULL, (size_t)f->file_bytes, PROT_READ, MAP_SHARED, f->fd, 0);
    if (mapped == MAP_FAILED)
        bench_fail("mmap");
    int ignored = madvise(mapped, (size_t)f->file_bytes, MADV_RANDOM);
    (void)ignored;
    f->mapped = mapped;
    bench_run("floor.mapped.groups_of_32", touch_records, f, ACCESSES, rounds);
    munmap(mapped, (size_t)f->file_bytes);
}

static void measure_file(floors *f, const char *path, unsigned rounds)
{
    f->read_bytes = READ_BYTES;
    print_rate("floor.file.read", read_whole, f, (double)f->file_bytes, rounds);
    int ignored = posix_fadvise(f->fd, 0, 0, POSIX_FADV_RANDOM);
    (void)ignored;
    measure_mapped(f, rounds);
    f->read_bytes = 128;
    bench_run("floor.pread.of_128_bytes", read_random, f, ACCESSES / 8.0,
              rounds);
    f->read_bytes = 4096;
    bench_run("floor.pread.of_4096_bytes", read_random, f, ACCESSES / 8.0,
              rounds);
    bench_evict(path);
    double start = bench_now_ns();
    for (uint64_t i = 0; i < COLD_READS; i++)
        read_at(f, bench_random(i) % (f->file_bytes / 4096) * 4096);
    bench_print("floor.pread.cold", (bench_now_ns() - start) / COLD_READS,
                "ns");
}

int main(int argc, char **argv)
{
    static floors f;
    unsigned rounds = argc > 2 ? (unsigned)atoi(argv[2]) : 5;
    f.memory_bytes = (size_t)(argc > 3 ? atoi(argv[3]) : 256) << 20;
    f.fd = argc > 1 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1;
    off_t size = f.fd < 0 ? -1 : lseek(f.fd, 0, SEEK_END);
    if (size < 65536 || f.memory_bytes < SMALL_BYTES)
        bench_fail("usage: bench_floors FILE [ROUNDS [MEMORY_MB]]");
    f.file_bytes = (uint64_t)size;
    f.memory = malloc(f.memory_bytes);
    f.copy = malloc(f.memory_bytes);
    if (f.memory == NULL || f.copy == NULL)
        bench_fail("out of memory");
    measure_memory(&f, rounds);
    measure_file(&f, argv[1], rounds);
    return 0;
}
