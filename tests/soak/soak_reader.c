/* SPDX-License-Identifier: MIT */
/* Asks an index for keys whose files change meanwhile, and judges. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <keysieve/keysieve.h>

#include "soak_model.h"

enum { MOST_KEYS = 24 };

/* An open index, which is what a build has committed at that time or later. */
typedef struct view {
    soak_model *model;
    ksv_index *index; /* NULL: it could not be opened */
    /* The deletions of each file that the index had then; else none's. */
    uint64_t known[SOAK_FILES];
} view;

/* One call and its answers. */
typedef struct question {
    soak_model *model;
    size_t count;
    unsigned files[MOST_KEYS];
    unsigned numbers[MOST_KEYS];
    char texts[MOST_KEYS][16];
    ksv_key keys[MOST_KEYS];
    uint64_t since[MOST_KEYS];
    bool is_known[MOST_KEYS]; /* the index has the file */
    size_t answered;
    bool was_found; /* the last one that was answered */
} question;

static void open_view(view *v, soak_model *model)
{
    v->model = model;
    for (unsigned i = 0; i < SOAK_FILES; i++) {
        const soak_history *history = &model->files[i];
        v->known[i] = atomic_load(&history->known);
    }
    ksv_error error;
    ksv_status status = ksv_index_open(model->index, NULL, &v->index, &error);
    if (status == KSV_OK)
        return;
    v->index = NULL;
    soak_complain(model, "open: %s: %s", error.path, error.text);
}

static void take_moment(question *q, size_t i, const view *v)
{
    unsigned file = q->files[i];
    const soak_history *history = &q->model->files[file];
    q->since[i] = atomic_load(&history->done);
    q->is_known[i] = v->known[file] == atomic_load(&history->deletions);
}

static void make_question(question *q, const view *v, random_source *random)
{
    q->model = v->model;
    q->answered = 0;
    q->was_found = false;
    q->count = random_below(random, 3) == 0
                   ? 1 + (size_t)random_below(random, MOST_KEYS)
                   : 1;
    for (size_t i = 0; i < q->count; i++) {
        q->files[i] = (unsigned)random_below(random, SOAK_FILES);
        q->numbers[i] = (unsigned)random_below(random, SOAK_KEYS);
        q->keys[i].bytes = soak_key(q->files[i], q->numbers[i], q->texts[i]);
        q->keys[i].data = q->texts[i];
        take_moment(q, i, v);
    }
}

static void judge(question *q, size_t i, const char *record, size_t length)
{
    soak_counts *counts = &q->model->counts;
    if (record == NULL && !q->is_known[i]) {
        atomic_fetch_add(&counts->passed_over, 1);
        return;
    }
    atomic_fetch_add(record != NULL ? &counts->found : &counts->not_found, 1);
    switch (soak_judge(q->model, q->files[i], q->numbers[i], q->since[i],
                       record, length)) {
    case SOAK_RIGHT:
        return;
    case SOAK_UNKNOWN:
        atomic_fetch_add(&counts->passed_over, 1);
        return;
    case SOAK_WRONG:
        soak_complain(q->model, "key %s, version %llu: %.*s", q->texts[i],
                      (unsigned long long)q->since[i],
                      record != NULL ? (int)length : 9,
                      record != NULL ? record : "not found");
    }
}

static bool take_answer(void *ctx, size_t i, const ksv_record *record)
{
    question *q = ctx;
    if (q->was_found && record != NULL && i + 1 == q->answered)
        soak_complain(q->model, "key %s has two records", q->texts[i]);
    q->answered = i + 1;
    q->was_found = record != NULL;
    if (record == NULL)
        judge(q, i, NULL, 0);
    else
        judge(q, i, record->data, (size_t)record->length);
    return true;
}

static void ask(ksv_index *index, question *q)
{
    ksv_error error = {.status = KSV_OK};
    ksv_status status = ksv_get(index, q->keys, q->count, NULL, take_answer, q,
                                NULL, NULL, &error);
    if (status == KSV_ERROR_STALE)
        atomic_fetch_add(&q->model->counts.stale, 1);
    else if (status != KSV_OK)
        soak_complain(q->model, "%s: %s: %s", ksv_status_text(status),
                      error.path, error.text);
    else if (q->answered != q->count)
        soak_complain(q->model, "not all keys were answered");
}

enum { CALLS_A_HANDLE = 300 };

void soak_read(soak_model *model, uint64_t seed)
{
    random_source random = {seed};
    while (!atomic_load(&model->is_over)) {
        view v;
        open_view(&v, model);
        for (int i = 0; i < CALLS_A_HANDLE && v.index != NULL; i++) {
            question q;
            make_question(&q, &v, &random);
            ask(v.index, &q);
            usleep(500);
        }
        ksv_index_close(v.index);
    }
}

void soak_read_anew(soak_model *model, uint64_t seed)
{
    random_source random = {seed};
    while (!atomic_load(&model->is_over)) {
        question q;
        view v;
        open_view(&v, model);
        make_question(&q, &v, &random);
        if (v.index != NULL)
            ask(v.index, &q);
        ksv_index_close(v.index);
        usleep(500);
    }
}

void soak_check_all(soak_model *model)
{
    uint64_t stale = atomic_load(&model->counts.stale);
    view v;
    open_view(&v, model);
    for (unsigned file = 0; v.index != NULL && file < SOAK_FILES; file++)
        for (unsigned key = 0; key < SOAK_KEYS; key++) {
            question q = {.model = model, .count = 1};
            q.files[0] = file;
            q.numbers[0] = key;
            q.keys[0].bytes = soak_key(file, key, q.texts[0]);
            q.keys[0].data = q.texts[0];
            take_moment(&q, 0, &v);
            q.is_known[0] = true;
            ask(v.index, &q);
        }
    ksv_index_close(v.index);
    if (atomic_load(&model->counts.stale) != stale)
        soak_complain(model, "stale although nothing changes");
}
