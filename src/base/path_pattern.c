/* SPDX-License-Identifier: MIT */
/* Patterns of paths: '*', '?', '[...]' within a name, '**' for directories. */
#include "base/path_pattern.h"

#include <string.h>

static bool is_special(char c)
{
    return c == '*' || c == '?' || c == '[' || c == '\\';
}

bool path_pattern_is_literal(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (is_special(text[i]))
            return false;
    return true;
}

/* The index behind the set that begins at `text[at]`, or 0 when it has no end.
 * A bracket that closes stands for itself right at the beginning. */
static size_t end_of_set(const char *text, size_t length, size_t at)
{
    at++;
    if (at < length && (text[at] == '!' || text[at] == '^'))
        at++;
    for (bool first = true; at < length; at++, first = false) {
        if (text[at] == ']' && !first)
            return at + 1;
        if (text[at] == '\\')
            at++;
    }
    return 0;
}

static const char *check_part(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '\\') {
            if (++i == length)
                return "has a part that ends with a backslash";
            continue;
        }
        if (text[i] != '[')
            continue;
        size_t end = end_of_set(text, length, i);
        if (end == 0)
            return "has a [ without a ]";
        i = end - 1;
    }
    return NULL;
}

static bool is_dots(const char *text, size_t length, size_t dots)
{
    return length == dots && strncmp(text, "..", dots) == 0;
}

const char *path_pattern_parse(path_pattern *pattern, const char *text)
{
    pattern->count = 0;
    while (*text != '\0') {
        size_t length = strcspn(text, "/");
        bool any = length == 2 && memcmp(text, "**", 2) == 0;
        bool again = any && pattern->count > 0 &&
                     pattern->parts[pattern->count - 1].any_directories;
        const char *wrong = check_part(text, length);
        if (wrong != NULL)
            return wrong;
        if (is_dots(text, length, 2))
            return "has a .. behind a part that is a pattern";
        if (length > 0 && !again && !is_dots(text, length, 1)) {
            if (pattern->count == PATH_PATTERN_PARTS_MAX)
                return "has too many parts";
            pattern->parts[pattern->count++] =
                (path_pattern_part){text, length, any};
        }
        text += length;
        text += *text == '/';
    }
    return pattern->count > 0 ? NULL : "is empty";
}

static unsigned char byte_at(const char *text, size_t *at)
{
    if (text[*at] == '\\')
        ++*at;
    return (unsigned char)text[(*at)++];
}

/* Whether `c` is in the set at `text[*at]`; `*at` moves behind it. */
static bool match_set(const char *text, size_t length, size_t *at, char c)
{
    size_t end = end_of_set(text, length, *at);
    size_t i = *at + 1;
    *at = end;
    bool negated = text[i] == '!' || text[i] == '^';
    i += negated;
    bool found = false;
    unsigned char wanted = (unsigned char)c;
    while (i < end - 1) {
        unsigned char low = byte_at(text, &i);
        unsigned char high = low;
        if (text[i] == '-' && i + 1 < end - 1) {
            i++;
            high = byte_at(text, &i);
        }
        found = found || (wanted >= low && wanted <= high);
    }
    return found != negated;
}

/* One byte of a name against what stands at `text[*at]`, which is no '*'. */
static bool match_byte(const char *text, size_t length, size_t *at, char c)
{
    if (text[*at] == '[')
        return match_set(text, length, at, c);
    if (text[*at] == '?') {
        ++*at;
        return true;
    }
    return byte_at(text, at) == (unsigned char)c;
}

bool path_pattern_match_name(const char *text, size_t length, const char *name)
{
    size_t at = 0;
    /* Behind the last '*', and what it has taken so far. */
    size_t star = SIZE_MAX;
    const char *star_name = NULL;
    while (*name != '\0') {
        if (at < length && text[at] == '*') {
            star = ++at;
            star_name = name;
            continue;
        }
        if (at < length && match_byte(text, length, &at, *name)) {
            name++;
            continue;
        }
        if (star == SIZE_MAX)
            return false;
        at = star;
        name = ++star_name;
    }
    while (at < length && text[at] == '*')
        at++;
    return at == length;
}

/* A "**" may stand for no directory at all. */
static path_positions skip_empty(const path_pattern *pattern,
                                 path_positions positions)
{
    for (size_t i = 0; i < pattern->count; i++)
        if ((positions >> i & 1) != 0 && pattern->parts[i].any_directories)
            positions |= (path_positions)1 << (i + 1);
    return positions;
}

path_positions path_pattern_start(const path_pattern *pattern)
{
    return skip_empty(pattern, 1);
}

path_positions path_pattern_step(const path_pattern *pattern,
                                 path_positions positions, const char *name,
                                 bool *is_whole)
{
    path_positions next = 0;
    *is_whole = false;
    for (size_t i = 0; i < pattern->count; i++) {
        if ((positions >> i & 1) == 0)
            continue;
        const path_pattern_part *part = &pattern->parts[i];
        bool is_last = i + 1 == pattern->count;
        if (part->any_directories)
            next |= (path_positions)1 << i;
        else if (path_pattern_match_name(part->text, part->length, name))
            next |= (path_positions)1 << (i + 1);
        else
            continue;
        *is_whole = *is_whole || is_last;
    }
    /* Nothing can follow the end. */
    path_positions end = (path_positions)1 << pattern->count;
    return skip_empty(pattern, next & ~end) & ~end;
}
