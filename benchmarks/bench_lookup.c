/* SPDX-License-Identifier: MIT */
/* What lookups cost by the key, beside what the machine charges for the reads
 * and the memory that they need: bench_lookup [RECORDS [PATH [PART_OF_A_NAME]]]
 * Prints lines "name value unit" and leaves its data and index at PATH for
 * later runs. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <keysieve/keysieve.h>

#define KEY_BYTES 36
#define ASKED 262144
#define ROUNDS 5

typedef struct bench {
    uint64_t records;
    char data[512];
    char directory[512];
    char (*present)[KEY_BYTES + 1];
    char (*absent)[KEY_BYTES + 1];
    ksv_key *present_keys;
    ksv_key *absent_keys;
    ksv_index *read;
    ksv_index *mapped;
} bench;

/* A measured piece of work; `ctx` says on what. */
typedef void (*work_fn)(void *ctx);

static void fail(const char *what)
{
    fprintf(stderr, "bench_lookup: %s\n", what);
    exit(1);
}

static void check(ksv_status status, const ksv_error *error)
{
    if (status != KSV_OK) {
        fprintf(stderr, "bench_lookup: %s: %s\n", error->path, error->text);
        exit(1);
    }
}

static uint64_t mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* Looks like a UUID. */
static void make_key(uint64_t number, char key[KEY_BYTES + 1])
{
    uint64_t a = mix(number * 2 + 1), b = mix(number * 2 + 2);
    snprintf(key, KEY_BYTES + 1, "%08x-%04x-%04x-%04x-%012llx",
             (unsigned)(a >> 32), (unsigned)(a >> 16) & 0xffff,
             (unsigned)a & 0xffff, (unsigned)(b >> 48),
             (unsigned long long)(b & UINT64_C(0xffffffffffff)));
}

static double clock_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Only what has this in its name is measured; NULL: all. */
static const char *wanted;

/* Prints the time of the best round by the key: that of the clock, and that of
 * all processors, which others that use the machine disturb less. */
static void report(const char *name, work_fn work, void *ctx, double keys)
{
    double best_wall = 0, best_cpu = 0;
    if (wanted != NULL && strstr(name, wanted) == NULL)
        return;
    for (int round = 0; round < ROUNDS; round++) {
        double wall = clock_ns(CLOCK_MONOTONIC);
        double cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
        work(ctx);
        wall = (clock_ns(CLOCK_MONOTONIC) - wall) / keys;
        cpu = (clock_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu) / keys;
        if (round == 0 || wall < best_wall)
            best_wall = wall;
        if (round == 0 || cpu < best_cpu)
            best_cpu = cpu;
    }
    printf("%s %.1f ns\n%s.cpu %.1f ns\n", name, best_wall, name, best_cpu);
    fflush(stdout);
}

static void write_data(const bench *b)
{
    FILE *f = fopen(b->data, "w");
    if (f == NULL)
        fail("cannot write the data");
    fprintf(f, "id,name,place,value\n");
    for (uint64_t i = 0; i < b->records; i++) {
        char key[KEY_BYTES + 1];
        make_key(i, key);
        fprintf(f, "%s,\"name %llu, esq\",\"place %llu, x\",%llu\n", key,
                (unsigned long long)i, (unsigned long long)(i % 1000),
                (unsigned long long)(mix(i) % 100000));
    }
    if (fclose(f) != 0)
        fail("cannot write the data");
}

static void build(const bench *b)
{
    static const char *const key = "id";
    const char *files[] = {b->data};
    ksv_format_options format;
    ksv_build_options options;
    ksv_error error;
    ksv_format_options_init(&format);
    format.format = KSV_FORMAT_CSV;
    format.keys = &key;
    format.key_count = 1;
    ksv_build_options_init(&options);
    options.format = &format;
    check(ksv_build(b->directory, files, 1, &options, NULL, &error), &error);
}

/* Whether an earlier run has left an index of as many records. */
static bool is_built(const bench *b)
{
    ksv_index *index;
    ksv_index_info info;
    if (ksv_index_open(b->directory, NULL, &index, NULL) != KSV_OK)
        return false;
    bool is_there = ksv_index_get_info(index, &info, NULL) == KSV_OK &&
                    info.records == b->records;
    ksv_index_close(index);
    return is_there;
}

static void make_keys(bench *b)
{
    b->present = calloc(ASKED, sizeof *b->present);
    b->absent = calloc(ASKED, sizeof *b->absent);
    b->present_keys = calloc(ASKED, sizeof *b->present_keys);
    b->absent_keys = calloc(ASKED, sizeof *b->absent_keys);
    if (b->present == NULL || b->absent == NULL || b->present_keys == NULL ||
        b->absent_keys == NULL)
        fail("out of memory");
    for (size_t i = 0; i < ASKED; i++) {
        make_key(mix(i) % b->records, b->present[i]);
        make_key(b->records + i, b->absent[i]);
        b->present_keys[i] = (ksv_key){b->present[i], KEY_BYTES};
        b->absent_keys[i] = (ksv_key){b->absent[i], KEY_BYTES};
    }
}

static ksv_index *open_index(const bench *b, bool map_files)
{
    ksv_index_options options;
    ksv_index *index;
    ksv_error error;
    ksv_index_options_init(&options);
    options.map_files = map_files;
    check(ksv_index_open(b->directory, &options, &index, &error), &error);
    return index;
}

/* Lookups: of so many keys a call. */
typedef struct lookups {
    ksv_index *index;
    const ksv_key *keys;
    size_t count;
    size_t at_once;
    uint64_t found;
} lookups;

static bool count_found(void *ctx, size_t key_number, const ksv_record *record)
{
    (void)key_number;
    ((lookups *)ctx)->found += record != NULL;
    return true;
}

static void look_up(void *ctx)
{
    lookups *l = ctx;
    ksv_error error;
    for (size_t i = 0; i < l->count; i += l->at_once) {
        size_t n = l->count - i < l->at_once ? l->count - i : l->at_once;
        check(ksv_get(l->index, l->keys + i, n, NULL, count_found, l, NULL,
                      NULL, &error),
              &error);
    }
}

static void bench_lookups(const bench *b, ksv_index *index, const char *how)
{
    static const size_t AT_ONCE[] = {1, 64, 1024, 32768, ASKED};
    for (size_t i = 0; i < sizeof AT_ONCE / sizeof AT_ONCE[0]; i++) {
        for (int present = 1; present >= 0; present--) {
            size_t count = AT_ONCE[i] < 1024 ? ASKED / 8 : ASKED;
            lookups l = {.index = index,
                         .keys = present ? b->present_keys : b->absent_keys,
                         .count = count,
                         .at_once = AT_ONCE[i]};
            char name[64];
            snprintf(name, sizeof name, "lookup.get.%s.%s.%zu", how,
                     present ? "present" : "absent", AT_ONCE[i]);
            report(name, look_up, &l, (double)count);
            if (l.found != 0 && l.found != (present ? ROUNDS * count : 0))
                fail("wrong answers");
        }
    }
}

typedef struct probes {
    ksv_filter *filter;
    uint64_t hashes[ASKED];
    bool maybe[ASKED];
    uint64_t positives;
} probes;

static void probe_batch(void *ctx)
{
    probes *p = ctx;
    check(ksv_filter_may_contain_batch(p->filter, p->hashes, ASKED, p->maybe,
                                       NULL),
          NULL);
}

static void probe_alone(void *ctx)
{
    probes *p = ctx;
    for (size_t i = 0; i < ASKED; i++) {
        bool maybe = false;
        check(ksv_filter_may_contain(p->filter, p->hashes[i], &maybe, NULL),
              NULL);
        p->positives += maybe;
    }
}

static void bench_filter(const bench *b)
{
    const ksv_file_system *fs = ksv_posix_file_system();
    char path[600];
    ksv_file *file;
    ksv_error error;
    static probes p;
    snprintf(path, sizeof path, "%s/0000000000000001.ksf", b->directory);
    check(fs->open_read(fs->ctx, path, &file, &error), &error);
    check(ksv_filter_open(file, NULL, &p.filter, &error), &error);
    check(ksv_filter_load(p.filter, &error), &error);
    ksv_filter_info info;
    ksv_filter_get_info(p.filter, &info);
    for (size_t i = 0; i < ASKED; i++)
        p.hashes[i] = ksv_hash(&info.options.hasher, b->absent[i], KEY_BYTES);
    printf("lookup.filter.size %.1f MB\n", (double)info.file_bytes / 1e6);
    report("lookup.filter.absent.alone", probe_alone, &p, ASKED);
    report("lookup.filter.absent.batch", probe_batch, &p, ASKED);
    ksv_filter_close(p.filter);
    check(file->ops->close(file, &error), &error);
}

/* Floors: what the same reads cost without a library. */
typedef struct floor_work {
    int fd;
    uint64_t offsets[ASKED];
    size_t size_bytes;
    size_t count;
    uint8_t *memory;
    size_t memory_bytes;
    uint64_t sum;
    char buffer[65536];
} floor_work;

static void read_each(void *ctx)
{
    floor_work *f = ctx;
    for (size_t i = 0; i < f->count; i++)
        if (pread(f->fd, f->buffer, f->size_bytes, (off_t)f->offsets[i]) < 0)
            fail("pread");
}

static void touch_each(void *ctx)
{
    floor_work *f = ctx;
    for (size_t i = 0; i < f->count; i++)
        f->sum += f->memory[f->offsets[i] % f->memory_bytes];
}

static void copy_each(void *ctx)
{
    floor_work *f = ctx;
    for (size_t i = 0; i < f->count; i++)
        memcpy(f->buffer + i % 256 * f->size_bytes, f->memory + f->offsets[i],
               f->size_bytes);
}

/* Each place depends on what stood at the one before. */
static void chase_each(void *ctx)
{
    floor_work *f = ctx;
    uint64_t at = 0;
    for (size_t i = 0; i < f->count; i++)
        at = (f->offsets[i] + f->memory[at]) % f->memory_bytes;
    f->sum += at;
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static void bench_floors(const bench *b)
{
    static floor_work f;
    f.fd = open(b->data, O_RDONLY | O_CLOEXEC);
    off_t size = f.fd < 0 ? -1 : lseek(f.fd, 0, SEEK_END);
    if (size < 65536)
        fail("cannot open the data");
    f.count = ASKED;
    for (size_t i = 0; i < ASKED; i++)
        f.offsets[i] = mix(i) % (uint64_t)(size - 4096);
    f.memory_bytes = (size_t)12 << 20;
    f.memory = malloc(f.memory_bytes);
    if (f.memory == NULL)
        fail("out of memory");
    /* Not zeros: those of pages never written to are all one page. */
    memset(f.memory, 1, f.memory_bytes);
    report("lookup.floor.memory_12m.dependent", chase_each, &f, ASKED);
    report("lookup.floor.memory_12m.independent", touch_each, &f, ASKED);
    free(f.memory);
    int ignored = posix_fadvise(f.fd, 0, 0, POSIX_FADV_RANDOM);
    (void)ignored;
    f.size_bytes = 128;
    report("lookup.floor.pread_128.random", read_each, &f, ASKED);
    f.size_bytes = 4096;
    report("lookup.floor.two_preads_4k.random", read_each, &f, ASKED / 2.0);
    for (size_t i = 0; i < ASKED; i += 32768)
        qsort(f.offsets + i, 32768, sizeof f.offsets[0], compare);
    f.size_bytes = 128;
    report("lookup.floor.pread_128.sorted", read_each, &f, ASKED);
    f.memory = mmap(NULL, (size_t)size, PROT_READ, MAP_SHARED, f.fd, 0);
    if (f.memory == MAP_FAILED)
        fail("mmap");
    report("lookup.floor.mapped_128.sorted", copy_each, &f, ASKED);
    munmap(f.memory, (size_t)size);
    close(f.fd);
}

int main(int argc, char **argv)
{
    static bench b;
    const char *base = argc > 2 ? argv[2] : "/tmp/bench_lookup";
    wanted = argc > 3 ? argv[3] : NULL;
    b.records = argc > 1 ? strtoull(argv[1], NULL, 10) : 10000000;
    if (b.records < 10000)
        fail("usage: bench_lookup [RECORDS [PATH]], 10000 records at least");
    snprintf(b.data, sizeof b.data, "%s.csv", base);
    snprintf(b.directory, sizeof b.directory, "%s.index", base);
    if (!is_built(&b)) {
        write_data(&b);
        build(&b);
    }
    make_keys(&b);
    printf("lookup.records %llu records\n", (unsigned long long)b.records);
    bench_floors(&b);
    bench_filter(&b);
    b.read = open_index(&b, false);
    b.mapped = open_index(&b, true);
    bench_lookups(&b, b.read, "read");
    bench_lookups(&b, b.mapped, "mapped");
    ksv_index_close(b.read);
    ksv_index_close(b.mapped);
    return 0;
}
