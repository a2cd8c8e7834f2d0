/* SPDX-License-Identifier: MIT */
/* All allocation of the library, through the embedder's allocator. */
#ifndef KSV_BASE_MEMORY_H
#define KSV_BASE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <keysieve/memory.h>
#include <keysieve/status.h>

/* `given`, or the C library's allocator for NULL. */
ksv_allocator allocator_or_default(const ksv_allocator *given);

/* NULL when memory is out; `size_bytes` may be 0. */
void *memory_alloc(const ksv_allocator *a, size_t size_bytes);

/* As memory_alloc(), filled with zeros. */
void *memory_zalloc(const ksv_allocator *a, size_t size_bytes);

/* `count` * `element_bytes` bytes filled with zeros; NULL also on overflow. */
void *memory_zalloc_array(const ksv_allocator *a, size_t count,
                          size_t element_bytes);

/* The old memory stays valid on failure. `memory` may be NULL. */
void *memory_realloc(const ksv_allocator *a, void *memory, size_t old_bytes,
                     size_t new_bytes);

/* `memory` may be NULL; `size_bytes` as it was allocated with. */
void memory_free(const ksv_allocator *a, void *memory, size_t size_bytes);

/* A NUL-terminated copy of `length` bytes, freed with memory_free_string(). */
char *memory_copy_string(const ksv_allocator *a, const char *text,
                         size_t length);
void memory_free_string(const ksv_allocator *a, char *text);

/* Makes room for `wanted` elements in a growing array: `*items` has
 * `*capacity` elements of `element_bytes` bytes and grows by half or more. */
ksv_status memory_grow(const ksv_allocator *a, void **items, size_t *capacity,
                       size_t wanted, size_t element_bytes, ksv_error *error);

/* A growing byte buffer. All zero but for `allocator` is an empty one. */
typedef struct byte_buffer {
    const ksv_allocator *allocator; /* borrowed */
    uint8_t *data;
    size_t size;
    size_t capacity;
} byte_buffer;

void buffer_init(byte_buffer *buffer, const ksv_allocator *allocator);
ksv_status buffer_reserve(byte_buffer *buffer, size_t more_bytes,
                          ksv_error *error);
ksv_status buffer_append(byte_buffer *buffer, const void *data,
                         size_t size_bytes, ksv_error *error);
void buffer_clear(byte_buffer *buffer); /* keeps the memory */
void buffer_release(byte_buffer *buffer);

#endif
