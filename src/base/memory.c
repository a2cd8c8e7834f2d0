/* SPDX-License-Identifier: MIT */
/* All allocation of the library, through the embedder's allocator. */
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

static void *libc_alloc(void *ctx, size_t size_bytes)
{
    (void)ctx;
    return malloc(size_bytes);
}

static void *libc_realloc(void *ctx, void *memory, size_t old_bytes,
                          size_t new_bytes)
{
    (void)ctx;
    (void)old_bytes;
    return realloc(memory, new_bytes);
}

static void libc_free(void *ctx, void *memory, size_t size_bytes)
{
    (void)ctx;
    (void)size_bytes;
    free(memory);
}

ksv_allocator allocator_or_default(const ksv_allocator *given)
{
    if (given != NULL)
        return *given;
    return (ksv_allocator){NULL, libc_alloc, libc_realloc, libc_free};
}

/* An allocator need not know what to do with 0 bytes. */
static size_t at_least_one(size_t size_bytes)
{
    return size_bytes > 0 ? size_bytes : 1;
}

void *memory_alloc(const ksv_allocator *a, size_t size_bytes)
{
    return a->alloc(a->ctx, at_least_one(size_bytes));
}

void *memory_zalloc(const ksv_allocator *a, size_t size_bytes)
{
    void *memory = memory_alloc(a, size_bytes);
    if (memory != NULL)
        memset(memory, 0, at_least_one(size_bytes));
    return memory;
}

void *memory_zalloc_array(const ksv_allocator *a, size_t count,
                          size_t element_bytes)
{
    if (element_bytes > 0 && count > SIZE_MAX / element_bytes)
        return NULL;
    return memory_zalloc(a, count * element_bytes);
}

void *memory_realloc(const ksv_allocator *a, void *memory, size_t old_bytes,
                     size_t new_bytes)
{
    if (memory == NULL)
        return memory_alloc(a, new_bytes);
    return a->realloc(a->ctx, memory, at_least_one(old_bytes),
                      at_least_one(new_bytes));
}

void memory_free(const ksv_allocator *a, void *memory, size_t size_bytes)
{
    if (memory != NULL)
        a->free(a->ctx, memory, at_least_one(size_bytes));
}

char *memory_copy_string(const ksv_allocator *a, const char *text,
                         size_t length)
{
    if (length == SIZE_MAX)
        return NULL;
    char *copy = memory_alloc(a, length + 1);
    if (copy == NULL)
        return NULL;
    memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

void memory_free_string(const ksv_allocator *a, char *text)
{
    if (text != NULL)
        memory_free(a, text, strlen(text) + 1);
}

ksv_status memory_grow(const ksv_allocator *a, void **items, size_t *capacity,
                       size_t wanted, size_t element_bytes, ksv_error *error)
{
    if (wanted <= *capacity)
        return KSV_OK;
    size_t larger = *capacity + *capacity / 2 + 8;
    if (larger < wanted)
        larger = wanted;
    if (larger > SIZE_MAX / element_bytes)
        return error_set_memory(error);
    void *moved = memory_realloc(a, *items, *capacity * element_bytes,
                                 larger * element_bytes);
    if (moved == NULL)
        return error_set_memory(error);
    *items = moved;
    *capacity = larger;
    return KSV_OK;
}

void buffer_init(byte_buffer *buffer, const ksv_allocator *allocator)
{
    *buffer = (byte_buffer){.allocator = allocator};
}

ksv_status buffer_reserve(byte_buffer *buffer, size_t more_bytes,
                          ksv_error *error)
{
    if (more_bytes > SIZE_MAX - buffer->size)
        return error_set_memory(error);
    void *items = buffer->data;
    ksv_status status =
        memory_grow(buffer->allocator, &items, &buffer->capacity,
                    buffer->size + more_bytes, 1, error);
    buffer->data = items;
    return status;
}

ksv_status buffer_append(byte_buffer *buffer, const void *data,
                         size_t size_bytes, ksv_error *error)
{
    if (size_bytes == 0)
        return KSV_OK;
    KSV_TRY(buffer_reserve(buffer, size_bytes, error));
    memcpy(buffer->data + buffer->size, data, size_bytes);
    buffer->size += size_bytes;
    return KSV_OK;
}

void buffer_clear(byte_buffer *buffer)
{
    buffer->size = 0;
}

void buffer_release(byte_buffer *buffer)
{
    memory_free(buffer->allocator, buffer->data, buffer->capacity);
    buffer->data = NULL;
    buffer->size = 0;
    buffer->capacity = 0;
}
