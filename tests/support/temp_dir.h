/* SPDX-License-Identifier: MIT */
/* A directory of its own for a test. */
#ifndef KSV_TESTS_SUPPORT_TEMP_DIR_H
#define KSV_TESTS_SUPPORT_TEMP_DIR_H

#include <stddef.h>

/* Long enough for every path that temp_dir_path() makes. */
#define TEMP_DIR_PATH_BYTES 4096

typedef struct temp_dir {
    char path[256]; /* absolute, without symbolic links */
} temp_dir;

/* Makes an empty directory. Ends the test program when that fails. */
void temp_dir_make(temp_dir *dir);

/* "`dir`/`name`" in `out`, which is returned. */
const char *temp_dir_path(const temp_dir *dir, const char *name,
                          char out[TEMP_DIR_PATH_BYTES]);

/* Removes the directory with all that it holds. */
void temp_dir_remove(temp_dir *dir);

/* Writes a file with the C library alone, whatever is under test. */
void temp_dir_write(const temp_dir *dir, const char *name, const void *data,
                    size_t size_bytes);

#endif
