/* SPDX-License-Identifier: MIT */
/* The rules of fasta and fastq, read slowly from a whole buffer. */
#ifndef KSV_TEST_SEQUENCE_REFERENCE_H
#define KSV_TEST_SEQUENCE_REFERENCE_H

#include "support/scan_run.h"

/* Share no code with the readers. The key is the name, or with `whole_header`
 * all behind the mark. Contents have 20,000 lines at most. Of the error only
 * status and byte offset are set. */
void reference_read_fasta(bool whole_header, bool skip_bad, const uint8_t *data,
                          size_t size, scan_result *result);
void reference_read_fastq(bool whole_header, bool skip_bad, const uint8_t *data,
                          size_t size, scan_result *result);

#endif
