/* SPDX-License-Identifier: MIT */
/* The command line: options and arguments of a verb, in any order. */
#include "cli.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "byte_buffer.h"
#include "message.h"

static const char DEFAULT_INDEX[] = ".keysieve";

void cli_open(command_line *cli, const cli_verb *verb, int word_count,
              char **words, output *out)
{
    *cli = (struct command_line){
        .verb = verb, .out = out, .words = words, .word_count = word_count};
    const char *index = getenv("KEYSIEVE_INDEX");
    if (index == NULL || index[0] == '\0')
        index = DEFAULT_INDEX;
    cli->index_directory = index;
}

void cli_close(command_line *cli)
{
    free(cli->arguments);
}

bool cli_fail(command_line *cli, const char *format, ...)
{
    char text[4096];
    char hint[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    snprintf(hint, sizeof hint, "See 'keysieve %s --help'.", cli->verb->name);
    message_hint(hint, "%s", text);
    cli->status = 2;
    return false;
}

bool cli_refuse_arguments(command_line *cli)
{
    if (cli->argument_count == 0)
        return true;
    return cli_fail(cli, "%s takes no argument, but '%s' was given",
                    cli->verb->name, cli->arguments[0]);
}

static int stop(command_line *cli, int status)
{
    cli->status = status;
    return CLI_STOP;
}

static int fail_unknown(command_line *cli, const char *word, size_t length)
{
    char hint[512];
    const char *more = cli->verb->hint;
    snprintf(hint, sizeof hint, "See 'keysieve %s --help'.%s%s",
             cli->verb->name, more != NULL ? " " : "",
             more != NULL ? more : "");
    message_hint(hint, "unknown option %.*s", (int)length, word);
    return stop(cli, 2);
}

static const cli_option *find_letter(const command_line *cli, char letter)
{
    for (const cli_option *o = cli->verb->options; o->name != NULL; o++) {
        if (o->id == (unsigned char)letter)
            return o;
    }
    return NULL;
}

static const cli_option *find_name(const command_line *cli, const char *name,
                                   size_t length)
{
    for (const cli_option *o = cli->verb->options; o->name != NULL; o++) {
        if (strlen(o->name) == length && memcmp(o->name, name, length) == 0)
            return o;
    }
    return NULL;
}

/* Takes the options that mean the same everywhere. */
static int take(command_line *cli, const cli_option *option, const char *value)
{
    if (option->id == CLI_INDEX) {
        if (value[0] == '\0') {
            cli_fail(cli, "option --index needs the name of a directory");
            return CLI_STOP;
        }
        cli->index_directory = value;
        cli->index_hint = strcmp(value, DEFAULT_INDEX) != 0 ? value : NULL;
        if (getenv("KEYSIEVE_INDEX") != NULL)
            cli->index_hint = value;
    } else if (option->id == CLI_QUIET) {
        cli->is_quiet = true;
    }
    return option->id;
}

static int fail_argument(command_line *cli, const cli_option *option)
{
    cli_fail(cli, "option --%s needs an argument: %s", option->name,
             option->argument);
    return CLI_STOP;
}

static bool is_number(const char *word)
{
    return word[0] != '\0' && word[strspn(word, "0123456789")] == '\0';
}

/* The word after an option as its argument. False when there has to be one. */
static bool next_argument(command_line *cli, const cli_option *option,
                          const char **value)
{
    bool at_end = cli->next == cli->word_count;
    bool optional = option->argument[0] == '[';
    *value = NULL;
    if (!at_end && (!optional || is_number(cli->words[cli->next])))
        *value = cli->words[cli->next++];
    return *value != NULL || optional;
}

static int take_long(command_line *cli, const char *word, const char **value)
{
    const char *name = word + 2;
    const char *equals = strchr(name, '=');
    size_t length = equals != NULL ? (size_t)(equals - name) : strlen(name);
    if (equals == NULL && strcmp(name, "help") == 0) {
        cli_print_help(cli->verb, cli->out);
        return stop(cli, 0);
    }
    const cli_option *option = find_name(cli, name, length);
    if (option == NULL)
        return fail_unknown(cli, word, length + 2);
    if (option->argument == NULL && equals != NULL) {
        cli_fail(cli, "option --%s takes no argument", option->name);
        return CLI_STOP;
    }
    *value = equals != NULL ? equals + 1 : NULL;
    if (option->argument != NULL && equals == NULL &&
        !next_argument(cli, option, value))
        return fail_argument(cli, option);
    return take(cli, option, *value);
}

static int take_letter(command_line *cli, const char **value)
{
    char letter = *cli->cluster++;
    const char *rest = cli->cluster;
    if (*rest == '\0')
        cli->cluster = NULL;
    const cli_option *option = find_letter(cli, letter);
    if (option == NULL && letter == CLI_HELP) {
        cli_print_help(cli->verb, cli->out);
        return stop(cli, 0);
    }
    if (option == NULL) {
        char word[] = {'-', letter};
        return fail_unknown(cli, word, sizeof word);
    }
    *value = NULL;
    if (option->argument != NULL) {
        cli->cluster = NULL;
        if (*rest != '\0')
            *value = rest;
        else if (!next_argument(cli, option, value))
            return fail_argument(cli, option);
    }
    return take(cli, option, *value);
}

static int take_argument(command_line *cli, const char *word)
{
    if (cli->arguments == NULL)
        cli->arguments = resize_memory(NULL, (size_t)cli->word_count,
                                       sizeof cli->arguments[0]);
    cli->arguments[cli->argument_count++] = word;
    return CLI_ARGUMENT;
}

int cli_next(command_line *cli, const char **value)
{
    *value = NULL;
    if (cli->cluster != NULL)
        return take_letter(cli, value);
    if (cli->next == cli->word_count)
        return CLI_END;
    const char *word = cli->words[cli->next++];
    if (cli->only_arguments || word[0] != '-' || word[1] == '\0')
        return take_argument(cli, word);
    if (word[1] != '-') {
        cli->cluster = word + 1;
        return take_letter(cli, value);
    }
    if (word[2] != '\0')
        return take_long(cli, word, value);
    cli->only_arguments = true;
    return cli_next(cli, value);
}

/* Digits alone: no sign, no blanks. `*end` is what follows them. */
static bool read_digits(const char *value, uint64_t *number, const char **end)
{
    uint64_t sum = 0;
    const char *c = value;
    for (; *c >= '0' && *c <= '9'; c++) {
        unsigned digit = (unsigned)(*c - '0');
        if (sum > (UINT64_MAX - digit) / 10)
            return false;
        sum = sum * 10 + digit;
    }
    *number = sum;
    *end = c;
    return c != value;
}

bool cli_parse_number(command_line *cli, const char *option, const char *value,
                      uint64_t least, uint64_t most, uint64_t *number)
{
    const char *end;
    if (read_digits(value, number, &end) && *end == '\0' && *number >= least &&
        *number <= most)
        return true;
    return cli_fail(cli, "%s needs a whole number from %llu to %llu, not '%s'",
                    option, (unsigned long long)least, (unsigned long long)most,
                    value);
}

/* Digits, "e", and one or two digits that say how many zeros follow. */
static bool read_power_of_ten(const char *value, uint64_t *number)
{
    const char *end;
    uint64_t zeros;
    if (!read_digits(value, number, &end) || (*end != 'e' && *end != 'E') ||
        strlen(end + 1) > 2 || !read_digits(end + 1, &zeros, &end) ||
        *end != '\0')
        return false;
    for (; zeros > 0 && *number > 0; zeros--) {
        if (*number > UINT64_MAX / 10)
            return false;
        *number *= 10;
    }
    return true;
}

bool cli_parse_count(command_line *cli, const char *option, const char *value,
                     uint64_t least, uint64_t most, uint64_t *number)
{
    if (read_power_of_ten(value, number) && *number >= least && *number <= most)
        return true;
    return cli_parse_number(cli, option, value, least, most, number);
}

bool cli_parse_size(command_line *cli, const char *option, const char *value,
                    uint64_t *bytes)
{
    static const char units[] = "KMGT";
    const char *end;
    unsigned shift = 0;
    bool good = read_digits(value, bytes, &end) && *bytes > 0;
    if (good && *end != '\0') {
        char upper =
            *end >= 'a' && *end <= 'z' ? (char)(*end - 'a' + 'A') : *end;
        const char *unit = strchr(units, upper);
        good = unit != NULL && end[1] == '\0';
        shift = good ? 10 * (unsigned)(unit - units + 1) : 0;
    }
    if (good && *bytes <= UINT64_MAX >> shift) {
        *bytes <<= shift;
        return true;
    }
    return cli_fail(cli,
                    "%s needs a size such as 64M (K, M, G or T behind a "
                    "whole number), not '%s'",
                    option, value);
}

bool cli_parse_rate(command_line *cli, const char *option, const char *value,
                    double *rate)
{
    char *end = NULL;
    bool good =
        value[0] != '\0' && strspn(value, "0123456789.eE+-") == strlen(value);
    if (good)
        *rate = strtod(value, &end);
    if (good && *end == '\0' && *rate > 0 && *rate < 1)
        return true;
    return cli_fail(cli,
                    "%s needs a false-positive rate above 0 and below 1, such "
                    "as 0.01, not '%s'",
                    option, value);
}

bool cli_parse_choice(command_line *cli, const char *option, const char *value,
                      const char *names, int *choice)
{
    size_t length = strlen(value);
    const char *name = names;
    for (int i = 0;; i++) {
        size_t name_length = strcspn(name, ",");
        if (name_length == length && memcmp(name, value, length) == 0) {
            *choice = i;
            return true;
        }
        if (name[name_length] == '\0')
            break;
        name += name_length + 1;
    }
    return cli_fail(cli, "%s is one of %s, not '%s'", option, names, value);
}

bool cli_parse_switch(command_line *cli, const char *option, const char *value,
                      const char *names, bool *is_second)
{
    int choice;
    if (!cli_parse_choice(cli, option, value, names, &choice))
        return false;
    *is_second = choice == 1;
    return true;
}

bool cli_parse_hash(command_line *cli, const char *value, ksv_hash_kind *hash)
{
    bool is_siphash;
    if (!cli_parse_switch(cli, "--hash", value, "xxh3,siphash", &is_siphash))
        return false;
    *hash = is_siphash ? KSV_HASH_SIPHASH : KSV_HASH_XXH3;
    return true;
}
