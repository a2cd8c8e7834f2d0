/* SPDX-License-Identifier: MIT */
/* The inside of an open sorted table. */
#ifndef KSV_SORTED_SORTED_READER_PRIVATE_H
#define KSV_SORTED_SORTED_READER_PRIVATE_H

#include "sorted/index_node.h"
#include "sorted/sorted_reader.h"

/* Constant, but for index nodes that are loaded. */
struct sorted_reader {
    ksv_allocator allocator;
    ksv_file *file;
    sorted_meta meta;
    index_node_slot root;
};

/* The node of the block that `slot` belongs to; loaded if it is not there. */
ksv_status sorted_reader_node(sorted_reader *reader, index_node_slot *slot,
                              const block_place *place, unsigned level,
                              inflater *decoder, index_node **node,
                              ksv_error *error);

#endif
