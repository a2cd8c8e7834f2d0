/* SPDX-License-Identifier: MIT */
/* A data file of lines in the order of their keys, and its index. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "support/index_tools.h"
#include "support/ordered_lines.h"

enum { DIGITS = 10 };

void ordered_lines_append(const char *path, unsigned first, unsigned end,
                          int line_bytes)
{
    FILE *f = fopen(path, "ab");
    assert_non_null(f);
    for (unsigned i = first; i < end; i++)
        assert_int_equal(fprintf(f, "%0*u %0*u\n", DIGITS, 2 * i,
                                 line_bytes - DIGITS - 2, i),
                         line_bytes);
    assert_int_equal(fclose(f), 0);
}

ksv_status ordered_lines_build(const char *directory, const char *path,
                               bool is_update, ksv_build_report *report,
                               ksv_error *error)
{
    static const char *const key = "bytes:1-10";
    ksv_format_options format;
    ksv_build_options options;
    index_options_of(KSV_FORMAT_LINES, &key, &format, &options);
    options.organisation = KSV_ORGANISATION_SORTED;
    return is_update ? ksv_update(directory, NULL, 0, &options, report, error)
                     : ksv_build(directory, &path, 1, &options, report, error);
}

static bool take_record(void *ctx, size_t number, const ksv_record *record)
{
    ordered_answer *answer = ctx;
    (void)number;
    if (record == NULL)
        return true;
    answer->records++;
    answer->offset = record->offset;
    return true;
}

ksv_status ordered_lines_ask(ksv_index *index, unsigned number,
                             ordered_answer *answer)
{
    char text[16];
    const ksv_key key = {text, DIGITS};
    *answer = (ordered_answer){0, 0};
    snprintf(text, sizeof text, "%0*u", DIGITS, number);
    return ksv_get(index, &key, 1, NULL, take_record, answer, NULL, NULL, NULL);
}
