/* SPDX-License-Identifier: MIT */
/* What data files that change all the time have held, version by version. */
#include "soak_model.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

size_t soak_key(unsigned file, unsigned key, char text[16])
{
    return (size_t)snprintf(text, 16, "f%u-k%03u", file, key);
}

size_t soak_record(unsigned file, unsigned key, soak_value value,
                   char text[SOAK_RECORD_BYTES])
{
    size_t length = (size_t)snprintf(text, 64, "f%u-k%03u,%c,%08u,", file, key,
                                     value.tag, value.number);
    size_t filler = value.number % 61;
    if (value.number % 50 == 0)
        filler = 3000;
    memset(text + length, 'a' + (int)(value.number % 26), filler);
    return length + filler;
}

void soak_begin(soak_history *history, const soak_version *version)
{
    uint64_t next = atomic_load(&history->begun) + 1;
    history->ring[next % SOAK_RING] = *version;
    atomic_store(&history->begun, next);
}

void soak_end(soak_history *history)
{
    atomic_store(&history->done, atomic_load(&history->begun));
}

/* While a version is in the making, what is written last may be there in
 * part. */
static bool fits(unsigned file, unsigned key, soak_value value,
                 const char *record, size_t length, bool is_in_making)
{
    char text[SOAK_RECORD_BYTES];
    if (record == NULL || value.number == 0)
        return record == NULL && value.number == 0;
    soak_record(file, key, value, text);
    bool length_fits =
        is_in_making ? length <= value.length : length == value.length;
    return length_fits && memcmp(record, text, length) == 0;
}

soak_verdict soak_judge(const soak_model *model, unsigned file, unsigned key,
                        uint64_t since, const char *record, size_t length)
{
    const soak_history *history = &model->files[file];
    uint64_t until = atomic_load(&history->begun);
    if (until - since >= SOAK_RING - 8)
        return SOAK_UNKNOWN;
    bool is_right = false;
    for (uint64_t v = since; v <= until && !is_right; v++)
        is_right = fits(file, key, history->ring[v % SOAK_RING].values[key],
                        record, length, v > since);
    /* What was compared may have been written over. */
    if (atomic_load(&history->begun) - since >= SOAK_RING - 8)
        return SOAK_UNKNOWN;
    return is_right ? SOAK_RIGHT : SOAK_WRONG;
}

void soak_complain(soak_model *model, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (atomic_fetch_add(&model->counts.wrong, 1) < 20)
        fprintf(stderr, "WRONG: %s\n", text);
}
