/* SPDX-License-Identifier: MIT */
/* What the tool says on standard error. */
#include "message.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "byte_buffer.h"
#include "text.h"

/* A longer key is cut in messages. */
#define MOST_STATUS_BYTES 512

/* Standard error is one for the process, and so is what is known of it. */
static struct {
    pthread_mutex_t lock;
    bool is_closed;
    size_t used_bytes;
    char bytes[16384];
    char status[MOST_STATUS_BYTES]; /* "" when none is shown */
} stream = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void write_all(const char *data, size_t size_bytes)
{
    while (size_bytes > 0 && !stream.is_closed) {
        ssize_t written = write(STDERR_FILENO, data, size_bytes);
        if (written >= 0) {
            data += written;
            size_bytes -= (size_t)written;
        } else if (errno == EPIPE) {
            stream.is_closed = true;
        } else if (errno != EINTR) {
            return;
        }
    }
}

static void flush(void)
{
    write_all(stream.bytes, stream.used_bytes);
    stream.used_bytes = 0;
}

static void add(const char *data, size_t size_bytes)
{
    if (size_bytes > sizeof stream.bytes - stream.used_bytes)
        flush();
    if (size_bytes > sizeof stream.bytes) {
        write_all(data, size_bytes);
        return;
    }
    if (size_bytes > 0)
        memcpy(stream.bytes + stream.used_bytes, data, size_bytes);
    stream.used_bytes += size_bytes;
}

/* Over the shown line: with blanks, which every terminal understands. */
static void erase_status(void)
{
    char blanks[MOST_STATUS_BYTES];
    size_t width = strlen(stream.status);
    if (width == 0)
        return;
    memset(blanks, ' ', width);
    add("\r", 1);
    add(blanks, width);
    add("\r", 1);
}

static void add_line(const char *line, size_t size_bytes, bool now)
{
    pthread_mutex_lock(&stream.lock);
    erase_status();
    add(line, size_bytes);
    add(stream.status, strlen(stream.status));
    if (now || stream.status[0] != '\0')
        flush();
    pthread_mutex_unlock(&stream.lock);
}

static void add_format(byte_buffer *line, const char *format, va_list args)
{
    char text[8192];
    vsnprintf(text, sizeof text, format, args);
    text_add_escaped(line, text, strlen(text));
    byte_buffer_add_text(line, "\n");
}

void message_text(const char *format, ...)
{
    byte_buffer line = {0};
    byte_buffer_add_text(&line, "keysieve: ");
    va_list args;
    va_start(args, format);
    add_format(&line, format, args);
    va_end(args);
    add_line(line.data, line.used_bytes, true);
    byte_buffer_free(&line);
}

void message_hint(const char *hint, const char *format, ...)
{
    byte_buffer line = {0};
    byte_buffer_add_text(&line, "keysieve: ");
    va_list args;
    va_start(args, format);
    add_format(&line, format, args);
    va_end(args);
    text_add_escaped(&line, hint, strlen(hint));
    byte_buffer_add_text(&line, "\n");
    add_line(line.data, line.used_bytes, true);
    byte_buffer_free(&line);
}

static void add_place(byte_buffer *line, const ksv_error *error)
{
    char place[96];
    if (error->line != 0 && error->byte_offset != KSV_NO_OFFSET)
        snprintf(place, sizeof place, " (line %llu, byte %llu)",
                 (unsigned long long)error->line,
                 (unsigned long long)error->byte_offset);
    else if (error->line != 0)
        snprintf(place, sizeof place, " (line %llu)",
                 (unsigned long long)error->line);
    else if (error->byte_offset != KSV_NO_OFFSET)
        snprintf(place, sizeof place, " (byte %llu)",
                 (unsigned long long)error->byte_offset);
    else
        return;
    byte_buffer_add_text(line, place);
}

static void add_error(byte_buffer *line, const ksv_error *error)
{
    if (error->path[0] != '\0') {
        text_add_escaped(line, error->path, strlen(error->path));
        byte_buffer_add_text(line, ": ");
    }
    const char *text = error->text;
    if (text[0] == '\0')
        text = ksv_status_text(error->status);
    text_add_escaped(line, text, strlen(text));
    add_place(line, error);
    byte_buffer_add_text(line, "\n");
}

static void add_command(byte_buffer *line, const char *verb,
                        const char *index_directory, const char *rest)
{
    byte_buffer_add_text(line, "keysieve ");
    byte_buffer_add_text(line, verb);
    if (index_directory != NULL) {
        byte_buffer_add_text(line, " -i ");
        text_add_shell_word(line, index_directory);
    }
    byte_buffer_add_text(line, rest);
    byte_buffer_add_text(line, "\n");
}

static void add_remedy(byte_buffer *line, const ksv_error *error,
                       const char *index_directory)
{
    switch (error->remedy) {
    case KSV_REMEDY_UPDATE:
        byte_buffer_add_text(line, "Bring the index up to date: ");
        add_command(line, "update", index_directory, "");
        return;
    case KSV_REMEDY_OTHER_DIRECTORY:
        byte_buffer_add_text(line, "Choose another place for the index: ");
        byte_buffer_add_text(line, "-i DIR (or KEYSIEVE_INDEX=DIR)\n");
        return;
    case KSV_REMEDY_BUILD:
    case KSV_REMEDY_NONE:
        break;
    }
    bool no_index = error->status == KSV_ERROR_NO_INDEX;
    if (error->remedy == KSV_REMEDY_NONE && !no_index)
        return;
    byte_buffer_add_text(line, no_index ? "Build one: " : "Build it again: ");
    add_command(line, "build", index_directory, " -k KEY FILE...");
}

void message_error(const ksv_error *error, const char *index_directory)
{
    byte_buffer line = {0};
    byte_buffer_add_text(&line, "keysieve: ");
    add_error(&line, error);
    add_remedy(&line, error, index_directory);
    add_line(line.data, line.used_bytes, true);
    byte_buffer_free(&line);
}

void message_remedy(const ksv_error *error, const char *index_directory)
{
    byte_buffer line = {0};
    add_remedy(&line, error, index_directory);
    add_line(line.data, line.used_bytes, true);
    byte_buffer_free(&line);
}

void message_problem(const ksv_error *problem, bool is_warning)
{
    byte_buffer line = {0};
    byte_buffer_add_text(&line,
                         is_warning ? "keysieve: warning: " : "keysieve: ");
    add_error(&line, problem);
    add_line(line.data, line.used_bytes, true);
    byte_buffer_free(&line);
}

void message_not_found(const void *key, size_t key_bytes)
{
    byte_buffer line = {0};
    byte_buffer_reserve(&line, key_bytes + 64);
    byte_buffer_add_text(&line, "keysieve: not found: ");
    text_add_escaped(&line, key, key_bytes);
    if (key_bytes == 0)
        byte_buffer_add_text(&line, "(empty key)");
    byte_buffer_add_text(&line, "\n");
    add_line(line.data, line.used_bytes, false);
    byte_buffer_free(&line);
}

void message_add_raw(const void *data, size_t size_bytes)
{
    add_line(data, size_bytes, false);
}

void message_flush(void)
{
    pthread_mutex_lock(&stream.lock);
    flush();
    pthread_mutex_unlock(&stream.lock);
}

bool message_is_closed(void)
{
    pthread_mutex_lock(&stream.lock);
    bool is_closed = stream.is_closed;
    pthread_mutex_unlock(&stream.lock);
    return is_closed;
}

void message_show_status(const char *line, size_t width)
{
    pthread_mutex_lock(&stream.lock);
    erase_status();
    if (width >= sizeof stream.status)
        width = sizeof stream.status - 1;
    size_t length = line == NULL ? 0 : strnlen(line, width);
    if (length > 0)
        memcpy(stream.status, line, length);
    stream.status[length] = '\0';
    add(stream.status, length);
    flush();
    pthread_mutex_unlock(&stream.lock);
}
