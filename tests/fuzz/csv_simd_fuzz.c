/* SPDX-License-Identifier: MIT */
/* csv and tsv read by masks, many records at once, against read with care; the
 * first bytes of the input choose options and how often the rest repeats. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <keysieve/format.h>

#include "support/scan_run.h"

#define REPEATED_BYTES_MAX 40000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void compare(const scan_spec *spec, bool skip_bad, const uint8_t *data,
                    size_t size, scan_windows windows)
{
    scan_result careful;
    scan_result many;
    char why[256];
    scan_run_batches(spec, skip_bad, data, size, (scan_windows){0, 0}, 1,
                     &careful);
    scan_run_batches(spec, skip_bad, data, size, windows, 500, &many);
    if (!scan_results_agree(&careful, &many, why)) {
        fprintf(stderr, "%s\n", why);
        abort();
    }
    scan_result_release(&many);
    scan_result_release(&careful);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const KEYS[] = {"1", "2", "3", "4"};
    if (size < 4)
        return 0;
    const char *keys[] = {KEYS[data[0] % 4], KEYS[data[0] / 4 % 4]};
    ksv_format_options o;
    ksv_format_options_init(&o);
    o.format = data[1] & 1 ? KSV_FORMAT_TSV : KSV_FORMAT_CSV;
    o.keys = keys;
    o.key_count = data[1] & 2 ? 2 : 1;
    o.no_header = !(data[1] & 4);
    o.record_end_cr = data[1] & 8;
    o.escape_backslash = data[1] & 16;
    if (data[1] & 32)
        o.quote = data[2] & 1 ? '\'' : '"';
    if (data[1] & 64)
        o.delimiter = data[2] & 2 ? ';' : data[2];
    scan_spec *spec;
    if (scan_spec_create(&o, NULL, &spec, NULL) != KSV_OK)
        return 0;
    size_t part = size - 4;
    size_t times = (size_t)1 << data[3] % 16;
    while (times > 1 && part * times > REPEATED_BYTES_MAX)
        times /= 2;
    uint8_t *content = malloc(part * times + 1);
    if (content == NULL)
        abort();
    for (size_t i = 0; i < times && part > 0; i++)
        memcpy(content + i * part, data + 4, part);
    compare(spec, data[1] & 128, content, part * times, (scan_windows){0, 0});
    compare(spec, data[1] & 128, content, part * times,
            (scan_windows){2 + data[3], 1000});
    free(content);
    scan_spec_destroy(spec);
    return 0;
}
