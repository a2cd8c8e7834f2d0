/* SPDX-License-Identifier: MIT */
/* What the verb dedup did, on standard error, a line a fact. */
#ifndef KSV_TOOLS_DEDUP_REPORT_H
#define KSV_TOOLS_DEDUP_REPORT_H

#include <keysieve/dedup.h>

/* Of --approximate, without --fpr. */
#define DEDUP_FPR_DEFAULT 0.001

void dedup_report_print(const ksv_dedup_options *options,
                        const ksv_dedup_report *report,
                        const ksv_dedup_info *info, double seconds);

#endif
