/* SPDX-License-Identifier: MIT */
/* What tests of whole indexes do again and again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/index_tools.h"

void index_options_of(ksv_format kind, const char *const *key,
                      ksv_format_options *format, ksv_build_options *options)
{
    ksv_format_options_init(format);
    ksv_build_options_init(options);
    format->format = kind;
    format->keys = key;
    format->key_count = 1;
    options->format = format;
}

ksv_index_info index_info_of(const char *directory)
{
    ksv_index *index;
    ksv_index_info info;
    assert_int_equal(ksv_index_open(directory, NULL, &index, NULL), KSV_OK);
    assert_int_equal(ksv_index_get_info(index, &info, NULL), KSV_OK);
    info.file_count = 0;
    info.files = NULL;
    ksv_index_close(index);
    return info;
}
