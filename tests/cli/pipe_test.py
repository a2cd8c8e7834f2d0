#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Standard output that cannot be written: closed pipes, full disks."""
import os
import re
import shutil
import signal
import subprocess

from cli_support import TOOL, call, check, expect, finish, write

write("data.csv", b"id,v\n" + b"".join(b"%d,%s\n" % (i, b"v" * 50)
                                       for i in range(20000)))
write("list", b"1\n" * 100000)
expect("build", call("build", "-q", "-k", "id", "data.csv"))
FORMS = [["get", "-f", "list"], ["get", "--json", "-f", "list"],
         ["get", "-l", "-f", "list"], ["get", "-c", "-f", "list"],
         ["has", "-f", "list"], ["has", "--json", "-f", "list"],
         ["keys"], ["keys", "-l"], ["keys", "--json"]]
SHORT = [["get", "1"], ["get", "--json", "1"], ["has", "1"], ["info"],
         ["info", "--json"], ["verify"], ["help"], ["--version"],
         ["get", "--help"]]


def check_closed(words, preexec):
    with subprocess.Popen([TOOL, *words], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE,
                          preexec_fn=preexec) as process:
        line = process.stdout.readline()
        process.stdout.close()
        err = process.stderr.read()
        status = process.wait(60)
    check(status in (0, 141, -signal.SIGPIPE) and err == b"",
          f"{words} | head -n 1: status {status}, {err[:200]}")
    check(line.endswith(b"\n"), f"{words} | head -n 1: {line}")


def ignore_pipe():
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)


for form in FORMS:
    check_closed(form, None)
    check_closed(form, ignore_pipe)
for form in FORMS + SHORT:
    with open("/dev/full", "wb") as full:
        expect(f"{form} > /dev/full", call(*form, stdout=full), 2, None,
               b"keysieve: standard output: No space left")
    closed = subprocess.run(["sh", "-c", 'exec "$0" "$@" >&-', TOOL, *form],
                            stderr=subprocess.PIPE, check=False)
    check(closed.returncode == 2 and b"standard output" in closed.stderr,
          f"{form} >&-: {closed}")

# A closed descriptor must not become that of a data or index file, into which
# output and messages would go.
before = os.path.getsize("data.csv")
for redirect in ("<&-", ">&-", "2>&-", "<&- 2>&-", "<&- >&- 2>&-"):
    for call_words in (["get", "1", "nosuchkey"],
                       ["build", "-i", "closed", "--progress", "always", "-k",
                        "id", "data.csv", "none.csv"]):
        subprocess.run(["sh", "-c", f'exec "$0" "$@" {redirect}', TOOL,
                        *call_words], stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, check=False)
    check(call("verify", "-i", "closed", "--data").rc == 0,
          f"the index of a build with {redirect}")
    for name in os.listdir("closed"):
        with open(os.path.join("closed", name), "rb") as file:
            check(not re.search(rb"keysieve: |records  ", file.read()),
                  f"messages in {name} of a build with {redirect}")
    shutil.rmtree("closed")
check(os.path.getsize("data.csv") == before, "data was written to")

with open("limited", "wb") as limited:
    result = subprocess.run(["sh", "-c", 'ulimit -f 1; exec "$0" keys', TOOL],
                            stdout=limited, stderr=subprocess.PIPE,
                            check=False)
check(result.returncode == 2 and b"too large" in result.stderr,
      f"a limit on the size of files: {result}")
finish()
