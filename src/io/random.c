/* SPDX-License-Identifier: MIT */
/* Random bytes of the operating system. */
#include "io/random.h"

#include <sys/random.h>
#include <unistd.h>

bool random_bytes(void *out, size_t size_bytes)
{
    return getentropy(out, size_bytes) == 0;
}
