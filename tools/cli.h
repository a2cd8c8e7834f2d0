/* SPDX-License-Identifier: MIT */
/* The command line: verbs, their options, their help. */
#ifndef KSV_TOOLS_CLI_H
#define KSV_TOOLS_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <keysieve/hash.h>

#include "output.h"

typedef struct cli_option {
    int id;           /* the letter, or one of the verb's own above 255 */
    const char *name; /* without the dashes */
    /* As help shows it; NULL: takes none. "[N]": may be left out, and a next
     * word that is no number is not it. */
    const char *argument;
    const char *help; /* lines of at most 50 columns, parted by \n; NULL: the
                         help of another verb tells of it */
} cli_option;

/* Options that cli_next() takes itself, and one that every verb has. */
enum { CLI_INDEX = 'i', CLI_QUIET = 'q', CLI_HELP = 'h' };
#define CLI_OPTION_INDEX                                                      \
    {                                                                         \
        CLI_INDEX, "index", "DIR", "default: $KEYSIEVE_INDEX, else .keysieve" \
    }

typedef struct command_line command_line;

typedef struct cli_verb cli_verb;

struct cli_verb {
    const char *name;
    const char *usage; /* lines that follow "keysieve NAME" */
    const char *summary;
    const cli_option *options;     /* ends with an all-zero one */
    const char *notes;             /* examples and the like, or NULL */
    const char *hint;              /* on unknown options, or NULL */
    const cli_verb *const *verbs;  /* of a group of verbs, up to NULL */
    int (*run)(command_line *cli); /* returns the exit status */
};

/* What cli_next() returns beside the id of an option. */
enum {
    CLI_ARGUMENT = -1,
    CLI_END = -2,
    CLI_STOP = -3 /* help or a mistake: return `cli->status` */
};

struct command_line {
    const cli_verb *verb;
    output *out; /* standard output */
    char **words;
    int word_count;
    int next;            /* of words */
    const char *cluster; /* rest of "-abc", or NULL */
    bool only_arguments; /* "--" was seen */
    int status;
    const char *index_directory;
    /* What -i has to say in a command that we tell the user; or NULL. */
    const char *index_hint;
    bool is_quiet;
    const char **arguments; /* collected by CLI_ARGUMENT */
    size_t argument_count;
};

void cli_open(command_line *cli, const cli_verb *verb, int word_count,
              char **words, output *out);
void cli_close(command_line *cli);

/* The next option or argument: an id with `*value` its argument or NULL (also
 * for one that was left out);
 * CLI_ARGUMENT after the argument has been collected; CLI_END; CLI_STOP. */
int cli_next(command_line *cli, const char **value);

/* Says what is wrong with the command line and where its help stands. Returns
 * false; `cli->status` is 2 then. */
bool cli_fail(command_line *cli, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* For verbs without arguments: cli_fail() when there is one. */
bool cli_refuse_arguments(command_line *cli);

/* Parsers of values: false after cli_fail(). `option` as in "--fpr". */
bool cli_parse_number(command_line *cli, const char *option, const char *value,
                      uint64_t least, uint64_t most, uint64_t *number);
/* The same for counts, which are long: "1e9" is taken as well. */
bool cli_parse_count(command_line *cli, const char *option, const char *value,
                     uint64_t least, uint64_t most, uint64_t *number);
/* A number with K, M, G or T (powers of 1,024) behind it, at least 1. */
bool cli_parse_size(command_line *cli, const char *option, const char *value,
                    uint64_t *bytes);
/* Above 0 and below 1, with a point whatever the locale. */
bool cli_parse_rate(command_line *cli, const char *option, const char *value,
                    double *rate);
/* `names` are separated by commas; `*choice` is the number of that which
 * `value` is, from 0. */
bool cli_parse_choice(command_line *cli, const char *option, const char *value,
                      const char *names, int *choice);
/* The same of two names: whether `value` is the second. */
bool cli_parse_switch(command_line *cli, const char *option, const char *value,
                      const char *names, bool *is_second);
/* The value of --hash. */
bool cli_parse_hash(command_line *cli, const char *value, ksv_hash_kind *hash);

/* Prints the help of a verb. */
void cli_print_help(const cli_verb *verb, output *out);

#endif
