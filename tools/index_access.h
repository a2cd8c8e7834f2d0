/* SPDX-License-Identifier: MIT */
/* Opening the index of the command line; its warnings become messages. */
#ifndef KSV_TOOLS_INDEX_ACCESS_H
#define KSV_TOOLS_INDEX_ACCESS_H

#include <stdbool.h>

#include <keysieve/index.h>

#include "cli.h"

/* False, after a message, when there is no index that can be used. `trust_ns`
 * is that of ksv_index_options. */
bool index_access_open(const command_line *cli, uint64_t trust_ns,
                       ksv_index **index);

/* "hash" for KSV_ORGANISATION_HASH and so on. */
const char *index_access_organisation_name(ksv_organisation organisation);

const char *index_access_hash_name(ksv_hash_kind hash);

#endif
