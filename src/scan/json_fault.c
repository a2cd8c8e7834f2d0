/* SPDX-License-Identifier: MIT */
/* Malformed JSON in words. */
#include <inttypes.h>
#include <stdio.h>

#include "scan/json_state.h"

static const char *what_is_cut(const json_scanner *s)
{
    switch (s->place) {
    case JSON_IN_STRING:
    case JSON_IN_ESCAPE:
    case JSON_IN_HEX:
        return "a string";
    case JSON_IN_NUMBER:
        return "a number";
    case JSON_IN_WORD:
        return "a word";
    default:
        return s->in_object ? "an object" : "an array";
    }
}

static const char *expectation(json_fault fault)
{
    switch (fault) {
    case JSON_FAULT_VALUE:
        return "a value";
    case JSON_FAULT_NAME:
        return "a member name in double quotes";
    case JSON_FAULT_COLON:
        return "':' after a member name";
    case JSON_FAULT_IN_OBJECT:
        return "',' or '}' after a member";
    case JSON_FAULT_IN_ARRAY:
        return "',' or ']' after an element";
    case JSON_FAULT_AFTER:
        return "the end of the line after the value";
    case JSON_FAULT_ESCAPE:
        return "a known escape after a backslash";
    case JSON_FAULT_HEX:
        return "four hexadecimal digits after \\u";
    case JSON_FAULT_DIGIT:
        return "a digit";
    default:
        return "";
    }
}

static void show_byte(uint8_t byte, char text[16])
{
    if (byte > ' ' && byte < 0x7f)
        snprintf(text, 16, "'%c'", byte);
    else
        snprintf(text, 16, "byte 0x%02x", byte);
}

bool json_scanner_describe_fault(const json_scanner *scanner,
                                 char text[JSON_FAULT_TEXT_BYTES])
{
    if (scanner->fault == JSON_FAULT_CUT) {
        snprintf(text, JSON_FAULT_TEXT_BYTES, "the line ends within %s",
                 what_is_cut(scanner));
        return true;
    }
    char found[16];
    show_byte(scanner->fault_byte, found);
    const char *expected = scanner->fault == JSON_FAULT_WORD
                               ? scanner->word
                               : expectation(scanner->fault);
    snprintf(text, JSON_FAULT_TEXT_BYTES,
             "expected %s, found %s, %" PRIu64 " bytes into the line", expected,
             found, scanner->fault_at);
    return false;
}
