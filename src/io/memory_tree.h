/* SPDX-License-Identifier: MIT */
/* The files and directories of a file system in memory, found by path. */
#ifndef KSV_IO_MEMORY_TREE_H
#define KSV_IO_MEMORY_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include <keysieve/io.h>
#include <keysieve/memory.h>

#include "base/memory.h"

/* The limits of most file systems: bytes of a name, and of a path with its NUL.
 */
#define MEMORY_NAME_MAX 255
#define MEMORY_PATH_MAX 4096

typedef struct memory_node memory_node;

struct memory_node {
    char *name;          /* "" for the root */
    memory_node *parent; /* NULL when it has no name any more */
    bool is_directory;
    bool locked;
    size_t open_files; /* a file without a name lives as long as these */
    uint64_t inode;
    int64_t mtime_ns;
    int64_t ctime_ns;
    byte_buffer content;    /* of a file */
    memory_node **children; /* of a directory, by name */
    size_t child_count;
    size_t child_capacity;
};

typedef struct memory_tree {
    const ksv_allocator *allocator; /* borrowed */
    memory_node *root;
    uint64_t last_inode;
} memory_tree;

/* What a path leads to. */
typedef struct memory_place {
    memory_node *node;      /* NULL when there is nothing of that name */
    memory_node *directory; /* that holds it, or would */
    const char *name;       /* in the path; not ended by a NUL */
    size_t name_length;     /* 0: the path ends in ".", ".." or "/" */
    bool ends_in_dot_dot;
    bool trailing_slash;
} memory_place;

/* These return 0 or an errno, ENOMEM included. */
int memory_tree_init(memory_tree *tree, const ksv_allocator *allocator);

/* Relative paths begin at the root. A missing last component is no error. */
int memory_tree_find(const memory_tree *tree, const char *path,
                     memory_place *place);

/* As memory_tree_find() where the last component has to exist; it has to be a
 * directory when a slash follows. */
int memory_tree_find_existing(const memory_tree *tree, const char *path,
                              memory_node **node);

/* Makes an empty file or directory at a place where there is none; sets
 * `place->node`. */
int memory_tree_make(memory_tree *tree, memory_place *place, bool is_directory);

/* Gives `node` the name and directory of `place`; another node there loses its
 * name. */
int memory_tree_move(memory_tree *tree, memory_node *node,
                     const memory_place *place);

/* Takes away the name of a node; frees it unless it is open. */
void memory_tree_unlink(memory_tree *tree, memory_node *node);

/* Frees a node that has neither a name nor open files. */
void memory_tree_release(memory_tree *tree, memory_node *node);

/* Frees all of it; no file may be open. */
void memory_tree_destroy(memory_tree *tree);

#endif
