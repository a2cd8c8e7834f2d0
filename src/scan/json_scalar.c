/* SPDX-License-Identifier: MIT */
/* JSON numbers and words piece by piece. */
#include <string.h>

#include "base/error.h"
#include "scan/json_state.h"

static const uint8_t *begin_word(json_scanner *s, const uint8_t *p,
                                 const char *word, size_t matched)
{
    s->word = word;
    s->word_matched = matched;
    s->place = JSON_IN_WORD;
    return p + 1;
}

static ksv_status keep_bytes(json_scanner *s, const uint8_t *data,
                             size_t size_bytes, ksv_error *error)
{
    if (!json_takes_value(s))
        return KSV_OK;
    return buffer_append(&s->values[s->value_node].own, data, size_bytes,
                         error);
}

static const uint8_t *begin_number(json_scanner *s, const uint8_t *p,
                                   json_number_place place, ksv_error *error)
{
    if (json_takes_value(s))
        buffer_clear(&s->values[s->value_node].own);
    if (keep_bytes(s, p, 1, error) != KSV_OK)
        return NULL;
    s->number = place;
    s->place = JSON_IN_NUMBER;
    return p + 1;
}

const uint8_t *json_scalar_begin(json_scanner *s, const uint8_t *p,
                                 ksv_error *error)
{
    switch (*p) {
    case 't':
        return begin_word(s, p, "true", 1);
    case 'f':
        return begin_word(s, p, "false", 1);
    case 'n':
        return begin_word(s, p, "null", 1);
    case 'N':
        return begin_word(s, p, "NaN", 1);
    case 'I':
        return begin_word(s, p, "Infinity", 1);
    case '-':
        return begin_number(s, p, JSON_NUMBER_SIGN, error);
    case '0':
        return begin_number(s, p, JSON_NUMBER_ZERO, error);
    default:
        if (*p >= '1' && *p <= '9')
            return begin_number(s, p, JSON_NUMBER_INTEGER, error);
        return json_fail(s, JSON_FAULT_VALUE, p);
    }
}

/* Where a digit leads; false: it cannot stand here. */
static bool number_digit(json_number_place *place, uint8_t c)
{
    switch (*place) {
    case JSON_NUMBER_SIGN:
        *place = c == '0' ? JSON_NUMBER_ZERO : JSON_NUMBER_INTEGER;
        return true;
    case JSON_NUMBER_ZERO:
        return false;
    case JSON_NUMBER_POINT:
        *place = JSON_NUMBER_FRACTION;
        return true;
    case JSON_NUMBER_E:
    case JSON_NUMBER_E_SIGN:
        *place = JSON_NUMBER_EXPONENT;
        return true;
    default:
        return true;
    }
}

static bool number_byte(json_number_place *place, uint8_t c)
{
    json_number_place at = *place;
    if (c >= '0' && c <= '9')
        return number_digit(place, c);
    bool whole = at == JSON_NUMBER_ZERO || at == JSON_NUMBER_INTEGER;
    if (c == '.' && whole) {
        *place = JSON_NUMBER_POINT;
        return true;
    }
    if ((c | 0x20) == 'e' && (whole || at == JSON_NUMBER_FRACTION)) {
        *place = JSON_NUMBER_E;
        return true;
    }
    if ((c == '+' || c == '-') && at == JSON_NUMBER_E) {
        *place = JSON_NUMBER_E_SIGN;
        return true;
    }
    return false;
}

static bool number_is_complete(json_number_place place)
{
    return place == JSON_NUMBER_ZERO || place == JSON_NUMBER_INTEGER ||
           place == JSON_NUMBER_FRACTION || place == JSON_NUMBER_EXPONENT;
}

static void end_number(json_scanner *s)
{
    if (json_takes_value(s))
        json_use_own_text(s);
    json_end_scalar(s);
}

const uint8_t *json_scalar_number(json_scanner *s, const uint8_t *p,
                                  const uint8_t *end, ksv_error *error)
{
    if (s->number == JSON_NUMBER_SIGN && *p == 'I')
        return begin_word(s, p, "-Infinity", 2);
    const uint8_t *stop = p;
    while (stop < end && number_byte(&s->number, *stop))
        stop++;
    if (keep_bytes(s, p, (size_t)(stop - p), error) != KSV_OK)
        return NULL;
    if (stop == end)
        return end;
    if (!number_is_complete(s->number))
        return json_fail(s, JSON_FAULT_DIGIT, stop);
    end_number(s);
    return stop;
}

bool json_scalar_finish(json_scanner *s)
{
    if (!number_is_complete(s->number))
        return false;
    end_number(s);
    return true;
}

/* Of the words only true and false are keys. */
static void end_word(json_scanner *s)
{
    if (json_takes_value(s) && (s->word[0] == 't' || s->word[0] == 'f'))
        s->values[s->value_node].text =
            (json_text){(const uint8_t *)s->word, strlen(s->word), false};
    json_end_scalar(s);
}

const uint8_t *json_scalar_word(json_scanner *s, const uint8_t *p,
                                const uint8_t *end)
{
    while (p < end && s->word[s->word_matched] != '\0') {
        if (*p != (uint8_t)s->word[s->word_matched])
            return json_fail(s, JSON_FAULT_WORD, p);
        s->word_matched++;
        p++;
    }
    if (s->word[s->word_matched] == '\0')
        end_word(s);
    return p;
}
