/* SPDX-License-Identifier: MIT */
/* A directory with small data files and an index over them. */
#include "support/index_fixture.h"

#include <stdio.h>
#include <string.h>

#include "support/index_tools.h"

static const char *const KEY = "id";

void index_fixture_make(index_fixture *f)
{
    memset(f, 0, sizeof *f);
    temp_dir_make(&f->dir);
    temp_dir_path(&f->dir, "ix", f->directory);
    for (size_t i = 0; i < INDEX_FIXTURE_FILES; i++) {
        char name[32];
        snprintf(name, sizeof name, "%zu.csv", i);
        temp_dir_path(&f->dir, name, f->paths[i]);
    }
    index_options_of(KSV_FORMAT_CSV, &KEY, &f->format, &f->options);
}

void index_fixture_remove(index_fixture *f)
{
    temp_dir_remove(&f->dir);
}

void index_fixture_write(index_fixture *f, size_t number, const char *text)
{
    char name[32];
    snprintf(name, sizeof name, "%zu.csv", number);
    temp_dir_write(&f->dir, name, text, strlen(text));
}

ksv_status index_fixture_build(index_fixture *f, size_t count)
{
    const char *files[INDEX_FIXTURE_FILES];
    for (size_t i = 0; i < count; i++)
        files[i] = f->paths[i];
    return ksv_build(f->directory, files, count, &f->options, &f->report,
                     &f->error);
}

static char answer[65536];

static bool add_record(void *ctx, size_t key_number, const ksv_record *record)
{
    (void)ctx;
    (void)key_number;
    if (record == NULL)
        return true;
    strncat(answer, record->data,
            record->length < 1000 ? (size_t)record->length : 1000);
    strcat(answer, "\n");
    return true;
}

const char *index_fixture_get(index_fixture *f, const char *key)
{
    answer[0] = '\0';
    ksv_index *index;
    ksv_status status = ksv_index_open(f->directory, NULL, &index, &f->error);
    if (status == KSV_OK) {
        ksv_key asked = {key, strlen(key)};
        status = ksv_get(index, &asked, 1, NULL, add_record, NULL, NULL, NULL,
                         &f->error);
        ksv_index_close(index);
    }
    if (status != KSV_OK)
        snprintf(answer, sizeof answer, "? %s", ksv_status_text(status));
    return answer;
}
