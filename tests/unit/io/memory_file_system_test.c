/* SPDX-License-Identifier: MIT */
/* The file system in memory by itself: order, memory, threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "io/file.h"
#include "io/memory_file_system.h"
#include "io/memory_tree.h"
#include "support/fault_allocator.h"

typedef struct fixture {
    fault_allocator memory;
    ksv_file_system fs;
    ksv_error error;
} fixture;

static int set_up(void **state)
{
    static fixture f;
    memset(&f, 0, sizeof f);
    fault_allocator_init(&f.memory, 0);
    *state = &f;
    return memory_file_system_open(&f.memory.allocator, &f.fs, NULL) != KSV_OK;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    memory_file_system_close(&f->fs);
    return !fault_allocator_is_clean(&f->memory);
}

static void put(fixture *f, const char *path, const char *text)
{
    ksv_file *file;
    assert_int_equal(f->fs.create(f->fs.ctx, path, &file, &f->error), KSV_OK);
    assert_int_equal(file->ops->append(file, text, strlen(text), &f->error),
                     KSV_OK);
    assert_int_equal(file->ops->close(file, &f->error), KSV_OK);
}

static void test_any_bytes_in_many_files(void **state)
{
    fixture *f = *state;
    char name[32];
    for (unsigned i = 0; i < 2000; i++) {
        snprintf(name, sizeof name, "f%u", i * 7919 % 2000);
        put(f, name, name);
    }
    for (unsigned i = 0; i < 2000; i++) {
        snprintf(name, sizeof name, "/f%u", i);
        byte_buffer text;
        buffer_init(&text, &f->memory.allocator);
        assert_int_equal(file_read_all(&f->fs, name, 100, &text, NULL), KSV_OK);
        assert_int_equal(text.size, strlen(name) - 1);
        assert_memory_equal(text.data, name + 1, text.size);
        buffer_release(&text);
        if (i % 2 == 0)
            assert_int_equal(f->fs.remove(f->fs.ctx, name, NULL), KSV_OK);
    }
}

static void test_deep_directories(void **state)
{
    fixture *f = *state;
    char path[MEMORY_PATH_MAX + 2] = "";
    size_t made = 0;
    for (;;) {
        strcat(path, "/d");
        ksv_status status = f->fs.make_directory(f->fs.ctx, path, &f->error);
        if (status != KSV_OK)
            break;
        made++;
    }
    assert_int_equal(f->error.os_errno, ENAMETOOLONG);
    assert_int_equal(made, (MEMORY_PATH_MAX - 1) / 2);
}

static bool remove_listed(void *ctx, const char *name)
{
    fixture *f = ctx;
    assert_int_equal(f->fs.remove(f->fs.ctx, name, &f->error), KSV_OK);
    return true;
}

static void test_a_visitor_may_use_the_file_system(void **state)
{
    fixture *f = *state;
    put(f, "a", "1");
    put(f, "b", "2");
    assert_int_equal(f->fs.list(f->fs.ctx, "/", remove_listed, f, &f->error),
                     KSV_OK);
    ksv_file_info info;
    assert_int_equal(f->fs.info(f->fs.ctx, "a", &info, &f->error),
                     KSV_ERROR_IO);
    assert_true(file_error_is_missing(&f->error));
}

static void test_times_and_inodes(void **state)
{
    fixture *f = *state;
    ksv_file *file;
    ksv_file_info before, after, other;
    put(f, "other", "x");
    assert_int_equal(f->fs.create(f->fs.ctx, "a", &file, NULL), KSV_OK);
    assert_int_equal(f->fs.info(f->fs.ctx, "a", &before, NULL), KSV_OK);
    assert_int_equal(f->fs.info(f->fs.ctx, "other", &other, NULL), KSV_OK);
    clock_sleep_ns(1000000);
    assert_int_equal(file->ops->append(file, "x", 1, NULL), KSV_OK);
    assert_int_equal(f->fs.rename(f->fs.ctx, "a", "b", NULL), KSV_OK);
    assert_int_equal(f->fs.info(f->fs.ctx, "b", &after, NULL), KSV_OK);
    assert_true(after.mtime_ns > before.mtime_ns);
    assert_true(after.inode == before.inode && after.inode != other.inode);
    file_close_quietly(file);
}

static bool accept_name(void *ctx, const char *name)
{
    (void)ctx;
    return name[0] != '\0';
}

/* A little of everything; stops at the first error. */
static ksv_status try_everything(ksv_file_system *fs)
{
    static const char text[2000];
    ksv_file *file = NULL;
    ksv_status status;
    if ((status = fs->make_directory(fs->ctx, "d", NULL)) != KSV_OK ||
        (status = fs->create(fs->ctx, "d/a", &file, NULL)) != KSV_OK ||
        (status = file->ops->append(file, text, 100, NULL)) != KSV_OK ||
        (status = file->ops->append(file, text, 2000, NULL)) != KSV_OK)
        goto done;
    file_close_quietly(file);
    file = NULL;
    if ((status = fs->rename(fs->ctx, "d/a", "b", NULL)) != KSV_OK ||
        (status = fs->lock(fs->ctx, "l", &file, NULL)) != KSV_OK)
        goto done;
    file_close_quietly(file);
    file = NULL;
    if ((status = fs->list(fs->ctx, "/", accept_name, NULL, NULL)) != KSV_OK ||
        (status = fs->open_read(fs->ctx, "b", &file, NULL)) != KSV_OK)
        goto done;
done:
    file_close_quietly(file);
    return status;
}

static void test_no_memory(void **state)
{
    (void)state;
    ksv_status status = KSV_ERROR_MEMORY;
    size_t fail_at = 0;
    while (status != KSV_OK) {
        fault_allocator memory;
        fault_allocator_init(&memory, ++fail_at);
        ksv_file_system fs;
        status = memory_file_system_open(&memory.allocator, &fs, NULL);
        if (status == KSV_OK)
            status = try_everything(&fs);
        memory_file_system_close(&fs);
        assert_true(fault_allocator_is_clean(&memory));
        assert_true(status == KSV_OK || status == KSV_ERROR_MEMORY);
    }
    /* More than ten allocations failed, one after the other. */
    assert_true(fail_at > 10);
}

typedef struct thread_work {
    fixture *f;
    unsigned number;
} thread_work;

/* Writes under names of its own and under one that all threads share. */
static void *use_from_a_thread(void *argument)
{
    thread_work *work = argument;
    ksv_file_system *fs = &work->f->fs;
    uintptr_t problems = 0;
    char name[32], temporary[40];
    snprintf(name, sizeof name, "t%u", work->number);
    snprintf(temporary, sizeof temporary, "%s.tmp", name);
    for (int i = 0; i < 200; i++) {
        ksv_file *file;
        if (fs->create(fs->ctx, temporary, &file, NULL) != KSV_OK)
            return (void *)(uintptr_t)1000;
        problems += file->ops->append(file, name, strlen(name), NULL);
        file_close_quietly(file);
        problems +=
            fs->rename(fs->ctx, temporary, i % 2 == 0 ? name : "shared", NULL);
        if (fs->open_read(fs->ctx, "shared", &file, NULL) != KSV_OK)
            continue;
        char read[32];
        size_t got = 0;
        problems += file->ops->read_at(file, 0, read, sizeof read, &got, NULL);
        problems += got != 2 || read[0] != 't';
        file_close_quietly(file);
    }
    return (void *)problems;
}

static void test_many_threads(void **state)
{
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    thread_work work[THREADS];
    for (unsigned i = 0; i < THREADS; i++) {
        work[i] = (thread_work){*state, i};
        assert_int_equal(
            pthread_create(&threads[i], NULL, use_from_a_thread, &work[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        void *problems;
        pthread_join(threads[i], &problems);
        assert_null(problems);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_any_bytes_in_many_files),
        TEST(test_deep_directories),
        TEST(test_a_visitor_may_use_the_file_system),
        TEST(test_times_and_inodes),
        cmocka_unit_test(test_no_memory),
        TEST(test_many_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
