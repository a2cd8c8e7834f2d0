/* SPDX-License-Identifier: MIT */
/* A table that is being written, for those who write it. */
#ifndef KSV_TABLE_TABLE_WRITER_PRIVATE_H
#define KSV_TABLE_TABLE_WRITER_PRIVATE_H

#include "table/page_builder.h"
#include "table/table_format.h"
#include "table/table_writer.h"

/* Pages are appended this many at a time. */
#define TABLE_WRITER_PAGES 16

struct ksv_table_writer {
    ksv_allocator allocator;
    ksv_file *file;
    table_meta meta;
    page_builder builder;
    uint64_t last_payload; /* with meta.last_hash, once there are entries */
    uint64_t run_entries;  /* so far, of the last hash */
    uint32_t *fences;      /* of the pages so far */
    size_t fence_capacity;
    size_t buffered_bytes;
    bool finished;
    ksv_status failed; /* KSV_OK until an append failed */
    uint8_t buffer[TABLE_WRITER_PAGES * TABLE_PAGE_BYTES];
};

/* KSV_ERROR_ARGUMENT, or the failure before, when nothing can be added. */
ksv_status table_writer_check_open(const ksv_table_writer *w, ksv_error *error);

/* Appends what is in the buffer. */
ksv_status table_writer_flush(ksv_table_writer *w, ksv_error *error);

/* Makes sure that one more page can be numbered; then gives the one that begins
 * with `first` its number. */
ksv_status table_writer_room_for_page(ksv_table_writer *w, ksv_error *error);
uint32_t table_writer_number_page(ksv_table_writer *w, const hash_entry *first);

#endif
