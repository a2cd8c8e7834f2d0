/* SPDX-License-Identifier: MIT */
/* What the tool says on standard error. */
#ifndef KSV_TOOLS_MESSAGE_H
#define KSV_TOOLS_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>

#include <keysieve/status.h>

/* Each message is one line that begins with "keysieve: ", two with a hint.
 * Control bytes are escaped, so that no name or key can forge a line. All
 * functions may be called by any thread. The state behind them is that of
 * standard error, hence of the process. */

/* "keysieve: TEXT". */
void message_text(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

/* "keysieve: TEXT", then the line `hint`. */
void message_hint(const char *hint, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* "keysieve: FILE: what is wrong (line L, byte B)", then, where one command
 * repairs it, that command. `index_directory` is what its -i has to say; NULL
 * when it needs none. */
void message_error(const ksv_error *error, const char *index_directory);

/* The second line of that alone, if it has one. */
void message_remedy(const ksv_error *error, const char *index_directory);

/* The first line of that; after "keysieve: warning: " for a warning. */
void message_problem(const ksv_error *problem, bool is_warning);

/* "keysieve: not found: KEY". Stays in memory until the next message of another
 * kind or message_flush(), because there may be many. */
void message_not_found(const void *key, size_t key_bytes);

/* Further bytes for standard error, as they are. */
void message_add_raw(const void *data, size_t size_bytes);

void message_flush(void);

/* Whether the reader of standard error has left. */
bool message_is_closed(void);

/* A line that stays below the messages and is redrawn after them, at most
 * `width` columns of ASCII; NULL erases it. */
void message_show_status(const char *line, size_t width);

#endif
