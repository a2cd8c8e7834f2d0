/* SPDX-License-Identifier: MIT */
/* The keysieve tool: finds the verb and runs it. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <keysieve/status.h>

#include "commands.h"
#include "interrupt.h"
#include "message.h"
#include "output.h"

static const cli_verb *const VERBS[] = {
    &COMMAND_BUILD,  &COMMAND_GET,    &COMMAND_HAS,
    &COMMAND_KEYS,   &COMMAND_UPDATE, &COMMAND_INFO,
    &COMMAND_VERIFY, &COMMAND_DEDUP,  &COMMAND_FILTER,
};

static const char USAGE[] =
    "usage: keysieve VERB [options] ...\n"
    "Find records by key in big data files without importing them.\n";

static const char VERB_LIST[] =
    "\n"
    "  build   make an index over data files, or extend it\n"
    "  get     print the records of keys\n"
    "  has     print those of the keys that exist\n"
    "  keys    print every key\n"
    "  update  bring the index up to date with its files\n"
    "  info    what the index holds and what it costs\n"
    "  verify  check every byte of the index\n"
    "  dedup   pass on the first record of each key\n"
    "  filter  a Bloom filter on its own: create, add, test, info, merge, "
    "size\n"
    "  help    this text, or that of a verb: keysieve help build\n"
    "\n"
    "  keysieve build -k id events.csv     index the column id, in .keysieve\n"
    "  keysieve get 4711                   print the records with that id\n"
    "\n"
    "Exit status: 0 every key found, 1 some key not found, 2 error.\n";

static const cli_verb *find_verb(const char *name)
{
    for (size_t i = 0; i < sizeof VERBS / sizeof VERBS[0]; i++) {
        if (strcmp(VERBS[i]->name, name) == 0)
            return VERBS[i];
    }
    return NULL;
}

static int fail_verb(const char *name)
{
    if (name[0] == '-')
        message_hint("The verb comes first; see 'keysieve help'.",
                     "unknown option %s", name);
    else
        message_hint("See 'keysieve help'.", "unknown verb '%s'", name);
    return 2;
}

/* The verb of the group `group` called `name`, or NULL. */
static const cli_verb *find_in_group(const cli_verb *group, const char *name)
{
    for (size_t i = 0; group->verbs != NULL && group->verbs[i] != NULL; i++) {
        if (strcmp(strrchr(group->verbs[i]->name, ' ') + 1, name) == 0)
            return group->verbs[i];
    }
    return NULL;
}

/* Help of a verb of a group. */
static int print_group_help(output *out, const cli_verb *group,
                            const char *name)
{
    const cli_verb *verb = find_in_group(group, name);
    if (verb == NULL) {
        message_hint("See 'keysieve help'.", "%s has no verb '%s'", group->name,
                     name);
        return 2;
    }
    cli_print_help(verb, out);
    return 0;
}

static int print_help(output *out, int count, char **names)
{
    const cli_verb *group = count == 2 ? find_verb(names[0]) : NULL;
    if (group != NULL && group->verbs != NULL)
        return print_group_help(out, group, names[1]);
    if (count > 1) {
        message_hint("See 'keysieve help'.", "help takes one verb");
        return 2;
    }
    if (count == 0 || strcmp(names[0], "help") == 0 ||
        strcmp(names[0], "--help") == 0 || strcmp(names[0], "-h") == 0) {
        output_add_text(out, USAGE);
        output_add_text(out, VERB_LIST);
        return 0;
    }
    const cli_verb *verb = find_verb(names[0]);
    if (verb == NULL)
        return fail_verb(names[0]);
    cli_print_help(verb, out);
    return 0;
}

static int run_verb(output *out, int argc, char **argv)
{
    const cli_verb *verb = find_verb(argv[1]);
    command_line cli;
    int words = 2;
    if (verb == NULL)
        return fail_verb(argv[1]);
    if (argc > 2 && find_in_group(verb, argv[2]) != NULL)
        verb = find_in_group(verb, argv[words++]);
    cli_open(&cli, verb, argc - words, argv + words, out);
    int status = verb->run(&cli);
    cli_close(&cli);
    return status;
}

static int run(output *out, int argc, char **argv)
{
    if (argc < 2) {
        message_add_raw(USAGE, strlen(USAGE));
        message_add_raw(VERB_LIST, strlen(VERB_LIST));
        return 2;
    }
    if (strcmp(argv[1], "--version") == 0) {
        output_add_format(out, "keysieve %s\n", ksv_version());
        return 0;
    }
    if (strcmp(argv[1], "help") == 0)
        return print_help(out, argc - 2, argv + 2);
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
        return print_help(out, 0, NULL);
    return run_verb(out, argc, argv);
}

/* Descriptors 0 to 2 that are closed would go to the first files that are
 * opened, and output would be written into them. What fills them fails on
 * writing. */
static void fill_standard_descriptors(void)
{
    for (int fd = 0; fd <= 2; fd++) {
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF) {
            int opened = open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY);
            (void)opened;
        }
    }
}

int main(int argc, char **argv)
{
    static output out;
    fill_standard_descriptors();
    interrupt_ignore_limits();
    output_open(&out, STDOUT_FILENO);
    int status = output_close(&out, run(&out, argc, argv));
    message_flush();
    return status;
}
