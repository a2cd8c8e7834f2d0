/* SPDX-License-Identifier: MIT */
/* Runs commands in turn, RUNS times each, and prints what each run cost:
 * run_command RUNS [-p] [-i FILE] [-o FILE] -- COMMAND... [-- COMMAND...]
 * -i: standard input, -o: output, -p: look at the memory every 2 ms. A line a
 * run: number of the command, exit status, and elapsed, user and
 * system microseconds, peak of the resident set in KiB, of it that which is no
 * file's, bytes read from a disk. Small itself, since a child's peak begins
 * with its parent's. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MOST_COMMANDS 16

static double now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static double us_of(struct timeval t)
{
    return (double)t.tv_sec * 1e6 + (double)t.tv_usec;
}

static void run_child(char **command, const char *input, const char *output)
{
    int in = open(input, O_RDONLY);
    int out = open(output, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (in < 0 || out < 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0 ||
        dup2(out, 2) < 0)
        _exit(126);
    close(in);
    close(out);
    execvp(command[0], command);
    _exit(127);
}

/* What is resident and of no file, in KiB. */
static long anonymous_kib(pid_t pid)
{
    char path[64], text[4096];
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    text[got < 0 ? 0 : got] = '\0';
    const char *at = strstr(text, "RssAnon:");
    return at == NULL ? 0 : strtol(at + 8, NULL, 10);
}

/* Waits for the child; with `poll` it looks at its memory every 2 ms. */
static long wait_for(pid_t pid, int poll, int *status, struct rusage *usage)
{
    long most = 0;
    const struct timespec pause = {0, 2000000};
    while (wait4(pid, status, poll ? WNOHANG : 0, usage) == 0) {
        long now = anonymous_kib(pid);
        most = now > most ? now : most;
        nanosleep(&pause, NULL);
    }
    return most;
}

static void run_once(int number, char **command, const char *input,
                     const char *output, int poll)
{
    struct rusage usage;
    int status = 0;
    double start = now_us();
    pid_t pid = vfork();
    if (pid < 0) {
        perror("run_command");
        exit(1);
    }
    if (pid == 0)
        run_child(command, input, output);
    long anonymous = wait_for(pid, poll, &status, &usage);
    double elapsed = now_us() - start;
    printf("%d %d %.0f %.0f %.0f %ld %ld %ld\n", number,
           WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
           elapsed, us_of(usage.ru_utime), us_of(usage.ru_stime),
           usage.ru_maxrss, anonymous, usage.ru_inblock * 512);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    char **commands[MOST_COMMANDS];
    int count = 0, at = 2, poll = 0;
    const char *input = "/dev/null", *output = "/dev/null";
    for (; at < argc && strcmp(argv[at], "--") != 0; at++) {
        if (strcmp(argv[at], "-p") == 0)
            poll = 1;
        else if (strcmp(argv[at], "-i") == 0 && at + 1 < argc)
            input = argv[++at];
        else if (strcmp(argv[at], "-o") == 0 && at + 1 < argc)
            output = argv[++at];
    }
    for (; at < argc && count < MOST_COMMANDS; at++) {
        if (strcmp(argv[at], "--") != 0)
            continue;
        argv[at] = NULL;
        commands[count++] = &argv[at + 1];
    }
    if (argc < 4 || count == 0) {
        fprintf(stderr, "usage: run_command RUNS [-p] [-i FILE] [-o FILE] -- "
                        "COMMAND... [-- COMMAND...]\n");
        return 2;
    }
    for (int run = 0; run < atoi(argv[1]); run++)
        for (int i = 0; i < count; i++)
            run_once(i, commands[i], input, output, poll);
    return 0;
}
