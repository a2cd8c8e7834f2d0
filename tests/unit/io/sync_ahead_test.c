/* SPDX-License-Identifier: MIT */
/* Files that are synced while they are written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "io/file.h"
#include "io/sync_ahead.h"
#include "support/temp_dir.h"

/* A pipe cannot be synced: the system says so once, the other thread's call is
 * the only one that hears it. */
static void test_a_failure_is_told_at_the_end(void **state)
{
    (void)state;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    sync_ahead *ahead = sync_ahead_open(ends[1]);
    assert_non_null(ahead);
    int failure = 0;
    /* A request that comes when the thread is told to end may be left out. */
    for (int i = 0; i < 200 && failure == 0; i++) {
        if (ahead == NULL)
            ahead = sync_ahead_open(ends[1]);
        assert_non_null(ahead);
        sync_ahead_go_on(ahead);
        usleep(1000 * (unsigned)i);
        sync_ahead_go_on(ahead);
        failure = sync_ahead_close(ahead);
        ahead = NULL;
    }
    assert_int_equal(failure, EINVAL);
    close(ends[0]);
    close(ends[1]);
}

static void test_none_is_closed(void **state)
{
    (void)state;
    assert_int_equal(sync_ahead_close(NULL), 0);
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    sync_ahead *unused = sync_ahead_open(ends[1]);
    assert_non_null(unused);
    assert_int_equal(sync_ahead_close(unused), 0);
    close(ends[0]);
    close(ends[1]);
}

enum { PIECE_BYTES = 1 << 20, PIECES = 11 };

static void append_pieces(ksv_file *file, uint8_t *piece, unsigned from,
                          unsigned to)
{
    for (unsigned i = from; i < to; i++) {
        memset(piece, (int)('a' + i), PIECE_BYTES);
        assert_int_equal(file->ops->append(file, piece, PIECE_BYTES, NULL),
                         KSV_OK);
    }
}

/* Synced twice, with more appended between, and closed without a sync. */
static void test_what_was_appended_is_there(void **state)
{
    (void)state;
    static uint8_t piece[PIECE_BYTES];
    temp_dir dir;
    char path[TEMP_DIR_PATH_BYTES];
    temp_dir_make(&dir);
    const ksv_file_system *fs = ksv_posix_file_system();
    temp_dir_path(&dir, "a", path);
    ksv_file *file;
    assert_int_equal(fs->create(NULL, path, &file, NULL), KSV_OK);
    assert_non_null(file->ops->expect_sync);
    file->ops->expect_sync(file);
    append_pieces(file, piece, 0, 5);
    assert_int_equal(file->ops->sync(file, NULL), KSV_OK);
    append_pieces(file, piece, 5, 10);
    assert_int_equal(file->ops->sync(file, NULL), KSV_OK);
    append_pieces(file, piece, 10, PIECES);
    assert_int_equal(file->ops->close(file, NULL), KSV_OK);

    assert_int_equal(fs->open_read(NULL, path, &file, NULL), KSV_OK);
    for (unsigned i = 0; i < PIECES; i++) {
        size_t got;
        assert_int_equal(file->ops->read_at(file, (uint64_t)i * PIECE_BYTES,
                                            piece, PIECE_BYTES, &got, NULL),
                         KSV_OK);
        assert_int_equal(got, PIECE_BYTES);
        for (size_t at = 0; at < PIECE_BYTES; at += 4095)
            assert_int_equal(piece[at], 'a' + i);
    }
    assert_int_equal(file->ops->close(file, NULL), KSV_OK);
    temp_dir_remove(&dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_failure_is_told_at_the_end),
        cmocka_unit_test(test_none_is_closed),
        cmocka_unit_test(test_what_was_appended_is_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
