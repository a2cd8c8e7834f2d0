#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Filters at their limits: --expect that is just enough, disks that are full,
files in the wrong place, damaged and strange ones."""
import json
import os
import random
import resource
import subprocess

from cli_support import TOOL, call, check, expect, expect_usage, finish, write

# ThreadSanitizer makes a file of its own when it starts.
LEAST_ROOM = 1 if "thread" in os.environ.get("KSV_SANITIZE", "") else 0

RANDOM = random.Random(3)


def some_keys(count):
    return b"".join(b"%x\n" % RANDOM.getrandbits(80) for _ in range(count))


def limited(most_bytes, *words, stdin=b""):
    """Runs the tool where no file may be longer."""
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, most_bytes))
    return subprocess.run([TOOL, *words], input=stdin, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          preexec_fn=limit)


def info(name):
    return json.loads(call("filter", "info", "--json", name).out)


def warns(result):
    return b"warning" in result.err


def check_expect_is_enough():
    """As many keys as were expected never cause a warning, few or many, nor do
    they when they come again."""
    for expected, rounds in ((1, 1), (2, 2), (10, 4), (100, 8), (333, 5),
                             (1000, 4), (20000, 2), (300000, 1)):
        for fpr in ("0.1", "0.005", "0.00001"):
            for kind in ([], ["--classic"]):
                for _ in range(rounds):
                    text = some_keys(expected)
                    r = call("filter", "create", "-o", "e", "--fpr", fpr,
                             "--expect", str(expected), *kind,
                             stdin=text + text)
                    check(r.rc == 0 and not warns(r),
                          f"{expected} keys at {fpr}, as was expected", r)
                    r = call("filter", "add", "-q", "e", stdin=text)
                    check(r.rc == 0 and not warns(r),
                          f"{expected} keys at {fpr}, added again", r)


def check_expect_is_exceeded():
    """More keys than fit cause one, and it says what is to be expected."""
    for expected in (100, 1000, 50000):
        for kind in ([], ["--classic"]):
            text = some_keys(expected * 3 // 2)
            r = call("filter", "create", "-q", "-o", "e", "--fpr", "0.01",
                     "--expect", str(expected), *kind, stdin=text)
            check(r.rc == 0 and warns(r) and b"instead of 1 %" in r.err,
                  f"half as many again as {expected}", r)
            check(0.02 < info("e")["fpr"] < 0.09, "the rate", info("e"))
            expect("no key is lost", call("filter", "test", "-q", "e",
                                          stdin=text))
            write("keys", text)
            r = call("filter", "create", "-o", "e", "--fpr", "0.01", *kind,
                     "keys")
            check(r.rc == 0 and not warns(r), "without --expect: counted", r)


def check_own_input():
    """A slip of the pen does not cost the keys."""
    write("mine.txt", b"a\nb\n")
    os.link("mine.txt", "same.txt")
    os.symlink("mine.txt", "link.txt")
    for source in ("mine.txt", "same.txt", "link.txt"):
        expect(f"-o {source}", call("filter", "create", "-o", "mine.txt",
                                    source), 2, b"", b"mine.txt: ")
    with open("mine.txt", "rb") as stdin:
        done = subprocess.run([TOOL, "filter", "create", "-o", "link.txt"],
                              stdin=stdin, stderr=subprocess.PIPE, check=False)
        check(done.returncode == 2, "-o and standard input", done.stderr)
    with open("mine.txt", "rb") as file:
        check(file.read() == b"a\nb\n", "the keys are still there")
    expect("another name", call("filter", "create", "-q", "-o", "mine.ksf",
                                "mine.txt"))
    expect("add to what is read", call("filter", "add", "mine.ksf",
                                       "mine.ksf"), 2, b"", b"mine.ksf: ")
    expect("a filter is replaced", call("filter", "create", "-q", "-o",
                                        "mine.ksf", "mine.txt"))


def left_behind():
    return [n for n in os.listdir(".") if n.endswith((".tmp", ".lock"))]


def check_full_disk():
    text = some_keys(50000)
    expect("before", call("filter", "create", "-q", "-o", "f.ksf",
                          "--expect", "60000", stdin=text))
    with open("f.ksf", "rb") as file:
        whole = file.read()
    for most in (LEAST_ROOM, 1, 127, 4096, len(whole) // 2, len(whole) - 1):
        for words in (["create", "-o", "f.ksf", "--expect", "60000"],
                      ["create", "-o", "g.ksf", "--expect", "60000"],
                      ["add", "f.ksf"], ["merge", "-o", "f.ksf", "f.ksf"]):
            r = limited(most, "filter", *words, stdin=b"more\n" + text)
            check(r.returncode == 2 and b"File too large" in r.stderr,
                  f"{words} with {most} bytes of room", r.stderr)
            check(not left_behind() and not os.path.exists("g.ksf"),
                  f"{words} leaves {left_behind()}")
    with open("f.ksf", "rb") as file:
        check(file.read() == whole, "the old filter is as it was")
    r = limited(len(whole), "filter", "add", "-q", "f.ksf", stdin=b"more\n")
    check(r.returncode == 0, "just enough room", r.stderr)


def check_read_only():
    if os.getuid() == 0:
        return
    os.mkdir("closed")
    call("filter", "create", "-q", "-o", "closed/f.ksf", stdin=b"a\n")
    os.chmod("closed", 0o555)
    expect("test", call("filter", "test", "closed/f.ksf", stdin=b"a\n"), 0,
           b"a\n")
    expect("add", call("filter", "add", "closed/f.ksf", stdin=b"b\n"), 2, b"",
           b"closed/")
    os.chmod("closed", 0o755)


def check_flips():
    """A filter with any bit turned over is refused or says what it said."""
    text = some_keys(300)
    call("filter", "create", "-q", "-o", "whole.ksf", stdin=text)
    with open("whole.ksf", "rb") as file:
        whole = file.read()
    for _ in range(60):
        bad = bytearray(whole)
        at = RANDOM.randrange(len(bad))
        bad[at] ^= 1 << RANDOM.randrange(8)
        write("bad.ksf", bytes(bad))
        r = call("filter", "test", "bad.ksf", stdin=text)
        check(r.rc == 2 and b"bad.ksf: " in r.err or
              (r.rc == 0 and r.out == text), f"byte {at} turned", r)
        r = call("filter", "info", "bad.ksf")
        check(r.rc == 2 and r.out == b"", f"info of byte {at} turned", r)
        r = call("filter", "add", "-q", "bad.ksf", stdin=b"x\n")
        check(r.rc == 2, f"add to byte {at} turned", r)
        with open("bad.ksf", "rb") as file:
            check(file.read() == bytes(bad), "what is damaged is left")


def check_large():
    """No memory is taken for what cannot be had."""
    for words in (["--expect", "1e14"], ["--expect", "1e18"],
                  ["--classic", "--bits", str(1 << 60), "--hashes", "64"],
                  ["--classic", "--expect", "1e17", "--fpr", "1e-9"]):
        expect(" ".join(words), call("filter", "create", "-o", "x", *words,
                                     stdin=b"a\n"), 2, b"")
    check(not os.path.exists("x"), "nothing is left")
    for count in ("429496729", "4294967295", "4294967296", "4294967297",
                  "1e10", "1e13"):
        facts = json.loads(call("filter", "size", "--json", "--expect", count,
                                "--fpr", "0.01").out)
        keys = float(count)
        check(9.915 < facts["bits"] / keys < 9.93 and
              facts["bytes"] > facts["bits"] / 8 and
              0.00999 < facts["fpr"] <= 0.01, f"size of {count}", facts)


def check_odd_arguments():
    call("filter", "create", "-q", "-o", "t", stdin=b"a\n")
    for words in (["add", "t", "--fpr", "0.1"], ["test", "t", "--expect", "1"],
                  ["info", "t", "-0"], ["merge", "-o", "m", "t", "--classic"],
                  ["size", "--expect", "1", "-o", "x"],
                  ["create", "-o", "x", "--expect"],
                  ["create", "-o", "x", "--expect", " 1"],
                  ["create", "-o", "x", "--expect", "+1"],
                  ["create", "-o", "x", "--classic", "--bits", "0",
                   "--hashes", "1"],
                  ["create", "-o", "x", "--classic", "--bits", "1",
                   "--hashes", "0"],
                  ["create", "-o", "x", "--classic", "--bits", "1",
                   "--hashes", "65"],
                  ["create", "-o", "x", "--classic", "--bits",
                   str((1 << 60) + 1), "--hashes", "1"],
                  ["create", "-o", "x", "--fpr", "0.1", "--fpr", "2"]):
        expect_usage(" ".join(words), call("filter", *words))
    check(not os.path.exists("x"), "nothing is left")
    expect("a name that begins with a dash", call(
        "filter", "create", "-q", "-o", "-dash", stdin=b"a\n"))
    expect("after --", call("filter", "test", "--", "-dash", stdin=b"a\n"), 0,
           b"a\n")
    long_key = b"k" * 3000000
    expect("a long key", call("filter", "create", "-q", "-o", "long",
                              stdin=long_key + b"\nshort\n"))
    expect("is found", call("filter", "test", "long", stdin=long_key), 0,
           long_key + b"\n")
    expect("another one is not", call("filter", "test", "long",
                                      stdin=long_key + b"k"), 1, b"")


check_expect_is_enough()
check_expect_is_exceeded()
check_own_input()
check_full_disk()
check_read_only()
check_flips()
check_large()
check_odd_arguments()
finish()
