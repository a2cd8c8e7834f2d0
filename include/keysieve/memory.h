/* SPDX-License-Identifier: MIT */
/* The allocator that an embedder may supply. */
#ifndef KEYSIEVE_MEMORY_H
#define KEYSIEVE_MEMORY_H

#include <stddef.h>

/* Every function that takes a `const ksv_allocator *` copies the structure;
 * NULL means the C library's allocator. The functions must be safe to call from
 * any thread that uses an object made with them. */
typedef struct ksv_allocator {
    void *ctx;
    /* `size_bytes` > 0; memory aligned for any type, or NULL. */
    void *(*alloc)(void *ctx, size_t size_bytes);
    /* As realloc(); `old_bytes` is the size asked for before. */
    void *(*realloc)(void *ctx, void *memory, size_t old_bytes,
                     size_t new_bytes);
    /* `memory` is never NULL; `size_bytes` as asked for. */
    void (*free)(void *ctx, void *memory, size_t size_bytes);
} ksv_allocator;

#endif
