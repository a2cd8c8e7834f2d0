/* SPDX-License-Identifier: MIT */
/* Memory for very many small things that go together. */
#ifndef KSV_BASE_ARENA_H
#define KSV_BASE_ARENA_H

#include <keysieve/memory.h>

/* Owns the memory that its allocator gives out. */
typedef struct arena arena;

/* Its first block has room for `first_bytes`. NULL when memory is out. */
arena *arena_open(const ksv_allocator *allocator, size_t first_bytes);
/* Frees all of it at once. NULL is allowed. */
void arena_close(arena *a);

/* Allocates from the arena, for one thread at a time; freeing does nothing.
 * Valid until the arena is closed. */
ksv_allocator arena_allocator(arena *a);

/* What the arena itself takes its memory from. */
ksv_allocator arena_source(const arena *a);

/* The first block, for those who know how to make touching it cheap. */
void *arena_first_block(const arena *a, size_t *size_bytes);
/* Leaves out that much at the beginning of it, before anything is allocated. */
void arena_skip(arena *a, size_t bytes);

#endif
