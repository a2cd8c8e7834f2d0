/* SPDX-License-Identifier: MIT */
/* What data files that change all the time have held, version by version. */
#ifndef KSV_TESTS_SOAK_SOAK_MODEL_H
#define KSV_TESTS_SOAK_SOAK_MODEL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <keysieve/builder.h>

#include "support/random.h"
#include "support/temp_dir.h"

enum {
    SOAK_FILES = 6,
    SOAK_KEYS = 40, /* of each file; a key is of one file only */
    SOAK_RING = 512,
    SOAK_RECORD_BYTES = 4096
};

/* A record of a key; all zero: there is none. */
typedef struct soak_value {
    uint32_t number; /* from 1; the rest of the record follows from it */
    uint16_t length; /* shorter than the record while it is being written */
    uint8_t tag;     /* a byte of it that is overwritten in place */
} soak_value;

typedef struct soak_version {
    soak_value values[SOAK_KEYS];
} soak_version;

/* A file's versions. A change is announced before it is begun and confirmed
 * when it is done: whoever reads between may meet either state. */
typedef struct soak_history {
    _Atomic uint64_t begun;
    _Atomic uint64_t done;
    /* How often it was deleted. Until an index has a file again, it says
     * nothing of it; it has when `known` is the same number. */
    _Atomic uint64_t deletions;
    _Atomic uint64_t known;
    soak_version ring[SOAK_RING];
} soak_history;

typedef struct soak_counts {
    _Atomic uint64_t changes;
    _Atomic uint64_t updates;
    _Atomic uint64_t updates_refused; /* files changed while they were read */
    _Atomic uint64_t updates_killed;
    _Atomic uint64_t found;
    _Atomic uint64_t not_found;
    _Atomic uint64_t stale;
    /* The index has no such file yet, or too much has happened meanwhile. */
    _Atomic uint64_t passed_over;
    _Atomic uint64_t wrong;
} soak_counts;

/* In memory that all processes share. */
typedef struct soak_model {
    _Atomic bool is_over;
    ksv_organisation organisation;
    char index[TEMP_DIR_PATH_BYTES];
    char paths[SOAK_FILES][TEMP_DIR_PATH_BYTES];
    soak_history files[SOAK_FILES];
    soak_counts counts;
} soak_model;

/* "f3-k017" into `text`; its length. */
size_t soak_key(unsigned file, unsigned key, char text[16]);

/* The record of a value, whole, without terminator; its length. */
size_t soak_record(unsigned file, unsigned key, soak_value value,
                   char text[SOAK_RECORD_BYTES]);

/* Announces `version`, and confirms it. One thread a file. */
void soak_begin(soak_history *history, const soak_version *version);
void soak_end(soak_history *history);

/* Whether an answer (NULL: not found) was right at some moment between the
 * version `since` and now. */
typedef enum soak_verdict {
    SOAK_RIGHT,
    SOAK_WRONG,
    SOAK_UNKNOWN /* too long ago */
} soak_verdict;
soak_verdict soak_judge(const soak_model *model, unsigned file, unsigned key,
                        uint64_t since, const char *record, size_t length);

/* Tells what is wrong on standard error, and counts it. */
void soak_complain(soak_model *model, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* What the parts do until model->is_over. */
void soak_write(soak_model *model, unsigned file, uint64_t seed);
void soak_read(soak_model *model, uint64_t seed);      /* one handle */
void soak_read_anew(soak_model *model, uint64_t seed); /* one a call */
void soak_update(soak_model *model, uint64_t seed);    /* forks */

/* Every key, exactly: nothing changes any more. */
void soak_check_all(soak_model *model);

#endif
