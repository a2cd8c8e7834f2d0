/* SPDX-License-Identifier: MIT */
/* Opening the index of the command line; its warnings become messages. */
#include "index_access.h"

#include "message.h"

static void tell_warning(void *ctx, const ksv_error *problem, bool is_warning)
{
    const command_line *cli = ctx;
    if (!is_warning || !cli->is_quiet)
        message_problem(problem, is_warning);
}

bool index_access_open(const command_line *cli, uint64_t trust_ns,
                       ksv_index **index)
{
    ksv_error error = {.byte_offset = KSV_NO_OFFSET};
    ksv_index_options options;
    ksv_index_options_init(&options);
    options.problem = tell_warning;
    options.problem_ctx = (void *)cli;
    options.trust_ns = trust_ns;
    ksv_status status =
        ksv_index_open(cli->index_directory, &options, index, &error);
    if (status == KSV_OK)
        return true;
    message_error(&error, cli->index_hint);
    return false;
}

const char *index_access_organisation_name(ksv_organisation organisation)
{
    switch (organisation) {
    case KSV_ORGANISATION_SORTED:
        return "sorted";
    case KSV_ORGANISATION_BTREE:
        return "btree";
    case KSV_ORGANISATION_HASH:
    case KSV_ORGANISATION_DEFAULT:
        break;
    }
    return "hash";
}

const char *index_access_hash_name(ksv_hash_kind hash)
{
    return hash == KSV_HASH_SIPHASH ? "siphash" : "xxh3";
}
