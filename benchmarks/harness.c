/* SPDX-License-Identifier: MIT */
/* Clocks, repeated runs, counters of the kernel, the page cache, keys. */
#include "harness.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define MOST_ROUNDS 64

void bench_fail(const char *what)
{
    fprintf(stderr, "benchmark: %s\n", what);
    exit(1);
}

void bench_check(ksv_status status, const ksv_error *error)
{
    if (status != KSV_OK) {
        fprintf(stderr, "benchmark: %s: %s\n", error->path, error->text);
        exit(1);
    }
}

double bench_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

uint64_t bench_random(uint64_t number)
{
    uint64_t z = (number + 1) * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

void bench_print(const char *name, double value, const char *unit)
{
    printf("%-44s %14.6g %s\n", name, value, unit);
    fflush(stdout);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

double bench_median(double *values, size_t count)
{
    qsort(values, count, sizeof *values, compare);
    return count % 2 == 1 ? values[count / 2]
                          : (values[count / 2 - 1] + values[count / 2]) / 2;
}

double bench_run(const char *name, bench_work work, void *ctx, double items,
                 unsigned rounds)
{
    double times[MOST_ROUNDS];
    if (rounds > MOST_ROUNDS)
        rounds = MOST_ROUNDS;
    work(ctx);
    for (unsigned i = 0; i < rounds; i++) {
        double start = bench_now_ns();
        work(ctx);
        times[i] = (bench_now_ns() - start) / items;
    }
    double median = bench_median(times, rounds);
    bench_print(name, median, "ns");
    return median;
}

static char *read_all(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0)
        bench_fail(path);
    long end = ftell(file);
    char *data = end < 0 ? NULL : malloc((size_t)end + 1);
    rewind(file);
    if (data == NULL || fread(data, 1, (size_t)end, file) != (size_t)end)
        bench_fail(path);
    fclose(file);
    *size = (size_t)end;
    return data;
}

bench_keys bench_read_keys(const char *path)
{
    size_t size;
    const char *at = read_all(path, &size);
    const char *end = at + size;
    size_t lines = 0;
    for (const char *c = at; c < end; c++)
        lines += *c == '\n';
    bench_keys list = {calloc(lines + 1, sizeof(ksv_key)), 0};
    if (list.keys == NULL)
        bench_fail("out of memory");
    while (at < end) {
        const char *line_end = memchr(at, '\n', (size_t)(end - at));
        if (line_end == NULL || line_end == at)
            bench_fail("a key file has one key a line");
        list.keys[list.count++] = (ksv_key){at, (size_t)(line_end - at)};
        at = line_end + 1;
    }
    if (list.count == 0)
        bench_fail("no keys");
    return list;
}

/* A small file of /proc, by a single call. */
static void read_small(const char *path, char *text, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? -1 : read(fd, text, size - 1);
    text[got < 0 ? 0 : got] = '\0';
    if (fd >= 0)
        close(fd);
}

/* The number behind `name`; 0 when there is none. */
static uint64_t number_of(const char *text, const char *name)
{
    const char *at = strstr(text, name);
    return at == NULL ? 0 : strtoull(at + strlen(name), NULL, 10);
}

bench_io bench_io_now(void)
{
    char text[1024];
    read_small("/proc/self/io", text, sizeof text);
    return (bench_io){number_of(text, "syscr:"),
                      number_of(text, "read_bytes:")};
}

bench_io bench_io_since(bench_io start)
{
    bench_io now = bench_io_now();
    /* One call read the counters themselves. */
    return (bench_io){now.read_calls - start.read_calls - 1,
                      now.disk_bytes - start.disk_bytes};
}

void bench_evict(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        bench_fail(path);
    if (fdatasync(fd) != 0 || posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) != 0)
        bench_fail("cannot empty the page cache");
    close(fd);
}

void bench_evict_directory(const char *directory)
{
    DIR *dir = opendir(directory);
    if (dir == NULL)
        bench_fail(directory);
    for (struct dirent *e = readdir(dir); e != NULL; e = readdir(dir)) {
        char path[4096];
        if (e->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", directory, e->d_name);
        bench_evict(path);
    }
    closedir(dir);
}

/* Keys for each page of a filter; it is missed with a chance of e to the minus
 * that. */
#define WARM_KEYS_A_PAGE 20
#define WARM_AT_ONCE 4096

static void ask_filters(ksv_index *index, uint64_t first)
{
    static uint64_t numbers[WARM_AT_ONCE];
    static ksv_key keys[WARM_AT_ONCE];
    static bool maybe[WARM_AT_ONCE];
    ksv_error error;
    for (size_t i = 0; i < WARM_AT_ONCE; i++) {
        numbers[i] = bench_random(first + i);
        keys[i] = (ksv_key){&numbers[i], sizeof numbers[i]};
    }
    bench_check(
        ksv_has(index, keys, WARM_AT_ONCE, true, maybe, NULL, NULL, &error),
        &error);
}

void bench_warm_filters(ksv_index *index)
{
    ksv_index_info info;
    ksv_error error;
    bench_check(ksv_index_get_info(index, &info, &error), &error);
    uint64_t keys = (info.filter_bytes / 4096 + 1) * WARM_KEYS_A_PAGE;
    for (uint64_t first = 0; first < keys; first += WARM_AT_ONCE)
        ask_filters(index, first);
}

uint64_t bench_peak_bytes(void)
{
    char text[4096];
    read_small("/proc/self/status", text, sizeof text);
    return number_of(text, "VmHWM:") * 1024;
}

static bool take(void *ctx, size_t key_number, const ksv_record *record)
{
    (void)key_number;
    ((bench_lookups *)ctx)->found += record != NULL;
    return true;
}

void bench_get(bench_lookups *lookups, size_t first, size_t count,
               ksv_receipt *receipt)
{
    ksv_error error;
    bench_check(ksv_get(lookups->index, lookups->keys + first, count, NULL,
                        take, lookups, receipt, NULL, &error),
                &error);
}

void bench_look_up(void *lookups)
{
    bench_lookups *l = lookups;
    l->found = 0;
    for (size_t i = 0; i < l->count; i += l->at_once) {
        size_t left = l->count - i;
        bench_get(l, i, left < l->at_once ? left : l->at_once, NULL);
    }
}

void bench_check_found(const bench_lookups *lookups, bool present)
{
    if (present ? lookups->found < lookups->count : lookups->found != 0)
        bench_fail("wrong answers");
}
