/* SPDX-License-Identifier: MIT */
/* The verbs. */
#ifndef KSV_TOOLS_COMMANDS_H
#define KSV_TOOLS_COMMANDS_H

#include "cli.h"

extern const cli_verb COMMAND_BUILD;
extern const cli_verb COMMAND_GET;
extern const cli_verb COMMAND_HAS;
extern const cli_verb COMMAND_KEYS;
extern const cli_verb COMMAND_UPDATE;
extern const cli_verb COMMAND_INFO;
extern const cli_verb COMMAND_VERIFY;
extern const cli_verb COMMAND_DEDUP;
extern const cli_verb COMMAND_FILTER;

#endif
