/* SPDX-License-Identifier: MIT */
/* The member paths of a key specification, as a tree that is walked along with
 * a JSON value. */
#ifndef KSV_SCAN_JSON_PATHS_H
#define KSV_SCAN_JSON_PATHS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <keysieve/memory.h>
#include <keysieve/status.h>

#include "scan/scan_spec.h"

/* The node of the whole value, and "no node": the value is on no path. */
#define JSON_ROOT 0
#define JSON_NO_NODE UINT32_MAX

typedef struct json_node {
    const char *name; /* borrowed from the key part */
    size_t name_bytes;
    uint64_t index; /* of an array element; UINT64_MAX: the name is none */
    uint32_t first_child;
    uint32_t next_sibling;
    /* The nodes below this one are those from its own number + 1 up to here. */
    uint32_t subtree_end;
    bool is_key; /* a path ends here */
} json_node;

/* Never changed once made. */
typedef struct json_paths {
    ksv_allocator allocator;
    json_node *nodes;
    size_t node_count;
    size_t node_capacity;
    uint32_t *ends; /* of each key part, the node where its path ends */
    size_t path_count;
    size_t longest_path; /* in steps */
    size_t longest_name_bytes;
} json_paths;

/* `parts` (all KEY_PART_MEMBER) are borrowed and have to outlive the paths. On
 * failure nothing is left to release. */
ksv_status json_paths_init(json_paths *paths, const key_part *parts,
                           size_t part_count, const ksv_allocator *allocator,
                           ksv_error *error);
void json_paths_release(json_paths *paths);

/* The node below `node` for a member or an array element, or JSON_NO_NODE. */
uint32_t json_paths_member(const json_paths *paths, uint32_t node,
                           const uint8_t *name, size_t name_bytes);
uint32_t json_paths_element(const json_paths *paths, uint32_t node,
                            uint64_t index);

#endif
