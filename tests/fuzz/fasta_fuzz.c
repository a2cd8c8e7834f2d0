/* SPDX-License-Identifier: MIT */
/* Any bytes as fasta. */
#include "support/scan_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const KEYS[] = {"header", "name"};
    scan_fuzz(KSV_FORMAT_FASTA, KEYS, 1 + size % 2, data, size);
    return 0;
}
