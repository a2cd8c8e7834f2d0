#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Exit statuses: 0 every key found, 1 some key not found, 2 error."""
import os
import shutil
import signal
import subprocess
import time

from cli_support import TOOL, call, check, expect, finish, write

write("data.csv", b"id,v\na,1\nb,2\n")
expect("no index", call("get", "a"), 2, b"", b"keysieve build")
expect("no index, no key", call("get", "-f", "/dev/null"), 2, b"")
for verb in ("keys", "info", "verify", "update"):
    expect(f"{verb} without index", call(verb), 2, b"", b"index")
expect("build", call("build", "-k", "id", "data.csv"), out=b"")

for verb in ("get", "has"):
    for more in ([], ["-q"], ["-c"], ["-l"], ["--json"], ["--scan"],
                 ["--stats"], ["--explain"]):
        expect(f"{verb} {more}, found", call(verb, *more, "a", "b"))
        expect(f"{verb} {more}, one missing", call(verb, *more, "a", "n"), 1)
        expect(f"{verb} {more}, missing", call(verb, *more, "n"), 1)
        expect(f"{verb} {more}, empty key", call(verb, *more, ""), 1)
        expect(f"{verb} {more}, no key", call(verb, *more, "-f", "-"), 0, b"")
    expect(f"{verb} of a list that is missing", call(verb, "-f", "none"), 2,
           b"", b"none")
    expect(f"{verb} of a directory", call(verb, "-f", "."), 2, b"", b".")
    expect(f"{verb} of another index", call(verb, "-i", "none", "a"), 2)
expect("has -v, all missing", call("has", "-v", "n"), 1, b"n\n")
expect("verify", call("verify"))
expect("verify --data", call("verify", "--data"))
expect("verify -q", call("verify", "-q"), out=b"", err=b"")

expect("a missing file beside a good one",
       call("build", "-i", "two", "-k", "id", "data.csv", "none.csv"), 2, b"",
       b"none.csv")
expect("the good one is there", call("get", "-i", "two", "a"), out=b"a,1\n")
expect("a missing file alone",
       call("build", "-i", "three", "-k", "id", "none.csv"), 2)
check(not os.path.exists("three"), "a failed build left an index")

write("data.csv", b"id,v\nc,1\nd,2\n")
expect("stale", call("get", "a"), 2, b"", b"keysieve update\n")
expect("update", call("update"), out=b"")
expect("after update", call("get", "c", "a"), 1, b"c,1\n")
os.remove("data.csv")
expect("vanished", call("get", "c"), 2, b"", b"data.csv")
expect("info of a vanished file", call("info"))
shutil.rmtree("two")


def test_interrupt():
    """A build that is told to stop leaves no index."""
    with open("big.csv", "wb") as file:
        file.write(b"id,v\n")
        for i in range(120):
            file.write(b"".join(b"%d,%d\n" % (i * 20000 + j, j)
                                for j in range(20000)))
    for number in (signal.SIGINT, signal.SIGTERM):
        with subprocess.Popen([TOOL, "build", "-i", "slow", "-j", "1", "-k",
                               "id", "big.csv"],
                              stderr=subprocess.PIPE) as build:
            time.sleep(0.1)
            build.send_signal(number)
            err = build.communicate()[1]
        if build.returncode == 0:
            shutil.rmtree("slow")
            continue
        check(build.returncode in (128 + number, -number),
              f"signal {number}: status {build.returncode}, {err}")
        check(call("get", "-i", "slow", "1").rc == 2,
              "an index after a stopped build")
        shutil.rmtree("slow", True)


test_interrupt()
finish()
