/* SPDX-License-Identifier: MIT */
/* The clocks of the operating system. */
#include <time.h>

#include "io/file.h"

#define NS_PER_SECOND 1000000000

static int64_t clock_ns(clockid_t id)
{
    struct timespec now = {0};
    clock_gettime(id, &now);
    return (int64_t)now.tv_sec * NS_PER_SECOND + now.tv_nsec;
}

uint64_t clock_monotonic_ns(void)
{
    return (uint64_t)clock_ns(CLOCK_MONOTONIC);
}

int64_t clock_realtime_ns(void)
{
    return clock_ns(CLOCK_REALTIME);
}

void clock_sleep_ns(uint64_t ns)
{
    struct timespec wait = {.tv_sec = (time_t)(ns / NS_PER_SECOND),
                            .tv_nsec = (long)(ns % NS_PER_SECOND)};
    nanosleep(&wait, NULL);
}
