/* SPDX-License-Identifier: MIT */
/* Compares an index with the model of its data. */
#include "support/index_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/range_check.h"

static char message[1024];

typedef struct checked {
    data_set *set;
    const ksv_key *keys;
    size_t next_key;   /* the key whose answer is due */
    size_t next_place; /* of it */
    const char *wrong;
} checked;

static bool wrong(checked *c, const char *what, size_t key)
{
    snprintf(message, sizeof message, "key '%.*s': %s", (int)c->keys[key].bytes,
             (const char *)c->keys[key].data, what);
    c->wrong = message;
    return false;
}

static bool check_record(void *ctx, size_t key, const ksv_record *record)
{
    checked *c = ctx;
    size_t count;
    const key_entry *entries = key_model_find(&c->set->model, c->keys[key].data,
                                              c->keys[key].bytes, &count);
    if (key != c->next_key)
        return wrong(c, "out of turn", key);
    if (record == NULL) {
        c->next_key++;
        return count == 0 || wrong(c, "not found", key);
    }
    if (c->next_place >= count)
        return wrong(c, "a record too many", key);
    const key_place *place = &entries[c->next_place++].place;
    if (c->next_place == count) {
        c->next_key++;
        c->next_place = 0;
    }
    if (strcmp(record->file, c->set->paths[place->file]) != 0 ||
        record->offset != place->offset || record->length != place->length)
        return wrong(c, "another place", key);
    const char *bytes = c->set->contents[place->file] + place->offset;
    if (record->data == NULL || memcmp(record->data, bytes, place->length) != 0)
        return wrong(c, "other bytes", key);
    return true;
}

static const char *check_has(ksv_index *index, checked *c, size_t count)
{
    bool *found = calloc(count, sizeof *found);
    ksv_error error;
    ksv_status status =
        ksv_has(index, c->keys, count, false, found, NULL, NULL, &error);
    for (size_t i = 0; i < count && c->wrong == NULL; i++) {
        size_t places;
        key_model_find(&c->set->model, c->keys[i].data, c->keys[i].bytes,
                       &places);
        if (status == KSV_OK && found[i] != (places > 0))
            wrong(c, "has says otherwise", i);
    }
    free(found);
    return status == KSV_OK ? c->wrong : "has failed";
}

const char *index_check_all(ksv_index *index, data_set *set, bool linear_scan)
{
    size_t count = (size_t)set->key_space * 2;
    char(*texts)[64] = calloc(count, sizeof *texts);
    ksv_key *keys = calloc(count, sizeof *keys);
    for (size_t i = 0; i < count; i++)
        keys[i] = (ksv_key){texts[i], data_set_key(set, i, texts[i])};
    checked c = {.set = set, .keys = keys};
    ksv_lookup_options options = {.linear_scan = linear_scan};
    ksv_error error;
    ksv_status status = ksv_get(index, keys, count, &options, check_record, &c,
                                NULL, NULL, &error);
    if (c.wrong == NULL && status != KSV_OK) {
        snprintf(message, sizeof message, "%.300s: %.600s", error.path,
                 error.text);
        c.wrong = message;
    }
    if (c.wrong == NULL && c.next_key != count)
        c.wrong = "not every key was answered";
    if (c.wrong == NULL)
        check_has(index, &c, count);
    free(keys);
    free(texts);
    return c.wrong;
}

const char *index_check_directory(const char *directory, data_set *set)
{
    ksv_index *index;
    ksv_error error;
    if (ksv_index_open(directory, NULL, &index, &error) != KSV_OK) {
        snprintf(message, sizeof message, "open: %.300s: %.600s", error.path,
                 error.text);
        return message;
    }
    const char *what = index_check_all(index, set, false);
    if (what == NULL)
        what = index_check_all(index, set, true);
    if (what == NULL && ksv_index_organisation(index) != KSV_ORGANISATION_HASH)
        what = range_check_all(index, set, 6, true, set->model.count + 1);
    ksv_index_close(index);
    return what;
}
