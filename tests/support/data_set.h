/* SPDX-License-Identifier: MIT */
/* Random data files whose records a test knows. */
#ifndef KSV_TESTS_SUPPORT_DATA_SET_H
#define KSV_TESTS_SUPPORT_DATA_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <keysieve/builder.h>

#include "support/gzip_data.h"
#include "support/key_model.h"
#include "support/random.h"
#include "support/temp_dir.h"

#define DATA_SET_FILES 48

/* Files "0.csv", "1.csv" ... in `dir`, with the model of what they hold. */
typedef struct data_set {
    temp_dir dir;
    ksv_format format; /* csv, tsv or lines */
    key_model model;
    char paths[DATA_SET_FILES][TEMP_DIR_PATH_BYTES];
    char *contents[DATA_SET_FILES];
    size_t sizes[DATA_SET_FILES];
    bool is_gzip[DATA_SET_FILES]; /* set before it is written */
    gzip_bytes packed[DATA_SET_FILES];
    size_t file_count;
    uint64_t key_space;            /* keys are drawn from as many */
    ksv_organisation organisation; /* that the index is to have; for tests */
    /* Records come in the order of their keys, of which some come many times.
     */
    bool in_order;
    uint64_t last_keys[DATA_SET_FILES]; /* numbers, of files in order */
} data_set;

void data_set_make(data_set *set, ksv_format format, uint64_t key_space);
void data_set_remove(data_set *set);

/* Writes file `number` anew with `records` random records, and the model. */
void data_set_write(data_set *set, size_t number, size_t records,
                    random_source *random);

/* Appends as many records to file `number`, which there is: as a member of
 * their own when it is gzip. */
void data_set_append(data_set *set, size_t number, size_t records,
                     random_source *random);

/* Removes file `number` from disk and model. */
void data_set_drop(data_set *set, size_t number);

/* The options that fit the files; valid as long as the set. */
void data_set_format(const data_set *set, ksv_format_options *options);

/* A key of the key space into `key`; its length. */
size_t data_set_key(const data_set *set, uint64_t number, char key[64]);

#endif
