/* SPDX-License-Identifier: MIT */
/* Extended regular expressions over the bytes of a line. */
#include "scan/line_regex.h"

#include <limits.h>
#include <locale.h>
#include <regex.h>

#include "base/error.h"
#include "base/memory.h"

struct line_regex {
    ksv_allocator allocator;
    locale_t c_locale;
    regex_t compiled;
};

static ksv_status compile(line_regex *r, const char *pattern, ksv_error *error)
{
    r->c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (r->c_locale == (locale_t)0)
        return error_set_memory(error);
    locale_t before = uselocale(r->c_locale);
    int code = regcomp(&r->compiled, pattern, REG_EXTENDED);
    char reason[256] = "";
    if (code != 0)
        regerror(code, &r->compiled, reason, sizeof reason);
    uselocale(before);
    if (code == 0)
        return KSV_OK;
    freelocale(r->c_locale);
    if (code == REG_ESPACE)
        return error_set_memory(error);
    return error_set(error, KSV_ERROR_ARGUMENT, NULL,
                     "the regular expression '%.400s' cannot be used: %s",
                     pattern, reason);
}

static void release(line_regex *r)
{
    regfree(&r->compiled);
    freelocale(r->c_locale);
}

ksv_status line_regex_open(const char *pattern, const ksv_allocator *allocator,
                           line_regex **out, ksv_error *error)
{
    *out = NULL;
    line_regex *r = memory_zalloc(allocator, sizeof *r);
    if (r == NULL)
        return error_set_memory(error);
    r->allocator = *allocator;
    ksv_status status = compile(r, pattern, error);
    if (status != KSV_OK) {
        memory_free(allocator, r, sizeof *r);
        return status;
    }
    *out = r;
    return KSV_OK;
}

void line_regex_close(line_regex *r)
{
    if (r == NULL)
        return;
    release(r);
    ksv_allocator a = r->allocator;
    memory_free(&a, r, sizeof *r);
}

ksv_status line_regex_check(const char *pattern, ksv_error *error)
{
    line_regex r;
    KSV_TRY(compile(&r, pattern, error));
    release(&r);
    return KSV_OK;
}

ksv_status line_regex_find(line_regex *r, const uint8_t *line,
                           size_t line_bytes, uint64_t line_offset,
                           bool *matches, size_t *start, size_t *size_bytes,
                           ksv_error *error)
{
    *matches = false;
    if (line_bytes > INT_MAX)
        return error_set_at(
            error, KSV_ERROR_DATA, NULL, line_offset,
            "a line of more than 2 GiB cannot be matched with a "
            "regular expression");
    regmatch_t found[2] = {{.rm_so = 0, .rm_eo = (regoff_t)line_bytes}};
    locale_t before = uselocale(r->c_locale);
    int code = regexec(&r->compiled, line_bytes > 0 ? (const char *)line : "",
                       2, found, REG_STARTEND);
    uselocale(before);
    if (code == REG_ESPACE)
        return error_set_memory(error);
    const regmatch_t *group = &found[r->compiled.re_nsub > 0 ? 1 : 0];
    if (code != 0 || group->rm_so < 0)
        return KSV_OK;
    *matches = true;
    *start = (size_t)group->rm_so;
    *size_bytes = (size_t)(group->rm_eo - group->rm_so);
    return KSV_OK;
}
