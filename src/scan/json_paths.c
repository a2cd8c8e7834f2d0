/* SPDX-License-Identifier: MIT */
/* The member paths of a key specification, as a tree that is walked along with
 * a JSON value. */
#include "scan/json_paths.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"

/* The array index that a step can mean: digits without a leading zero. */
static uint64_t step_index(const char *name, size_t name_bytes)
{
    if (name_bytes == 0 || (name[0] == '0' && name_bytes > 1))
        return UINT64_MAX;
    uint64_t index = 0;
    for (size_t i = 0; i < name_bytes; i++) {
        if (name[i] < '0' || name[i] > '9' || index > UINT64_MAX / 10 - 1)
            return UINT64_MAX;
        index = index * 10 + (uint64_t)(name[i] - '0');
    }
    return index;
}

static int compare_parts(const key_part *a, const key_part *b)
{
    size_t shorter =
        a->text_bytes < b->text_bytes ? a->text_bytes : b->text_bytes;
    int order = shorter > 0 ? memcmp(a->text, b->text, shorter) : 0;
    if (order != 0)
        return order;
    return (a->text_bytes > b->text_bytes) - (a->text_bytes < b->text_bytes);
}

/* In this order paths with equal first steps stand together, so that a tree
 * made from it has every subtree in one run of nodes. */
static void sort_paths(const key_part *parts, size_t count, uint32_t *order)
{
    for (size_t i = 0; i < count; i++) {
        size_t at = i;
        while (at > 0 && compare_parts(&parts[order[at - 1]], &parts[i]) > 0) {
            order[at] = order[at - 1];
            at--;
        }
        order[at] = (uint32_t)i;
    }
}

static ksv_status add_node(json_paths *paths, const char *name,
                           size_t name_bytes, uint32_t *node, ksv_error *error)
{
    if (paths->node_count >= JSON_NO_NODE)
        return error_set_memory(error);
    void *nodes = paths->nodes;
    ksv_status status =
        memory_grow(&paths->allocator, &nodes, &paths->node_capacity,
                    paths->node_count + 1, sizeof *paths->nodes, error);
    paths->nodes = nodes;
    KSV_TRY(status);
    *node = (uint32_t)paths->node_count++;
    paths->nodes[*node] = (json_node){.name = name,
                                      .name_bytes = name_bytes,
                                      .index = step_index(name, name_bytes),
                                      .first_child = JSON_NO_NODE,
                                      .next_sibling = JSON_NO_NODE,
                                      .subtree_end = *node + 1};
    if (name_bytes > paths->longest_name_bytes)
        paths->longest_name_bytes = name_bytes;
    return KSV_OK;
}

static ksv_status step_down(json_paths *paths, uint32_t parent,
                            const char *name, size_t name_bytes, uint32_t *node,
                            ksv_error *error)
{
    *node = json_paths_member(paths, parent, (const uint8_t *)name, name_bytes);
    if (*node != JSON_NO_NODE)
        return KSV_OK;
    KSV_TRY(add_node(paths, name, name_bytes, node, error));
    paths->nodes[*node].next_sibling = paths->nodes[parent].first_child;
    paths->nodes[parent].first_child = *node;
    return KSV_OK;
}

static ksv_status add_path(json_paths *paths, const key_part *part,
                           uint32_t *end, ksv_error *error)
{
    uint32_t node = JSON_ROOT;
    size_t steps = 0;
    for (size_t at = 0; at < part->text_bytes; steps++) {
        const char *name = part->text + at;
        const char *stop = memchr(name, '\0', part->text_bytes - at);
        if (stop == NULL)
            return error_set(error, KSV_ERROR_ARGUMENT, NULL,
                             "a step of a member path does not end");
        size_t name_bytes = (size_t)(stop - name);
        KSV_TRY(step_down(paths, node, name, name_bytes, &node, error));
        at += name_bytes + 1;
    }
    paths->nodes[node].is_key = true;
    *end = node;
    if (steps > paths->longest_path)
        paths->longest_path = steps;
    return KSV_OK;
}

/* Nodes were added in the order of a walk of the tree: a node's subtree ends
 * where its last child's does. */
static void close_subtrees(json_paths *paths)
{
    for (size_t i = paths->node_count; i-- > 0;) {
        json_node *node = &paths->nodes[i];
        /* The last child added stands first among the siblings. */
        if (node->first_child != JSON_NO_NODE)
            node->subtree_end = paths->nodes[node->first_child].subtree_end;
    }
}

static ksv_status build_tree(json_paths *paths, const key_part *parts,
                             ksv_error *error)
{
    uint32_t *order = memory_zalloc_array(&paths->allocator, paths->path_count,
                                          sizeof *order);
    if (order == NULL)
        return error_set_memory(error);
    sort_paths(parts, paths->path_count, order);
    uint32_t root;
    ksv_status status = add_node(paths, "", 0, &root, error);
    for (size_t i = 0; i < paths->path_count && status == KSV_OK; i++)
        status =
            add_path(paths, &parts[order[i]], &paths->ends[order[i]], error);
    memory_free(&paths->allocator, order, paths->path_count * sizeof *order);
    if (status == KSV_OK)
        close_subtrees(paths);
    return status;
}

ksv_status json_paths_init(json_paths *paths, const key_part *parts,
                           size_t part_count, const ksv_allocator *allocator,
                           ksv_error *error)
{
    *paths = (json_paths){.allocator = *allocator};
    paths->ends =
        memory_zalloc_array(allocator, part_count, sizeof *paths->ends);
    if (paths->ends == NULL)
        return error_set_memory(error);
    paths->path_count = part_count;
    ksv_status status = build_tree(paths, parts, error);
    if (status != KSV_OK)
        json_paths_release(paths);
    return status;
}

void json_paths_release(json_paths *paths)
{
    memory_free(&paths->allocator, paths->ends,
                paths->path_count * sizeof *paths->ends);
    memory_free(&paths->allocator, paths->nodes,
                paths->node_capacity * sizeof *paths->nodes);
    *paths = (json_paths){.allocator = paths->allocator};
}

uint32_t json_paths_member(const json_paths *paths, uint32_t node,
                           const uint8_t *name, size_t name_bytes)
{
    uint32_t child = paths->nodes[node].first_child;
    while (child != JSON_NO_NODE) {
        const json_node *c = &paths->nodes[child];
        if (c->name_bytes == name_bytes &&
            (name_bytes == 0 || ((uint8_t)c->name[0] == name[0] &&
                                 memcmp(c->name, name, name_bytes) == 0)))
            break;
        child = c->next_sibling;
    }
    return child;
}

uint32_t json_paths_element(const json_paths *paths, uint32_t node,
                            uint64_t index)
{
    uint32_t child = paths->nodes[node].first_child;
    while (child != JSON_NO_NODE && paths->nodes[child].index != index)
        child = paths->nodes[child].next_sibling;
    return child;
}
