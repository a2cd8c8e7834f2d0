# SPDX-License-Identifier: MIT
"""Calling the tool in a directory of its own, and telling what failed."""
import atexit
import os
import shutil
import subprocess
import sys
import tempfile

TOOL = os.environ["KEYSIEVE"]
SOURCE = os.environ.get("KSV_SOURCE", os.path.join(os.path.dirname(
    os.path.abspath(__file__)), "..", ".."))
VERBS = ["build", "get", "has", "keys", "update", "info", "verify"]
FILTER_VERBS = ["create", "add", "test", "info", "merge", "size"]

_failures = 0
_home = tempfile.mkdtemp(prefix="keysieve-cli-")
atexit.register(shutil.rmtree, _home, True)
os.chdir(_home)
os.environ.pop("KEYSIEVE_INDEX", None)


class Result:
    """What one call gave."""

    def __init__(self, words, done):
        self.words = words
        self.rc, self.out, self.err = done.returncode, done.stdout, done.stderr

    def __str__(self):
        words = " ".join(repr(os.fsdecode(w)[:60]) for w in self.words)
        return (f"keysieve {words}\n    status {self.rc}\n    stdout "
                f"{(self.out or b'')[:300]!r}\n    stderr {self.err[:300]!r}")


def call(*words, stdin=b"", env=None, cwd=None, timeout=300,
         stdout=subprocess.PIPE):
    """Runs the tool to its end."""
    done = subprocess.run([TOOL, *words], input=stdin, timeout=timeout,
                          cwd=cwd, env=dict(os.environ, **(env or {})),
                          stdout=stdout, stderr=subprocess.PIPE, check=False)
    return Result(words, done)


def check(good, what, result=""):
    """Notes a failure unless `good`."""
    global _failures
    if not good:
        _failures += 1
        print(f"FAILED: {what}\n  {result}" if result else f"FAILED: {what}")


def expect(what, result, rc=0, out=None, err=None):
    """Compares status, standard output and a part of standard error."""
    check(result.rc == rc, f"{what}: expected status {rc}", result)
    if out is not None:
        check(result.out == out, f"{what}: expected stdout {out[:300]!r}",
              result)
    if err is not None:
        check(err in result.err, f"{what}: expected {err!r} on stderr", result)
    return result


def expect_usage(what, result, err=b""):
    """A command line that cannot be used: status 2, a message, a hint."""
    expect(what, result, 2, b"", err)
    lines = result.err.split(b"\n")
    check(len(lines) == 3 and lines[0].startswith(b"keysieve: ") and lines[1],
          f"{what}: expected a message and one line with a hint", result)


def write(name, data):
    """Writes a file of the working directory."""
    with open(name, "wb") as file:
        file.write(data)


def finish():
    """Ends the test program."""
    if _failures:
        print(f"{_failures} failures")
    sys.exit(1 if _failures else 0)
