/* SPDX-License-Identifier: MIT */
/* The files of a directory in memory, to be put back as often as needed. */
#ifndef KSV_TESTS_SUPPORT_INDEX_COPY_H
#define KSV_TESTS_SUPPORT_INDEX_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INDEX_COPY_FILES 64

typedef struct index_copy_file {
    char name[256];
    uint8_t *data;
    size_t size;
} index_copy_file;

typedef struct index_copy {
    bool exists; /* the directory */
    size_t count;
    index_copy_file files[INDEX_COPY_FILES];
} index_copy;

/* Ends the program when a file cannot be read or written. */
void index_copy_take(index_copy *copy, const char *directory);
/* The directory becomes what it was: other files are removed. */
void index_copy_restore(const index_copy *copy, const char *directory);
void index_copy_release(index_copy *copy);

/* The file with that ending (the first one), or NULL. */
index_copy_file *index_copy_find(index_copy *copy, const char *ending);

/* Writes one file, replacing it in place. */
void index_copy_write(const char *directory, const char *name, const void *data,
                      size_t size);

/* How many entries a directory has; 0 when there is none. */
size_t index_copy_entries(const char *directory);

/* Lets temp_dir_make() use a directory in memory when there is one: for tests
 * that make thousands of small files and need none of them to last. */
void index_copy_prefer_memory(void);

#endif
