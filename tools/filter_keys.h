/* SPDX-License-Identifier: MIT */
/* The keys of a file or of standard input as hashes, in batches. */
#ifndef KSV_TOOLS_FILTER_KEYS_H
#define KSV_TOOLS_FILTER_KEYS_H

#include <stdbool.h>
#include <stdint.h>

#include <keysieve/hash.h>

#include "cli.h"
#include "keylist.h"

typedef struct filter_keys {
    keylist list; /* its words are the keys of the batch */
    ksv_hasher hasher;
    bool nul_ended;
    uint64_t *hashes; /* `list.count` of them */
    size_t capacity;
} filter_keys;

/* The file is argument number `argument` of the command line, or standard input
 * when there are fewer; more are refused. False after a message; then nothing
 * is open. */
bool filter_keys_open(filter_keys *keys, command_line *cli, size_t argument,
                      bool nul_ended, const ksv_hasher *hasher);
void filter_keys_close(filter_keys *keys);

/* Whether they are read from the file that `path` names. */
bool filter_keys_are_of(const filter_keys *keys, const char *path);

/* The next batch; an empty one at the end. False after a message. */
bool filter_keys_next(filter_keys *keys);

/* How many keys there may be at most, when that can be told without consuming
 * them: counts the separators of a regular file. UINT64_MAX otherwise. */
uint64_t filter_keys_count(const filter_keys *keys);

#endif
