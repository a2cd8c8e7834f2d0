/* SPDX-License-Identifier: MIT */
/* What a build did, on standard error, a line a fact. */
#ifndef KSV_TOOLS_BUILD_REPORT_H
#define KSV_TOOLS_BUILD_REPORT_H

#include <keysieve/builder.h>

void build_report_print(const ksv_build_report *report);

#endif
