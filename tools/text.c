/* SPDX-License-Identifier: MIT */
/* Text for people: escaped bytes, shell words, sizes and times. */
#include "text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add_escape(byte_buffer *buffer, unsigned char byte)
{
    char text[8];
    switch (byte) {
    case '\n':
        buffer_add_text(buffer, "\\n");
        break;
    case '\r':
        buffer_add_text(buffer, "\\r");
        break;
    case '\t':
        buffer_add_text(buffer, "\\t");
        break;
    default:
        snprintf(text, sizeof text, "\\x%02x", byte);
        buffer_add_text(buffer, text);
    }
}

/* ASCII controls, and those of Unicode (U+0080 to U+009F), which terminals
 * obey as well. */
static size_t control_length(const unsigned char *bytes, size_t size_bytes)
{
    if (bytes[0] < 0x20 || bytes[0] == 0x7f)
        return 1;
    if (size_bytes > 1 && bytes[0] == 0xc2 && bytes[1] >= 0x80 &&
        bytes[1] <= 0x9f)
        return 2;
    return 0;
}

void text_add_escaped(byte_buffer *buffer, const void *data, size_t size_bytes)
{
    const unsigned char *bytes = data;
    size_t plain = 0;
    size_t i = 0;
    while (i < size_bytes) {
        size_t length = control_length(bytes + i, size_bytes - i);
        if (length == 0) {
            i++;
            continue;
        }
        buffer_add(buffer, bytes + plain, i - plain);
        for (size_t j = 0; j < length; j++)
            add_escape(buffer, bytes[i + j]);
        i += length;
        plain = i;
    }
    buffer_add(buffer, bytes + plain, size_bytes - plain);
}

static int is_plain_word(const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789_./:=+,@%^-";
    return word[0] != '\0' && strspn(word, plain) == strlen(word);
}

static int has_control(const char *word)
{
    const unsigned char *bytes = (const unsigned char *)word;
    for (size_t left = strlen(word); left > 0; left--, bytes++) {
        if (control_length(bytes, left) != 0)
            return 1;
    }
    return 0;
}

void text_add_shell_word(byte_buffer *buffer, const char *word)
{
    if (is_plain_word(word)) {
        buffer_add_text(buffer, word);
        return;
    }
    int dollar = has_control(word);
    buffer_add_text(buffer, dollar ? "$'" : "'");
    for (const char *c = word; *c != '\0'; c++) {
        size_t length = control_length((const unsigned char *)c, strlen(c));
        if (length > 0) {
            text_add_escaped(buffer, c, length);
            c += length - 1;
        } else if (*c == '\'') {
            buffer_add_text(buffer, dollar ? "\\'" : "'\\''");
        } else if (*c == '\\' && dollar) {
            buffer_add_text(buffer, "\\\\");
        } else {
            buffer_add(buffer, c, 1);
        }
    }
    buffer_add_text(buffer, "'");
}

const char *text_format_size(char text[TEXT_SHORT_BYTES], double bytes)
{
    static const char *const units[] = {"kB", "MB", "GB", "TB", "PB", "EB"};
    size_t unit = 0;
    if (bytes < 1000) {
        snprintf(text, TEXT_SHORT_BYTES, "%.0f bytes", bytes);
        return text;
    }
    bytes /= 1000;
    /* Not 1000 of a unit after rounding to three digits. */
    while (bytes >= 999.5 && unit + 1 < sizeof units / sizeof units[0]) {
        bytes /= 1000;
        unit++;
    }
    int digits = bytes < 9.995 ? 2 : bytes < 99.95 ? 1 : 0;
    snprintf(text, TEXT_SHORT_BYTES, "%.*f %s", digits, bytes, units[unit]);
    return text;
}

const char *text_format_duration(char text[TEXT_SHORT_BYTES], double seconds)
{
    if (seconds < 59.5) {
        int digits = seconds < 9.995 ? 2 : seconds < 59.5 ? 1 : 0;
        snprintf(text, TEXT_SHORT_BYTES, "%.*f s", digits, seconds);
        return text;
    }
    uint64_t whole = seconds < 1e15 ? (uint64_t)(seconds + 0.5) : 0;
    unsigned minutes = (unsigned)(whole / 60 % 60);
    unsigned rest = (unsigned)(whole % 60);
    if (whole < 3600)
        snprintf(text, TEXT_SHORT_BYTES, "%u:%02u", minutes, rest);
    else
        snprintf(text, TEXT_SHORT_BYTES, "%llu:%02u:%02u",
                 (unsigned long long)(whole / 3600), minutes, rest);
    return text;
}

const char *text_format_shortest(char text[TEXT_SHORT_BYTES], double number)
{
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, TEXT_SHORT_BYTES, "%.*g", digits, number);
        if (strtod(text, NULL) == number)
            break;
    }
    return text;
}
