/* SPDX-License-Identifier: MIT */
/* Memory of the tool: growable bytes; without memory the tool ends. */
#include "buffer.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void *buffer_resize_memory(void *memory, size_t count, size_t size_bytes)
{
    void *resized = NULL;
    if (count <= SIZE_MAX / size_bytes)
        resized = realloc(memory, count == 0 ? 1 : count * size_bytes);
    if (resized == NULL) {
        /* Nothing that would need memory again. */
        static const char text[] = "keysieve: out of memory\n";
        ssize_t written = write(STDERR_FILENO, text, sizeof text - 1);
        (void)written;
        _exit(2);
    }
    return resized;
}

void buffer_reserve(byte_buffer *buffer, size_t extra_bytes)
{
    if (buffer->capacity_bytes - buffer->used_bytes >= extra_bytes)
        return;
    size_t wanted = SIZE_MAX;
    if (extra_bytes <= SIZE_MAX - buffer->used_bytes)
        wanted = buffer->used_bytes + extra_bytes;
    size_t doubled = buffer->capacity_bytes < SIZE_MAX / 2
                         ? buffer->capacity_bytes * 2
                         : SIZE_MAX;
    size_t capacity_bytes = doubled > wanted ? doubled : wanted;
    buffer->data = buffer_resize_memory(buffer->data, capacity_bytes, 1);
    buffer->capacity_bytes = capacity_bytes;
}

void buffer_add(byte_buffer *buffer, const void *data, size_t size_bytes)
{
    if (size_bytes == 0)
        return;
    buffer_reserve(buffer, size_bytes);
    memcpy(buffer->data + buffer->used_bytes, data, size_bytes);
    buffer->used_bytes += size_bytes;
}

void buffer_add_text(byte_buffer *buffer, const char *text)
{
    buffer_add(buffer, text, strlen(text));
}

void buffer_free(byte_buffer *buffer)
{
    free(buffer->data);
    *buffer = (struct byte_buffer){0};
}
