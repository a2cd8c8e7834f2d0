/* SPDX-License-Identifier: MIT */
/* The file system of the operating system, one operation at a time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "io/file.h"
#include "support/fault_file_system.h"
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

static void test_what_was_appended_is_read(void **state)
{
    fixture *f = *state;
    ksv_file *file;
    assert_int_equal(f->fs->create(NULL, at(f, "a"), &file, &f->error), KSV_OK);
    assert_int_equal(file->ops->append(file, "hello ", 6, NULL), KSV_OK);
    assert_int_equal(file->ops->append(file, "", 0, NULL), KSV_OK);
    assert_int_equal(file->ops->append(file, "world", 5, NULL), KSV_OK);
    assert_int_equal(file->ops->sync(file, &f->error), KSV_OK);
    char buffer[16];
    size_t got = 9;
    assert_int_equal(file->ops->read_at(file, 0, buffer, 1, &got, &f->error),
                     KSV_ERROR_ARGUMENT);
    assert_int_equal(got, 0);
    assert_string_equal(f->error.path, at(f, "a"));
    assert_int_equal(file->ops->close(file, &f->error), KSV_OK);

    assert_int_equal(f->fs->open_read(NULL, at(f, "a"), &file, &f->error),
                     KSV_OK);
    assert_int_equal(file->ops->read_at(file, 6, buffer, 16, &got, NULL),
                     KSV_OK);
    assert_int_equal(got, 5);
    assert_memory_equal(buffer, "world", 5);
    static const uint64_t past_the_end[] = {11, 12, INT64_MAX - 1, INT64_MAX,
                                            UINT64_MAX};
    for (size_t i = 0; i < sizeof past_the_end / sizeof past_the_end[0]; i++) {
        got = 9;
        assert_int_equal(file->ops->read_at(file, past_the_end[i], buffer, 16,
                                            &got, &f->error),
                         KSV_OK);
        assert_int_equal(got, 0);
    }
    assert_int_equal(file->ops->append(file, "x", 1, &f->error),
                     KSV_ERROR_ARGUMENT);
    assert_int_equal(file->ops->sync(file, &f->error), KSV_ERROR_ARGUMENT);
    ksv_file_info info, by_path;
    assert_int_equal(file->ops->info(file, &info, NULL), KSV_OK);
    assert_int_equal(f->fs->info(NULL, at(f, "a"), &by_path, NULL), KSV_OK);
    assert_true(info.inode == by_path.inode && info.device == by_path.device);
    assert_true(info.mtime_ns == by_path.mtime_ns);
    assert_true(info.ctime_ns == by_path.ctime_ns);
    assert_true(info.size_bytes == 11 && info.kind == KSV_FILE_REGULAR);
    assert_true(info.mtime_ns > 0 && info.inode != 0);
    file_close_quietly(file);
}

static void test_create_empties_what_was_there(void **state)
{
    fixture *f = *state;
    temp_dir_write(&f->dir, "a", "old", 3);
    ksv_file *file;
    assert_int_equal(f->fs->create(NULL, at(f, "a"), &file, NULL), KSV_OK);
    assert_int_equal(file->ops->close(file, NULL), KSV_OK);
    ksv_file_info info;
    assert_int_equal(f->fs->info(NULL, at(f, "a"), &info, NULL), KSV_OK);
    assert_true(info.size_bytes == 0);
}

static void test_errors_name_the_path_and_the_reason(void **state)
{
    fixture *f = *state;
    ksv_file *file = (ksv_file *)f;
    assert_int_equal(f->fs->open_read(NULL, at(f, "no"), &file, &f->error),
                     KSV_ERROR_IO);
    assert_null(file);
    assert_int_equal(f->error.os_errno, ENOENT);
    assert_true(file_error_is_missing(&f->error));
    assert_string_equal(f->error.text,
                        "cannot open: No such file or directory");
    assert_string_equal(f->error.path, at(f, "no"));
    assert_int_equal(f->fs->open_read(NULL, f->dir.path, &file, &f->error),
                     KSV_ERROR_IO);
    assert_int_equal(f->error.os_errno, EISDIR);
    assert_false(file_error_is_missing(&f->error));
}

static void test_a_full_disk_is_an_error(void **state)
{
    fixture *f = *state;
    ksv_file *file;
    if (f->fs->create(NULL, "/dev/full", &file, &f->error) != KSV_OK)
        skip();
    assert_int_equal(file->ops->append(file, "x", 1, &f->error), KSV_ERROR_IO);
    assert_int_equal(f->error.os_errno, ENOSPC);
    assert_string_equal(f->error.path, "/dev/full");
    file_close_quietly(file);
}

/* The write that reaches the limit comes short, the next one fails. */
static int append_past_the_limit(void *ctx)
{
    fixture *f = ctx;
    static const char data[1500];
    struct rlimit limit = {1000, 1000};
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
    ksv_file *file;
    if (f->fs->create(NULL, at(f, "a"), &file, &f->error) != KSV_OK)
        return 1;
    if (file->ops->append(file, data, sizeof data, &f->error) != KSV_ERROR_IO)
        return 2;
    return f->error.os_errno == EFBIG ? 0 : 3;
}

static void test_a_file_size_limit_is_an_error(void **state)
{
    fixture *f = *state;
    assert_int_equal(fault_run_forked(append_past_the_limit, f), 0);
    ksv_file_info info;
    assert_int_equal(f->fs->info(NULL, at(f, "a"), &info, NULL), KSV_OK);
    assert_true(info.size_bytes == 1000);
}

static void test_a_pipe_does_not_block(void **state)
{
    fixture *f = *state;
    assert_int_equal(mkfifo(at(f, "pipe"), 0600), 0);
    alarm(5);
    ksv_file *file;
    assert_int_equal(f->fs->open_read(NULL, at(f, "pipe"), &file, &f->error),
                     KSV_OK);
    ksv_file_info info;
    assert_int_equal(file->ops->info(file, &info, NULL), KSV_OK);
    assert_int_equal(info.kind, KSV_FILE_OTHER);
    char byte;
    size_t got;
    assert_int_equal(file->ops->read_at(file, 0, &byte, 1, &got, &f->error),
                     KSV_ERROR_IO);
    file_close_quietly(file);
    assert_int_equal(f->fs->create(NULL, at(f, "pipe"), &file, &f->error),
                     KSV_ERROR_IO);
    assert_int_equal(f->error.os_errno, ENXIO);
    alarm(0);
}

#define PIPED_BYTES 300000

static void ignore_signal(int number)
{
    (void)number;
}

/* Empties a pipe slowly and adds up what comes out. */
static void *drain(void *ctx)
{
    int fd = *(int *)ctx;
    uintptr_t sum = 0;
    uint8_t piece[5000];
    ssize_t got = 0;
    for (size_t left = PIPED_BYTES; left > 0; left -= (size_t)got) {
        clock_sleep_ns(1000000);
        got = read(fd, piece, sizeof piece);
        if (got <= 0)
            break;
        for (ssize_t i = 0; i < got; i++)
            sum += piece[i] + (uintptr_t)1;
    }
    return (void *)sum;
}

/* Signals cut writes short, or stop them before the first byte. */
static void test_interrupted_writes_go_on(void **state)
{
    fixture *f = *state;
    assert_int_equal(mkfifo(at(f, "pipe"), 0600), 0);
    int reader = open(f->path, O_RDONLY | O_NONBLOCK);
    fcntl(reader, F_SETFL, 0);
    ksv_file *file;
    assert_int_equal(f->fs->create(NULL, f->path, &file, &f->error), KSV_OK);

    sigset_t alarms;
    sigemptyset(&alarms);
    sigaddset(&alarms, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &alarms, NULL);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, drain, &reader), 0);
    struct sigaction action = {.sa_handler = ignore_signal};
    sigaction(SIGALRM, &action, NULL);
    pthread_sigmask(SIG_UNBLOCK, &alarms, NULL);
    struct itimerval often = {{0, 700}, {0, 700}};
    setitimer(ITIMER_REAL, &often, NULL);

    static uint8_t data[PIPED_BYTES];
    uintptr_t expected = 0;
    for (size_t i = 0; i < PIPED_BYTES; i++) {
        data[i] = (uint8_t)(i % 251);
        expected += data[i] + (uintptr_t)1;
    }
    assert_int_equal(file->ops->append(file, data, sizeof data, &f->error),
                     KSV_OK);
    void *sum;
    pthread_join(thread, &sum);
    setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
    signal(SIGALRM, SIG_DFL);
    assert_true((uintptr_t)sum == expected);
    file_close_quietly(file);
    close(reader);
}

static void test_descriptors_stay_in_the_process_and_wait(void **state)
{
    fixture *f = *state;
    for (int writing = 0; writing < 2; writing++) {
        int next = open("/dev/null", O_RDONLY);
        close(next);
        ksv_file *file;
        ksv_status status =
            writing ? f->fs->create(NULL, at(f, "b"), &file, NULL)
                    : f->fs->open_read(NULL, "/dev/null", &file, NULL);
        assert_int_equal(status, KSV_OK);
        assert_int_equal(fcntl(next, F_GETFD), FD_CLOEXEC);
        assert_int_equal(fcntl(next, F_GETFL) & O_NONBLOCK, 0);
        assert_int_equal(fcntl(next, F_GETFL) & O_APPEND,
                         writing ? O_APPEND : 0);
        file_close_quietly(file);
        assert_int_equal(fcntl(next, F_GETFD), -1);
    }
}

/* Takes the lock, says so through a pipe, and waits to be killed. */
static pid_t fork_holder(fixture *f)
{
    int ready[2];
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
        ksv_file *lock;
        char taken =
            f->fs->lock(NULL, at(f, "lock"), &lock, NULL) == KSV_OK ? 'y' : 'n';
        if (write(ready[1], &taken, 1) == 1)
            pause();
        _exit(1);
    }
    char taken = 'n';
    assert_int_equal(read(ready[0], &taken, 1), 1);
    close(ready[0]);
    close(ready[1]);
    assert_int_equal(taken, 'y');
    return child;
}

static void test_a_lock_ends_with_its_process(void **state)
{
    fixture *f = *state;
    pid_t holder = fork_holder(f);
    ksv_file *lock;
    assert_int_equal(f->fs->lock(NULL, at(f, "lock"), &lock, &f->error),
                     KSV_ERROR_BUSY);
    assert_null(lock);
    assert_string_equal(f->error.path, at(f, "lock"));
    assert_int_equal(kill(holder, SIGKILL), 0);
    assert_int_equal(waitpid(holder, NULL, 0), holder);
    assert_int_equal(f->fs->lock(NULL, at(f, "lock"), &lock, &f->error),
                     KSV_OK);

    ksv_file *second;
    assert_int_equal(f->fs->lock(NULL, at(f, "lock"), &second, &f->error),
                     KSV_ERROR_BUSY);
    file_close_quietly(lock);
    ksv_file_info info;
    assert_int_equal(f->fs->info(NULL, at(f, "lock"), &info, NULL), KSV_OK);
    assert_int_equal(f->fs->lock(NULL, at(f, "lock"), &second, &f->error),
                     KSV_OK);
    char byte;
    size_t got;
    assert_int_equal(second->ops->append(second, "x", 1, NULL),
                     KSV_ERROR_ARGUMENT);
    assert_int_equal(second->ops->read_at(second, 0, &byte, 1, &got, NULL),
                     KSV_ERROR_ARGUMENT);
    file_close_quietly(second);
}

static bool count_two(void *ctx, const char *name)
{
    assert_true(strcmp(name, ".") != 0 && strcmp(name, "..") != 0);
    return ++*(int *)ctx < 2;
}

static void test_directories(void **state)
{
    fixture *f = *state;
    assert_int_equal(f->fs->make_directory(NULL, at(f, "d"), NULL), KSV_OK);
    assert_int_equal(f->fs->make_directory(NULL, at(f, "d"), NULL), KSV_OK);
    temp_dir_write(&f->dir, "file", "", 0);
    assert_int_equal(f->fs->make_directory(NULL, at(f, "file"), &f->error),
                     KSV_ERROR_IO);
    assert_int_equal(f->error.os_errno, EEXIST);
    assert_int_equal(f->fs->sync_directory(NULL, at(f, "d"), NULL), KSV_OK);
    assert_int_equal(f->fs->sync_directory(NULL, at(f, "file"), &f->error),
                     KSV_ERROR_IO);
    assert_int_equal(f->error.os_errno, ENOTDIR);
    int count = 0;
    assert_int_equal(f->fs->list(NULL, at(f, "d"), count_two, &count, NULL),
                     KSV_OK);
    assert_int_equal(count, 0);
    temp_dir_write(&f->dir, "file2", "", 0);
    assert_int_equal(f->fs->list(NULL, f->dir.path, count_two, &count, NULL),
                     KSV_OK);
    assert_int_equal(count, 2);
    assert_int_equal(f->fs->remove_directory(NULL, at(f, "d"), NULL), KSV_OK);
    assert_int_equal(
        f->fs->list(NULL, at(f, "d"), count_two, &count, &f->error),
        KSV_ERROR_IO);
    assert_true(file_error_is_missing(&f->error));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_what_was_appended_is_read, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_create_empties_what_was_there,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            test_errors_name_the_path_and_the_reason, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_full_disk_is_an_error, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_a_file_size_limit_is_an_error,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_pipe_does_not_block, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(
            test_descriptors_stay_in_the_process_and_wait, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_lock_ends_with_its_process,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_directories, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_interrupted_writes_go_on, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
