/* SPDX-License-Identifier: MIT */
/* Lines in windows of all sizes; two bytes of input choose options. */
#include <stddef.h>
#include <stdint.h>

#include "support/scan_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const KEYS[] = {
        "line",        "field:1",      "field:3",       "bytes:2-4",
        "regex:a(b*)", "regex:[0-9]+", "regex:^(.+)=x", "bytes:1-99"};
    if (size < 2)
        return 0;
    const char *keys[] = {KEYS[data[0] % 8], KEYS[data[0] / 8 % 8]};
    ksv_format_options o;
    ksv_format_options_init(&o);
    o.format = KSV_FORMAT_LINES;
    o.keys = keys;
    o.key_count = data[1] & 1 ? 2 : 1;
    o.record_end_cr = data[1] & 2;
    if (data[1] & 4)
        o.delimiter = data[1] & 8 ? ',' : 0;
    scan_fuzz(&o, data[1] & 16, data + 2, size - 2);
    return 0;
}
