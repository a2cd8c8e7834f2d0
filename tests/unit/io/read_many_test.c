/* SPDX-License-Identifier: MIT */
/* Many reads at once give what as many single reads give, in every file
 * system; files in the address space. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "io/file.h"
#include "io/memory_file_system.h"
#include "io/reopening_file.h"
#include "io/uring_reads.h"
#include "support/fault_file_system.h"
#include "support/random.h"
#include "support/temp_dir.h"

#define FILES 3
#define READS 1500
#define ROOM 9000

static const size_t SIZES[FILES] = {300000, 5000, 0};

typedef struct fixture {
    temp_dir dir;
    uint8_t content[FILES][300000];
    char paths[FILES][TEMP_DIR_PATH_BYTES];
    ksv_read reads[READS];
    uint8_t buffers[READS][ROOM];
} fixture;

static int set_up(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    random_source random = {1};
    temp_dir_make(&f->dir);
    for (size_t i = 0; i < FILES; i++) {
        static const char *const names[FILES] = {"a", "b", "c"};
        random_fill(&random, f->content[i], SIZES[i]);
        temp_dir_write(&f->dir, names[i], f->content[i], SIZES[i]);
        temp_dir_path(&f->dir, names[i], f->paths[i]);
    }
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    temp_dir_remove(&f->dir);
    free(f);
    return 0;
}

static void open_all(fixture *f, const ksv_file_system *fs,
                     ksv_file *files[FILES])
{
    for (size_t i = 0; i < FILES; i++)
        assert_int_equal(fs->open_read(fs->ctx, f->paths[i], &files[i], NULL),
                         KSV_OK);
}

static void close_all(ksv_file *files[FILES])
{
    for (size_t i = 0; i < FILES; i++)
        assert_int_equal(files[i]->ops->close(files[i], NULL), KSV_OK);
}

/* Reads anywhere, some beyond the end of the file. */
static void plan(fixture *f, ksv_file *files[FILES], size_t which[READS],
                 uint64_t seed)
{
    random_source random = {seed};
    for (size_t i = 0; i < READS; i++) {
        which[i] = random_below(&random, FILES);
        uint64_t offset = random_below(&random, SIZES[which[i]] + 6000);
        if (random_below(&random, 100) == 0)
            offset = UINT64_MAX - random_below(&random, 3);
        f->reads[i] = (ksv_read){.file = files[which[i]],
                                 .offset = offset,
                                 .buffer = f->buffers[i],
                                 .size_bytes = random_below(&random, ROOM)};
    }
}

static void check(const fixture *f, const size_t which[READS])
{
    for (size_t i = 0; i < READS; i++) {
        const ksv_read *r = &f->reads[i];
        size_t size = SIZES[which[i]];
        size_t there = r->offset < size ? size - (size_t)r->offset : 0;
        if (there > r->size_bytes)
            there = r->size_bytes;
        assert_int_equal(r->got_bytes, there);
        if (there > 0)
            assert_memory_equal(r->buffer, f->content[which[i]] + r->offset,
                                there);
    }
}

static void run_all(fixture *f, const ksv_file_system *fs)
{
    ksv_file *files[FILES];
    size_t which[READS];
    open_all(f, fs, files);
    for (uint64_t seed = 1; seed <= 8; seed++) {
        plan(f, files, which, seed);
        assert_int_equal(file_read_many(fs, f->reads, READS, NULL), KSV_OK);
        check(f, which);
        memset(f->buffers, 0, sizeof f->buffers);
        assert_int_equal(file_read_each(f->reads, READS, NULL), KSV_OK);
        check(f, which);
    }
    assert_int_equal(file_read_many(fs, f->reads, 0, NULL), KSV_OK);
    close_all(files);
}

static void test_operating_system(void **state)
{
    run_all(*state, ksv_posix_file_system());
}

/* What is not in the page cache goes another way. */
static void test_not_cached(void **state)
{
    fixture *f = *state;
    const ksv_file_system *fs = ksv_posix_file_system();
    ksv_file *files[FILES];
    size_t which[READS];
    open_all(f, fs, files);
    for (size_t i = 0; i < FILES; i++)
        file_expect_random(files[i]);
    for (uint64_t seed = 1; seed <= 5; seed++) {
        for (size_t i = 0; i < FILES; i++) {
            int fd = open(f->paths[i], O_RDONLY);
            assert_true(fd >= 0 && fsync(fd) == 0);
            posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
            close(fd);
        }
        plan(f, files, which, seed);
        assert_int_equal(file_read_many(fs, f->reads, READS, NULL), KSV_OK);
        check(f, which);
    }
    close_all(files);
}

/* The ring leaves what it cannot do for those who read alone. */
static void test_ring(void **state)
{
    fixture *f = *state;
    const ksv_file_system *fs = ksv_posix_file_system();
    ksv_file *files[FILES];
    size_t which[READS];
    open_all(f, fs, files);
    plan(f, files, which, 7);
    for (size_t i = 0; i < READS; i++)
        f->reads[i].got_bytes = i % 5 == 0 ? 0 : READ_TO_DO;
    if (!uring_reads(f->reads, READS)) {
        close_all(files);
        skip();
    }
    size_t done = 0;
    for (size_t i = 0; i < READS; i++) {
        const ksv_read *r = &f->reads[i];
        if (r->got_bytes == READ_TO_DO || i % 5 == 0)
            continue;
        assert_int_equal(r->got_bytes, r->size_bytes);
        assert_memory_equal(r->buffer, f->content[which[i]] + r->offset,
                            r->got_bytes);
        done++;
    }
    assert_true(done > READS / 10);
    close_all(files);
}

static void test_memory(void **state)
{
    fixture *f = *state;
    ksv_file_system fs;
    assert_int_equal(memory_file_system_open(NULL, &fs, NULL), KSV_OK);
    assert_int_equal(fs.make_directory(fs.ctx, "/d", NULL), KSV_OK);
    for (size_t i = 0; i < FILES; i++) {
        ksv_file *file;
        memcpy(f->paths[i], i == 0 ? "/d/a" : i == 1 ? "/d/b" : "/d/c", 5);
        assert_int_equal(fs.create(fs.ctx, f->paths[i], &file, NULL), KSV_OK);
        assert_int_equal(file->ops->append(file, f->content[i], SIZES[i], NULL),
                         KSV_OK);
        assert_int_equal(file->ops->close(file, NULL), KSV_OK);
    }
    run_all(f, &fs);
    memory_file_system_close(&fs);
}

static void test_faults(void **state)
{
    fixture *f = *state;
    fault_file_system fault;
    fault_file_system_open(&fault, ksv_posix_file_system());
    run_all(f, &fault.fs);
    ksv_file *files[FILES];
    size_t which[READS];
    open_all(f, &fault.fs, files);
    plan(f, files, which, 3);
    fault.plan = (fault_plan){.operations = FAULT_READ, .os_errno = EIO};
    fault_file_system_reset(&fault);
    assert_int_equal(file_read_many(&fault.fs, f->reads, READS, NULL), KSV_OK);
    assert_int_equal(fault_file_system_count(&fault), READS);
    fault.plan.at = READS + 100;
    ksv_error error;
    assert_int_equal(file_read_many(&fault.fs, f->reads, READS, &error),
                     KSV_ERROR_IO);
    assert_int_equal(error.os_errno, EIO);
    close_all(files);
    fault_file_system_close(&fault);
}

/* Files without a descriptor of their own, more than are opened at a time, and
 * others between them. */
static void test_reopening(void **state)
{
    fixture *f = *state;
    const ksv_file_system *fs = ksv_posix_file_system();
    ksv_file *files[FILES];
    ksv_file *many[READS];
    size_t which[READS];
    open_all(f, fs, files);
    for (uint64_t seed = 1; seed <= 6; seed++) {
        plan(f, files, which, seed);
        size_t run = seed % 3 == 0 ? 1 : 1 + (size_t)seed * 2;
        for (size_t i = 0; i < READS; i++) {
            many[i] = NULL;
            if (i % 11 == 3)
                continue;
            bool same = i % run != 0 && i > 0 && many[i - 1] != NULL;
            if (same) {
                which[i] = which[i - 1];
                f->reads[i].file = f->reads[i - 1].file;
                continue;
            }
            assert_int_equal(reopening_file_open(fs, f->paths[which[i]], NULL,
                                                 &many[i], NULL),
                             KSV_OK);
            file_expect_random(many[i]);
            f->reads[i].file = many[i];
        }
        ksv_file *before[READS];
        for (size_t i = 0; i < READS; i++)
            before[i] = f->reads[i].file;
        assert_int_equal(reopening_file_read_many(fs, f->reads, READS, NULL),
                         KSV_OK);
        check(f, which);
        for (size_t i = 0; i < READS; i++) {
            assert_ptr_equal(f->reads[i].file, before[i]);
            if (many[i] != NULL)
                assert_int_equal(many[i]->ops->close(many[i], NULL), KSV_OK);
        }
    }
    close_all(files);
}

/* One of them has gone: the error names it, and nothing stays open. */
static void test_reopening_missing(void **state)
{
    fixture *f = *state;
    fault_file_system fault;
    fault_file_system_open(&fault, ksv_posix_file_system());
    ksv_file *files[FILES];
    for (size_t i = 0; i < FILES; i++)
        assert_int_equal(
            reopening_file_open(&fault.fs, f->paths[i], NULL, &files[i], NULL),
            KSV_OK);
    size_t which[READS];
    plan(f, files, which, 1);
    assert_int_equal(unlink(f->paths[1]), 0);
    ksv_error error;
    assert_int_equal(
        reopening_file_read_many(&fault.fs, f->reads, READS, &error),
        KSV_ERROR_IO);
    assert_string_equal(error.path, f->paths[1]);
    assert_int_equal(fault_file_system_open_files(&fault), 0);
    for (size_t i = 0; i < READS; i++)
        assert_ptr_equal(f->reads[i].file, files[which[i]]);
    close_all(files);
    fault_file_system_close(&fault);
}

/* A read that fails is an error that names its file. */
static void test_error_of_one(void **state)
{
    fixture *f = *state;
    const ksv_file_system *fs = ksv_posix_file_system();
    ksv_file *files[FILES];
    size_t which[READS];
    ksv_error error;
    open_all(f, fs, files);
    plan(f, files, which, 5);
    ksv_file *written;
    char path[TEMP_DIR_PATH_BYTES];
    temp_dir_path(&f->dir, "w", path);
    assert_int_equal(fs->create(fs->ctx, path, &written, NULL), KSV_OK);
    f->reads[READS / 2].file = written;
    assert_int_equal(file_read_many(fs, f->reads, READS, &error),
                     KSV_ERROR_ARGUMENT);
    assert_string_equal(error.path, path);
    assert_int_equal(written->ops->close(written, NULL), KSV_OK);
    close_all(files);
}

static void test_map(void **state)
{
    fixture *f = *state;
    const ksv_file_system *fs = ksv_posix_file_system();
    ksv_file *files[FILES];
    open_all(f, fs, files);
    for (size_t i = 0; i < FILES; i++) {
        const void *data, *again;
        uint64_t size, same;
        ksv_error error;
        ksv_status status = files[i]->ops->map(files[i], &data, &size, &error);
        if (SIZES[i] == 0) {
            assert_int_equal(status, KSV_ERROR_UNSUPPORTED);
            assert_string_equal(error.path, f->paths[i]);
            continue;
        }
        assert_int_equal(status, KSV_OK);
        assert_int_equal(size, SIZES[i]);
        assert_memory_equal(data, f->content[i], SIZES[i]);
        assert_int_equal(files[i]->ops->map(files[i], &again, &same, NULL),
                         KSV_OK);
        assert_ptr_equal(again, data);
        assert_int_equal(same, size);
    }
    close_all(files);
}

int main(void)
{
#define WITH_FIXTURE(test) \
    cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        WITH_FIXTURE(test_operating_system),
        WITH_FIXTURE(test_not_cached),
        WITH_FIXTURE(test_ring),
        WITH_FIXTURE(test_memory),
        WITH_FIXTURE(test_faults),
        WITH_FIXTURE(test_reopening),
        WITH_FIXTURE(test_reopening_missing),
        WITH_FIXTURE(test_error_of_one),
        WITH_FIXTURE(test_map),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
