/* SPDX-License-Identifier: MIT */
/* csv and tsv in windows of all sizes; three bytes of input choose options. */
#include <stddef.h>
#include <stdint.h>

#include "support/scan_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const KEYS[] = {"1", "2", "3", "id", "a", "name:1"};
    if (size < 3)
        return 0;
    const char *keys[] = {KEYS[data[0] % 6], KEYS[data[0] / 6 % 6],
                          KEYS[data[0] / 36 % 6]};
    ksv_format_options o;
    ksv_format_options_init(&o);
    o.format = data[1] & 1 ? KSV_FORMAT_TSV : KSV_FORMAT_CSV;
    o.keys = keys;
    o.key_count = data[1] & 2 ? 3 : 1;
    o.no_header = data[1] & 4;
    o.record_end_cr = data[1] & 8;
    o.escape_backslash = data[1] & 16;
    if (data[1] & 32)
        o.quote = data[2] & 1 ? '\'' : '"';
    if (data[1] & 64)
        o.delimiter = data[2] & 2 ? ';' : data[2];
    scan_fuzz(&o, data[1] & 128, data + 3, size - 3);
    return 0;
}
