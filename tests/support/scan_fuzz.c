/* SPDX-License-Identifier: MIT */
/* What the fuzz targets of the readers have in common. */
#include "support/scan_fuzz.h"

#include <stdio.h>
#include <stdlib.h>

#include "support/scan_run.h"

/* Of the records of an input, so that big ones do not take long. */
#define RECORDS_TRIED_ALONE 50

static void demand(const scan_result *a, const scan_result *b, const char *what)
{
    char why[256];
    if (scan_results_agree(a, b, why))
        return;
    fprintf(stderr, "%s: %s\n", what, why);
    abort();
}

static void check_in_order(const scan_result *all, size_t size)
{
    uint64_t end = 0;
    for (size_t i = 0; i < all->count; i++) {
        const scan_found *f = &all->records[i];
        if (f->offset < end || f->length > size - f->offset)
            abort();
        end = f->offset + f->length;
    }
}

static void check_alone(const scan_spec *spec, const scan_result *all, size_t i,
                        const uint8_t *data, size_t size)
{
    const scan_found *f = &all->records[i];
    size_t at = (size_t)f->offset;
    scan_result one;
    scan_result expected;
    scan_run_at(spec, &all->layout, f->offset, data + at, size - at,
                (scan_windows){i % 5, 20}, &one);
    scan_result_init(&expected);
    scan_result_add(&expected, f->offset, f->length, f->kind,
                    all->keys + f->key_at, f->key_bytes);
    demand(&expected, &one, "one record alone");
    scan_result_release(&expected);
    scan_result_release(&one);
}

void scan_fuzz(const ksv_format_options *options, bool skip_bad,
               const uint8_t *data, size_t size)
{
    scan_spec *spec;
    if (scan_spec_create(options, NULL, &spec, NULL) != KSV_OK)
        return;
    scan_result whole;
    scan_run(spec, skip_bad, data, size, (scan_windows){0, 0}, &whole);
    check_in_order(&whole, size);
    for (uint64_t seed = 1; seed < 4; seed++) {
        scan_result cut;
        scan_run(spec, skip_bad, data, size, (scan_windows){seed, 1u << seed},
                 &cut);
        demand(&whole, &cut, "windows");
        scan_result_release(&cut);
    }
    for (size_t i = 0; i < whole.count && i < RECORDS_TRIED_ALONE; i++) {
        if (whole.records[i].kind != SCAN_RECORD_BAD)
            check_alone(spec, &whole, i, data, size);
    }
    scan_result_release(&whole);
    scan_spec_destroy(spec);
}
