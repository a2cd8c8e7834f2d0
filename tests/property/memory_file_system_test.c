/* SPDX-License-Identifier: MIT */
/* The file system in memory does what that of the operating system does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "io/file.h"
#include "io/memory_file_system.h"
#include "support/fault_allocator.h"
#include "support/random.h"
#include "support/temp_dir.h"

#define OPEN_FILES 6
#define PATH_BYTES 320
#define FULL_PATH_BYTES 1024
/* Paths begin this deep, so that ".." never leaves what both have. */
#define DEEP "/x/x/x/x"

/* The same operation is done in both worlds. */
enum { REAL, MODEL, WORLDS };

typedef struct world {
    const ksv_file_system *fs;
    char root[512];
    ksv_file *files[OPEN_FILES];
} world;

typedef struct pair {
    world worlds[WORLDS];
    random_source random;
    uint64_t seed;
    size_t step;
    size_t succeeded[2][13]; /* by being on a file, and operation */
    size_t failed[2][13];
} pair;

/* All that an operation may return. */
typedef struct outcome {
    ksv_status status;
    int os_errno;
    uint64_t size_bytes;
    int kind;
    size_t got_bytes;
    char data[64];
    char names[1024];
} outcome;

static void random_path(random_source *r, char out[PATH_BYTES])
{
    static const char *const NAMES[] = {"a", "b", "c",  "a",         "b",
                                        "c", ".", "..", "\xff\xfe z"};
    size_t components = 1 + random_below(r, 3);
    out[0] = '\0';
    for (size_t i = 0; i < components; i++) {
        strcat(out, NAMES[random_below(r, sizeof NAMES / sizeof NAMES[0])]);
        if (i + 1 < components)
            strcat(out, random_below(r, 8) == 0 ? "//" : "/");
    }
    if (random_below(r, 12) == 0)
        strcat(out, random_below(r, 2) == 0 ? "/" : "//");
}

/* A name of the greatest length, or one byte longer. */
static void long_name(random_source *r, char out[PATH_BYTES])
{
    memset(out, 'n', 256);
    out[255 + random_below(r, 2)] = '\0';
}

static void full_path(const world *w, const char *path,
                      char out[FULL_PATH_BYTES])
{
    snprintf(out, FULL_PATH_BYTES, "%s%s/%s", w->root, DEEP, path);
}

static int compare_strings(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

typedef struct name_list {
    char *names[64];
    size_t count;
} name_list;

static bool keep_name(void *ctx, const char *name)
{
    name_list *list = ctx;
    if (list->count < 64)
        list->names[list->count++] = strdup(name);
    return true;
}

static ksv_status list_sorted(const world *w, const char *path, outcome *o,
                              ksv_error *e)
{
    name_list list = {.count = 0};
    ksv_status status = w->fs->list(w->fs->ctx, path, keep_name, &list, e);
    qsort(list.names, list.count, sizeof list.names[0], compare_strings);
    for (size_t i = 0; i < list.count; i++) {
        size_t used = strlen(o->names);
        snprintf(o->names + used, sizeof o->names - used, "%s\n",
                 list.names[i]);
        free(list.names[i]);
    }
    return status;
}

static void keep_info(outcome *o, const ksv_file_info *info)
{
    if (o->status != KSV_OK)
        return;
    o->kind = (int)info->kind;
    if (info->kind == KSV_FILE_REGULAR)
        o->size_bytes = info->size_bytes;
}

typedef struct step_choice {
    unsigned operation;
    size_t slot;
    uint64_t offset;
    size_t size_bytes;
    char from[PATH_BYTES];
    char to[PATH_BYTES];
    char data[64];
} step_choice;

static void do_file_step(world *w, const step_choice *c, outcome *o,
                         ksv_error *e)
{
    ksv_file *file = w->files[c->slot];
    ksv_file_info info = {0};
    switch (c->operation) {
    case 0:
        o->status = file->ops->read_at(file, c->offset, o->data, c->size_bytes,
                                       &o->got_bytes, e);
        break;
    case 1:
    case 2:
        o->status = file->ops->append(file, c->data, c->size_bytes, e);
        break;
    case 3:
        o->status = file->ops->sync(file, e);
        break;
    case 4:
        o->status = file->ops->info(file, &info, e);
        keep_info(o, &info);
        break;
    default:
        o->status = file->ops->close(file, e);
        w->files[c->slot] = NULL;
        break;
    }
}

static void do_path_step(world *w, const step_choice *c, outcome *o,
                         ksv_error *e)
{
    const ksv_file_system *fs = w->fs;
    char from[FULL_PATH_BYTES], to[FULL_PATH_BYTES];
    full_path(w, c->from, from);
    full_path(w, c->to, to);
    ksv_file_info info = {0};
    switch (c->operation) {
    case 0:
        o->status = fs->open_read(fs->ctx, from, &w->files[c->slot], e);
        break;
    case 1:
    case 2:
        o->status = fs->create(fs->ctx, from, &w->files[c->slot], e);
        break;
    case 3:
        o->status = fs->lock(fs->ctx, from, &w->files[c->slot], e);
        break;
    case 4:
        o->status = fs->info(fs->ctx, from, &info, e);
        keep_info(o, &info);
        break;
    case 5:
    case 6:
        o->status = fs->rename(fs->ctx, from, to, e);
        break;
    case 7:
        o->status = fs->remove(fs->ctx, from, e);
        break;
    case 8:
    case 9:
        o->status = fs->make_directory(fs->ctx, from, e);
        break;
    case 10:
        o->status = fs->remove_directory(fs->ctx, from, e);
        break;
    case 11:
        o->status = fs->sync_directory(fs->ctx, from, e);
        break;
    default:
        o->status = list_sorted(w, from, o, e);
        break;
    }
}

static void do_step(world *w, const step_choice *c, bool on_file, outcome *o)
{
    static ksv_error e;
    memset(o, 0, sizeof *o);
    memset(&e, 0, sizeof e);
    if (on_file)
        do_file_step(w, c, o, &e);
    else
        do_path_step(w, c, o, &e);
    assert_int_equal(e.status, o->status);
    o->os_errno = e.os_errno;
}

static void random_step(pair *p)
{
    static step_choice c;
    random_source *r = &p->random;
    c.slot = random_below(r, OPEN_FILES);
    bool on_file = p->worlds[REAL].files[c.slot] != NULL;
    c.operation = (unsigned)random_below(r, on_file ? 6 : 13);
    /* Real syncs are slow. */
    if (c.operation == (on_file ? 3 : 11) && random_below(r, 10) != 0)
        c.operation--;
    c.offset = random_below(r, 80);
    c.size_bytes = random_below(r, sizeof c.data + 1);
    random_fill(r, c.data, sizeof c.data);
    random_path(r, c.from);
    random_path(r, c.to);
    /* Not for a rename: which of two wrong paths is told is not promised. */
    if (random_below(r, 50) == 0 && c.operation != 5 && c.operation != 6)
        long_name(r, c.from);
    static outcome outcomes[WORLDS];
    for (int w = 0; w < WORLDS; w++)
        do_step(&p->worlds[w], &c, on_file, &outcomes[w]);
    if (memcmp(&outcomes[REAL], &outcomes[MODEL], sizeof(outcome)) == 0) {
        bool ok = outcomes[REAL].status == KSV_OK;
        (ok ? p->succeeded : p->failed)[on_file][c.operation]++;
        return;
    }
    for (int w = 0; w < WORLDS; w++)
        print_error("%s: status %d errno %d (%s) size %llu names %s\n",
                    w == REAL ? "real" : "model", outcomes[w].status,
                    outcomes[w].os_errno, strerror(outcomes[w].os_errno),
                    (unsigned long long)outcomes[w].size_bytes,
                    outcomes[w].names);
    fail_msg("seed %llu step %zu: %s operation %u on %s (to %s)",
             (unsigned long long)p->seed, p->step, on_file ? "file" : "path",
             c.operation, c.from, c.to);
}

static void make_roots(world *w)
{
    char path[FULL_PATH_BYTES];
    for (size_t depth = 1; depth <= strlen(DEEP) / 2; depth++) {
        snprintf(path, sizeof path, "%s%.*s", w->root, (int)(2 * depth), DEEP);
        assert_int_equal(w->fs->make_directory(w->fs->ctx, path, NULL), KSV_OK);
    }
}

static void run_pair(pair *p, uint64_t seed, size_t steps)
{
    temp_dir dir;
    temp_dir_make(&dir);
    fault_allocator memory;
    fault_allocator_init(&memory, 0);
    ksv_file_system model;
    assert_int_equal(memory_file_system_open(&memory.allocator, &model, NULL),
                     KSV_OK);
    p->random.state = p->seed = seed;
    p->worlds[REAL].fs = ksv_posix_file_system();
    snprintf(p->worlds[REAL].root, sizeof p->worlds[REAL].root, "%s", dir.path);
    p->worlds[MODEL].fs = &model;
    for (int w = 0; w < WORLDS; w++)
        make_roots(&p->worlds[w]);
    for (p->step = 0; p->step < steps; p->step++)
        random_step(p);
    for (int w = 0; w < WORLDS; w++) {
        for (size_t i = 0; i < OPEN_FILES; i++) {
            file_close_quietly(p->worlds[w].files[i]);
            p->worlds[w].files[i] = NULL;
        }
    }
    memory_file_system_close(&model);
    assert_true(fault_allocator_is_clean(&memory));
    temp_dir_remove(&dir);
}

static void test_random_steps_end_as_on_a_disk(void **state)
{
    (void)state;
    static pair p;
    for (uint64_t seed = 1; seed <= 12; seed++)
        run_pair(&p, seed, 2000);
    /* The steps have to lead somewhere. */
    for (unsigned operation = 0; operation < 13; operation++) {
        assert_true(p.succeeded[false][operation] > 20);
        assert_true(p.failed[false][operation] > 20);
        assert_true(operation >= 6 || p.succeeded[true][operation] > 20);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_steps_end_as_on_a_disk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
