/* SPDX-License-Identifier: MIT */
/* The hot loops of the JSON scanner: tokens that lie whole in one piece. */
#include <string.h>

#include "scan/json_bytes.h"
#include "scan/json_state.h"

static inline bool is_digit(uint8_t c)
{
    return (uint8_t)(c - '0') <= 9;
}

/* The closing quote of the string whose first byte is at `p`; NULL: it is not
 * in [p, end), or there is an escape before it. */
static inline const uint8_t *plain_string_end(const uint8_t *p,
                                              const uint8_t *end)
{
    const uint8_t *stop = json_string_stop(p, end);
    return stop < end && *stop == '"' ? stop : NULL;
}

static bool is_hex(const uint8_t *p)
{
    for (int i = 0; i < 4; i++) {
        uint8_t letter = p[i] | 0x20;
        if (!is_digit(p[i]) && !(letter >= 'a' && letter <= 'f'))
            return false;
    }
    return true;
}

bool json_escape_is_right(const uint8_t *p, const uint8_t *end)
{
    if (p >= end)
        return false;
    if (*p == 'u')
        return end - p >= 5 && is_hex(p + 1);
    return memchr("\"\\/bfnrt", *p, 8) != NULL;
}

/* As plain_string_end(), passing escapes: for strings that nobody asks for. */
static const uint8_t *escaped_string_end(const uint8_t *p, const uint8_t *end)
{
    for (;;) {
        p = json_string_stop(p, end);
        if (p == end)
            return NULL;
        if (*p == '"')
            return p;
        if (!json_escape_is_right(p + 1, end))
            return NULL;
        p += 2;
    }
}

/* Behind a number without exponent; NULL: it is none, or it may go on. */
static const uint8_t *easy_number_end(const uint8_t *p, const uint8_t *end)
{
    if (*p == '-')
        p++;
    const uint8_t *digits = p;
    p = json_digits_end(p, end);
    if (p == digits || p == end || (*digits == '0' && p - digits > 1))
        return NULL;
    if (*p == '.') {
        digits = ++p;
        p = json_digits_end(p, end);
        if (p == digits || p == end)
            return NULL;
    }
    return *p == '.' || (*p | 0x20) == 'e' ? NULL : p;
}

static inline const uint8_t *word_end(const uint8_t *p, const uint8_t *end,
                                      const char *word, size_t length)
{
    return (size_t)(end - p) >= length && memcmp(p, word, length) == 0
               ? p + length
               : NULL;
}

static const uint8_t *easy_word_end(const uint8_t *p, const uint8_t *end)
{
    switch (*p) {
    case 't':
        return word_end(p, end, "true", 4);
    case 'f':
        return word_end(p, end, "false", 5);
    case 'n':
        return word_end(p, end, "null", 4);
    default:
        return NULL;
    }
}

/* Behind the scalar that begins at `p`; NULL: it is not an easy one. Strings
 * with escapes are easy when the scalar is `unwanted`. */
static inline const uint8_t *easy_scalar_end(const uint8_t *p,
                                             const uint8_t *end, bool unwanted)
{
    if (*p == '"') {
        const uint8_t *quote = plain_string_end(p + 1, end);
        if (quote == NULL && unwanted)
            quote = escaped_string_end(p + 1, end);
        return quote != NULL ? quote + 1 : NULL;
    }
    if (is_digit(*p) || *p == '-')
        return easy_number_end(p, end);
    return easy_word_end(p, end);
}

const uint8_t *json_easy_scalar_end(const uint8_t *p, const uint8_t *end,
                                    bool unwanted)
{
    return easy_scalar_end(p, end, unwanted);
}

/* Takes the easy scalar [p, end) for `node`. */
static void take(json_scanner *s, uint32_t node, const uint8_t *p,
                 const uint8_t *end)
{
    json_forget_values(s, node);
    if (!s->paths.nodes[node].is_key || *p == 'n')
        return;
    if (*p == '"') {
        p++;
        end--;
    }
    s->values[node].text = (json_text){p, (size_t)(end - p), true};
}

/* The value behind the name that ends at `quote`; NULL: it is not in [quote,
 * end). */
static inline const uint8_t *value_after(const uint8_t *quote,
                                         const uint8_t *end)
{
    const uint8_t *p = json_skip_space(quote + 1, end);
    if (p == end || *p != ':')
        return NULL;
    p = json_skip_space(p + 1, end);
    return p < end ? p : NULL;
}

const uint8_t *json_run_members(json_scanner *s, const uint8_t *p,
                                const uint8_t *end)
{
    uint32_t wanted = JSON_NO_NODE;
    if (json_on_path(s))
        wanted = s->paths.nodes[s->frames[s->depth - 1].node].first_child;
    while (p < end && *p == '"') {
        const uint8_t *quote = plain_string_end(p + 1, end);
        const uint8_t *value = quote != NULL ? value_after(quote, end) : NULL;
        if (value == NULL)
            break;
        uint32_t node =
            json_paths_among(&s->paths, wanted, p + 1, (size_t)(quote - p - 1));
        const uint8_t *stop = easy_scalar_end(value, end, node == JSON_NO_NODE);
        if (stop == NULL) {
            s->value_node = node;
            if (node != JSON_NO_NODE)
                json_forget_values(s, node);
            s->place = JSON_AT_VALUE;
            return value;
        }
        if (node != JSON_NO_NODE)
            take(s, node, value, stop);
        p = json_skip_space(stop, end);
        if (p == end || *p != ',') {
            s->place = JSON_AFTER_VALUE;
            return p;
        }
        p = json_skip_space(p + 1, end);
    }
    return p;
}

const uint8_t *json_run_elements(json_scanner *s, const uint8_t *p,
                                 const uint8_t *end)
{
    while (p < end) {
        const uint8_t *stop = easy_scalar_end(p, end, true);
        if (stop == NULL)
            break;
        p = json_skip_space(stop, end);
        if (p == end || *p != ',') {
            s->place = JSON_AFTER_VALUE;
            return p;
        }
        p = json_skip_space(p + 1, end);
    }
    return p;
}
