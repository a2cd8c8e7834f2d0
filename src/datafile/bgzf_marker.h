/* SPDX-License-Identifier: MIT */
/* The empty block with which BGZF files end, and files without it as they were
 * with it. */
#ifndef KSV_DATAFILE_BGZF_MARKER_H
#define KSV_DATAFILE_BGZF_MARKER_H

#include <stdint.h>

#include <keysieve/io.h>

#define BGZF_MARKER_BYTES 28

/* The beginning of a file, followed by the marker, where the file itself goes
 * on with other blocks: what it was before it grew. Can only be read. */
typedef struct bgzf_marked_file {
    ksv_file base;
    ksv_file *file; /* borrowed */
    uint64_t marker_offset;
} bgzf_marked_file;

/* Of `size_bytes` bytes (at least the marker's) with the marker. Needs no
 * closing. */
void bgzf_marked_file_init(bgzf_marked_file *marked, ksv_file *file,
                           uint64_t size_bytes);

#endif
