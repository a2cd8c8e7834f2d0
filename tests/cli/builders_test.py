#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Builders that meet: one works, the others wait or fail."""
import fcntl
import os
import signal
import subprocess
import threading
import time

from cli_support import TOOL, call, check, expect, expect_usage, finish, write

write("data.csv", b"id,v\n" + b"".join(b"k%d,%d\n" % (i, i)
                                       for i in range(1000)))
expect("build", call("build", "-q", "-k", "id", "data.csv"))


class Held:
    """The lock of the index, as another build has it."""

    def __enter__(self):
        self.file = open(".keysieve/lock", "rb+")
        fcntl.flock(self.file, fcntl.LOCK_EX)
        return self

    def release(self):
        fcntl.flock(self.file, fcntl.LOCK_UN)

    def __exit__(self, *_):
        self.file.close()


def test_at_once():
    with Held():
        for words in (["update"], ["build", "data.csv"],
                      ["update", "--wait", "0"], ["update", "--wait=0"]):
            expect(f"{words}", call(*words), 2, b"",
                   b"another build is running")
        expect("readers go on", call("get", "k7"), out=b"k7,7\n")
        expect("and verify", call("verify", "-q"))


def test_time_is_up():
    with Held():
        start = time.monotonic()
        expect("one second", call("update", "--wait", "1"), 2, b"",
               b"another build is running")
        check(time.monotonic() - start >= 1, "waits as long as it was told")


def test_waiting():
    """Several wait, without end and with one that is far away."""
    words = (["--wait"], ["--wait", "100"], ["--wait=100"],
             ["-q", "--wait", "data.csv"])
    with Held() as lock:
        waiting = [subprocess.Popen([TOOL, "update", *w],
                                    stderr=subprocess.PIPE) for w in words]
        time.sleep(0.3)
        check(all(w.poll() is None for w in waiting), "all of them wait")
        lock.release()
        for process, w in zip(waiting, words):
            _, err = process.communicate()
            check(process.returncode == 0, f"{w}: {err!r}")


def test_interrupted():
    with Held():
        waiting = subprocess.Popen([TOOL, "update", "--wait"],
                                   stderr=subprocess.PIPE)
        time.sleep(0.3)
        waiting.send_signal(signal.SIGINT)
        _, err = waiting.communicate(timeout=60)
        check(waiting.returncode == 130 and b"as it was" in err,
              f"stopped while it waited: {waiting.returncode} {err!r}")


def test_usage():
    expect_usage("no number", call("update", "--wait=long"), b"--wait")
    expect("a file behind it", call("update", "--wait", "nosuch.csv"), 2, b"",
           b"nosuch.csv")


def test_many():
    """As many builders as files, each with one of its own, nothing lost."""
    results = {}

    def build(number):
        write(f"{number}.csv", b"id\nfile%d\n" % number)
        results[number] = call("build", "-q", "--wait", f"{number}.csv")

    threads = [threading.Thread(target=build, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number, result in results.items():
        expect(f"builder {number}", result)
    keys = [f"file{i}" for i in range(8)]
    expect("all keys", call("has", *keys),
           out="".join(k + "\n" for k in keys).encode())
    check(not [n for n in os.listdir(".keysieve") if n.endswith(".tmp")],
          "nothing is left over")


def test_many_new():
    """The same while the index does not exist: the first one makes it."""
    processes = [subprocess.Popen([TOOL, "build", "-q", "-i", "new", "-k",
                                   "id", "--wait", f"{i}.csv"])
                 for i in range(8)]
    check(all(p.wait() == 0 for p in processes), "all of them end well")
    keys = [f"file{i}" for i in range(8)]
    expect("all keys", call("has", "-i", "new", *keys),
           out="".join(k + "\n" for k in keys).encode())


test_at_once()
test_time_is_up()
test_waiting()
test_interrupted()
test_usage()
test_many()
test_many_new()
finish()
