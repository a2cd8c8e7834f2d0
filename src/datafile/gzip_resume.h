/* SPDX-License-Identifier: MIT */
/* Going on in a gzip file that has grown, by the access points of what it was.
 */
#ifndef KSV_DATAFILE_GZIP_RESUME_H
#define KSV_DATAFILE_GZIP_RESUME_H

#include <keysieve/memory.h>
#include <keysieve/status.h>

#include "datafile/datafile.h"
#include "datafile/gzip_decoder.h"
#include "datafile/gzip_points.h"
#include "datafile/points_reader.h"
#include "datafile/points_writer.h"

/* Moves `d`, which is at the start of the file, to the last point of `known`
 * that is not behind content offset `content` (the end counts as content). The
 * points before it are copied to `writer`, and `points`, at the start too, goes
 * on with this one; both NULL: no points are wanted. `marker_is_gone` says that
 * the empty BGZF block with which the file ended was replaced. What is wrong
 * with the points is KSV_ERROR_CORRUPT. */
ksv_status gzip_resume(gzip_decoder *d, gzip_points *points,
                       points_reader *known, uint64_t content,
                       bool marker_is_gone, points_writer *writer,
                       const ksv_allocator *allocator, ksv_error *error);

#endif
