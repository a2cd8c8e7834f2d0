/* SPDX-License-Identifier: MIT */
/* The help of a verb, made from its table of options. */
#include <string.h>

#include "cli.h"

#define COLUMN_OF_TEXT 27

/* `text` with its lines from a column on; the cursor stands at `at`. */
static void print_column(output *out, const char *text, size_t at)
{
    for (;;) {
        size_t length = strcspn(text, "\n");
        if (at >= COLUMN_OF_TEXT) {
            output_add_byte(out, '\n');
            at = 0;
        }
        for (; at < COLUMN_OF_TEXT; at++)
            output_add_byte(out, ' ');
        output_add(out, text, length);
        output_add_byte(out, '\n');
        if (text[length] == '\0')
            return;
        text += length + 1;
        at = 0;
    }
}

static void print_option(output *out, const cli_option *option)
{
    size_t at = strlen("  -x, --") + strlen(option->name);
    if (option->id > 0 && option->id < 256)
        output_add_format(out, "  -%c, --%s", option->id, option->name);
    else
        output_add_format(out, "      --%s", option->name);
    if (option->argument != NULL) {
        output_add_format(out, " %s", option->argument);
        at += 1 + strlen(option->argument);
    }
    print_column(out, option->help, at);
}

void cli_print_help(const cli_verb *verb, output *out)
{
    const char *usage = verb->usage;
    for (const char *start = "usage: "; usage != NULL; start = "       ") {
        size_t length = strcspn(usage, "\n");
        output_add_format(out, "%skeysieve %s%s", start, verb->name,
                          length > 0 ? " " : "");
        output_add(out, usage, length);
        output_add_byte(out, '\n');
        usage = usage[length] == '\n' ? usage + length + 1 : NULL;
    }
    output_add_text(out, verb->summary);
    output_add_text(out, verb->options->name != NULL ? "\n\n" : "\n");
    for (const cli_option *o = verb->options; o->name != NULL; o++) {
        if (o->help != NULL)
            print_option(out, o);
    }
    if (verb->notes != NULL) {
        output_add_byte(out, '\n');
        output_add_text(out, verb->notes);
        output_add_byte(out, '\n');
    }
}
