/* SPDX-License-Identifier: MIT */
/* JSON lines in windows of all sizes; a byte of input chooses the paths. */
#include <stddef.h>
#include <stdint.h>

#include "support/scan_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const KEYS[] = {"id", "a.b", "/a/0/id", "a"};
    if (size < 1)
        return 0;
    const char *keys[] = {KEYS[data[0] % 4], KEYS[data[0] / 4 % 4],
                          KEYS[data[0] / 16 % 4]};
    ksv_format_options o;
    ksv_format_options_init(&o);
    o.format = KSV_FORMAT_JSONL;
    o.keys = keys;
    o.key_count = 1 + size % 3;
    scan_fuzz(&o, data[0] & 64, data + 1, size - 1);
    return 0;
}
