/* SPDX-License-Identifier: MIT */
/* The file system of the operating system: the only place that opens, reads,
 * writes, renames and locks files. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <keysieve/io.h>

#include "base/error.h"
#include "base/memory.h"
#include "io/file_mapping.h"
#include "io/posix_file.h"
#include "io/read_many.h"

static ksv_status refuse(const posix_file *file, ksv_error *error,
                         const char *text)
{
    return error_set(error, KSV_ERROR_ARGUMENT, file->path, "%s", text);
}

static ksv_status posix_read_at(ksv_file *base, uint64_t offset, void *buffer,
                                size_t size_bytes, size_t *got_bytes,
                                ksv_error *error)
{
    posix_file *file = (posix_file *)base;
    *got_bytes = 0;
    if (file->mode != MODE_READ)
        return refuse(file, error, "is not open for reading");
    size_t wanted = posix_clamp_read(offset, size_bytes);
    size_t done = 0;
    while (done < wanted) {
        ssize_t got = pread(file->fd, (char *)buffer + done, wanted - done,
                            (off_t)(offset + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return error_set_os(error, errno, file->path, "cannot read");
        if (got == 0)
            break;
        done += (size_t)got;
    }
    *got_bytes = done;
    return KSV_OK;
}

/* A sync of less at a time is not worth a thread, nor the wait for the disk. */
#define SYNC_AHEAD_BYTES ((uint64_t)4 << 20)

/* Without it, too, the file is synced at its end. */
static void start_sync(posix_file *file, size_t appended_bytes)
{
    file->waiting_bytes += appended_bytes;
    if (!file->expects_sync || file->waiting_bytes < SYNC_AHEAD_BYTES)
        return;
    file->waiting_bytes = 0;
    if (file->ahead == NULL)
        file->ahead = sync_ahead_open(file->fd);
    if (file->ahead != NULL)
        sync_ahead_go_on(file->ahead);
}

static void posix_expect_sync(ksv_file *base)
{
    ((posix_file *)base)->expects_sync = true;
}

static ksv_status posix_append(ksv_file *base, const void *data,
                               size_t size_bytes, ksv_error *error)
{
    posix_file *file = (posix_file *)base;
    if (file->mode != MODE_APPEND)
        return refuse(file, error, "is not open for writing");
    size_t done = 0;
    while (done < size_bytes) {
        ssize_t put =
            write(file->fd, (const char *)data + done, size_bytes - done);
        if (put < 0 && errno == EINTR)
            continue;
        /* A disk that takes nothing and gives no reason is full. */
        if (put <= 0)
            return error_set_os(error, put < 0 ? errno : ENOSPC, file->path,
                                "cannot write");
        done += (size_t)put;
    }
    start_sync(file, size_bytes);
    return KSV_OK;
}

/* A failed sync is never tried again: the kernel may have dropped the pages
 * that it could not write, and would then report success. */
static int sync_fd(int fd)
{
    int result;
    do {
        result = fsync(fd);
    } while (result != 0 && errno == EINTR);
    return result;
}

/* The errno of a sync that failed meanwhile; it stays that of the file. */
static int end_sync_ahead(posix_file *file)
{
    int failure = sync_ahead_close(file->ahead);
    file->ahead = NULL;
    if (failure != 0)
        file->sync_failure = failure;
    return file->sync_failure;
}

static ksv_status posix_sync(ksv_file *base, ksv_error *error)
{
    posix_file *file = (posix_file *)base;
    if (file->mode != MODE_APPEND)
        return refuse(file, error, "is not open for writing");
    int failure = end_sync_ahead(file);
    if (failure == 0 && sync_fd(file->fd) != 0)
        failure = errno;
    if (failure != 0)
        return error_set_os(error, failure, file->path, "cannot sync");
    return KSV_OK;
}

static int64_t to_ns(struct timespec time)
{
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static void convert_info(const struct stat *st, ksv_file_info *info)
{
    *info = (ksv_file_info){
        .size_bytes = st->st_size > 0 ? (uint64_t)st->st_size : 0,
        .mtime_ns = to_ns(st->st_mtim),
        .ctime_ns = to_ns(st->st_ctim),
        .inode = (uint64_t)st->st_ino,
        .device = (uint64_t)st->st_dev,
        .kind = S_ISREG(st->st_mode)   ? KSV_FILE_REGULAR
                : S_ISDIR(st->st_mode) ? KSV_FILE_DIRECTORY
                                       : KSV_FILE_OTHER,
    };
}

static ksv_status posix_file_info(ksv_file *base, ksv_file_info *info,
                                  ksv_error *error)
{
    posix_file *file = (posix_file *)base;
    struct stat st;
    if (fstat(file->fd, &st) != 0)
        return error_set_os(error, errno, file->path, "cannot examine");
    convert_info(&st, info);
    return KSV_OK;
}

static ksv_status posix_close(ksv_file *base, ksv_error *error)
{
    posix_file *file = (posix_file *)base;
    ksv_status status = KSV_OK;
    file_mapping_release(&file->mapping);
    (void)end_sync_ahead(file);
    /* After EINTR the descriptor is gone all the same. */
    if (close(file->fd) != 0 && errno != EINTR)
        status = error_set_os(error, errno, file->path, "cannot close");
    ksv_allocator a = allocator_or_default(NULL);
    memory_free(&a, file, sizeof *file + file->path_bytes);
    return status;
}

/* A file system that cannot be told reads ahead all the same. */
static void posix_expect_random(ksv_file *base)
{
#ifdef POSIX_FADV_RANDOM
    int ignored =
        posix_fadvise(((posix_file *)base)->fd, 0, 0, POSIX_FADV_RANDOM);
    (void)ignored;
#else
    (void)base;
#endif
}

static ksv_status posix_map(ksv_file *base, const void **data,
                            uint64_t *size_bytes, ksv_error *error)
{
    posix_file *file = (posix_file *)base;
    if (file->mode != MODE_READ)
        return refuse(file, error, "is not open for reading");
    if (file->mapping.data == NULL) {
        ksv_file_info info;
        KSV_TRY(posix_file_info(base, &info, error));
        KSV_TRY(file_mapping_make(&file->mapping, file->fd, info.size_bytes,
                                  file->path, error));
    }
    *data = file->mapping.data;
    *size_bytes = file->mapping.size_bytes;
    return KSV_OK;
}

static const ksv_file_ops POSIX_FILE_OPS = {
    .read_at = posix_read_at,
    .append = posix_append,
    .sync = posix_sync,
    .info = posix_file_info,
    .close = posix_close,
    .expect_random = posix_expect_random,
    .map = posix_map,
    .expect_sync = posix_expect_sync,
};

posix_file *posix_file_to_read(ksv_file *file)
{
    posix_file *posix = (posix_file *)file;
    return file->ops == &POSIX_FILE_OPS && posix->mode == MODE_READ ? posix
                                                                    : NULL;
}

/* Takes over `fd`: closed on failure. */
static ksv_status wrap_fd(int fd, posix_mode mode, const char *path,
                          ksv_file **out, ksv_error *error)
{
    ksv_allocator a = allocator_or_default(NULL);
    size_t path_bytes = strlen(path) + 1;
    posix_file *file = memory_alloc(&a, sizeof *file + path_bytes);
    if (file == NULL) {
        close(fd);
        return error_set_memory(error);
    }
    file->base.ops = &POSIX_FILE_OPS;
    file->mapping = (file_mapping){NULL, 0};
    file->expects_sync = false;
    file->waiting_bytes = 0;
    file->ahead = NULL;
    file->sync_failure = 0;
    file->fd = fd;
    file->mode = mode;
    file->path_bytes = path_bytes;
    memcpy(file->path, path, path_bytes);
    *out = &file->base;
    return KSV_OK;
}

static int open_fd(const char *path, int flags)
{
    int fd;
    do {
        fd = open(path, flags | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0666);
    } while (fd < 0 && errno == EINTR);
    return fd;
}

/* Waiting was only to be avoided while opening. `status_flags` are those that
 * stay. */
static ksv_status begin_to_wait(int fd, int status_flags, const char *path,
                                ksv_error *error)
{
    if (fcntl(fd, F_SETFL, status_flags) == 0)
        return KSV_OK;
    ksv_status status = error_set_os(error, errno, path, "cannot open");
    close(fd);
    return status;
}

static ksv_status posix_open_read(void *ctx, const char *path, ksv_file **out,
                                  ksv_error *error)
{
    (void)ctx;
    *out = NULL;
    int fd = open_fd(path, O_RDONLY);
    if (fd < 0)
        return error_set_os(error, errno, path, "cannot open");
    struct stat st;
    int reason = 0;
    if (fstat(fd, &st) != 0)
        reason = errno;
    else if (S_ISDIR(st.st_mode))
        reason = EISDIR;
    if (reason != 0) {
        close(fd);
        return error_set_os(error, reason, path, "cannot open");
    }
    KSV_TRY(begin_to_wait(fd, 0, path, error));
    return wrap_fd(fd, MODE_READ, path, out, error);
}

static ksv_status posix_create(void *ctx, const char *path, ksv_file **out,
                               ksv_error *error)
{
    (void)ctx;
    *out = NULL;
    int fd = open_fd(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND);
    if (fd < 0)
        return error_set_os(error, errno, path, "cannot create");
    KSV_TRY(begin_to_wait(fd, O_APPEND, path, error));
    return wrap_fd(fd, MODE_APPEND, path, out, error);
}

static ksv_status posix_info(void *ctx, const char *path, ksv_file_info *info,
                             ksv_error *error)
{
    (void)ctx;
    struct stat st;
    if (stat(path, &st) != 0)
        return error_set_os(error, errno, path, "cannot examine");
    convert_info(&st, info);
    return KSV_OK;
}

static ksv_status posix_rename(void *ctx, const char *from, const char *to,
                               ksv_error *error)
{
    (void)ctx;
    if (rename(from, to) != 0)
        return error_set_os(error, errno, from, "cannot rename");
    return KSV_OK;
}

static ksv_status posix_remove(void *ctx, const char *path, ksv_error *error)
{
    (void)ctx;
    if (unlink(path) != 0)
        return error_set_os(error, errno, path, "cannot remove");
    return KSV_OK;
}

static ksv_status posix_make_directory(void *ctx, const char *path,
                                       ksv_error *error)
{
    (void)ctx;
    if (mkdir(path, 0777) == 0)
        return KSV_OK;
    int reason = errno;
    struct stat st;
    if (reason == EEXIST && stat(path, &st) == 0 && S_ISDIR(st.st_mode))
        return KSV_OK;
    return error_set_os(error, reason, path, "cannot make the directory");
}

static ksv_status posix_remove_directory(void *ctx, const char *path,
                                         ksv_error *error)
{
    (void)ctx;
    if (rmdir(path) != 0)
        return error_set_os(error, errno, path, "cannot remove the directory");
    return KSV_OK;
}

static ksv_status posix_sync_directory(void *ctx, const char *path,
                                       ksv_error *error)
{
    (void)ctx;
    int fd = open_fd(path, O_RDONLY | O_DIRECTORY);
    if (fd < 0)
        return error_set_os(error, errno, path, "cannot open the directory");
    ksv_status status = KSV_OK;
    /* EINVAL: this file system has no such operation, and nothing to do. */
    if (sync_fd(fd) != 0 && errno != EINVAL)
        status = error_set_os(error, errno, path, "cannot sync the directory");
    close(fd);
    return status;
}

#ifdef __linux__
/* One call for the whole file system: where others have written much, it waits
 * for that as well, but a sync of each of thousands of files takes longer. */
static ksv_status posix_sync_files(void *ctx, const char *directory,
                                   ksv_error *error)
{
    (void)ctx;
    int fd = open_fd(directory, O_RDONLY | O_DIRECTORY);
    if (fd < 0)
        return error_set_os(error, errno, directory,
                            "cannot open the directory");
    ksv_status status = KSV_OK;
    if (syncfs(fd) != 0)
        status = error_set_os(error, errno, directory,
                              "cannot sync the files of the directory");
    close(fd);
    return status;
}
#define SYNC_FILES posix_sync_files
#else
#define SYNC_FILES NULL
#endif

static bool is_dot_or_dot_dot(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

static ksv_status posix_list(void *ctx, const char *path, ksv_list_fn visit,
                             void *visit_ctx, ksv_error *error)
{
    (void)ctx;
    DIR *directory = opendir(path);
    if (directory == NULL)
        return error_set_os(error, errno, path, "cannot list the directory");
    ksv_status status = KSV_OK;
    for (;;) {
        errno = 0;
        const struct dirent *entry = readdir(directory);
        if (entry == NULL) {
            if (errno != 0)
                status = error_set_os(error, errno, path,
                                      "cannot list the directory");
            break;
        }
        if (!is_dot_or_dot_dot(entry->d_name) &&
            !visit(visit_ctx, entry->d_name))
            break;
    }
    closedir(directory);
    return status;
}

/* The file stays when the lock is released: removing it would let two
 * processes hold locks of two files of one name. */
static ksv_status posix_lock(void *ctx, const char *path, ksv_file **lock,
                             ksv_error *error)
{
    (void)ctx;
    *lock = NULL;
    int fd = open_fd(path, O_RDWR | O_CREAT);
    if (fd < 0)
        return error_set_os(error, errno, path, "cannot open the lock file");
    int result;
    do {
        result = flock(fd, LOCK_EX | LOCK_NB);
    } while (result != 0 && errno == EINTR);
    if (result == 0)
        return wrap_fd(fd, MODE_LOCK, path, lock, error);
    ksv_status status;
    if (errno == EWOULDBLOCK)
        status = error_set(error, KSV_ERROR_BUSY, path,
                           "is locked by another process");
    else
        status = error_set_os(error, errno, path, "cannot lock");
    close(fd);
    return status;
}

static const ksv_file_system POSIX_FILE_SYSTEM = {
    .ctx = NULL,
    .open_read = posix_open_read,
    .create = posix_create,
    .info = posix_info,
    .rename = posix_rename,
    .remove = posix_remove,
    .make_directory = posix_make_directory,
    .remove_directory = posix_remove_directory,
    .sync_directory = posix_sync_directory,
    .list = posix_list,
    .lock = posix_lock,
    .read_many = posix_read_many,
    .sync_files = SYNC_FILES,
};

const ksv_file_system *ksv_posix_file_system(void)
{
    return &POSIX_FILE_SYSTEM;
}
