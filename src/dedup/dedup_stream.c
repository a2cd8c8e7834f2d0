/* SPDX-License-Identifier: MIT */
/* Passes on the first record of each key of files and other sources. */
#include <string.h>

#include "base/error.h"
#include "dedup/dedup_private.h"
#include "dedup/time_text.h"
#include "io/file.h"
#include "scan/record_stream.h"

#define NS_A_MS 1000000
/* Threads that inflate a file: one, ahead of this one. */
#define FILE_THREADS 2

typedef struct stream_run {
    ksv_dedup *dedup;
    const ksv_dedup_stream *stream;
    ksv_dedup_report *report;
    const ksv_dedup_input *input; /* the one that is read */
    const char *name;             /* of it */
    bool is_first_input;
    bool saw_head;         /* of that input */
    bool has_header;       /* some input had one: */
    byte_buffer header;    /* without its terminator */
    const char *header_of; /* the input that it is from */
    bool is_ended;         /* what was written last has its terminator */
    bool output_failed;
    uint64_t unsaved; /* records since the last checkpoint */
    uint64_t saved_ns;
    int64_t latest_ms; /* later times are not believed */
    ksv_dedup_key keys[DEDUP_BATCH];
    bool fresh[DEDUP_BATCH];
} stream_run;

static ksv_status write_out(stream_run *run, const void *data, size_t bytes,
                            ksv_error *error)
{
    if (bytes == 0)
        return KSV_OK;
    ksv_status status =
        run->stream->write(run->stream->ctx, data, bytes, error);
    run->output_failed |= status != KSV_OK;
    return status;
}

static ksv_status write_record(stream_run *run, const uint8_t *data,
                               size_t bytes, bool is_ended, ksv_error *error)
{
    if (bytes > 0)
        run->is_ended = is_ended;
    return write_out(run, data, bytes, error);
}

static ksv_status checkpoint(stream_run *run, ksv_error *error)
{
    const ksv_dedup_stream *s = run->stream;
    ksv_status status = s->flush != NULL ? s->flush(s->ctx, error) : KSV_OK;
    run->output_failed |= status != KSV_OK;
    KSV_TRY(status);
    KSV_TRY(ksv_dedup_checkpoint(run->dedup, error));
    run->unsaved = 0;
    run->saved_ns = clock_monotonic_ns();
    run->report->checkpoints++;
    return KSV_OK;
}

static ksv_status checkpoint_if_due(stream_run *run, ksv_error *error)
{
    const ksv_dedup_stream *s = run->stream;
    bool is_due =
        s->checkpoint_records > 0 && run->unsaved >= s->checkpoint_records;
    if (!is_due && s->checkpoint_ms > 0 && run->unsaved > 0)
        is_due =
            clock_monotonic_ns() - run->saved_ns >= s->checkpoint_ms * NS_A_MS;
    return is_due ? checkpoint(run, error) : KSV_OK;
}

static ksv_status check_goes_on(const stream_run *run, ksv_error *error)
{
    const ksv_dedup_stream *s = run->stream;
    if (s->goes_on != NULL && !s->goes_on(s->ctx))
        return error_set(error, KSV_ERROR_CANCELLED, NULL, "was stopped");
    return KSV_OK;
}

/* Reads a source. A record or a compressed block may take long to come, and
 * what was passed before does not wait for it to be acknowledged. */
static ksv_status read_source(void *ctx, void *buffer, size_t size_bytes,
                              size_t *got_bytes, bool *at_end, ksv_error *error)
{
    stream_run *run = ctx;
    KSV_TRY(run->input->read(run->input->ctx, buffer, size_bytes, got_bytes,
                             at_end, error));
    KSV_TRY(checkpoint_if_due(run, error));
    return check_goes_on(run, error);
}

static ksv_status take_header(stream_run *run, const record_stream_head *head,
                              ksv_error *error)
{
    if (!run->has_header) {
        run->has_header = true;
        run->header_of = run->name;
        KSV_TRY(buffer_append(&run->header, head->header, head->header_length,
                              error));
        return write_record(run, head->header, head->header_bytes,
                            head->header_bytes > head->header_length, error);
    }
    if (head->header_length == run->header.size &&
        memcmp(head->header, run->header.data, run->header.size) == 0)
        return KSV_OK;
    return error_set(error, KSV_ERROR_DATA, run->name,
                     "the header is not that of %s", run->header_of);
}

static ksv_status take_head(stream_run *run, const record_stream *records,
                            ksv_error *error)
{
    static const uint8_t mark[] = {0xef, 0xbb, 0xbf};
    record_stream_head head;
    record_stream_get_head(records, &head);
    if (run->saw_head || !head.is_known)
        return KSV_OK;
    run->saw_head = true;
    if (head.has_mark && run->is_first_input)
        KSV_TRY(write_out(run, mark, sizeof mark, error));
    return head.header_length > 0 ? take_header(run, &head, error) : KSV_OK;
}

static int64_t time_of(stream_run *run, const stream_record *record)
{
    int64_t time_ms;
    if (run->dedup->time_spec == NULL)
        return KSV_DEDUP_TIME_NOW;
    if (record->second != NULL &&
        time_text_parse(record->second, record->second_bytes, &time_ms) &&
        time_ms <= run->latest_ms)
        return time_ms;
    run->report->without_time++;
    return KSV_DEDUP_TIME_LATEST;
}

/* Where the stream has no time yet: that of the first one that came. */
static void take_first_time(stream_run *run, size_t count)
{
    size_t first = 0;
    while (first < count && run->keys[first].time_ms == KSV_DEDUP_TIME_LATEST)
        first++;
    for (size_t i = 0; i < first && first < count; i++)
        run->keys[i].time_ms = run->keys[first].time_ms;
}

static ksv_status decide(stream_run *run, const stream_record *records,
                         size_t count, ksv_error *error)
{
    size_t keyed = 0;
    if (run->dedup->time_spec != NULL)
        run->latest_ms =
            clock_realtime_ns() / NS_A_MS + run->dedup->options.window_ms;
    for (size_t i = 0; i < count; i++) {
        if (records[i].kind == SCAN_RECORD_KEYED)
            run->keys[keyed++] = (ksv_dedup_key){
                .data = records[i].key,
                .bytes = records[i].key_bytes,
                .time_ms = time_of(run, &records[i]),
            };
    }
    if (!run->dedup->has_time)
        take_first_time(run, keyed);
    return ksv_dedup_offer_batch(run->dedup, run->keys, keyed, run->fresh,
                                 error);
}

/* Whether a record is passed on; `*keyed` counts those with a key. */
static bool passes(stream_run *run, const stream_record *record, size_t *keyed)
{
    ksv_dedup_report *report = run->report;
    if (record->kind == SCAN_RECORD_BAD) {
        report->bad_records++;
        return false;
    }
    report->records++;
    report->without_key += record->kind == SCAN_RECORD_WITHOUT_KEY;
    bool is_passed =
        record->kind == SCAN_RECORD_WITHOUT_KEY || run->fresh[(*keyed)++];
    report->passed += is_passed;
    report->dropped += !is_passed;
    return is_passed;
}

/* Records that lie together are written together. */
static ksv_status write_passed(stream_run *run, const stream_record *records,
                               size_t count, ksv_error *error)
{
    const uint8_t *start = NULL;
    size_t bytes = 0;
    bool is_ended = true;
    size_t keyed = 0;
    for (size_t i = 0; i < count; i++) {
        const stream_record *record = &records[i];
        if (!passes(run, record, &keyed))
            continue;
        if (start == NULL || start + bytes != record->bytes) {
            KSV_TRY(write_record(run, start, bytes, is_ended, error));
            start = record->bytes;
            bytes = 0;
        }
        bytes += record->size_bytes;
        is_ended = record->is_ended;
    }
    return write_record(run, start, bytes, is_ended, error);
}

static ksv_status refuse_without_key(const stream_run *run,
                                     const stream_record *record,
                                     ksv_error *error)
{
    return error_set_at(error, KSV_ERROR_DATA, run->name, record->offset,
                        "record has no key");
}

static ksv_status take_records(stream_run *run, const stream_record *records,
                               size_t count, ksv_error *error)
{
    size_t n = count;
    for (size_t i = 0; i < n && run->stream->strict; i++) {
        if (records[i].kind == SCAN_RECORD_WITHOUT_KEY)
            n = i;
    }
    KSV_TRY(decide(run, records, n, error));
    KSV_TRY(write_passed(run, records, n, error));
    run->unsaved += n;
    return n < count ? refuse_without_key(run, &records[n], error) : KSV_OK;
}

static ksv_status read_records(stream_run *run, record_stream *records,
                               ksv_error *error)
{
    for (bool at_end = false; !at_end;) {
        const stream_record *batch;
        size_t count;
        KSV_TRY(record_stream_next(records, &batch, &count, &at_end, error));
        KSV_TRY(take_head(run, records, error));
        KSV_TRY(take_records(run, batch, count, error));
        KSV_TRY(checkpoint_if_due(run, error));
        KSV_TRY(check_goes_on(run, error));
    }
    return KSV_OK;
}

static ksv_status read_content(stream_run *run, datafile_stream *content,
                               unsigned threads, ksv_error *error)
{
    record_stream *records;
    const ksv_dedup *d = run->dedup;
    datafile_stream_options options = {
        .threads = threads,
        .ignore_trailing_garbage = run->stream->ignore_trailing_garbage,
    };
    record_stream_options record_options = {
        .spec = d->spec,
        .second = d->time_spec,
        .skip_bad_records = run->stream->skip_bad_records,
        .allocator = &d->allocator,
    };
    KSV_TRY(datafile_stream_configure(content, &options, error));
    KSV_TRY(record_stream_open(&record_options, content, run->name, &records,
                               error));
    ksv_status status = read_records(run, records, error);
    record_stream_close(records);
    run->report->bytes_read += datafile_stream_content_bytes(content);
    return status;
}

static void warn(const stream_run *run, unsigned warnings)
{
    const struct {
        unsigned bit;
        const char *text;
    } texts[] = {
        {DATAFILE_NO_END_MARKER,
         "BGZF end marker is missing: the file may be truncated"},
        {DATAFILE_GARBAGE_IGNORED,
         "bytes after the last gzip member were ignored"},
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        ksv_error problem;
        if (run->stream->problem == NULL || (warnings & texts[i].bit) == 0)
            continue;
        (void)error_set(&problem, KSV_ERROR_DATA, run->name, "%s",
                        texts[i].text);
        run->stream->problem(run->stream->ctx, &problem);
    }
}

static ksv_status read_input(stream_run *run, const ksv_dedup_input *input,
                             ksv_error *error)
{
    datafile_stream *content;
    const ksv_dedup *d = run->dedup;
    run->input = input;
    run->name = input->name;
    run->saw_head = false;
    if (input->read != NULL)
        KSV_TRY(datafile_stream_open_source(read_source, run, input->name,
                                            &d->allocator, &content, error));
    else
        KSV_TRY(datafile_stream_open(d->fs, input->name, &d->allocator,
                                     &content, error));
    ksv_status status = read_content(
        run, content, input->read != NULL ? 0 : FILE_THREADS, error);
    if (status == KSV_OK)
        warn(run, datafile_stream_warnings(content));
    else
        error_add_path(error, input->name);
    datafile_stream_close(content);
    run->is_first_input = false;
    return status;
}

/* Between two inputs nothing may grow together. */
static ksv_status end_line(stream_run *run, ksv_error *error)
{
    bool is_ended = run->is_ended;
    run->is_ended = true;
    if (is_ended)
        return KSV_OK;
    return write_out(run, run->dedup->spec->record_end_cr ? "\r" : "\n", 1,
                     error);
}

static ksv_status read_inputs(stream_run *run, const ksv_dedup_input *inputs,
                              size_t count, ksv_error *error)
{
    for (size_t i = 0; i < count; i++) {
        KSV_TRY(read_input(run, &inputs[i], error));
        if (i + 1 < count)
            KSV_TRY(end_line(run, error));
    }
    return KSV_OK;
}

/* What was written counts, however the run ends, unless nobody knows what was.
 */
static ksv_status finish(stream_run *run, ksv_status status, ksv_error *error)
{
    if (status == KSV_OK)
        return checkpoint(run, error);
    if (!run->output_failed)
        (void)checkpoint(run, NULL);
    return status;
}

ksv_status ksv_dedup_run(ksv_dedup *dedup, const ksv_dedup_input *inputs,
                         size_t input_count, const ksv_dedup_stream *stream,
                         ksv_dedup_report *report, ksv_error *error)
{
    ksv_dedup_report unused;
    ksv_allocator a = dedup->allocator;
    report = report != NULL ? report : &unused;
    memset(report, 0, sizeof *report);
    if (dedup->spec == NULL)
        return error_set(error, KSV_ERROR_ARGUMENT, NULL,
                         "it was opened without a format");
    stream_run *run = memory_zalloc(&a, sizeof *run);
    if (run == NULL)
        return error_set_memory(error);
    run->dedup = dedup;
    run->stream = stream;
    run->report = report;
    run->is_first_input = true;
    run->is_ended = true;
    run->saved_ns = clock_monotonic_ns();
    buffer_init(&run->header, &dedup->allocator);
    ksv_status status = read_inputs(run, inputs, input_count, error);
    status = finish(run, status, error);
    buffer_release(&run->header);
    memory_free(&a, run, sizeof *run);
    return status;
}
