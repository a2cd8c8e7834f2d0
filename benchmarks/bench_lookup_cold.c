/* SPDX-License-Identifier: MIT */
/* What lookups cost when table and data are on the disk, and what a process
 * costs that looks up one key or a million: bench_lookup_cold TOOL [PATH], with
 * the data and index that bench_lookup has left at PATH. Prints lines "name
 * value unit". */
#include <fcntl.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <keysieve/keysieve.h>

#define KEY_BYTES 36
#define COLD_KEYS 1000
#define DEEP_KEYS 8192
#define PROCESSES 101
#define STREAM_KEYS 1000000
#define STREAMS 5
#define RAW_BYTES 4096

extern char **environ;

typedef char key_text[KEY_BYTES + 1];

typedef struct cold {
    const char *tool;
    uint64_t records;
    char data[512];
    char directory[512];
    char table[600];
    char filter[600];
    char stream[512]; /* keys, one a line */
    ksv_index *index;
    uint64_t found;
} cold;

static void fail(const char *what)
{
    fprintf(stderr, "bench_lookup_cold: %s\n", what);
    exit(1);
}

static void check(ksv_status status, const ksv_error *error)
{
    if (status == KSV_OK)
        return;
    fprintf(stderr, "%s: %s\n", error->path, error->text);
    fail("a call failed");
}

static void print(const char *name, double value, const char *unit)
{
    printf("%s %.3f %s\n", name, value, unit);
    fflush(stdout);
}

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double median(double *values, size_t count)
{
    qsort(values, count, sizeof *values, compare);
    return values[count / 2];
}

/* The keys of bench_lookup. */
static uint64_t mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static void make_key(uint64_t number, key_text key)
{
    uint64_t a = mix(number * 2 + 1), b = mix(number * 2 + 2);
    snprintf(key, KEY_BYTES + 1, "%08x-%04x-%04x-%04x-%012llx",
             (unsigned)(a >> 32), (unsigned)(a >> 16) & 0xffff,
             (unsigned)a & 0xffff, (unsigned)(b >> 48),
             (unsigned long long)(b & UINT64_C(0xffffffffffff)));
}

/* Throws a file out of the page cache. */
static void evict(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fsync(fd) != 0 ||
        posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) != 0)
        fail("cannot empty the page cache");
    close(fd);
}

static uint64_t size_of(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    off_t size = fd < 0 ? -1 : lseek(fd, 0, SEEK_END);
    if (size < 2 * RAW_BYTES)
        fail("no data or index: run bench_lookup first");
    close(fd);
    return (uint64_t)size;
}

/* A count of the kernel for this process; reading it counts as a read. */
static uint64_t io_count(const char *name)
{
    char text[512];
    FILE *f = fopen("/proc/self/io", "r");
    size_t got = f != NULL ? fread(text, 1, sizeof text - 1, f) : 0;
    if (f != NULL)
        fclose(f);
    text[got] = '\0';
    const char *at = strstr(text, name);
    if (at == NULL)
        fail("the kernel does not count reads");
    return strtoull(at + strlen(name), NULL, 10);
}

static uint64_t reads_now(void)
{
    uint64_t first = io_count("syscr: ");
    /* What the counting itself adds. */
    return 2 * first - io_count("syscr: ");
}

static bool count_found(void *ctx, size_t key_number, const ksv_record *record)
{
    (void)key_number;
    ((cold *)ctx)->found += record != NULL;
    return true;
}

static void get(cold *c, const key_text *texts, size_t count, size_t at_once,
                ksv_receipt *receipt)
{
    static ksv_key keys[DEEP_KEYS];
    ksv_error error;
    for (size_t i = 0; i < count; i++)
        keys[i] = (ksv_key){texts[i], KEY_BYTES};
    for (size_t i = 0; i < count; i += at_once)
        check(ksv_get(c->index, keys + i,
                      count - i < at_once ? count - i : at_once, NULL,
                      count_found, c, receipt, NULL, &error),
              &error);
}

static void choose_keys(const cold *c, uint64_t seed, bool present,
                        key_text *keys, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t number = mix(seed * DEEP_KEYS + i) % c->records;
        make_key(present ? number : c->records + number, keys[i]);
    }
}

/* Filter and fences into memory, all else out of it. */
static void prepare(cold *c)
{
    static key_text keys[DEEP_KEYS];
    ksv_receipt receipt = {0};
    for (uint64_t seed = 0; seed < 4; seed++) {
        choose_keys(c, 1000 + seed, seed > 2, keys, DEEP_KEYS);
        get(c, keys, DEEP_KEYS, DEEP_KEYS, &receipt);
    }
    evict(c->table);
    evict(c->data);
}

static double two_raw_reads(const cold *c)
{
    static char buffer[RAW_BYTES];
    int fds[] = {open(c->table, O_RDONLY | O_CLOEXEC),
                 open(c->data, O_RDONLY | O_CLOEXEC)};
    uint64_t pages[] = {size_of(c->table) / RAW_BYTES,
                        size_of(c->data) / RAW_BYTES};
    for (size_t f = 0; f < 2; f++) {
        int ignored = posix_fadvise(fds[f], 0, 0, POSIX_FADV_RANDOM);
        (void)ignored;
    }
    double start = now_ns();
    for (uint64_t i = 0; i < 2 * COLD_KEYS; i++) {
        uint64_t page = mix(777 + i) % pages[i % 2];
        if (pread(fds[i % 2], buffer, RAW_BYTES, (off_t)(page * RAW_BYTES)) !=
            RAW_BYTES)
            fail("cannot read");
    }
    double ns = now_ns() - start;
    close(fds[0]);
    close(fds[1]);
    return ns / COLD_KEYS;
}

static void bench_cold(cold *c)
{
    static key_text keys[DEEP_KEYS];
    double raw[3], one[3], deep[3];
    for (uint64_t round = 0; round < 3; round++) {
        prepare(c);
        raw[round] = two_raw_reads(c);
        prepare(c);
        choose_keys(c, round, true, keys, COLD_KEYS);
        ksv_receipt receipt = {0};
        uint64_t disk = io_count("read_bytes: ");
        uint64_t reads = reads_now();
        double start = now_ns();
        get(c, keys, COLD_KEYS, 1, &receipt);
        one[round] = (now_ns() - start) / COLD_KEYS;
        reads = reads_now() - reads;
        disk = io_count("read_bytes: ") - disk;
        if (round == 0) {
            double n = COLD_KEYS;
            print("lookup.cold.pages", (double)receipt.table_pages_read / n,
                  "reads/key");
            print("lookup.cold.data_reads", (double)receipt.data_reads / n,
                  "reads/key");
            print("lookup.cold.read_calls", (double)reads / n, "calls/key");
            print("lookup.cold.disk_bytes", (double)disk / n, "B/key");
        }
        prepare(c);
        choose_keys(c, 100 + round, true, keys, DEEP_KEYS);
        start = now_ns();
        get(c, keys, DEEP_KEYS, DEEP_KEYS, &receipt);
        deep[round] = (now_ns() - start) / DEEP_KEYS;
    }
    double floor_ns = median(raw, 3);
    double one_ns = median(one, 3);
    print("lookup.cold.floor.two_preads_4k", floor_ns / 1e3, "us/key");
    print("lookup.cold.get", one_ns / 1e3, "us/key");
    print("lookup.cold.get_to_floor", one_ns / floor_ns, "ratio");
    print("lookup.cold.get_batch_8192", median(deep, 3) / 1e3, "us/key");
}

/* Runs a program without output; its time and what it used. */
static double run(const char *const *arguments, const char *input,
                  struct rusage *usage)
{
    posix_spawn_file_actions_t actions;
    pid_t pid;
    int status = 0;
    if (posix_spawn_file_actions_init(&actions) != 0 ||
        posix_spawn_file_actions_addopen(&actions, 0, input, O_RDONLY, 0) ||
        posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY,
                                         0) ||
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0))
        fail("out of memory");
    double start = now_ns();
    if (posix_spawn(&pid, arguments[0], &actions, NULL,
                    (char *const *)arguments, environ) != 0 ||
        wait4(pid, &status, 0, usage) != pid)
        fail("cannot run a program");
    double ns = now_ns() - start;
    if (!WIFEXITED(status) || WEXITSTATUS(status) > 1)
        fail("a program failed");
    posix_spawn_file_actions_destroy(&actions);
    return ns;
}

static void bench_process(const cold *c)
{
    static double nothing[PROCESSES], one[PROCESSES];
    key_text key;
    const char *const floor_line[] = {"/bin/true", NULL};
    const char *const line[] = {c->tool, "get", "-i", c->directory, key, NULL};
    struct rusage usage;
    for (uint64_t i = 0; i < PROCESSES; i++) {
        make_key(mix(i) % c->records, key);
        nothing[i] = run(floor_line, "/dev/null", &usage);
        one[i] = run(line, "/dev/null", &usage);
    }
    double floor_ns = median(nothing, PROCESSES);
    double one_ns = median(one, PROCESSES);
    print("lookup.process.floor.true", floor_ns / 1e6, "ms");
    print("lookup.process.get", one_ns / 1e6, "ms");
    print("lookup.process.get_above_true", (one_ns - floor_ns) / 1e6, "ms");
    make_key(c->records / 2, key);
    evict(c->table);
    evict(c->filter);
    evict(c->data);
    run(line, "/dev/null", &usage);
    print("lookup.process.cold_disk_reads",
          (double)usage.ru_inblock * 512 / 1024, "KiB");
}

static void write_stream(const cold *c)
{
    FILE *f = fopen(c->stream, "w");
    if (f == NULL)
        fail("cannot write keys");
    for (uint64_t i = 0; i < STREAM_KEYS; i++) {
        key_text key;
        make_key(mix(i) % c->records + (i % 2 != 0 ? c->records : 0), key);
        fprintf(f, "%s\n", key);
    }
    if (fclose(f) != 0)
        fail("cannot write keys");
}

static void bench_stream(const cold *c)
{
    double times[STREAMS];
    const char *const line[] = {c->tool,      "get", "-l", "-i",
                                c->directory, "-f",  "-",  NULL};
    struct rusage usage;
    run(line, c->stream, &usage); /* into the page cache */
    for (size_t i = 0; i < STREAMS; i++)
        times[i] = run(line, c->stream, &usage);
    print("lookup.process.stream_1e6", median(times, STREAMS) / 1e9, "s");
    double peak = (double)usage.ru_maxrss * 1024 / 1e6;
    double filter = (double)size_of(c->filter) / 1e6;
    print("lookup.process.peak", peak, "MB");
    print("lookup.process.peak_above_filter", peak - filter, "MB");
}

int main(int argc, char **argv)
{
    static cold c;
    const char *base = argc > 2 ? argv[2] : "/tmp/bench_lookup";
    ksv_index_info info;
    ksv_error error;
    if (argc < 2)
        fail("usage: bench_lookup_cold TOOL [PATH]");
    c.tool = argv[1];
    snprintf(c.data, sizeof c.data, "%s.csv", base);
    snprintf(c.stream, sizeof c.stream, "%s.keys", base);
    snprintf(c.directory, sizeof c.directory, "%s.index", base);
    snprintf(c.table, sizeof c.table, "%s/0000000000000001.kst", c.directory);
    snprintf(c.filter, sizeof c.filter, "%s/0000000000000001.ksf", c.directory);
    check(ksv_index_open(c.directory, NULL, &c.index, &error), &error);
    check(ksv_index_get_info(c.index, &info, &error), &error);
    c.records = info.records;
    write_stream(&c);
    /* First, since a program begins with the peak of the one that runs it. */
    bench_process(&c);
    bench_stream(&c);
    bench_cold(&c);
    ksv_index_close(c.index);
    return 0;
}
