/* SPDX-License-Identifier: MIT */
/* JSON strings piece by piece, with their escapes. */
#include "base/error.h"
#include "scan/json_bytes.h"
#include "scan/json_state.h"

/* The bytes of names are kept only while they can be one that is looked for,
 * the bytes of values only where a path ends. */
static ksv_status emit(json_scanner *s, const uint8_t *data, size_t size_bytes,
                       ksv_error *error)
{
    if (!s->string_is_name) {
        if (!json_takes_value(s))
            return KSV_OK;
        return buffer_append(&s->values[s->value_node].own, data, size_bytes,
                             error);
    }
    if (s->name_is_foreign)
        return KSV_OK;
    if (size_bytes > s->paths.longest_name_bytes - s->name.size) {
        s->name_is_foreign = true;
        return KSV_OK;
    }
    return buffer_append(&s->name, data, size_bytes, error);
}

/* Anything but the other half has followed the first half of a pair. */
static void settle_surrogate(json_scanner *s)
{
    if (s->high_surrogate != 0)
        s->string_has_no_key = true;
    s->high_surrogate = 0;
}

const uint8_t *json_string_begin(json_scanner *s, const uint8_t *p,
                                 bool is_name)
{
    s->string_is_name = is_name;
    s->string_has_no_key = false;
    s->high_surrogate = 0;
    if (is_name) {
        buffer_clear(&s->name);
        s->name_is_foreign = !json_on_path(s);
    } else if (json_takes_value(s)) {
        buffer_clear(&s->values[s->value_node].own);
    }
    s->place = JSON_IN_STRING;
    return p + 1;
}

static void end_name(json_scanner *s)
{
    s->place = JSON_AT_COLON;
    s->value_node = JSON_NO_NODE;
    if (s->name_is_foreign || s->string_has_no_key)
        return;
    uint32_t parent = s->frames[s->depth - 1].node;
    const uint8_t *name = s->name.size > 0 ? s->name.data : (const uint8_t *)"";
    s->value_node = json_paths_member(&s->paths, parent, name, s->name.size);
    if (s->value_node != JSON_NO_NODE)
        json_forget_values(s, s->value_node);
}

static void end_string(json_scanner *s)
{
    settle_surrogate(s);
    if (s->string_is_name) {
        end_name(s);
        return;
    }
    if (json_takes_value(s) && !s->string_has_no_key)
        json_use_own_text(s);
    json_end_scalar(s);
}

const uint8_t *json_string_run(json_scanner *s, const uint8_t *p,
                               const uint8_t *end, ksv_error *error)
{
    const uint8_t *stop = json_string_stop(p, end);
    if (stop > p) {
        settle_surrogate(s);
        if (emit(s, p, (size_t)(stop - p), error) != KSV_OK)
            return NULL;
    }
    if (stop == end)
        return end;
    if (*stop == '\\')
        s->place = JSON_IN_ESCAPE;
    else
        end_string(s);
    return stop + 1;
}

/* What a letter behind a backslash stands for; 0: it is no such letter. */
static uint8_t unescape(uint8_t letter)
{
    switch (letter) {
    case '"':
    case '\\':
    case '/':
        return letter;
    case 'b':
        return '\b';
    case 'f':
        return '\f';
    case 'n':
        return '\n';
    case 'r':
        return '\r';
    case 't':
        return '\t';
    default:
        return 0;
    }
}

const uint8_t *json_string_escape(json_scanner *s, const uint8_t *p,
                                  ksv_error *error)
{
    if (*p == 'u') {
        s->hex_digits = 0;
        s->hex_value = 0;
        s->place = JSON_IN_HEX;
        return p + 1;
    }
    uint8_t byte = unescape(*p);
    if (byte == 0)
        return json_fail(s, JSON_FAULT_ESCAPE, p);
    settle_surrogate(s);
    if (emit(s, &byte, 1, error) != KSV_OK)
        return NULL;
    s->place = JSON_IN_STRING;
    return p + 1;
}

static ksv_status emit_code_point(json_scanner *s, uint32_t c, ksv_error *error)
{
    uint8_t utf8[4];
    size_t size = 0;
    if (c < 0x80) {
        utf8[size++] = (uint8_t)c;
    } else if (c < 0x800) {
        utf8[size++] = (uint8_t)(0xc0 | c >> 6);
    } else if (c < 0x10000) {
        utf8[size++] = (uint8_t)(0xe0 | c >> 12);
        utf8[size++] = (uint8_t)(0x80 | (c >> 6 & 0x3f));
    } else {
        utf8[size++] = (uint8_t)(0xf0 | c >> 18);
        utf8[size++] = (uint8_t)(0x80 | (c >> 12 & 0x3f));
        utf8[size++] = (uint8_t)(0x80 | (c >> 6 & 0x3f));
    }
    if (c >= 0x80)
        utf8[size++] = (uint8_t)(0x80 | (c & 0x3f));
    return emit(s, utf8, size, error);
}

static ksv_status end_hex(json_scanner *s, ksv_error *error)
{
    uint16_t unit = s->hex_value;
    s->place = JSON_IN_STRING;
    if (unit >= 0xdc00 && unit < 0xe000 && s->high_surrogate != 0) {
        uint32_t c = 0x10000 + ((uint32_t)(s->high_surrogate - 0xd800) << 10) +
                     (uint32_t)(unit - 0xdc00);
        s->high_surrogate = 0;
        return emit_code_point(s, c, error);
    }
    settle_surrogate(s);
    if (unit >= 0xd800 && unit < 0xdc00)
        s->high_surrogate = unit;
    else if (unit >= 0xdc00 && unit < 0xe000)
        s->string_has_no_key = true;
    else
        return emit_code_point(s, unit, error);
    return KSV_OK;
}

static int hex_digit(uint8_t c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

const uint8_t *json_string_hex(json_scanner *s, const uint8_t *p,
                               ksv_error *error)
{
    int digit = hex_digit(*p);
    if (digit < 0)
        return json_fail(s, JSON_FAULT_HEX, p);
    s->hex_value = (uint16_t)(s->hex_value << 4 | digit);
    s->hex_digits++;
    if (s->hex_digits == 4 && end_hex(s, error) != KSV_OK)
        return NULL;
    return p + 1;
}
