/* SPDX-License-Identifier: MIT */
/* How many processors there are to work with. */
#include "io/processors.h"

#include <sched.h>
#include <unistd.h>

unsigned processor_count(void)
{
#ifdef CPU_COUNT
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
        return (unsigned)CPU_COUNT(&set);
#endif
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count > 0 ? (unsigned)count : 1;
}
