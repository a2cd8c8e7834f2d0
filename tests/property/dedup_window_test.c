/* SPDX-License-Identifier: MIT */
/* Windows through the public header: times that go back, late events, bursts,
 * silence, and states that are closed, opened again and lost, against a table
 * of when each key was passed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <keysieve/dedup.h>

#include "io/memory_file_system.h"
#include "support/random.h"

#define NEVER INT64_MIN
#define IDS 3000
#define BATCH 700
#define KEY_BYTES 24

typedef struct window_case {
    uint64_t seed;
    bool approximate;
    bool with_state;
    unsigned generations; /* 0: as by default */
    int64_t window_ms;    /* 0: none */
    int64_t start_ms;
    int64_t step_ms;      /* between two events, at most */
    uint64_t late_one_in; /* 0: none */
    int64_t late_ms;      /* by so much at most */
    uint64_t back_one_in; /* the clock is set back, for all that follow */
    uint64_t burst_one_in;
    uint64_t silence_one_in;
    uint64_t expected_keys;
    uint64_t offers;
} window_case;

/* The truth: a table of ids, and the time of the stream. */
typedef struct model {
    int64_t passed[IDS];
    int64_t stream_ms;
    uint64_t late;
} model;

typedef struct run {
    const window_case *c;
    ksv_file_system fs;
    ksv_dedup *dedup;
    random_source random;
    int64_t clock_ms;
    uint64_t burst_left;
    model now;
    model saved;    /* at the last checkpoint */
    uint64_t fresh; /* that filters do not keep any more */
    uint64_t wrong; /* those of them that were taken for seen */
    double worst;   /* rate to expect */
    char names[BATCH][KEY_BYTES];
    ksv_dedup_key keys[BATCH];
    uint64_t ids[BATCH];
    bool answers[BATCH];
} run;

static void open_dedup(run *r)
{
    ksv_dedup_options o;
    ksv_error error;
    ksv_dedup_options_init(&o);
    o.approximate = r->c->approximate;
    o.expected_keys = r->c->approximate ? r->c->expected_keys : 0;
    o.fpr = r->c->approximate ? 1e-6 : 0;
    o.window_ms = r->c->window_ms;
    o.generations = r->c->generations;
    o.file_system = &r->fs;
    o.state_directory = r->c->with_state ? "/state" : NULL;
    if (ksv_dedup_open(&o, &r->dedup, &error) != KSV_OK)
        fail_msg("seed %llu: %s", (unsigned long long)r->c->seed, error.text);
}

static int64_t next_time(run *r)
{
    const window_case *c = r->c;
    random_source *random = &r->random;
    if (c->burst_one_in > 0 && random_below(random, c->burst_one_in) == 0)
        r->burst_left = 1 + random_below(random, 4000);
    if (r->burst_left > 0)
        r->burst_left--;
    else
        r->clock_ms += (int64_t)random_below(random, (uint64_t)c->step_ms + 1);
    if (c->silence_one_in > 0 && random_below(random, c->silence_one_in) == 0)
        r->clock_ms +=
            (int64_t)random_below(random, (uint64_t)c->window_ms * 3);
    if (c->back_one_in > 0 && random_below(random, c->back_one_in) == 0)
        r->clock_ms -=
            (int64_t)random_below(random, (uint64_t)c->window_ms * 2);
    if (random_below(random, 50) == 0)
        return KSV_DEDUP_TIME_LATEST;
    if (c->late_one_in > 0 && random_below(random, c->late_one_in) == 0)
        return r->clock_ms -
               (int64_t)random_below(random, (uint64_t)c->late_ms);
    return r->clock_ms;
}

/* The first of all events has a time. */
static void make_batch(run *r, size_t count, bool is_first)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t some = random_below(&r->random, 3) == 0 ? 40 : IDS;
        r->ids[i] = random_below(&r->random, some);
        int bytes = snprintf(r->names[i], KEY_BYTES, "key %llu",
                             (unsigned long long)r->ids[i]);
        r->keys[i] = (ksv_dedup_key){r->names[i], (size_t)bytes, next_time(r)};
    }
    if (is_first)
        r->keys[0].time_ms = r->clock_ms;
}

static void advance(run *r, int64_t time_ms)
{
    model *m = &r->now;
    if (time_ms == KSV_DEDUP_TIME_LATEST || r->c->window_ms == 0)
        return;
    if (time_ms > m->stream_ms)
        m->stream_ms = time_ms;
    m->late += m->stream_ms - time_ms >= r->c->window_ms;
}

static void fail_at(const run *r, size_t i, const char *what)
{
    fail_msg("seed %llu: id %llu, passed last at %lld, %s at %lld",
             (unsigned long long)r->c->seed, (unsigned long long)r->ids[i],
             (long long)r->now.passed[r->ids[i]], what,
             (long long)r->now.stream_ms);
}

/* How long filters may keep a key: a slice more than the window, or a window
 * more when there are more keys than they are for. */
static int64_t most_kept_ms(const run *r)
{
    const window_case *c = r->c;
    unsigned slices = c->generations > 0 ? c->generations : 8;
    if (c->expected_keys < IDS)
        return 2 * c->window_ms;
    return c->window_ms + c->window_ms / slices + 1;
}

static void check_one(run *r, size_t i)
{
    const window_case *c = r->c;
    int64_t *last = &r->now.passed[r->ids[i]];
    advance(r, r->keys[i].time_ms);
    int64_t age = *last == NEVER ? INT64_MAX : r->now.stream_ms - *last;
    bool is_over = *last == NEVER || (c->window_ms > 0 && age >= c->window_ms);
    if (r->answers[i] && !is_over)
        fail_at(r, i, "passed again");
    if (!c->approximate && !r->answers[i] && is_over)
        fail_at(r, i, "dropped");
    if (c->approximate && (*last == NEVER || age > most_kept_ms(r))) {
        r->fresh++;
        r->wrong += !r->answers[i];
    }
    if (r->answers[i])
        *last = r->now.stream_ms;
}

/* Closes and opens again, with or without a checkpoint before. */
static void reopen(run *r, bool is_saved)
{
    ksv_dedup_info info;
    if (is_saved) {
        assert_int_equal(ksv_dedup_checkpoint(r->dedup, NULL), KSV_OK);
        r->saved = r->now;
    }
    ksv_dedup_close(r->dedup);
    r->now = r->saved;
    r->now.late = 0;
    open_dedup(r);
    ksv_dedup_get_info(r->dedup, &info);
    if (r->c->window_ms > 0 && r->saved.stream_ms > r->c->start_ms &&
        info.stream_time_ms < r->saved.stream_ms)
        fail_msg("seed %llu: time went back from %lld to %lld",
                 (unsigned long long)r->c->seed, (long long)r->saved.stream_ms,
                 (long long)info.stream_time_ms);
}

static void check_info(run *r)
{
    ksv_dedup_info info;
    ksv_dedup_get_info(r->dedup, &info);
    if (r->c->window_ms > 0) {
        assert_true(info.stream_time_ms == r->now.stream_ms);
        assert_true(info.late == r->now.late);
    }
    /* Eight closed generations and the open one, a quarter more in bursts. */
    unsigned slices = r->c->generations > 0 ? r->c->generations : 8;
    if (r->c->approximate)
        assert_in_range(info.generations, 1, slices + 1 + (slices + 3) / 4);
    if (info.fpr > r->worst)
        r->worst = info.fpr;
}

static void run_case(const window_case *c)
{
    run *r = calloc(1, sizeof *r);
    assert_non_null(r);
    r->c = c;
    r->random.state = c->seed;
    r->clock_ms = c->start_ms;
    r->now.stream_ms = c->start_ms;
    for (size_t i = 0; i < IDS; i++)
        r->now.passed[i] = NEVER;
    r->saved = r->now;
    assert_int_equal(memory_file_system_open(NULL, &r->fs, NULL), KSV_OK);
    open_dedup(r);
    for (uint64_t done = 0; done < c->offers;) {
        size_t count = 1 + (size_t)random_below(&r->random, BATCH);
        make_batch(r, count, done == 0);
        assert_int_equal(
            ksv_dedup_offer_batch(r->dedup, r->keys, count, r->answers, NULL),
            KSV_OK);
        for (size_t i = 0; i < count; i++)
            check_one(r, i);
        done += count;
        check_info(r);
        if (c->with_state && random_below(&r->random, 4) == 0)
            reopen(r, random_below(&r->random, 3) > 0);
    }
    if (c->approximate && c->window_ms > 0) {
        assert_true(r->fresh > 1000);
        if ((double)r->wrong > 5 + 1.5 * r->worst * (double)r->fresh)
            fail_msg("seed %llu: %llu of %llu fresh ones dropped, where the "
                     "rate was %g",
                     (unsigned long long)c->seed, (unsigned long long)r->wrong,
                     (unsigned long long)r->fresh, r->worst);
    }
    ksv_dedup_close(r->dedup);
    memory_file_system_close(&r->fs);
    free(r);
}

static window_case usual(uint64_t seed)
{
    window_case c = {.seed = seed,
                     .approximate = seed % 2 == 1,
                     .window_ms = 5000,
                     .start_ms = 1700000000000,
                     .step_ms = 4,
                     .expected_keys = 2 * IDS,
                     .offers = 40000};
    return c;
}

static void test_in_order(void **state)
{
    (void)state;
    for (uint64_t seed = 10; seed < 14; seed++) {
        window_case c = usual(seed);
        c.generations = seed < 12 ? 0 : 3;
        run_case(&c);
    }
}

/* By less than a window, and by more. */
static void test_late_events(void **state)
{
    (void)state;
    for (uint64_t seed = 20; seed < 24; seed++) {
        window_case c = usual(seed);
        c.late_one_in = 5;
        c.late_ms = seed < 22 ? c.window_ms / 2 : c.window_ms * 3;
        run_case(&c);
    }
}

static void test_clock_that_is_set_back(void **state)
{
    (void)state;
    for (uint64_t seed = 30; seed < 34; seed++) {
        window_case c = usual(seed);
        c.back_one_in = seed < 32 ? 10000 : 2000;
        c.late_one_in = 20;
        c.late_ms = 100;
        run_case(&c);
    }
}

/* More keys at once than filters are for, then nothing for a while. */
static void test_bursts_and_silence(void **state)
{
    (void)state;
    for (uint64_t seed = 40; seed < 46; seed++) {
        window_case c = usual(seed);
        c.burst_one_in = 1000;
        c.silence_one_in = seed < 44 ? 4000 : 0;
        c.expected_keys = IDS / 3;
        c.generations = seed < 42 ? 0 : (unsigned)(seed - 41);
        run_case(&c);
    }
}

/* Before 1970, at the ends of time, and windows of a millisecond. */
static void test_odd_times(void **state)
{
    (void)state;
    static const int64_t starts[] = {-3000, INT64_MIN / 4, INT64_MAX / 4 - 1};
    for (uint64_t seed = 50; seed < 56; seed++) {
        window_case c = usual(seed);
        c.start_ms = starts[seed / 2 % 3];
        c.step_ms = seed / 2 % 3 == 2 ? 0 : 4;
        run_case(&c);
        c.window_ms = 1;
        c.step_ms = c.step_ms > 0 ? 1 : 0;
        c.approximate = false;
        run_case(&c);
    }
}

/* What was acknowledged is kept, all else as if it had not been. */
static void test_states(void **state)
{
    (void)state;
    for (uint64_t seed = 60; seed < 68; seed++) {
        window_case c = usual(seed);
        c.with_state = true;
        c.late_one_in = 10;
        c.late_ms = c.window_ms * 2;
        c.burst_one_in = seed < 64 ? 0 : 2000;
        c.expected_keys = seed < 64 ? 2 * IDS : IDS / 3;
        c.window_ms = seed == 66 ? 0 : c.window_ms;
        run_case(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_in_order),
        cmocka_unit_test(test_late_events),
        cmocka_unit_test(test_clock_that_is_set_back),
        cmocka_unit_test(test_bursts_and_silence),
        cmocka_unit_test(test_odd_times),
        cmocka_unit_test(test_states),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
