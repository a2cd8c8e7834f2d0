/* SPDX-License-Identifier: MIT */
/* FASTA in windows of all sizes; a byte of input chooses options. */
#include <stddef.h>
#include <stdint.h>

#include "support/scan_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const KEYS[] = {"header", "name"};
    if (size < 1)
        return 0;
    ksv_format_options o;
    ksv_format_options_init(&o);
    o.format = KSV_FORMAT_FASTA;
    o.keys = KEYS;
    o.key_count = data[0] % 3;
    o.record_end_cr = data[0] & 8;
    scan_fuzz(&o, data[0] & 4, data + 1, size - 1);
    return 0;
}
