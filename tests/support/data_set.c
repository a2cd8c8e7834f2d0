/* SPDX-License-Identifier: MIT */
/* Random data files whose records a test knows. */
#include "support/data_set.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A growing text; ends the program when memory is out. */
typedef struct text {
    char *bytes;
    size_t size;
    size_t capacity;
} text;

static void add(text *t, const void *bytes, size_t size)
{
    if (t->size + size > t->capacity) {
        t->capacity = 2 * t->capacity + size + 4096;
        t->bytes = realloc(t->bytes, t->capacity);
        if (t->bytes == NULL)
            abort();
    }
    memcpy(t->bytes + t->size, bytes, size);
    t->size += size;
}

static void add_string(text *t, const char *string)
{
    add(t, string, strlen(string));
}

void data_set_make(data_set *set, ksv_format format, uint64_t key_space)
{
    memset(set, 0, sizeof *set);
    set->format = format;
    set->key_space = key_space;
    temp_dir_make(&set->dir);
    for (size_t i = 0; i < DATA_SET_FILES; i++) {
        char name[32];
        snprintf(name, sizeof name, "%zu.csv", i);
        temp_dir_path(&set->dir, name, set->paths[i]);
    }
}

void data_set_remove(data_set *set)
{
    for (size_t i = 0; i < DATA_SET_FILES; i++)
        free(set->contents[i]);
    for (size_t i = 0; i < DATA_SET_FILES; i++)
        gzip_bytes_release(&set->packed[i]);
    key_model_release(&set->model);
    temp_dir_remove(&set->dir);
}

size_t data_set_key(const data_set *set, uint64_t number, char key[64])
{
    /* Some keys need quotes in a csv file. */
    bool quoted = set->format == KSV_FORMAT_CSV && number % 5 == 0;
    const char *form = quoted ? "k,\"%llu\"\nx" : "key %llu";
    if (set->in_order)
        form = quoted ? "key %08llu,\"\n" : "key %08llu";
    return (size_t)snprintf(key, 64, form, (unsigned long long)number);
}

static void add_quoted(text *t, const char *key)
{
    add_string(t, "\"");
    for (const char *c = key; *c != '\0'; c++) {
        if (*c == '"')
            add_string(t, "\"");
        add(t, c, 1);
    }
    add_string(t, "\"");
}

static void add_filler(text *t, random_source *random)
{
    uint64_t length = random_below(random, 50);
    if (random_below(random, 300) == 0)
        length = random_below(random, 20000);
    for (uint64_t i = 0; i < length; i++) {
        char c = (char)('a' + random_below(random, 26));
        add(t, &c, 1);
    }
}

static uint64_t choose_key(data_set *set, size_t number, random_source *random)
{
    if (!set->in_order)
        return random_below(random, set->key_space);
    uint64_t *last = &set->last_keys[number];
    bool is_last = *last + 1 == set->key_space;
    /* Of some keys there are more than a span holds. */
    bool comes_often = *last % 3000 == 7 && random_below(random, 900) != 0;
    if (!is_last && !comes_often && random_below(random, 3) != 0)
        ++*last;
    return *last;
}

static void add_record(data_set *set, text *t, size_t number,
                       random_source *random)
{
    char key[64];
    size_t key_bytes = data_set_key(set, choose_key(set, number, random), key);
    size_t offset = t->size;
    const char *end = random_below(random, 4) == 0 ? "\r\n" : "\n";
    if (set->format == KSV_FORMAT_LINES) {
        add(t, key, key_bytes);
    } else {
        add_filler(t, random);
        add_string(t, set->format == KSV_FORMAT_CSV ? "," : "\t");
        if (set->format == KSV_FORMAT_CSV && strpbrk(key, ",\"\n") != NULL)
            add_quoted(t, key);
        else
            add(t, key, key_bytes);
        if (random_below(random, 2) == 0) {
            add_string(t, set->format == KSV_FORMAT_CSV ? "," : "\t");
            add_filler(t, random);
        }
    }
    key_model_add(&set->model, key, key_bytes,
                  (key_place){(uint32_t)number, offset, t->size - offset});
    add_string(t, end);
}

/* The content, from what was written before on, as another member. */
static void pack(data_set *set, size_t number, text *t, size_t before)
{
    const gzip_how how = gzip_how_usual();
    gzip_bytes *packed = &set->packed[number];
    if (before == 0)
        packed->size = 0;
    gzip_member_add(packed, t->bytes + before, t->size - before, &how, NULL, 0);
}

/* Of the content, the first `before` bytes are there already. */
static void save(data_set *set, size_t number, text t, size_t before)
{
    const void *bytes = t.bytes;
    size_t size = t.size;
    if (set->is_gzip[number]) {
        pack(set, number, &t, before);
        bytes = set->packed[number].data;
        size = set->packed[number].size;
    }
    FILE *f = fopen(set->paths[number], "r+b");
    if (f == NULL)
        f = fopen(set->paths[number], "wb");
    if (f == NULL || ftruncate(fileno(f), 0) != 0 ||
        fwrite(bytes, 1, size, f) != size || fclose(f) != 0)
        abort();
    set->contents[number] = t.bytes;
    set->sizes[number] = t.size;
    if (set->file_count <= number)
        set->file_count = number + 1;
}

void data_set_append(data_set *set, size_t number, size_t records,
                     random_source *random)
{
    text t = {set->contents[number], set->sizes[number], set->sizes[number]};
    for (size_t i = 0; i < records; i++)
        add_record(set, &t, number, random);
    save(set, number, t, set->sizes[number]);
}

void data_set_write(data_set *set, size_t number, size_t records,
                    random_source *random)
{
    text t = {NULL, 0, 0};
    key_model_drop_file(&set->model, (uint32_t)number);
    set->last_keys[number] = 0;
    if (set->format == KSV_FORMAT_CSV)
        add_string(&t, "filler,id,more\n");
    if (set->format == KSV_FORMAT_TSV)
        add_string(&t, "filler\tid\tmore\n");
    for (size_t i = 0; i < records; i++)
        add_record(set, &t, number, random);
    free(set->contents[number]);
    save(set, number, t, 0);
}

void data_set_drop(data_set *set, size_t number)
{
    key_model_drop_file(&set->model, (uint32_t)number);
    if (unlink(set->paths[number]) != 0)
        abort();
    free(set->contents[number]);
    set->contents[number] = NULL;
}

void data_set_format(const data_set *set, ksv_format_options *options)
{
    static const char *const column = "id";
    ksv_format_options_init(options);
    options->format = set->format;
    if (set->format == KSV_FORMAT_LINES)
        return;
    options->keys = &column;
    options->key_count = 1;
}
