/* SPDX-License-Identifier: MIT */
/* keysieve filter test: which keys may be in a filter. */
#include <stdlib.h>

#include "byte_buffer.h"
#include "filter_arguments.h"
#include "filter_commands.h"
#include "filter_keys.h"
#include "huge_memory.h"
#include "message.h"

static const cli_option OPTIONS[] = {
    {'v', "invert", NULL, "print the keys that surely are not there"},
    {'0', "null", NULL, "keys, also those printed, end with NUL, not LF"},
    {CLI_QUIET, "quiet", NULL, "print nothing: the exit status tells"},
    {0},
};

typedef struct key_test {
    command_line *cli;
    const filter_request *request;
    ksv_filter *filter;
    filter_keys keys;
    bool *answers;
    size_t capacity;
    bool some_absent;
} key_test;

static void print_batch(key_test *t)
{
    char end = t->request->nul_ended ? '\0' : '\n';
    for (size_t i = 0; i < t->keys.list.count; i++) {
        t->some_absent |= !t->answers[i];
        if (t->cli->is_quiet || t->answers[i] == t->request->invert)
            continue;
        output_add(t->cli->out, t->keys.list.words[i].data,
                   t->keys.list.words[i].bytes);
        output_add_byte(t->cli->out, end);
    }
}

/* Errors of a file that was opened before may not name it. */
static void tell_error(const char *path, const ksv_error *error)
{
    if (error->path[0] == '\0')
        message_text("%s: %s", path, error->text);
    else
        message_error(error, NULL);
}

static bool test_batch(key_test *t)
{
    ksv_error error = {.byte_offset = KSV_NO_OFFSET};
    size_t count = t->keys.list.count;
    if (count > t->capacity) {
        t->capacity = count;
        t->answers =
            resize_memory(t->answers, t->capacity, sizeof t->answers[0]);
    }
    if (ksv_filter_may_contain_batch(t->filter, t->keys.hashes, count,
                                     t->answers, &error) != KSV_OK) {
        output_flush(t->cli->out);
        tell_error(t->cli->arguments[0], &error);
        return false;
    }
    print_batch(t);
    return output_is_good(t->cli->out);
}

static int test_keys(key_test *t)
{
    while (filter_keys_next(&t->keys)) {
        if (t->keys.list.count == 0)
            return t->some_absent ? 1 : 0;
        if (!test_batch(t))
            return 2;
        if (t->keys.list.is_waiting)
            output_flush(t->cli->out);
    }
    return 2;
}

static int test_opened(key_test *t)
{
    ksv_filter_info info;
    ksv_filter_get_info(t->filter, &info);
    if (!filter_keys_open(&t->keys, t->cli, 1, t->request->nul_ended,
                          &info.options.hasher))
        return t->cli->status;
    int status = test_keys(t);
    filter_keys_close(&t->keys);
    free(t->answers);
    return status;
}

static int test_file(key_test *t, const char *path)
{
    const ksv_file_system *fs = ksv_posix_file_system();
    ksv_error error = {.byte_offset = KSV_NO_OFFSET};
    ksv_file *file;
    if (fs->open_read(fs->ctx, path, &file, &error) != KSV_OK) {
        message_error(&error, NULL);
        return 2;
    }
    int status = 2;
    if (ksv_filter_open(file, huge_memory_allocator(), &t->filter, &error) ==
        KSV_OK) {
        status = test_opened(t);
        ksv_filter_close(t->filter);
    } else {
        tell_error(path, &error);
    }
    return file->ops->close(file, NULL) == KSV_OK ? status : 2;
}

static int run(command_line *cli)
{
    filter_request request;
    if (!filter_take_options(cli, &request) || !filter_check_file(cli))
        return cli->status;
    key_test t = {.cli = cli, .request = &request};
    return test_file(&t, cli->arguments[0]);
}

const cli_verb FILTER_TEST = {
    .name = "filter test",
    .usage = "[options] F [FILE]",
    .summary = "Print those keys of FILE (or standard input), one a line, that "
               "may be in F.",
    .options = OPTIONS,
    .notes = "Exit status: 0 all keys may be there, 1 some surely are not, "
             "2 error.\n"
             "Example: keysieve filter test -v blocked.ksf visitors.txt",
    .run = run,
};
