/* SPDX-License-Identifier: MIT */
/* Streams without duplicates: a day of ids compressed in time, approximately
 * and exactly, then peers on fewer ids.
 *
 * usage: bench_dedup approximate|exact IDS [DIRECTORY]
 *        bench_dedup peers IDS DIRECTORY [KEYSIEVE]
 *
 * IDS ids come in 24 hours of the stream, for 27 hours; one in 20 comes a
 * second time within 6 hours. The full size is 864000000 (10,000 a second). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "dedup/dedup_private.h"
#include "harness.h"

#ifdef HAVE_LIBBLOOM
#include <bloom.h>
#endif

#define DAY_MS INT64_C(86400000)
#define FIRST_MS 1700000000000 /* of the times in files */
enum { BATCH = 1024, ID_BYTES = 16, REPEAT_ONE_IN = 20, LOOKS = 500 };

typedef struct id_stream {
    uint64_t ids;   /* in a day */
    uint64_t count; /* that came so far */
    uint64_t fresh; /* of them, the first of their kind */
    char bytes[BATCH * ID_BYTES];
    ksv_dedup_key keys[BATCH];
    uint64_t numbers[BATCH];
    bool is_repeat[BATCH];
} id_stream;

static void write_id(uint64_t number, char *out)
{
    static const char digits[] = "0123456789abcdef";
    uint64_t id = bench_random(number);
    for (unsigned i = 0; i < ID_BYTES; i++)
        out[i] = digits[id >> (60 - 4 * i) & 15];
}

/* The number of the next id, and whether it is a repeat. */
static uint64_t next_number(id_stream *s, bool *is_repeat)
{
    uint64_t luck = bench_random(~s->count++);
    uint64_t range = s->ids / 4 < s->fresh ? s->ids / 4 : s->fresh;
    *is_repeat = range > 0 && luck % REPEAT_ONE_IN == 0;
    return *is_repeat ? s->fresh - 1 - luck / REPEAT_ONE_IN % range
                      : s->fresh++;
}

static void next_batch(id_stream *s)
{
    for (size_t i = 0; i < BATCH; i++) {
        char *id = s->bytes + i * ID_BYTES;
        int64_t time_ms =
            (int64_t)((double)s->count * (double)DAY_MS / (double)s->ids);
        s->numbers[i] = next_number(s, &s->is_repeat[i]);
        write_id(s->numbers[i], id);
        s->keys[i] = (ksv_dedup_key){id, ID_BYTES, time_ms};
    }
}

/* Time, and time of the processor, in nanoseconds: on a busy machine the latter
 * tells more. */
typedef struct two_times {
    double wall;
    double processor;
} two_times;

static two_times times_now(void)
{
    return (two_times){bench_now_ns(), (double)clock() * 1e9 / CLOCKS_PER_SEC};
}

static two_times less(two_times a, two_times b)
{
    return (two_times){a.wall - b.wall, a.processor - b.processor};
}

/* What making the ids costs, to be taken off. */
static two_times run_ids(id_stream *s, uint64_t total)
{
    two_times start = times_now();
    *s = (id_stream){.ids = s->ids};
    while (s->count < total)
        next_batch(s);
    return less(times_now(), start);
}

static void print(const char *way, const char *what, double value,
                  const char *unit)
{
    char name[64];
    snprintf(name, sizeof name, "dedup.%s.%s", way, what);
    bench_print(name, value, unit);
}

/* What a stream came to: which ids were passed is known by how it is made. */
typedef struct stream_check {
    uint64_t passed_twice;
    uint64_t *dropped; /* numbers of ids dropped at first, ascending */
    size_t dropped_count;
    size_t dropped_capacity;
    double expected_drops;
    uint64_t fresh_seen; /* ids that those were expected of */
    uint64_t most_disk_bytes;
} stream_check;

static void note_dropped(stream_check *check, uint64_t number)
{
    if (check->dropped_count == check->dropped_capacity) {
        check->dropped_capacity = 2 * check->dropped_capacity + 1024;
        check->dropped = realloc(check->dropped, check->dropped_capacity *
                                                     sizeof *check->dropped);
        if (check->dropped == NULL)
            bench_fail("memory");
    }
    check->dropped[check->dropped_count++] = number;
}

static int compare_numbers(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* An id that was dropped at first may be passed when it comes again. */
static void check_batch(stream_check *check, const id_stream *s,
                        const bool *fresh)
{
    for (size_t i = 0; i < BATCH; i++) {
        if (!s->is_repeat[i] && !fresh[i])
            note_dropped(check, s->numbers[i]);
        else if (s->is_repeat[i] && fresh[i])
            check->passed_twice +=
                bsearch(&s->numbers[i], check->dropped, check->dropped_count,
                        sizeof *check->dropped, compare_numbers) == NULL;
    }
}

/* The rate of false positives to expect of the filters as they are now. */
static double rate_now(const ksv_dedup *dedup)
{
    double passes = 1;
    ksv_filter_plan plan;
    uint64_t keys;
    if (dedup->filters == NULL)
        return 0;
    generations_shape(dedup->filters, &plan, &keys);
    for (size_t i = 0; i < generations_count(dedup->filters); i++)
        passes *= 1 - ksv_filter_expected_fpr(
                          plan.blocks, plan.hash_functions,
                          generations_get(dedup->filters, i)->keys, 64);
    return 1 - passes;
}

static void look(stream_check *check, const ksv_dedup *dedup,
                 const id_stream *s)
{
    ksv_dedup_info info;
    ksv_dedup_get_info(dedup, &info);
    if (info.disk_bytes > check->most_disk_bytes)
        check->most_disk_bytes = info.disk_bytes;
    check->expected_drops +=
        rate_now(dedup) * (double)(s->fresh - check->fresh_seen);
    check->fresh_seen = s->fresh;
}

static void print_way(const char *way, const ksv_dedup_info *info, two_times ns,
                      uint64_t total)
{
    print(way, "time", ns.wall / (double)total, "ns/id");
    print(way, "processor_time", ns.processor / (double)total, "ns/id");
    print(way, "speed", (double)total / ns.wall * 1000, "million_ids/s");
    print(way, "memory", (double)info->memory_bytes, "bytes");
    print(way, "peak_of_process", (double)bench_peak_bytes(), "bytes");
    if (info->disk_keys == 0)
        return;
    print(way, "disk", (double)info->disk_bytes / (double)info->disk_keys,
          "bytes/id");
    print(way, "written",
          (double)info->disk_bytes_written / (double)info->passed, "bytes/id");
    print(way, "pages_read", (double)info->pages_read / (double)total,
          "pages/id");
}

static void measure(const char *way, const ksv_dedup_options *options,
                    id_stream *s, uint64_t total)
{
    ksv_dedup *dedup;
    ksv_dedup_info info;
    ksv_error error;
    bool fresh[BATCH];
    stream_check check = {.passed_twice = 0};
    uint64_t look_each = total / BATCH / LOOKS + 1;
    two_times making = run_ids(s, total);
    two_times start = times_now();
    *s = (id_stream){.ids = s->ids};
    bench_check(ksv_dedup_open(options, &dedup, &error), &error);
    while (s->count < total) {
        next_batch(s);
        bench_check(ksv_dedup_offer_batch(dedup, s->keys, BATCH, fresh, &error),
                    &error);
        check_batch(&check, s, fresh);
        if (s->count / BATCH % look_each == 0)
            look(&check, dedup, s);
    }
    two_times ns = less(less(times_now(), start), making);
    ksv_dedup_get_info(dedup, &info);
    print_way(way, &info, ns, s->count);
    look(&check, dedup, s);
    print(way, "ids", (double)s->count, "ids");
    print(way, "making_ids", making.processor / (double)s->count, "ns/id");
    print(way, "passed_twice", (double)check.passed_twice, "ids");
    print(way, "dropped_ids", (double)check.dropped_count, "ids");
    print(way, "dropped_wrongly",
          100.0 * (double)check.dropped_count / (double)s->fresh, "%");
    if (options->approximate)
        print(way, "dropped_predicted",
              100.0 * check.expected_drops / (double)s->fresh, "%");
    else
        print(way, "most_disk", (double)check.most_disk_bytes, "bytes");
    free(check.dropped);
    ksv_dedup_close(dedup);
}

/* Ids as lines, or with their times before them. */
static void write_file(const char *path, id_stream *s, uint64_t total,
                       bool with_times)
{
    FILE *file = fopen(path, "wb");
    if (file == NULL)
        bench_fail(path);
    *s = (id_stream){.ids = total / 9 * 8 + 1};
    while (s->count < total) {
        next_batch(s);
        for (size_t i = 0; i < BATCH; i++) {
            if (with_times)
                fprintf(file, "%lld,",
                        FIRST_MS + (long long)s->keys[i].time_ms);
            fprintf(file, "%.*s\n", ID_BYTES, s->bytes + i * ID_BYTES);
        }
    }
    if (fclose(file) != 0)
        bench_fail(path);
}

/* Lines that libbloom has not seen, on standard output. */
static void run_libbloom(const char *path, uint64_t ids)
{
#ifdef HAVE_LIBBLOOM
    struct bloom seen;
    char line[64];
    FILE *file = fopen(path, "rb");
    if (file == NULL || bloom_init(&seen, (int)ids, 0.001) != 0)
        bench_fail(path);
    while (fgets(line, sizeof line, file) != NULL) {
        size_t bytes = strlen(line);
        if (bloom_add(&seen, line, (int)bytes) == 0)
            fwrite(line, 1, bytes, stdout);
    }
    bloom_free(&seen);
    fclose(file);
#else
    (void)path;
    (void)ids;
    bench_fail("libbloom is not installed");
#endif
}

static void run_peer(const char *name, const char *command, uint64_t total)
{
    struct rusage usage;
    int status = 0;
    double start = bench_now_ns();
    pid_t child = fork();
    if (child == 0) {
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    if (child < 0 || wait4(child, &status, 0, &usage) != child)
        bench_fail("fork");
    if (status != 0) {
        fprintf(stderr, "%s is left out: it did not run\n", name);
        return;
    }
    double cpu_us =
        1e6 * (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
        (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
    print(name, "time", (bench_now_ns() - start) / (double)total, "ns/id");
    print(name, "processor_time", 1000 * cpu_us / (double)total, "ns/id");
    print(name, "peak", 1024 * (double)usage.ru_maxrss, "bytes");
}

static void run_peers(id_stream *s, uint64_t total, const char *directory,
                      const char *tool, const char *self)
{
    static const char sqlite[] =
        "python3 -c \"import sqlite3,sys\n"
        "db=sqlite3.connect('%2$s/dedup.db')\n"
        "db.execute('pragma journal_mode=off')\n"
        "db.execute('pragma synchronous=off')\n"
        "db.execute('pragma cache_size=-1000000')\n"
        "db.execute('create table seen(id text primary key) without rowid')\n"
        "for line in open('%1$s'):\n"
        "    if db.execute('insert or ignore into seen values(?)',"
        "(line,)).rowcount: sys.stdout.write(line)\n"
        "db.commit()\" > /dev/null; rm -f '%2$s/dedup.db'";
    const struct {
        const char *name;
        const char *form;
    } peers[] = {
        {"peer.keysieve_exact", "'%3$s' dedup -q -f lines '%1$s' > /dev/null"},
        {"peer.keysieve_exact_64M",
         "'%3$s' dedup -q -f lines --memory 64M --temp-dir '%2$s' '%1$s' > "
         "/dev/null"},
        {"peer.keysieve_exact_window",
         "'%3$s' dedup -q -f csv --no-header -k 2 --time-field 1 --window 24h "
         "--memory 64M --temp-dir '%2$s' '%1$s.csv' > /dev/null"},
        {"peer.keysieve_approximate",
         "'%3$s' dedup -q -f lines --approximate --expect %4$llu '%1$s' > "
         "/dev/null"},
        {"peer.keysieve_approximate_window",
         "'%3$s' dedup -q -f csv --no-header -k 2 --time-field 1 --window 24h "
         "--approximate --expect %4$llu '%1$s.csv' > /dev/null"},
        {"peer.libbloom", "'%5$s' libbloom %4$llu '%1$s' > /dev/null"},
        {"peer.awk", "awk '!seen[$0]++' '%1$s' > /dev/null"},
        {"peer.sort_u", "LC_ALL=C sort -S 1G -T '%2$s' -u '%1$s' > /dev/null"},
        {"peer.sqlite_unique", sqlite},
    };
    char path[1024];
    char timed[1030];
    char command[8192];
    snprintf(path, sizeof path, "%s/ids.txt", directory);
    snprintf(timed, sizeof timed, "%s.csv", path);
    write_file(path, s, total, false);
    write_file(timed, s, total, true);
    bench_print("dedup.peer.ids", (double)s->count, "ids");
    for (size_t i = 0; i < sizeof peers / sizeof peers[0]; i++) {
        if (tool == NULL && strncmp(peers[i].name, "peer.keysieve", 13) == 0)
            continue;
        snprintf(command, sizeof command, peers[i].form, path, directory, tool,
                 (unsigned long long)total, self);
        run_peer(peers[i].name, command, s->count);
    }
    remove(path);
    remove(timed);
}

static void run_stream(const char *way, id_stream *s, const char *directory)
{
    ksv_dedup_options options;
    uint64_t total = s->ids + s->ids / 8;
    ksv_dedup_options_init(&options);
    options.window_ms = DAY_MS;
    options.approximate = strcmp(way, "approximate") == 0;
    if (options.approximate) {
        options.expected_keys = s->ids;
        options.fpr = 0.001;
    } else {
        options.memory_bytes = s->ids * 2000 / 864; /* 2 GB at full size */
        options.spill_directory = directory;
    }
    bench_print("dedup.ids_a_day", (double)s->ids, "ids");
    measure(way, &options, s, total);
}

int main(int argc, char **argv)
{
    static id_stream s;
    const char *way = argc > 1 ? argv[1] : "";
    bool is_stream =
        strcmp(way, "approximate") == 0 || strcmp(way, "exact") == 0;
    bool is_libbloom = strcmp(way, "libbloom") == 0;
    s.ids = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
    if (s.ids == 0 ||
        (!is_stream && !is_libbloom && strcmp(way, "peers") != 0)) {
        fprintf(stderr, "usage: bench_dedup approximate|exact IDS [DIRECTORY]\n"
                        "       bench_dedup peers IDS DIRECTORY [KEYSIEVE]\n");
        return 2;
    }
    const char *directory = argc > 3 ? argv[3] : "/tmp";
    if (is_libbloom)
        run_libbloom(directory, s.ids);
    else if (is_stream)
        run_stream(way, &s, directory);
    else
        run_peers(&s, s.ids, directory, argc > 4 ? argv[4] : NULL, argv[0]);
    return 0;
}
