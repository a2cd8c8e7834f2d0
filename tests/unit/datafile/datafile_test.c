/* SPDX-License-Identifier: MIT */
/* Plain data files in order and at random, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "datafile/datafile.h"
#include "datafile/plain_file.h"
#include "support/fault_allocator.h"
#include "support/fault_file_system.h"
#include "support/random.h"
#include "support/temp_dir.h"

typedef struct fixture {
    temp_dir dir;
    const ksv_file_system *fs;
    fault_allocator memory;
    ksv_error error;
    char path[TEMP_DIR_PATH_BYTES];
} fixture;

static int set_up(void **state)
{
    static fixture f;
    memset(&f, 0, sizeof f);
    temp_dir_make(&f.dir);
    fault_allocator_init(&f.memory, 0);
    f.fs = ksv_posix_file_system();
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    temp_dir_remove(&f->dir);
    return fault_allocator_is_clean(&f->memory) ? 0 : 1;
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

static ksv_status open_stream(fixture *f, const char *name)
{
    datafile_stream *stream;
    ksv_status status = datafile_stream_open(
        f->fs, at(f, name), &f->memory.allocator, &stream, &f->error);
    assert_true(status != KSV_OK || stream != NULL);
    if (status != KSV_OK)
        assert_null(stream);
    datafile_stream_close(stream);
    return status;
}

static ksv_status open_random(fixture *f, const char *name)
{
    datafile *file;
    ksv_status status = datafile_open(f->fs, at(f, name), DATAFILE_PLAIN,
                                      &f->memory.allocator, &file, &f->error);
    assert_true((status == KSV_OK) == (file != NULL));
    datafile_close(file);
    return status;
}

static void test_what_is_appended_after_the_end_is_not_seen(void **state)
{
    fixture *f = *state;
    temp_dir_write(&f->dir, "data", "abc", 3);
    datafile_stream *stream;
    assert_int_equal(
        datafile_stream_open(f->fs, at(f, "data"), NULL, &stream, &f->error),
        KSV_OK);
    const uint8_t *piece;
    size_t size;
    bool last;
    assert_int_equal(datafile_stream_next(stream, &piece, &size, &last, NULL),
                     KSV_OK);
    assert_true(last && size == 3);
    temp_dir_write(&f->dir, "data", "abcdef", 6);
    assert_int_equal(datafile_stream_next(stream, &piece, &size, &last, NULL),
                     KSV_OK);
    assert_true(last && size == 0);
    ksv_file_info before, now;
    datafile_stream_opened_as(stream, &before);
    assert_int_equal(datafile_stream_info_now(stream, &now, NULL), KSV_OK);
    assert_true(before.size_bytes == 3 && now.size_bytes == 6);
    ksv_file *disk = datafile_stream_file(stream);
    char bytes[8];
    assert_int_equal(disk->ops->read_at(disk, 3, bytes, 8, &size, NULL),
                     KSV_OK);
    assert_int_equal(size, 3);
    datafile_stream_close(stream);
    datafile_stream_close(NULL);
    datafile_close(NULL);
}

static void test_random_access(void **state)
{
    fixture *f = *state;
    enum { SIZE = 10000 };
    uint8_t data[SIZE];
    random_source r = {11};
    random_fill(&r, data, sizeof data);
    temp_dir_write(&f->dir, "data", data, sizeof data);
    datafile *file;
    assert_int_equal(datafile_open(f->fs, at(f, "data"), DATAFILE_PLAIN,
                                   &f->memory.allocator, &file, &f->error),
                     KSV_OK);
    datafile_cost cost = {0};
    uint64_t total = 0;
    for (uint64_t i = 1; i <= 500; i++) {
        uint64_t offset = random_below(&r, SIZE + 100);
        uint8_t piece[300];
        size_t wanted = random_below(&r, sizeof piece + 1);
        size_t got;
        assert_int_equal(datafile_read_at(file, offset, piece, wanted, &got,
                                          i % 2 == 0 ? &cost : NULL, NULL),
                         KSV_OK);
        size_t left = offset < SIZE ? (size_t)(SIZE - offset) : 0;
        assert_int_equal(got, wanted < left ? wanted : left);
        if (got > 0)
            assert_memory_equal(piece, data + offset, got);
        total += i % 2 == 0 ? got : 0;
    }
    assert_true(cost.reads == 250 && cost.bytes_read == total);
    assert_true(cost.bytes_inflated == 0);
    assert_non_null(datafile_file(file));
    datafile_close(file);
}

static int make_socket(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    assert_in_range(strlen(path), 1, sizeof address.sun_path - 1);
    strcpy(address.sun_path, path);
    int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(
        bind(listener, (struct sockaddr *)&address, sizeof address), 0);
    return listener;
}

static void test_what_is_no_regular_file(void **state)
{
    fixture *f = *state;
    assert_int_equal(mkfifo(at(f, "pipe"), 0600), 0);
    assert_int_equal(mkdir(at(f, "directory"), 0700), 0);
    assert_int_equal(symlink("directory", at(f, "link")), 0);
    int listener = make_socket(at(f, "socket"));
    assert_int_equal(symlink("/dev/null", at(f, "device")), 0);
    static const char *const NAMES[] = {"directory", "link", "pipe", "socket",
                                        "device"};
    alarm(10);
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
        const char *text =
            i < 2 ? "is a directory"
                  : "is not a regular file, so its records could not be read "
                    "again";
        assert_int_equal(open_stream(f, NAMES[i]), KSV_ERROR_ARGUMENT);
        assert_string_equal(f->error.text, text);
        assert_string_equal(f->error.path, at(f, NAMES[i]));
        assert_int_equal(open_random(f, NAMES[i]), KSV_ERROR_ARGUMENT);
        assert_string_equal(f->error.text, text);
    }
    alarm(0);
    close(listener);
}

/* Nothing is refused to the superuser. */
static int open_as_nobody(void *ctx)
{
    fixture *f = ctx;
    if (geteuid() == 0 && setuid(65534) != 0)
        return 0;
    datafile_stream *stream;
    ksv_status status =
        datafile_stream_open(f->fs, at(f, "secret"), NULL, &stream, &f->error);
    return status != KSV_ERROR_IO || f->error.os_errno != EACCES ||
           strcmp(f->error.text, "cannot open: Permission denied") != 0 ||
           strcmp(f->error.path, f->path) != 0;
}

static void test_what_the_system_refuses(void **state)
{
    fixture *f = *state;
    assert_int_equal(open_stream(f, "missing"), KSV_ERROR_IO);
    assert_int_equal(f->error.os_errno, ENOENT);
    assert_int_equal(open_random(f, "missing"), KSV_ERROR_IO);
    assert_int_equal(f->error.os_errno, ENOENT);
    temp_dir_write(&f->dir, "secret", "x", 1);
    assert_int_equal(chmod(at(f, "secret"), 0), 0);
    assert_int_equal(chmod(f->dir.path, 0755), 0);
    assert_int_equal(fault_run_forked(open_as_nobody, f), 0);
}

static void test_compressed_content_is_named(void **state)
{
    fixture *f = *state;
    static const struct {
        const char *name; /* NULL: plain */
        size_t size;
        const char *head;
    } CASES[] = {
        {"zstd", 4, "\x28\xb5\x2f\xfd"},
        {"xz", 6, "\xfd\x37zXZ\0"},
        {"lz4", 4, "\x04\x22\x4d\x18"},
        {"bzip2", 11, "BZh91AY&SY?"},
        {"bzip2", 10, "BZh1\x17\x72\x45\x38\x50\x90"},
        {NULL, 1, "\x1f"},
        {NULL, 3, "\x28\xb5\x2f"},
        {NULL, 9, "BZh91AY&S"},
        {NULL, 11, "BZh, a text"},
        {NULL, 5, "\x1e\x8b\x08id"},
        {NULL, 0, ""},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        temp_dir_write(&f->dir, "data", CASES[i].head, CASES[i].size);
        ksv_status status = open_stream(f, "data");
        assert_int_equal(status,
                         CASES[i].name ? KSV_ERROR_UNSUPPORTED : KSV_OK);
        if (CASES[i].name == NULL)
            continue;
        char text[80];
        snprintf(text, sizeof text,
                 "is compressed with %s, which cannot be read", CASES[i].name);
        assert_string_equal(f->error.text, text);
        assert_string_equal(f->error.path, at(f, "data"));
    }
}

static void test_a_kind_of_a_later_version(void **state)
{
    fixture *f = *state;
    temp_dir_write(&f->dir, "data", "x", 1);
    datafile *file;
    assert_int_equal(datafile_open(f->fs, at(f, "data"), (datafile_kind)99,
                                   NULL, &file, &f->error),
                     KSV_ERROR_UNSUPPORTED);
    assert_null(file);
    assert_string_equal(f->error.path, at(f, "data"));
}

static void test_no_memory(void **state)
{
    fixture *f = *state;
    temp_dir_write(&f->dir, "data", "x", 1);
    for (size_t fail_at = 1; fail_at <= 3; fail_at++) {
        fault_allocator_init(&f->memory, fail_at);
        assert_int_equal(open_stream(f, "data"), KSV_ERROR_MEMORY);
        assert_true(fault_allocator_is_clean(&f->memory));
    }
    for (size_t fail_at = 1; fail_at <= 2; fail_at++) {
        fault_allocator_init(&f->memory, fail_at);
        assert_int_equal(open_random(f, "data"), KSV_ERROR_MEMORY);
        assert_true(fault_allocator_is_clean(&f->memory));
    }
    fault_allocator_init(&f->memory, 0);
    assert_int_equal(open_stream(f, "data"), KSV_OK);
}

/* Opens, reads and closes, in order and at random. */
static ksv_status use(fixture *f, const ksv_file_system *fs)
{
    datafile_stream *stream;
    KSV_TRY(datafile_stream_open(fs, at(f, "data"), &f->memory.allocator,
                                 &stream, &f->error));
    const uint8_t *piece;
    size_t size;
    bool last;
    ksv_file_info info;
    ksv_status status =
        datafile_stream_next(stream, &piece, &size, &last, &f->error);
    if (status == KSV_OK)
        status = datafile_stream_info_now(stream, &info, &f->error);
    datafile_stream_close(stream);
    if (status != KSV_OK)
        return status;
    datafile *file;
    KSV_TRY(datafile_open(fs, at(f, "data"), DATAFILE_PLAIN,
                          &f->memory.allocator, &file, &f->error));
    char byte;
    status = datafile_read_at(file, 0, &byte, 1, &size, NULL, &f->error);
    datafile_close(file);
    return status;
}

static void test_every_failure_has_its_path(void **state)
{
    fixture *f = *state;
    temp_dir_write(&f->dir, "data", "x", 1);
    fault_file_system fault;
    fault_file_system_open(&fault, f->fs);
    fault.plan.operations = FAULT_ALL & ~(unsigned)FAULT_CLOSE;
    fault.plan.os_errno = EIO;
    ksv_status status = KSV_ERROR_IO;
    uint64_t at_operation = 0;
    while (status != KSV_OK) {
        fault_file_system_reset(&fault);
        fault.plan.at = ++at_operation;
        memset(&f->error, 0, sizeof f->error);
        status = use(f, &fault.fs);
        assert_int_equal(fault_file_system_open_files(&fault), 0);
        assert_true(fault_allocator_is_clean(&f->memory));
        if (status == KSV_OK)
            break;
        assert_int_equal(status, KSV_ERROR_IO);
        assert_int_equal(f->error.os_errno, EIO);
        assert_string_equal(f->error.path, at(f, "data"));
    }
    /* Six operations in order (examine, open, examine, read the head, read,
     * examine), four at random. */
    assert_int_equal(at_operation - 1, 6 + 4);
    fault_file_system_close(&fault);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_stream_gives_the_whole_content),
        TEST(test_what_is_appended_after_the_end_is_not_seen),
        TEST(test_random_access),
        TEST(test_what_is_no_regular_file),
        TEST(test_what_the_system_refuses),
        TEST(test_compressed_content_is_named),
        TEST(test_a_kind_of_a_later_version),
        TEST(test_no_memory),
        TEST(test_every_failure_has_its_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
