/* SPDX-License-Identifier: MIT */
/* A directory with small data files and an index over them. */
#ifndef KSV_TESTS_SUPPORT_INDEX_FIXTURE_H
#define KSV_TESTS_SUPPORT_INDEX_FIXTURE_H

#include <stddef.h>

#include <keysieve/keysieve.h>

#include "support/temp_dir.h"

#define INDEX_FIXTURE_FILES 4

typedef struct index_fixture {
    temp_dir dir;
    char directory[TEMP_DIR_PATH_BYTES]; /* of the index */
    char paths[INDEX_FIXTURE_FILES][TEMP_DIR_PATH_BYTES];
    ksv_format_options format;
    ksv_build_options options; /* csv with key column "id" */
    ksv_build_report report;
    ksv_error error;
} index_fixture;

void index_fixture_make(index_fixture *f);
void index_fixture_remove(index_fixture *f);

/* Writes data file `number` ("0.csv" ...). */
void index_fixture_write(index_fixture *f, size_t number, const char *text);

/* Builds over the first `count` files. */
ksv_status index_fixture_build(index_fixture *f, size_t count);

/* What `key` gives, each record ended by a line feed, in static memory; "?" and
 * the status's text when the lookup fails. */
const char *index_fixture_get(index_fixture *f, const char *key);

#endif
