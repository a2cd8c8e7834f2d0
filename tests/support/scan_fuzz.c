/* SPDX-License-Identifier: MIT */
/* What the fuzz targets of the record readers have in common. */
#include "support/scan_fuzz.h"

#include <stdio.h>
#include <stdlib.h>

#include "scan/scan_spec.h"
#include "support/scan_run.h"

static void compare(const scan_result *a, const scan_result *b,
                    const char *what)
{
    char why[256];
    if (scan_results_agree(a, b, why))
        return;
    fprintf(stderr, "%s: %s\n", what, why);
    abort();
}

/* Records follow one another; gives the number of bad ones. */
static size_t check_order(const scan_result *result, size_t size)
{
    size_t bad = 0;
    uint64_t end = 0;
    for (size_t i = 0; i < result->count; i++) {
        const scan_found *f = &result->records[i];
        if (f->offset < end || f->length > size || f->offset + f->length > size)
            abort();
        end = f->offset + f->length;
        bad += f->kind == SCAN_RECORD_BAD;
    }
    return bad;
}

static void look_up(const scan_spec *spec, const scan_result *all, size_t i,
                    const uint8_t *data, size_t size, scan_windows windows)
{
    const scan_found *f = &all->records[i];
    scan_result one;
    scan_result expected;
    if (f->kind == SCAN_RECORD_BAD)
        return;
    scan_result_init(&expected);
    scan_result_add(&expected, f->offset, f->length, f->kind,
                    f->key_bytes > 0 ? all->keys + f->key_at : NULL,
                    f->key_bytes);
    scan_run_at(spec, &all->layout, f->offset, data + f->offset,
                size - (size_t)f->offset, windows, &one);
    compare(&expected, &one, "lookup");
    scan_result_release(&expected);
    scan_result_release(&one);
}

static void run_all(const scan_spec *spec, const uint8_t *data, size_t size,
                    scan_windows windows)
{
    scan_result strict;
    scan_result whole;
    scan_result cut;
    scan_run(spec, false, data, size, windows, &strict);
    scan_run(spec, true, data, size, (scan_windows){0, 0}, &whole);
    scan_run(spec, true, data, size, windows, &cut);
    compare(&whole, &cut, "windows");
    size_t bad = check_order(&whole, size);
    check_order(&strict, size);
    if (whole.status == KSV_OK && (bad == 0) != (strict.status == KSV_OK))
        abort();
    /* A few lookups; each may read all of the rest. */
    for (size_t i = 0; i < whole.count; i += whole.count / 8 + 1)
        look_up(spec, &whole, i, data, size, windows);
    scan_result_release(&strict);
    scan_result_release(&whole);
    scan_result_release(&cut);
}

void scan_fuzz(ksv_format format, const char *const *keys, size_t key_count,
               const uint8_t *data, size_t size)
{
    if (size == 0)
        return;
    ksv_format_options options;
    ksv_format_options_init(&options);
    options.format = format;
    options.keys = keys;
    options.key_count = key_count;
    scan_spec *spec;
    if (scan_spec_create(&options, NULL, &spec, NULL) != KSV_OK)
        abort();
    scan_windows windows = {data[0], 1 + data[0] % 32u};
    run_all(spec, data + 1, size - 1, windows);
    scan_spec_destroy(spec);
}
