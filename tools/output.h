/* SPDX-License-Identifier: MIT */
/* Buffered standard output that notices a closed pipe and a full disk. */
#ifndef KSV_TOOLS_OUTPUT_H
#define KSV_TOOLS_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The exit status after the reader of a pipe has left: that of a process ended
 * by SIGPIPE, as a shell shows it. */
#define OUTPUT_STATUS_CLOSED 141

typedef void (*output_sink_fn)(const void *data, size_t size_bytes);

typedef struct output {
    int fd;
    output_sink_fn sink; /* takes the bytes instead of `fd`; or NULL */
    int os_errno; /* of the first failed write; then nothing is written */
    bool is_terminal;
    size_t used_bytes;
    char bytes[65536];
} output;

void output_open(output *out, int fd);
void output_open_sink(output *out, output_sink_fn sink);
/* False after a failure: the caller stops. */
bool output_is_good(const output *out);
void output_add(output *out, const void *data, size_t size_bytes);
void output_add_byte(output *out, char byte);
void output_add_text(output *out, const char *text);
void output_add_number(output *out, uint64_t number);
void output_add_format(output *out, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void output_flush(output *out);

/* Flushes and closes. Returns `status`, or the exit status of the failure,
 * which it has reported unless it was a closed pipe. */
int output_close(output *out, int status);

#endif
