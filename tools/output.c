/* SPDX-License-Identifier: MIT */
/* Buffered standard output that notices a closed pipe and a full disk. */
#include "output.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "message.h"

void output_open(output *out, int fd)
{
    out->fd = fd;
    out->sink = NULL;
    out->os_errno = 0;
    out->is_terminal = isatty(fd) == 1;
    out->used_bytes = 0;
}

void output_open_sink(output *out, output_sink_fn sink)
{
    output_open(out, -1);
    out->sink = sink;
}

bool output_is_good(const output *out)
{
    return out->os_errno == 0;
}

/* Somebody else may have made the descriptor non-blocking. */
static bool wait_for_room(int fd)
{
    struct pollfd wanted = {.fd = fd, .events = POLLOUT};
    return poll(&wanted, 1, -1) >= 0 || errno == EINTR;
}

static void write_all(output *out, const char *data, size_t size_bytes)
{
    if (out->sink != NULL) {
        out->sink(data, size_bytes);
        return;
    }
    while (size_bytes > 0 && out->os_errno == 0) {
        ssize_t written = write(out->fd, data, size_bytes);
        if (written >= 0) {
            data += written;
            size_bytes -= (size_t)written;
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            if (!wait_for_room(out->fd))
                out->os_errno = errno;
        } else if (errno != EINTR) {
            out->os_errno = errno;
        }
    }
}

void output_flush(output *out)
{
    write_all(out, out->bytes, out->used_bytes);
    out->used_bytes = 0;
}

void output_add(output *out, const void *data, size_t size_bytes)
{
    if (size_bytes == 0)
        return;
    if (size_bytes > sizeof out->bytes - out->used_bytes)
        output_flush(out);
    if (size_bytes >= sizeof out->bytes) {
        write_all(out, data, size_bytes);
        return;
    }
    memcpy(out->bytes + out->used_bytes, data, size_bytes);
    out->used_bytes += size_bytes;
}

void output_add_byte(output *out, char byte)
{
    output_add(out, &byte, 1);
}

void output_add_text(output *out, const char *text)
{
    output_add(out, text, strlen(text));
}

void output_add_number(output *out, uint64_t number)
{
    char digits[20];
    char *first = digits + sizeof digits;
    do
        *--first = (char)('0' + number % 10);
    while ((number /= 10) != 0);
    output_add(out, first, (size_t)(digits + sizeof digits - first));
}

void output_add_format(output *out, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    output_add_text(out, text);
}

int output_close(output *out, int status)
{
    output_flush(out);
    /* Some file systems tell only now that the disk is full. */
    if (close(out->fd) != 0 && out->os_errno == 0 && errno != EBADF)
        out->os_errno = errno;
    if (out->os_errno == 0)
        return status;
    if (out->os_errno == EPIPE)
        return OUTPUT_STATUS_CLOSED;
    message_text("standard output: %s", strerror(out->os_errno));
    return 2;
}
