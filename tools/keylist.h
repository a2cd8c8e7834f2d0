/* SPDX-License-Identifier: MIT */
/* Keys (or other words) from the command line and from a file, in batches. */
#ifndef KSV_TOOLS_KEYLIST_H
#define KSV_TOOLS_KEYLIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <keysieve/index.h>

#include "byte_buffer.h"

/* Where a list comes from: first the arguments, then the file. */
typedef struct keylist_source {
    const char *const *arguments;
    size_t argument_count;
    const char *file; /* "-" is standard input; NULL: none */
    bool nul_ended;   /* words end at NUL and nothing is dropped; else at LF
                       * without one CR before it, a byte order mark at the
                       * start is dropped and blank lines are skipped */
    bool one_batch;   /* all words at once, however many */
} keylist_source;

/* Memory does not grow with the number of words, only with the longest. */
typedef struct keylist {
    keylist_source source;
    size_t next_argument;
    int fd; /* -1: no file, or read to its end */
    bool is_file_end;
    bool is_waiting;  /* the next word has not arrived when the batch ends */
    bool is_begun;    /* the byte order mark has been looked for */
    byte_buffer text; /* bytes read */
    size_t taken_bytes;
    size_t searched_bytes; /* of `text`, without a word's end */
    ksv_key *words;
    size_t *offsets; /* of the words in `text` */
    size_t count;
    size_t capacity;
    uint64_t blank_lines;
} keylist;

/* `source` is copied, what it points to is borrowed. False, after a message,
 * when the file cannot be opened. */
bool keylist_open(keylist *list, const keylist_source *source);
void keylist_close(keylist *list);

/* Whether all words are there from the start: none of them comes through a pipe
 * or from a terminal. */
bool keylist_is_complete(const keylist_source *source);

/* The next words are `list->words`, `list->count` of them; none at the end. A
 * batch is also at its end when the next word has not arrived yet. False after
 * a message. */
bool keylist_next(keylist *list);

#endif
