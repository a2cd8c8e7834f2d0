# SPDX-License-Identifier: MIT
"""Where a run works, what it has measured so far, and how it starts programs."""
import collections
import os
import re
import shutil
import statistics
import subprocess
import sys
import time

Run = collections.namedtuple("Run", "status elapsed_s user_s system_s peak_bytes anonymous_bytes disk_bytes")

# More than any program needs.
PROGRAM_SECONDS = 600

LINE = re.compile(r"^(\S+)\s+([0-9.eE+-]+) (\S+)$")


class Context:
    def __init__(self, options, build, work):
        self.options = options
        self.records = options.records
        self.runs = options.runs
        self.build = build
        self.work = work
        self.tool = os.path.join(build, "keysieve")
        self.results = {}
        self.notes = {}
        self.began = time.monotonic()
        self.done, self.total = 0, 1

    # Results: a flat table of names.

    def put(self, name, value, unit):
        self.results[name] = {"value": float(f"{value:.6g}"), "unit": unit}

    def get(self, name, default=None):
        return self.results[name]["value"] if name in self.results else default

    def note(self, name, text):
        """Why something was not measured."""
        self.notes[name] = text

    # Progress.

    def say(self, text):
        elapsed = time.monotonic() - self.began
        print(f"[{elapsed:6.1f} s] {text}", file=sys.stderr, flush=True)

    def part(self, text):
        self.done += 1
        self.say(f"{self.done}/{self.total} {text}")

    # Files.

    def path(self, name):
        return os.path.join(self.work, name)

    def program(self, name):
        return os.path.join(self.build, "benchmarks", name)

    def fresh(self, name):
        """The path of an empty directory."""
        path = self.path(name)
        shutil.rmtree(path, ignore_errors=True)
        os.makedirs(path)
        return path

    def remove(self, *names):
        for name in names:
            path = self.path(name)
            if os.path.isdir(path):
                shutil.rmtree(path)
            elif os.path.exists(path):
                os.remove(path)

    # Programs.

    def run(self, commands, runs, stdin=None, poll=False, warm_up=0, fine=(0,)):
        """Runs the commands in turn; a list of Run for each, without the first
        `warm_up` of them."""
        line = [self.program("run_command"), str(runs + warm_up)]
        line += ["-p"] if poll else []
        line += ["-i", stdin] if stdin else []
        for command in commands:
            line += ["--", *command]
        out = subprocess.run(line, stdout=subprocess.PIPE, text=True, check=True, cwd=self.work).stdout
        answers = [[] for _ in commands]
        for row in out.splitlines():
            n, status, elapsed, user, system, peak, anonymous, disk = map(int, row.split())
            if status not in fine:
                raise RuntimeError(f"exit status {status}: {' '.join(commands[n])}")
            answers[n].append(Run(status, elapsed / 1e6, user / 1e6, system / 1e6, peak * 1024, anonymous * 1024, disk))
        return [a[warm_up:] for a in answers]

    def lines(self, command, prefix="", seconds=PROGRAM_SECONDS):
        """Runs a program that prints "name value unit" and keeps what it prints."""
        out = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, cwd=self.work,
                             timeout=seconds).stdout
        kept = {}
        for row in out.splitlines():
            m = LINE.match(row)
            if m:
                self.put(prefix + m.group(1), float(m.group(2)), m.group(3))
                kept[m.group(1)] = float(m.group(2))
        return kept

    def bench(self, name, *arguments, prefix="", seconds=PROGRAM_SECONDS):
        return self.lines([self.program(name), *map(str, arguments)], prefix, seconds)


def median(runs, what="elapsed_s"):
    return statistics.median(getattr(r, what) for r in runs)


def evict(*paths):
    """Throws files, and those of directories, out of the page cache."""
    for path in paths:
        names = [os.path.join(path, n) for n in os.listdir(path)] if os.path.isdir(path) else [path]
        for name in names:
            fd = os.open(name, os.O_RDONLY)
            os.fsync(fd)
            os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(fd)


def size_of(path):
    if os.path.isdir(path):
        return sum(os.path.getsize(os.path.join(path, n)) for n in os.listdir(path))
    return os.path.getsize(path)


def installed(program):
    return shutil.which(program) is not None
