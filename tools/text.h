/* SPDX-License-Identifier: MIT */
/* Text for people: escaped bytes, shell words, sizes and times. */
#ifndef KSV_TOOLS_TEXT_H
#define KSV_TOOLS_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "buffer.h"

/* Adds bytes with control characters escaped ("\n", "\x1b"), so that they
 * can neither end a line nor command a terminal. Other bytes pass. */
void text_add_escaped(byte_buffer *buffer, const void *data, size_t size_bytes);

/* Adds one word as a shell reads it. */
void text_add_shell_word(byte_buffer *buffer, const char *word);

/* Room for what the functions below write. */
#define TEXT_SHORT_BYTES 32

/* "12 bytes", "3.46 MB" (powers of 1,000). Returns `text`. */
const char *text_format_size(char text[TEXT_SHORT_BYTES], double bytes);

/* "0.12 s", "3:05", "1:02:03". Returns `text`. */
const char *text_format_duration(char text[TEXT_SHORT_BYTES], double seconds);

/* The shortest decimal number that reads back as `number`. Returns `text`. */
const char *text_format_shortest(char text[TEXT_SHORT_BYTES], double number);

#endif
