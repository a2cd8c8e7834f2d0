/* SPDX-License-Identifier: MIT */
/* Plain data files in order and at random, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "datafile/datafile.h"
#include "datafile/plain_file.h"
#include "support/temp_dir.h"

typedef struct fixture {
    temp_dir dir;
    const ksv_file_system *fs;
    ksv_error error;
    char path[TEMP_DIR_PATH_BYTES];
} fixture;

static int set_up(void **state)
{
    static fixture f;
    memset(&f, 0, sizeof f);
    temp_dir_make(&f.dir);
    f.fs = ksv_posix_file_system();
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    temp_dir_remove(&f->dir);
    return 0;
}

static const char *at(fixture *f, const char *name)
{
    return temp_dir_path(&f->dir, name, f->path);
}

/* The whole content by one pass has to be `data`. */
static void check_stream(fixture *f, const uint8_t *data, size_t size_bytes)
{
    temp_dir_write(&f->dir, "data", data, size_bytes);
    datafile_stream *stream;
    assert_int_equal(
        datafile_stream_open(f->fs, at(f, "data"), NULL, &stream, &f->error),
        KSV_OK);
    assert_int_equal(datafile_stream_kind(stream), DATAFILE_PLAIN);
    size_t seen = 0;
    bool last = false;
    while (!last) {
        const uint8_t *piece;
        size_t piece_bytes;
        assert_int_equal(datafile_stream_next(stream, &piece, &piece_bytes,
                                              &last, &f->error),
                         KSV_OK);
        assert_true(piece_bytes <= size_bytes - seen);
        assert_true(piece_bytes > 0 || last);
        if (piece_bytes > 0)
            assert_memory_equal(piece, data + seen, piece_bytes);
        seen += piece_bytes;
        assert_true(datafile_stream_content_bytes(stream) == seen);
        assert_true(datafile_stream_disk_bytes(stream) == seen);
    }
    assert_true(seen == size_bytes);
    ksv_file_info before, now;
    datafile_stream_opened_as(stream, &before);
    assert_int_equal(datafile_stream_info_now(stream, &now, &f->error), KSV_OK);
    assert_true(before.size_bytes == size_bytes && now.size_bytes == seen);
    datafile_stream_close(stream);
}

static void test_a_stream_gives_the_whole_content(void **state)
{
    fixture *f = *state;
    size_t most = 2 * PLAIN_PIECE_BYTES + 1;
    uint8_t *data = malloc(most);
    for (size_t i = 0; i < most; i++)
        data[i] = (uint8_t)(i * 2654435761u >> 13);
    static const size_t sizes[] = {0,
                                   1,
                                   PLAIN_PIECE_BYTES - 1,
                                   PLAIN_PIECE_BYTES,
                                   PLAIN_PIECE_BYTES + 1,
                                   2 * PLAIN_PIECE_BYTES,
                                   2 * PLAIN_PIECE_BYTES + 1};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        check_stream(f, data, sizes[i]);
    free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_stream_gives_the_whole_content,
                                        set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
