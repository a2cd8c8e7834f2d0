/* SPDX-License-Identifier: MIT */
/* JSON text: strings in UTF-8, other bytes in base64. */
#include "json.h"

#include <string.h>

/* Sets what has to follow the first byte of a character, after the table of
 * well-formed byte sequences in the Unicode Standard, chapter 3. */
static void begin_character(json_utf8 *check, unsigned char byte)
{
    check->least = 0x80;
    check->most = 0xbf;
    if (byte >= 0xc2 && byte <= 0xdf) {
        check->left = 1;
    } else if (byte >= 0xe0 && byte <= 0xef) {
        check->left = 2;
        if (byte == 0xe0)
            check->least = 0xa0;
        else if (byte == 0xed)
            check->most = 0x9f;
    } else if (byte >= 0xf0 && byte <= 0xf4) {
        check->left = 3;
        if (byte == 0xf0)
            check->least = 0x90;
        else if (byte == 0xf4)
            check->most = 0x8f;
    } else {
        check->is_bad = true;
    }
}

/* The number of bytes at the start that are ASCII, eight at a time. */
static size_t count_ascii(const unsigned char *bytes, size_t size_bytes)
{
    size_t i = 0;
    uint64_t word;
    while (size_bytes - i >= sizeof word) {
        memcpy(&word, bytes + i, sizeof word);
        if ((word & 0x8080808080808080u) != 0)
            break;
        i += sizeof word;
    }
    while (i < size_bytes && bytes[i] < 0x80)
        i++;
    return i;
}

void json_utf8_add(json_utf8 *check, const void *data, size_t size_bytes)
{
    const unsigned char *bytes = data;
    size_t i = 0;
    while (i < size_bytes && !check->is_bad) {
        if (check->left == 0) {
            i += count_ascii(bytes + i, size_bytes - i);
            if (i < size_bytes)
                begin_character(check, bytes[i++]);
            continue;
        }
        if (bytes[i] < check->least || bytes[i] > check->most)
            check->is_bad = true;
        check->least = 0x80;
        check->most = 0xbf;
        check->left--;
        i++;
    }
}

bool json_utf8_is_good(const json_utf8 *check)
{
    return !check->is_bad && check->left == 0;
}

static void add_escape(output *out, unsigned char byte)
{
    static const char short_forms[] = "\"\"\\\\\bb\ff\nn\rr\tt";
    for (const char *form = short_forms; *form != '\0'; form += 2) {
        if ((unsigned char)*form == byte) {
            output_add_byte(out, '\\');
            output_add_byte(out, form[1]);
            return;
        }
    }
    output_add_format(out, "\\u%04x", byte);
}

void json_add_escaped(output *out, const void *data, size_t size_bytes)
{
    const unsigned char *bytes = data;
    size_t plain = 0;
    for (size_t i = 0; i < size_bytes; i++) {
        unsigned char byte = bytes[i];
        if (byte >= 0x20 && byte != '"' && byte != '\\' && byte != 0x7f)
            continue;
        output_add(out, bytes + plain, i - plain);
        add_escape(out, byte);
        plain = i + 1;
    }
    output_add(out, bytes + plain, size_bytes - plain);
}

/* `count` bytes, 1 to 3, as four characters at `text`. */
static void encode_group(char *text, const unsigned char *bytes, unsigned count)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                 "abcdefghijklmnopqrstuvwxyz0123456789+/";
    unsigned group = (unsigned)bytes[0] << 16;
    if (count > 1)
        group |= (unsigned)bytes[1] << 8;
    if (count > 2)
        group |= bytes[2];
    for (unsigned i = 0; i < 4; i++)
        text[i] = i <= count ? digits[group >> (18 - 6 * i) & 63] : '=';
}

void json_base64_add(json_base64 *state, output *out, const void *data,
                     size_t size_bytes)
{
    const unsigned char *bytes = data;
    for (size_t i = 0; i < size_bytes; i++) {
        state->kept[state->kept_bytes++] = bytes[i];
        if (state->kept_bytes == sizeof state->kept)
            json_base64_finish(state, out);
    }
}

void json_base64_finish(json_base64 *state, output *out)
{
    char text[4];
    if (state->kept_bytes == 0)
        return;
    encode_group(text, state->kept, state->kept_bytes);
    output_add(out, text, sizeof text);
    state->kept_bytes = 0;
}

static void add_name(output *out, bool is_first, const char *name,
                     const char *suffix)
{
    if (!is_first)
        output_add_byte(out, ',');
    output_add_byte(out, '"');
    output_add_text(out, name);
    output_add_text(out, suffix);
    output_add(out, "\":", 2);
}

void json_add_bytes(output *out, bool is_first, const char *name,
                    const void *data, size_t size_bytes)
{
    json_utf8 check = {0};
    json_utf8_add(&check, data, size_bytes);
    bool is_good = json_utf8_is_good(&check);
    add_name(out, is_first, name, is_good ? "" : "_base64");
    output_add_byte(out, '"');
    if (is_good) {
        json_add_escaped(out, data, size_bytes);
    } else {
        json_base64 state = {0};
        json_base64_add(&state, out, data, size_bytes);
        json_base64_finish(&state, out);
    }
    output_add_byte(out, '"');
}

void json_add_text(output *out, bool is_first, const char *name,
                   const char *text)
{
    json_add_bytes(out, is_first, name, text, strlen(text));
}

void json_add_number(output *out, bool is_first, const char *name,
                     uint64_t number)
{
    add_name(out, is_first, name, "");
    output_add_number(out, number);
}
