/* SPDX-License-Identifier: MIT */
/* Going on in a gzip file that has grown, by the access points of what it was.
 */
#include "datafile/gzip_resume.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "datafile/bgzf_marker.h"
#include "datafile/points_window.h"

/* What a search and a copy need. */
typedef struct resume_run {
    points_reader *known;
    points_page *page;
    byte_buffer blob;
    points_entry entry; /* of the point to go on at */
} resume_run;

static ksv_status copy_points(resume_run *run, uint64_t count,
                              points_writer *writer, ksv_error *error)
{
    for (uint64_t i = 0; i < count; i++) {
        points_entry entry;
        KSV_TRY(
            points_reader_entry(run->known, run->page, i, &entry, NULL, error));
        KSV_TRY(
            points_reader_blob(run->known, &entry, &run->blob, NULL, error));
        KSV_TRY(points_writer_add(writer, &entry, run->blob.data, error));
    }
    return KSV_OK;
}

/* Which point it is; its entry and blob are read. */
static ksv_status find_point(resume_run *run, uint64_t content,
                             uint64_t *number, ksv_error *error)
{
    const points_info *info = points_reader_info(run->known);
    if (content >= info->content_bytes && info->content_bytes > 0)
        content = info->content_bytes - 1;
    return points_reader_find(run->known, run->page, content, number, NULL,
                              error);
}

static ksv_status seek_point(resume_run *run, gzip_decoder *d, uint64_t number,
                             ksv_error *error)
{
    points_entry *entry = &run->entry;
    KSV_TRY(
        points_reader_entry(run->known, run->page, number, entry, NULL, error));
    KSV_TRY(points_reader_blob(run->known, entry, &run->blob, NULL, error));
    if (!points_window_unpack(entry, &run->blob, &d->inflate,
                              gzip_decoder_window(d)))
        return error_set(error, KSV_ERROR_CORRUPT, NULL,
                         "the window of an access point is damaged");
    const gzip_place place = {entry->content, entry->header_bit,
                              entry->symbol_bit, entry->member_offset,
                              UINT64_MAX};
    return gzip_decoder_seek(d, &place, entry->window_bytes, error);
}

static void resume_points(const resume_run *run, const gzip_decoder *d,
                          gzip_points *points, bool marker_is_gone)
{
    const points_info *info = points_reader_info(run->known);
    gzip_known_members known = {info->data_bytes, info->members};
    if (marker_is_gone) {
        known.data_end -= BGZF_MARKER_BYTES;
        known.count--;
    }
    gzip_points_resume(points, &run->entry,
                       d->inflate.out - run->entry.window_bytes, &known);
}

static ksv_status resume(resume_run *run, gzip_decoder *d, gzip_points *points,
                         uint64_t content, bool marker_is_gone,
                         points_writer *writer, ksv_error *error)
{
    uint64_t number;
    KSV_TRY(find_point(run, content, &number, error));
    if (points != NULL)
        KSV_TRY(copy_points(run, number, writer, error));
    KSV_TRY(seek_point(run, d, number, error));
    if (points != NULL)
        resume_points(run, d, points, marker_is_gone);
    return KSV_OK;
}

ksv_status gzip_resume(gzip_decoder *d, gzip_points *points,
                       points_reader *known, uint64_t content,
                       bool marker_is_gone, points_writer *writer,
                       const ksv_allocator *allocator, ksv_error *error)
{
    resume_run run = {.known = known};
    buffer_init(&run.blob, allocator);
    run.page = memory_zalloc(allocator, sizeof *run.page);
    ksv_status status =
        run.page == NULL
            ? error_set_memory(error)
            : resume(&run, d, points, content, marker_is_gone, writer, error);
    memory_free(allocator, run.page, sizeof *run.page);
    buffer_release(&run.blob);
    return status;
}
