/* SPDX-License-Identifier: MIT */
/* Memory of the tool: growable bytes; without memory the tool ends. */
#ifndef KSV_TOOLS_BUFFER_H
#define KSV_TOOLS_BUFFER_H

#include <stddef.h>

/* Like realloc(), but never NULL: says "out of memory" and exits with 2. */
void *buffer_resize_memory(void *memory, size_t count, size_t size_bytes);

/* All zero is an empty buffer. */
typedef struct byte_buffer {
    char *data;
    size_t used_bytes;
    size_t capacity_bytes;
} byte_buffer;

/* Room for `extra_bytes` more behind what is used. */
void buffer_reserve(byte_buffer *buffer, size_t extra_bytes);
void buffer_add(byte_buffer *buffer, const void *data, size_t size_bytes);
void buffer_add_text(byte_buffer *buffer, const char *text);
void buffer_free(byte_buffer *buffer);

#endif
