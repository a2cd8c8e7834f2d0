/* SPDX-License-Identifier: MIT */
/* What benchmark programs share: clocks, repeated runs, counters of the kernel,
 * the page cache, keys from files. Failures end the program. */
#ifndef KSV_BENCHMARKS_HARNESS_H
#define KSV_BENCHMARKS_HARNESS_H

#include <stddef.h>
#include <stdint.h>

#include <keysieve/keysieve.h>

/* Prints to standard error and exits with 1. */
void bench_fail(const char *what);
void bench_check(ksv_status status, const ksv_error *error);

/* A monotonic clock. */
double bench_now_ns(void);

/* The same random numbers in every run. */
uint64_t bench_random(uint64_t number);

/* Prints "name value unit", the form that the runner reads. */
void bench_print(const char *name, double value, const char *unit);

/* Measured work; `ctx` says on what. */
typedef void (*bench_work)(void *ctx);

/* Runs `work` once unmeasured and `rounds` times, prints and returns the median
 * of the nanoseconds by the item. */
double bench_run(const char *name, bench_work work, void *ctx, double items,
                 unsigned rounds);
double bench_median(double *values, size_t count);

/* Keys of a file, one a line, that live as long as the program. */
typedef struct bench_keys {
    ksv_key *keys;
    size_t count;
} bench_keys;

bench_keys bench_read_keys(const char *path);

/* Lookups of keys, so many a call. */
typedef struct bench_lookups {
    ksv_index *index;
    const ksv_key *keys;
    size_t count;
    size_t at_once;
    uint64_t found; /* records */
} bench_lookups;

/* One call for keys `first` on; `receipt` may be NULL. */
void bench_get(bench_lookups *lookups, size_t first, size_t count,
               ksv_receipt *receipt);
/* A bench_work: looks all of them up. */
void bench_look_up(void *lookups);
/* Ends the program when not every present key, or an absent one, was found. */
void bench_check_found(const bench_lookups *lookups, bool present);

/* What the kernel counted for this process. */
typedef struct bench_io {
    uint64_t read_calls; /* system calls that read */
    uint64_t disk_bytes; /* fetched from a disk */
} bench_io;

bench_io bench_io_now(void);
bench_io bench_io_since(bench_io start);

/* Watches the disk that holds a file from another thread. */
typedef struct bench_watch bench_watch;

bench_watch *bench_watch_start(const char *path);
/* Requests in flight, on average over the time and at most; 0 when the kernel
 * does not tell. */
typedef struct bench_depth {
    double average;
    double most;
} bench_depth;
bench_depth bench_watch_stop(bench_watch *watch);

/* Throws the pages of a file, or of all files of a directory, out of the page
 * cache. */
void bench_evict(const char *path);
void bench_evict_directory(const char *directory);

/* Has the filters of an index read, so that a lookup finds all of them in
 * memory: asks them for so many keys of nothing that none of their pages is
 * left. */
void bench_warm_filters(ksv_index *index);

/* Largest resident set so far, in bytes. */
uint64_t bench_peak_bytes(void);

#endif
