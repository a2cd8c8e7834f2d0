/* SPDX-License-Identifier: MIT */
/* A file system in memory: for embedding, tests and fuzzing. */
#include "io/memory_file_system.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "base/error.h"
#include "io/file.h"
#include "io/memory_tree.h"

typedef struct memory_system {
    ksv_allocator allocator;
    pthread_mutex_t mutex; /* over the tree and all that it holds */
    memory_tree tree;
} memory_system;

typedef enum memory_mode { MODE_READ, MODE_APPEND, MODE_LOCK } memory_mode;

typedef struct memory_file {
    ksv_file base;
    memory_system *system;
    memory_node *node;
    memory_mode mode;
} memory_file;

static void enter(memory_system *system)
{
    pthread_mutex_lock(&system->mutex);
}

static void leave(memory_system *system)
{
    pthread_mutex_unlock(&system->mutex);
}

/* What a function over the tree returned, as a status. */
static ksv_status report(ksv_error *error, int problem, const char *path,
                         const char *doing)
{
    if (problem == 0)
        return KSV_OK;
    if (problem == ENOMEM)
        return error_set_memory(error);
    return error_set_os(error, problem, path, doing);
}

static void node_info(const memory_node *node, ksv_file_info *info)
{
    *info = (ksv_file_info){
        .size_bytes = node->content.size,
        .mtime_ns = node->mtime_ns,
        .ctime_ns = node->ctime_ns,
        .inode = node->inode,
        .kind = node->is_directory ? KSV_FILE_DIRECTORY : KSV_FILE_REGULAR,
    };
}

static ksv_status memory_read_at(ksv_file *base, uint64_t offset, void *buffer,
                                 size_t size_bytes, size_t *got_bytes,
                                 ksv_error *error)
{
    memory_file *file = (memory_file *)base;
    *got_bytes = 0;
    if (file->mode != MODE_READ)
        return error_set(error, KSV_ERROR_ARGUMENT, NULL,
                         "is not open for reading");
    enter(file->system);
    const byte_buffer *content = &file->node->content;
    if (offset < content->size && size_bytes > 0) {
        size_t left = content->size - (size_t)offset;
        *got_bytes = left < size_bytes ? left : size_bytes;
        memcpy(buffer, content->data + offset, *got_bytes);
    }
    leave(file->system);
    return KSV_OK;
}

static ksv_status memory_append(ksv_file *base, const void *data,
                                size_t size_bytes, ksv_error *error)
{
    memory_file *file = (memory_file *)base;
    if (file->mode != MODE_APPEND)
        return error_set(error, KSV_ERROR_ARGUMENT, NULL,
                         "is not open for writing");
    enter(file->system);
    memory_node *node = file->node;
    ksv_status status = buffer_append(&node->content, data, size_bytes, error);
    if (status == KSV_OK && size_bytes > 0)
        node->mtime_ns = node->ctime_ns = clock_realtime_ns();
    leave(file->system);
    return status;
}

static ksv_status memory_sync(ksv_file *base, ksv_error *error)
{
    memory_file *file = (memory_file *)base;
    if (file->mode != MODE_APPEND)
        return error_set(error, KSV_ERROR_ARGUMENT, NULL,
                         "is not open for writing");
    return KSV_OK;
}

static ksv_status memory_file_info(ksv_file *base, ksv_file_info *info,
                                   ksv_error *error)
{
    (void)error;
    memory_file *file = (memory_file *)base;
    enter(file->system);
    node_info(file->node, info);
    leave(file->system);
    return KSV_OK;
}

static ksv_status memory_close(ksv_file *base, ksv_error *error)
{
    (void)error;
    memory_file *file = (memory_file *)base;
    memory_system *system = file->system;
    enter(system);
    if (file->mode == MODE_LOCK)
        file->node->locked = false;
    file->node->open_files--;
    memory_tree_release(&system->tree, file->node);
    leave(system);
    memory_free(&system->allocator, file, sizeof *file);
    return KSV_OK;
}

static const ksv_file_ops MEMORY_FILE_OPS = {
    .read_at = memory_read_at,
    .append = memory_append,
    .sync = memory_sync,
    .info = memory_file_info,
    .close = memory_close,
};

static int open_node(memory_system *system, memory_node *node, memory_mode mode,
                     ksv_file **out)
{
    memory_file *file = memory_alloc(&system->allocator, sizeof *file);
    if (file == NULL)
        return ENOMEM;
    *file = (memory_file){{&MEMORY_FILE_OPS}, system, node, mode};
    node->open_files++;
    *out = &file->base;
    return 0;
}

static int open_existing(memory_system *system, const char *path,
                         ksv_file **out)
{
    memory_node *node;
    int problem = memory_tree_find_existing(&system->tree, path, &node);
    if (problem != 0)
        return problem;
    if (node->is_directory)
        return EISDIR;
    return open_node(system, node, MODE_READ, out);
}

static ksv_status memory_open_read(void *ctx, const char *path, ksv_file **out,
                                   ksv_error *error)
{
    memory_system *system = ctx;
    *out = NULL;
    enter(system);
    int problem = open_existing(system, path, out);
    leave(system);
    return report(error, problem, path, "cannot open");
}

/* The file at `path`, made if need be. */
static int find_or_make(memory_system *system, const char *path,
                        memory_node **node)
{
    memory_place place;
    int problem = memory_tree_find(&system->tree, path, &place);
    if (problem != 0)
        return problem;
    if (place.trailing_slash ||
        (place.node != NULL && place.node->is_directory))
        return EISDIR;
    if (place.node == NULL)
        problem = memory_tree_make(&system->tree, &place, false);
    *node = place.node;
    return problem;
}

static int create_file(memory_system *system, const char *path, ksv_file **out)
{
    memory_node *node;
    int problem = find_or_make(system, path, &node);
    if (problem != 0)
        return problem;
    problem = open_node(system, node, MODE_APPEND, out);
    if (problem == 0)
        buffer_release(&node->content);
    return problem;
}

static ksv_status memory_create(void *ctx, const char *path, ksv_file **out,
                                ksv_error *error)
{
    memory_system *system = ctx;
    *out = NULL;
    enter(system);
    int problem = create_file(system, path, out);
    leave(system);
    return report(error, problem, path, "cannot create");
}

static ksv_status memory_info(void *ctx, const char *path, ksv_file_info *info,
                              ksv_error *error)
{
    memory_system *system = ctx;
    memory_node *node;
    enter(system);
    int problem = memory_tree_find_existing(&system->tree, path, &node);
    if (problem == 0)
        node_info(node, info);
    leave(system);
    return report(error, problem, path, "cannot examine");
}

static bool is_inside(const memory_node *node, const memory_node *directory)
{
    while (node != NULL && node != directory)
        node = node->parent;
    return node != NULL;
}

/* Whether a file system would refuse to put `from` in the place of `to`. */
static int check_rename(const memory_place *from, const memory_place *to)
{
    if (from->name_length == 0 || to->name_length == 0)
        return EBUSY;
    if (from->node == NULL)
        return ENOENT;
    bool moves_directory = from->node->is_directory;
    if (!moves_directory && (from->trailing_slash || to->trailing_slash))
        return ENOTDIR;
    if (is_inside(to->directory, from->node))
        return EINVAL;
    const memory_node *old = to->node;
    if (old == NULL || old == from->node)
        return 0;
    if (is_inside(from->directory, old))
        return ENOTEMPTY;
    if (moves_directory && !old->is_directory)
        return ENOTDIR;
    if (!moves_directory && old->is_directory)
        return EISDIR;
    return old->child_count > 0 ? ENOTEMPTY : 0;
}

static int rename_node(memory_system *system, const char *from_path,
                       const char *to_path)
{
    memory_place from, to;
    int problem = memory_tree_find(&system->tree, from_path, &from);
    if (problem == 0)
        problem = memory_tree_find(&system->tree, to_path, &to);
    if (problem == 0)
        problem = check_rename(&from, &to);
    if (problem != 0 || from.node == to.node)
        return problem;
    return memory_tree_move(&system->tree, from.node, &to);
}

static ksv_status memory_rename(void *ctx, const char *from, const char *to,
                                ksv_error *error)
{
    memory_system *system = ctx;
    enter(system);
    int problem = rename_node(system, from, to);
    leave(system);
    return report(error, problem, from, "cannot rename");
}

static int remove_file(memory_system *system, const char *path)
{
    memory_place place;
    int problem = memory_tree_find(&system->tree, path, &place);
    if (problem != 0)
        return problem;
    if (place.node == NULL)
        return ENOENT;
    if (place.node->is_directory)
        return EISDIR;
    if (place.trailing_slash)
        return ENOTDIR;
    memory_tree_unlink(&system->tree, place.node);
    return 0;
}

static ksv_status memory_remove(void *ctx, const char *path, ksv_error *error)
{
    memory_system *system = ctx;
    enter(system);
    int problem = remove_file(system, path);
    leave(system);
    return report(error, problem, path, "cannot remove");
}

static int make_directory(memory_system *system, const char *path)
{
    memory_place place;
    int problem = memory_tree_find(&system->tree, path, &place);
    if (problem != 0)
        return problem;
    if (place.node != NULL)
        return place.node->is_directory ? 0 : EEXIST;
    return memory_tree_make(&system->tree, &place, true);
}

static ksv_status memory_make_directory(void *ctx, const char *path,
                                        ksv_error *error)
{
    memory_system *system = ctx;
    enter(system);
    int problem = make_directory(system, path);
    leave(system);
    return report(error, problem, path, "cannot make the directory");
}

static int remove_directory(memory_system *system, const char *path)
{
    memory_place place;
    int problem = memory_tree_find(&system->tree, path, &place);
    if (problem != 0)
        return problem;
    if (place.node == NULL)
        return ENOENT;
    if (!place.node->is_directory)
        return ENOTDIR;
    if (place.name_length == 0 && !place.ends_in_dot_dot)
        return EINVAL;
    if (place.name_length == 0 || place.node->child_count > 0)
        return ENOTEMPTY;
    memory_tree_unlink(&system->tree, place.node);
    return 0;
}

static ksv_status memory_remove_directory(void *ctx, const char *path,
                                          ksv_error *error)
{
    memory_system *system = ctx;
    enter(system);
    int problem = remove_directory(system, path);
    leave(system);
    return report(error, problem, path, "cannot remove the directory");
}

static int find_directory(memory_system *system, const char *path,
                          memory_node **node)
{
    int problem = memory_tree_find_existing(&system->tree, path, node);
    if (problem == 0 && !(*node)->is_directory)
        problem = ENOTDIR;
    return problem;
}

static ksv_status memory_sync_directory(void *ctx, const char *path,
                                        ksv_error *error)
{
    memory_system *system = ctx;
    memory_node *node;
    enter(system);
    int problem = find_directory(system, path, &node);
    leave(system);
    return report(error, problem, path, "cannot open the directory");
}

/* The names, each with its NUL: visitors may call the file system again. */
static int copy_names(memory_system *system, const char *path,
                      byte_buffer *names)
{
    memory_node *node;
    int problem = find_directory(system, path, &node);
    for (size_t i = 0; problem == 0 && i < node->child_count; i++) {
        const char *name = node->children[i]->name;
        if (buffer_append(names, name, strlen(name) + 1, NULL) != KSV_OK)
            problem = ENOMEM;
    }
    return problem;
}

static ksv_status memory_list(void *ctx, const char *path, ksv_list_fn visit,
                              void *visit_ctx, ksv_error *error)
{
    memory_system *system = ctx;
    byte_buffer names;
    buffer_init(&names, &system->allocator);
    enter(system);
    int problem = copy_names(system, path, &names);
    leave(system);
    bool more = problem == 0;
    for (size_t at = 0; more && at < names.size;) {
        const char *name = (const char *)names.data + at;
        at += strlen(name) + 1;
        more = visit(visit_ctx, name);
    }
    buffer_release(&names);
    return report(error, problem, path, "cannot list the directory");
}

static int lock_node(memory_system *system, const char *path, ksv_file **lock)
{
    memory_node *node;
    int problem = find_or_make(system, path, &node);
    if (problem == 0 && node->locked)
        problem = EWOULDBLOCK;
    if (problem == 0)
        problem = open_node(system, node, MODE_LOCK, lock);
    if (problem == 0)
        node->locked = true;
    return problem;
}

static ksv_status memory_lock(void *ctx, const char *path, ksv_file **lock,
                              ksv_error *error)
{
    memory_system *system = ctx;
    *lock = NULL;
    enter(system);
    int problem = lock_node(system, path, lock);
    leave(system);
    if (problem == EWOULDBLOCK)
        return error_set(error, KSV_ERROR_BUSY, path,
                         "is locked by another process");
    return report(error, problem, path, "cannot open the lock file");
}

ksv_status memory_file_system_open(const ksv_allocator *allocator,
                                   ksv_file_system *fs, ksv_error *error)
{
    *fs = (ksv_file_system){0};
    ksv_allocator a = allocator_or_default(allocator);
    memory_system *system = memory_zalloc(&a, sizeof *system);
    if (system == NULL)
        return error_set_memory(error);
    system->allocator = a;
    int problem = memory_tree_init(&system->tree, &system->allocator);
    if (problem == 0) {
        problem = pthread_mutex_init(&system->mutex, NULL);
        if (problem != 0)
            memory_tree_destroy(&system->tree);
    }
    if (problem != 0) {
        memory_free(&a, system, sizeof *system);
        return report(error, problem, NULL, "cannot make a mutex");
    }
    *fs = (ksv_file_system){
        .ctx = system,
        .open_read = memory_open_read,
        .create = memory_create,
        .info = memory_info,
        .rename = memory_rename,
        .remove = memory_remove,
        .make_directory = memory_make_directory,
        .remove_directory = memory_remove_directory,
        .sync_directory = memory_sync_directory,
        .list = memory_list,
        .lock = memory_lock,
    };
    return KSV_OK;
}

void memory_file_system_close(ksv_file_system *fs)
{
    memory_system *system = fs->ctx;
    if (system == NULL)
        return;
    memory_tree_destroy(&system->tree);
    pthread_mutex_destroy(&system->mutex);
    ksv_allocator a = system->allocator;
    memory_free(&a, system, sizeof *system);
    *fs = (ksv_file_system){0};
}
