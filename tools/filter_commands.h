/* SPDX-License-Identifier: MIT */
/* The verbs of filters on their own. */
#ifndef KSV_TOOLS_FILTER_COMMANDS_H
#define KSV_TOOLS_FILTER_COMMANDS_H

#include "cli.h"

extern const cli_verb FILTER_CREATE;
extern const cli_verb FILTER_ADD;
extern const cli_verb FILTER_TEST;
extern const cli_verb FILTER_INFO;
extern const cli_verb FILTER_MERGE;
extern const cli_verb FILTER_SIZE;

#endif
