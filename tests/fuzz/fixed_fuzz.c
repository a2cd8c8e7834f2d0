/* SPDX-License-Identifier: MIT */
/* Fixed records in windows of all sizes; two bytes of input choose options. */
#include <stddef.h>
#include <stdint.h>

#include "support/scan_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const KEYS[] = {"bytes:1-1", "bytes:2-4", "bytes:4-6",
                                       "bytes:7-70"};
    if (size < 2)
        return 0;
    const char *keys[] = {KEYS[data[0] % 4], KEYS[data[0] / 4 % 4]};
    ksv_format_options o;
    ksv_format_options_init(&o);
    o.format = KSV_FORMAT_FIXED;
    o.keys = keys;
    o.key_count = data[1] & 1 ? 2 : 1;
    o.keep_padding = data[1] & 2;
    if (data[1] & 4)
        o.record_size = data[0] / 16;
    else
        o.record_end_cr = data[1] & 8;
    scan_fuzz(&o, data[1] & 16, data + 2, size - 2);
    return 0;
}
