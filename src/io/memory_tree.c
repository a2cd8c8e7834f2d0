/* SPDX-License-Identifier: MIT */
/* The files and directories of a file system in memory, found by path. */
#include "io/memory_tree.h"

#include <errno.h>
#include <string.h>

#include "io/file.h"

static void touch(memory_node *node)
{
    node->mtime_ns = node->ctime_ns = clock_realtime_ns();
}

static memory_node *make_node(memory_tree *tree, const char *name,
                              size_t name_length, bool is_directory)
{
    memory_node *node = memory_zalloc(tree->allocator, sizeof *node);
    if (node == NULL)
        return NULL;
    node->name = memory_copy_string(tree->allocator, name, name_length);
    if (node->name == NULL) {
        memory_free(tree->allocator, node, sizeof *node);
        return NULL;
    }
    node->is_directory = is_directory;
    node->inode = ++tree->last_inode;
    buffer_init(&node->content, tree->allocator);
    touch(node);
    return node;
}

static void free_node(memory_tree *tree, memory_node *node)
{
    const ksv_allocator *a = tree->allocator;
    buffer_release(&node->content);
    memory_free(a, node->children,
                node->child_capacity * sizeof(memory_node *));
    memory_free_string(a, node->name);
    memory_free(a, node, sizeof *node);
}

int memory_tree_init(memory_tree *tree, const ksv_allocator *allocator)
{
    *tree = (memory_tree){.allocator = allocator};
    tree->root = make_node(tree, "", 0, true);
    return tree->root != NULL ? 0 : ENOMEM;
}

/* Orders a NUL-terminated name and one with a length, as strcmp() would. */
static int compare_names(const char *name, const char *other,
                         size_t other_length)
{
    int order = strncmp(name, other, other_length);
    return order != 0 ? order : name[other_length] != '\0';
}

/* The position of a name among the children, or where it would be put. */
static size_t child_position(const memory_node *directory, const char *name,
                             size_t length, bool *found)
{
    size_t low = 0;
    size_t high = directory->child_count;
    *found = false;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order =
            compare_names(directory->children[middle]->name, name, length);
        if (order == 0) {
            *found = true;
            return middle;
        }
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static memory_node *find_child(const memory_node *directory, const char *name,
                               size_t length)
{
    bool found;
    size_t position = child_position(directory, name, length, &found);
    return found ? directory->children[position] : NULL;
}

static int make_room(memory_tree *tree, memory_node *directory)
{
    void *items = directory->children;
    ksv_status status =
        memory_grow(tree->allocator, &items, &directory->child_capacity,
                    directory->child_count + 1, sizeof(memory_node *), NULL);
    directory->children = items;
    return status == KSV_OK ? 0 : ENOMEM;
}

/* make_room() has come before. */
static void insert_child(memory_node *directory, memory_node *node)
{
    bool found;
    size_t at =
        child_position(directory, node->name, strlen(node->name), &found);
    memmove(directory->children + at + 1, directory->children + at,
            (directory->child_count - at) * sizeof(memory_node *));
    directory->children[at] = node;
    directory->child_count++;
    node->parent = directory;
    touch(directory);
}

static void take_child(memory_node *node)
{
    memory_node *directory = node->parent;
    bool found;
    size_t at =
        child_position(directory, node->name, strlen(node->name), &found);
    memmove(directory->children + at, directory->children + at + 1,
            (directory->child_count - at - 1) * sizeof(memory_node *));
    directory->child_count--;
    node->parent = NULL;
    touch(directory);
}

static bool is_dot(const char *name, size_t length)
{
    return length == 1 && name[0] == '.';
}

static bool is_dot_dot(const char *name, size_t length)
{
    return length == 2 && name[0] == '.' && name[1] == '.';
}

/* Goes from `place->node`, a directory, to one of its names. */
static int step(memory_place *place, const char *name, size_t length)
{
    memory_node *here = place->node;
    place->ends_in_dot_dot = is_dot_dot(name, length);
    if (is_dot(name, length) || place->ends_in_dot_dot) {
        if (place->ends_in_dot_dot && here->parent != NULL)
            place->node = here->parent;
        place->directory = place->node;
        place->name_length = 0;
        return 0;
    }
    if (length > MEMORY_NAME_MAX)
        return ENAMETOOLONG;
    place->directory = here;
    place->node = find_child(here, name, length);
    place->name = name;
    place->name_length = length;
    return 0;
}

int memory_tree_find(const memory_tree *tree, const char *path,
                     memory_place *place)
{
    *place = (memory_place){.node = tree->root, .directory = tree->root};
    if (path[0] == '\0')
        return ENOENT;
    if (strlen(path) >= MEMORY_PATH_MAX)
        return ENAMETOOLONG;
    const char *rest = path + strspn(path, "/");
    while (*rest != '\0') {
        if (place->node == NULL)
            return ENOENT;
        if (!place->node->is_directory)
            return ENOTDIR;
        size_t length = strcspn(rest, "/");
        int problem = step(place, rest, length);
        if (problem != 0)
            return problem;
        size_t slashes = strspn(rest + length, "/");
        place->trailing_slash = slashes > 0;
        rest += length + slashes;
    }
    return 0;
}

int memory_tree_find_existing(const memory_tree *tree, const char *path,
                              memory_node **node)
{
    memory_place place;
    *node = NULL;
    int problem = memory_tree_find(tree, path, &place);
    if (problem != 0)
        return problem;
    if (place.node == NULL)
        return ENOENT;
    if (place.trailing_slash && !place.node->is_directory)
        return ENOTDIR;
    *node = place.node;
    return 0;
}

int memory_tree_make(memory_tree *tree, memory_place *place, bool is_directory)
{
    int problem = make_room(tree, place->directory);
    if (problem != 0)
        return problem;
    memory_node *node =
        make_node(tree, place->name, place->name_length, is_directory);
    if (node == NULL)
        return ENOMEM;
    insert_child(place->directory, node);
    place->node = node;
    return 0;
}

int memory_tree_move(memory_tree *tree, memory_node *node,
                     const memory_place *place)
{
    int problem = make_room(tree, place->directory);
    if (problem != 0)
        return problem;
    char *name =
        memory_copy_string(tree->allocator, place->name, place->name_length);
    if (name == NULL)
        return ENOMEM;
    if (place->node != NULL)
        memory_tree_unlink(tree, place->node);
    take_child(node);
    memory_free_string(tree->allocator, node->name);
    node->name = name;
    insert_child(place->directory, node);
    node->ctime_ns = clock_realtime_ns();
    return 0;
}

void memory_tree_unlink(memory_tree *tree, memory_node *node)
{
    take_child(node);
    memory_tree_release(tree, node);
}

void memory_tree_release(memory_tree *tree, memory_node *node)
{
    if (node->parent == NULL && node != tree->root && node->open_files == 0)
        free_node(tree, node);
}

/* Leaves first, without recursion: a path may be as deep as memory allows. */
void memory_tree_destroy(memory_tree *tree)
{
    memory_node *node = tree->root;
    while (node != NULL) {
        if (node->child_count > 0) {
            node = node->children[--node->child_count];
            continue;
        }
        memory_node *parent = node->parent;
        free_node(tree, node);
        node = parent;
    }
    tree->root = NULL;
}
