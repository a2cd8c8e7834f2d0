/* SPDX-License-Identifier: MIT */
/* Signals: which are ignored, and those that ask a build to stop. */
#include "interrupt.h"

#include <signal.h>
#include <stdatomic.h>
#include <string.h>

/* Written by the handler alone: a handler has no other place. */
static atomic_int noted_signal;

static void note(int number)
{
    atomic_store(&noted_signal, number);
}

void interrupt_ignore_limits(void)
{
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
}

void interrupt_watch(void)
{
    static const int watched[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < sizeof watched / sizeof watched[0]; i++) {
        struct sigaction old;
        struct sigaction action;
        memset(&action, 0, sizeof action);
        action.sa_handler = note;
        action.sa_flags = (int)(SA_RESETHAND | SA_RESTART);
        /* As under nohup: an ignored signal stays ignored. */
        if (sigaction(watched[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
            sigaction(watched[i], &action, NULL);
    }
}

int interrupt_signal(void)
{
    return atomic_load(&noted_signal);
}
