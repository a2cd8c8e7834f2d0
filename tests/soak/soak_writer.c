/* SPDX-License-Identifier: MIT */
/* Changes a data file in every way that data files are changed. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "soak_model.h"

#define HEADER "id,tag,number,filler\n"
/* In front of some files, so that their fingerprint is of samples. */
enum { PADDING_BYTES = 150000 };

typedef struct writer {
    soak_model *model;
    soak_history *history;
    unsigned file;
    const char *path;
    random_source random;
    soak_version now;
    unsigned order[SOAK_KEYS]; /* keys in the order of their records */
    unsigned count;
    bool last_is_cut;
    bool exists;
    uint32_t next_number;
    char *content;
    size_t size;
} writer;

static unsigned below(writer *w, unsigned limit)
{
    return (unsigned)random_below(&w->random, limit);
}

static void add_bytes(writer *w, const void *bytes, size_t size)
{
    memcpy(w->content + w->size, bytes, size);
    w->size += size;
}

/* The content as it is to be. */
static void compose(writer *w)
{
    w->size = 0;
    add_bytes(w, HEADER, strlen(HEADER));
    if (w->file < 2) {
        add_bytes(w, "padding,", 8);
        memset(w->content + w->size, 'p', PADDING_BYTES);
        w->size += PADDING_BYTES;
        add_bytes(w, "\n", 1);
    }
    for (unsigned i = 0; i < w->count; i++) {
        char text[SOAK_RECORD_BYTES];
        unsigned key = w->order[i];
        soak_record(w->file, key, w->now.values[key], text);
        add_bytes(w, text, w->now.values[key].length);
        if (i + 1 < w->count || !w->last_is_cut)
            add_bytes(w, "\n", 1);
    }
}

static void add_record(writer *w, unsigned key)
{
    char text[SOAK_RECORD_BYTES];
    soak_value value = {.number = w->next_number++, .tag = 'A'};
    value.length = (uint16_t)soak_record(w->file, key, value, text);
    w->now.values[key] = value;
    w->order[w->count++] = key;
}

static void add_records(writer *w, unsigned most)
{
    unsigned wanted = 1 + below(w, most);
    for (unsigned i = 0; i < wanted && w->count < SOAK_KEYS; i++) {
        unsigned key = below(w, SOAK_KEYS);
        while (w->now.values[key].number != 0)
            key = (key + 1) % SOAK_KEYS;
        add_record(w, key);
    }
}

static void drop_last(writer *w)
{
    unsigned key = w->order[--w->count];
    w->now.values[key] = (soak_value){0, 0, 0};
    w->last_is_cut = false;
}

static void drop_all(writer *w)
{
    while (w->count > 0)
        drop_last(w);
    w->last_is_cut = false;
}

static void fail(const writer *w, const char *what)
{
    perror(what);
    fprintf(stderr, "%s\n", w->path);
    abort();
}

static void write_at(writer *w, const void *bytes, size_t size, off_t offset)
{
    int fd = open(w->path, O_WRONLY | O_CREAT, 0666);
    if (fd < 0 || pwrite(fd, bytes, size, offset) != (ssize_t)size ||
        close(fd) != 0)
        fail(w, "write");
}

static void truncate_to(writer *w, size_t size)
{
    if (truncate(w->path, (off_t)size) != 0)
        fail(w, "truncate");
}

/* The rest of a record that was cut comes first. */
static void append(writer *w)
{
    size_t before = w->size;
    if (w->last_is_cut) {
        unsigned key = w->order[w->count - 1];
        char text[SOAK_RECORD_BYTES];
        w->now.values[key].length =
            (uint16_t)soak_record(w->file, key, w->now.values[key], text);
        w->last_is_cut = false;
    }
    add_records(w, 4);
    if (below(w, 3) == 0) {
        /* Not before the end of the key. */
        soak_value *last = &w->now.values[w->order[w->count - 1]];
        last->length = (uint16_t)(10 + below(w, last->length - 10u));
        w->last_is_cut = true;
    }
    compose(w);
    soak_begin(w->history, &w->now);
    write_at(w, w->content + before, w->size - before, (off_t)before);
    soak_end(w->history);
}

static void write_anew(writer *w)
{
    compose(w);
    soak_begin(w->history, &w->now);
    write_at(w, w->content, w->size, 0);
    soak_end(w->history);
    w->exists = true;
}

/* Another file takes the place. */
static void replace(writer *w)
{
    char other[TEMP_DIR_PATH_BYTES + 8];
    snprintf(other, sizeof other, "%s.new", w->path);
    drop_all(w);
    add_records(w, 20);
    compose(w);
    FILE *file = fopen(other, "wb");
    if (file == NULL || fwrite(w->content, 1, w->size, file) != w->size ||
        fclose(file) != 0)
        fail(w, "write");
    soak_begin(w->history, &w->now);
    if (rename(other, w->path) != 0)
        fail(w, "rename");
    soak_end(w->history);
    w->exists = true;
}

/* The same file gets another content. */
static void rewrite(writer *w)
{
    drop_all(w);
    soak_begin(w->history, &w->now);
    truncate_to(w, 0);
    soak_end(w->history);
    add_records(w, 20);
    write_anew(w);
}

static void cut_off(writer *w)
{
    unsigned most = 1 + below(w, 3);
    for (unsigned i = 0; i < most && w->count > 0; i++)
        drop_last(w);
    compose(w);
    soak_begin(w->history, &w->now);
    truncate_to(w, w->size);
    soak_end(w->history);
}

/* One byte of a record. */
static void overwrite(writer *w)
{
    if (w->count < 2)
        return;
    unsigned index = below(w, w->count - 1);
    unsigned key = w->order[index];
    char before = (char)w->now.values[key].tag;
    char after = before == 'Z' ? 'A' : (char)(before + 1);
    char text[16];
    size_t key_bytes = soak_key(w->file, key, text);
    text[key_bytes++] = ',';
    const char *at = memmem(w->content, w->size, text, key_bytes);
    w->now.values[key].tag = (uint8_t)after;
    soak_begin(w->history, &w->now);
    write_at(w, &after, 1, at - w->content + (off_t)key_bytes);
    soak_end(w->history);
    compose(w);
}

static void delete_file(writer *w)
{
    drop_all(w);
    atomic_fetch_add(&w->history->deletions, 1);
    soak_begin(w->history, &w->now);
    if (unlink(w->path) != 0)
        fail(w, "unlink");
    soak_end(w->history);
    w->exists = false;
}

static void change(writer *w)
{
    unsigned choice = below(w, 16);
    atomic_fetch_add(&w->model->counts.changes, 1);
    if (!w->exists) {
        add_records(w, 20);
        write_anew(w);
    } else if (choice < 9) {
        /* A file that is full gives room. */
        if (w->count + 4 > SOAK_KEYS)
            cut_off(w);
        else
            append(w);
    } else if (choice < 10) {
        replace(w);
    } else if (choice < 11) {
        rewrite(w);
    } else if (choice < 13) {
        cut_off(w);
    } else if (choice < 15) {
        overwrite(w);
    } else {
        delete_file(w);
    }
}

void soak_write(soak_model *model, unsigned file, uint64_t seed)
{
    writer w = {.model = model,
                .history = &model->files[file],
                .file = file,
                .path = model->paths[file],
                .random = {seed},
                .next_number = 1};
    w.content = malloc(PADDING_BYTES + (SOAK_KEYS + 2) * SOAK_RECORD_BYTES);
    if (w.content == NULL)
        abort();
    while (!atomic_load(&model->is_over)) {
        /* Sometimes long enough for an update to catch up. */
        usleep(below(&w, 8) == 0 ? below(&w, 400000) : below(&w, 20000));
        change(&w);
    }
    free(w.content);
}
