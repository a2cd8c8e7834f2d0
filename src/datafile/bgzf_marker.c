/* SPDX-License-Identifier: MIT */
/* The empty block with which BGZF files end, and files without it as they were
 * with it. */
#include "datafile/bgzf_marker.h"

#include <string.h>

#include "base/error.h"

/* A gzip header with the size of the block, an empty DEFLATE block of fixed
 * codes, and no content's checksum and length. */
static const uint8_t MARKER[BGZF_MARKER_BYTES] = {
    0x1f, 0x8b, 0x08, 0x04, 0, 0, 0, 0, 0, 0xff, 6, 0, 'B', 'C',
    2,    0,    27,   0,    3, 0, 0, 0, 0, 0,    0, 0, 0,   0};

static ksv_status marked_read_at(ksv_file *base, uint64_t offset, void *buffer,
                                 size_t size_bytes, size_t *got_bytes,
                                 ksv_error *error)
{
    const bgzf_marked_file *m = (const bgzf_marked_file *)base;
    uint8_t *to = buffer;
    *got_bytes = 0;
    if (offset < m->marker_offset) {
        const uint64_t left = m->marker_offset - offset;
        const size_t part = size_bytes < left ? size_bytes : (size_t)left;
        KSV_TRY(
            m->file->ops->read_at(m->file, offset, to, part, got_bytes, error));
        if (*got_bytes < part)
            return KSV_OK;
        offset += part;
    }
    const size_t wanted = size_bytes - *got_bytes;
    const uint64_t into = offset - m->marker_offset;
    if (wanted == 0 || offset < m->marker_offset || into >= BGZF_MARKER_BYTES)
        return KSV_OK;
    const size_t left = BGZF_MARKER_BYTES - (size_t)into;
    const size_t part = wanted < left ? wanted : left;
    memcpy(to + *got_bytes, MARKER + into, part);
    *got_bytes += part;
    return KSV_OK;
}

static ksv_status refuse(ksv_error *error)
{
    return error_set(error, KSV_ERROR_ARGUMENT, NULL, "can only be read");
}

static ksv_status marked_append(ksv_file *base, const void *data,
                                size_t size_bytes, ksv_error *error)
{
    (void)base, (void)data, (void)size_bytes;
    return refuse(error);
}

static ksv_status marked_sync(ksv_file *base, ksv_error *error)
{
    (void)base;
    return refuse(error);
}

static ksv_status marked_info(ksv_file *base, ksv_file_info *info,
                              ksv_error *error)
{
    const bgzf_marked_file *m = (const bgzf_marked_file *)base;
    KSV_TRY(m->file->ops->info(m->file, info, error));
    info->size_bytes = m->marker_offset + BGZF_MARKER_BYTES;
    return KSV_OK;
}

static ksv_status marked_close(ksv_file *base, ksv_error *error)
{
    (void)base, (void)error;
    return KSV_OK;
}

static const ksv_file_ops MARKED_OPS = {
    .read_at = marked_read_at,
    .append = marked_append,
    .sync = marked_sync,
    .info = marked_info,
    .close = marked_close,
};

void bgzf_marked_file_init(bgzf_marked_file *marked, ksv_file *file,
                           uint64_t size_bytes)
{
    *marked =
        (bgzf_marked_file){.base = {&MARKED_OPS},
                           .file = file,
                           .marker_offset = size_bytes - BGZF_MARKER_BYTES};
}
