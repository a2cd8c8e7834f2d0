/* SPDX-License-Identifier: MIT */
/* Compares ranges of keys of an index with the model of its data. */
#include "support/range_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char message[1024];

typedef struct range_checker {
    ksv_index *index;
    data_set *set;
    random_source random;
    char texts[3][64];
    ksv_range range;
    ksv_range_options options;
    const key_entry **expected; /* of the range, in the order asked for */
    size_t expected_count;
    size_t next;
    const char *wrong;
} range_checker;

static bool wrong(range_checker *c, const char *what)
{
    snprintf(message, sizeof message,
             "range '%.*s' '%.*s'..'%.*s'%s%s%s, entry %zu of %zu: %s",
             (int)c->range.prefix.bytes, (const char *)c->range.prefix.data,
             (int)c->range.from.bytes,
             c->range.from.data != NULL ? (const char *)c->range.from.data : "",
             (int)c->range.to.bytes,
             c->range.to.data != NULL ? (const char *)c->range.to.data : "",
             c->options.reverse ? " reverse" : "",
             c->options.linear_scan ? " scan" : "",
             c->options.first_only ? " first" : "", c->next, c->expected_count,
             what);
    c->wrong = message;
    return false;
}

static int compare(const key_entry *entry, ksv_key key)
{
    size_t both = entry->key_bytes < key.bytes ? entry->key_bytes : key.bytes;
    int order = memcmp(entry->key, key.data, both);
    if (order != 0)
        return order;
    return (entry->key_bytes > key.bytes) - (entry->key_bytes < key.bytes);
}

static bool is_meant(const range_checker *c, const key_entry *entry)
{
    const ksv_range *r = &c->range;
    return entry->key_bytes >= r->prefix.bytes &&
           memcmp(entry->key, r->prefix.data, r->prefix.bytes) == 0 &&
           (r->from.data == NULL || compare(entry, r->from) >= 0) &&
           (r->to.data == NULL || compare(entry, r->to) <= 0);
}

static bool same_key(const key_entry *a, const key_entry *b)
{
    return compare(a, (ksv_key){b->key, b->key_bytes}) == 0;
}

static void turn_round(range_checker *c)
{
    for (size_t i = 0; i < c->expected_count / 2; i++) {
        const key_entry *entry = c->expected[i];
        c->expected[i] = c->expected[c->expected_count - 1 - i];
        c->expected[c->expected_count - 1 - i] = entry;
    }
}

static void expect(range_checker *c)
{
    c->expected_count = 0;
    c->next = 0;
    for (size_t i = 0; i < c->set->model.count; i++) {
        const key_entry *entry = key_model_entry(&c->set->model, i);
        bool again = c->expected_count > 0 &&
                     same_key(entry, c->expected[c->expected_count - 1]);
        if (is_meant(c, entry) && !(c->options.first_only && again))
            c->expected[c->expected_count++] = entry;
    }
    if (c->options.reverse)
        turn_round(c);
    if (c->options.limit > 0 && c->expected_count > c->options.limit)
        c->expected_count = (size_t)c->options.limit;
}

static ksv_key choose_key(range_checker *c, size_t text, bool shorter)
{
    char *to = c->texts[text];
    uint64_t number = random_below(&c->random, 2 * c->set->key_space);
    size_t length = data_set_key(c->set, number, to);
    if (shorter)
        length = random_below(&c->random, length + 1);
    return (ksv_key){to, length};
}

static void choose_range(range_checker *c)
{
    memset(&c->range, 0, sizeof c->range);
    c->range.prefix.data = "";
    uint64_t kind = random_below(&c->random, 4);
    if (kind == 0 || kind == 3)
        c->range.prefix = choose_key(c, 0, true);
    if (kind >= 1 && random_below(&c->random, 4) > 0)
        c->range.from = choose_key(c, 1, random_below(&c->random, 2) == 0);
    if (kind >= 1 && random_below(&c->random, 4) > 0)
        c->range.to = choose_key(c, 2, random_below(&c->random, 2) == 0);
    c->options =
        (ksv_range_options){.reverse = random_below(&c->random, 2) == 0,
                            .first_only = random_below(&c->random, 4) == 0,
                            .index_only = random_below(&c->random, 4) == 0,
                            .limit = random_below(&c->random, 3) == 0
                                         ? 1 + random_below(&c->random, 20)
                                         : 0};
}

static bool has_place(const range_checker *c, const key_entry *entry,
                      const char *file, uint64_t offset)
{
    return strcmp(file, c->set->paths[entry->place.file]) == 0 &&
           offset == entry->place.offset;
}

static bool check_record(void *ctx, size_t key_number, const ksv_record *record)
{
    range_checker *c = ctx;
    (void)key_number;
    if (c->next == c->expected_count)
        return wrong(c, "a record too many");
    const key_entry *entry = c->expected[c->next++];
    const key_place *place = &entry->place;
    if (compare(entry, (ksv_key){record->key, record->key_bytes}) != 0)
        return wrong(c, "another key");
    if (!has_place(c, entry, record->file, record->offset))
        return wrong(c, "another place");
    if (c->options.index_only)
        return true;
    const char *bytes = c->set->contents[place->file] + place->offset;
    if (record->length != place->length || record->data == NULL ||
        memcmp(record->data, bytes, place->length) != 0)
        return wrong(c, "other bytes");
    return true;
}

static void ask(range_checker *c)
{
    ksv_error error;
    expect(c);
    ksv_status status = ksv_get_range(c->index, &c->range, &c->options,
                                      check_record, c, NULL, &error);
    if (c->wrong == NULL && status != KSV_OK)
        wrong(c, error.text);
    else if (c->wrong == NULL && c->next != c->expected_count)
        wrong(c, "a record too few");
}

/* The entry that a step to either side has to tell; NULL at the ends. */
static const key_entry *expect_step(range_checker *c, bool forward)
{
    if (forward)
        return c->next < c->expected_count ? c->expected[c->next++] : NULL;
    return c->next > 0 ? c->expected[--c->next] : NULL;
}

static bool step(range_checker *c, ksv_iterator *it, bool forward)
{
    ksv_entry entry;
    ksv_error error;
    bool end;
    const key_entry *due = expect_step(c, forward);
    ksv_status status = forward
                            ? ksv_iterator_next(it, &entry, &end, &error)
                            : ksv_iterator_previous(it, &entry, &end, &error);
    if (status != KSV_OK)
        return wrong(c, error.text);
    if (end != (due == NULL))
        return wrong(c, "an iterator ends elsewhere");
    if (end)
        return true;
    if (compare(due, (ksv_key){entry.key, entry.key_bytes}) != 0 ||
        !has_place(c, due, entry.file, entry.offset))
        return wrong(c, "an iterator tells another entry");
    return true;
}

static bool seek(range_checker *c, ksv_iterator *it)
{
    ksv_error error;
    if (random_below(&c->random, 4) == 0) {
        c->next = c->expected_count;
        return ksv_iterator_seek_end(it, &error) == KSV_OK ||
               wrong(c, error.text);
    }
    char text[64];
    uint64_t number = random_below(&c->random, 2 * c->set->key_space);
    size_t length = data_set_key(c->set, number, text);
    ksv_key key = {text, random_below(&c->random, length + 1)};
    for (c->next = 0; c->next < c->expected_count; c->next++)
        if (compare(c->expected[c->next], key) >= 0)
            break;
    return ksv_iterator_seek(it, key.data, key.bytes, &error) == KSV_OK ||
           wrong(c, error.text);
}

static void wander(range_checker *c)
{
    ksv_iterator *it;
    ksv_error error;
    c->options = (ksv_range_options){.reverse = false};
    expect(c);
    if (ksv_iterator_open(c->index, &c->range, &it, &error) != KSV_OK) {
        wrong(c, error.text);
        return;
    }
    bool forward = true;
    for (size_t i = 0; i < 100 && c->wrong == NULL; i++) {
        if (random_below(&c->random, 12) == 0)
            seek(c, it);
        if (random_below(&c->random, 4) == 0)
            forward = !forward;
        if (c->wrong == NULL)
            step(c, it, forward);
    }
    ksv_iterator_close(it);
}

const char *range_check_all(ksv_index *index, data_set *set, size_t rounds,
                            bool linear, uint64_t seed)
{
    range_checker c = {.index = index, .set = set, .random = {seed}};
    c.expected = calloc(set->model.count + 1, sizeof *c.expected);
    for (size_t i = 0; i < rounds && c.wrong == NULL; i++) {
        choose_range(&c);
        ask(&c);
        if (c.wrong == NULL && linear) {
            c.options.linear_scan = true;
            ask(&c);
        }
        if (c.wrong == NULL)
            wander(&c);
    }
    free(c.expected);
    return c.wrong;
}
