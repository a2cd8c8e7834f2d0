/* SPDX-License-Identifier: MIT */
/* Meets faults in a process of its own. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/write_faults.h"

int write_faults_run(write_fault fault, long at_operation, int error_number,
                     int (*body)(void *ctx), void *ctx)
{
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        write_faults_arm(fault, at_operation, error_number);
        int result = body(ctx);
        bool is_unharmed = write_faults_count() < at_operation;
        _exit(is_unharmed ? result + WRITE_FAULTS_UNHARMED : result);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFSIGNALED(status)) {
        assert_int_equal(WTERMSIG(status), SIGKILL);
        return -1;
    }
    return WEXITSTATUS(status);
}
