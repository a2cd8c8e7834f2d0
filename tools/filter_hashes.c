/* SPDX-License-Identifier: MIT */
/* Which of many hashes differ. */
#include "filter_hashes.h"

#include "huge_memory.h"

#define DIGIT_BITS 11
#define DIGITS ((size_t)1 << DIGIT_BITS)
#define PASSES 6

static size_t digit_of(uint64_t hash, unsigned pass)
{
    return (size_t)(hash >> (pass * DIGIT_BITS)) & (DIGITS - 1);
}

/* By one digit, those with equal ones in the order that they had. */
static void distribute(const uint64_t *from, uint64_t *to, size_t count,
                       unsigned pass)
{
    size_t starts[DIGITS] = {0};
    size_t sum = 0;
    for (size_t i = 0; i < count; i++)
        starts[digit_of(from[i], pass)]++;
    for (size_t d = 0; d < DIGITS; d++) {
        size_t here = starts[d];
        starts[d] = sum;
        sum += here;
    }
    for (size_t i = 0; i < count; i++)
        to[starts[digit_of(from[i], pass)]++] = from[i];
}

bool filter_hashes_make_distinct(uint64_t *hashes, size_t *size)
{
    size_t count = *size;
    if (count == 0)
        return true;
    const ksv_allocator *a = huge_memory_allocator();
    uint64_t *other = a->alloc(a->ctx, count * sizeof other[0]);
    if (other == NULL)
        return false;
    /* An even number of passes: the last one ends where the first began. */
    for (unsigned pass = 0; pass < PASSES; pass += 2) {
        distribute(hashes, other, count, pass);
        distribute(other, hashes, count, pass + 1);
    }
    a->free(a->ctx, other, count * sizeof other[0]);
    size_t kept = 1;
    for (size_t i = 1; i < count; i++) {
        if (hashes[i] != hashes[kept - 1])
            hashes[kept++] = hashes[i];
    }
    *size = kept;
    return true;
}
