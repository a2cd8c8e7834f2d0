/* SPDX-License-Identifier: MIT */
/* Any bytes as JSON lines, with paths of several kinds. */
#include "support/scan_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const KEYS[] = {"id", "a.b", "/a/0/id", "a"};
    size_t first = size % 4;
    scan_fuzz(KSV_FORMAT_JSONL, KEYS + first, 1 + size / 4 % (4 - first), data,
              size);
    return 0;
}
