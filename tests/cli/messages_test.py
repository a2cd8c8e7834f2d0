#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Messages: two lines at most, nothing forged, the command that repairs."""
import os
import pty
import shutil
import subprocess

from cli_support import TOOL, call, check, expect, finish, write

write("data.csv", b"id,v\na,1\n")
expect("build", call("build", "-q", "-k", "id", "data.csv"))


def check_lines(what, result, most=2):
    lines = result.err.split(b"\n")
    check(lines[-1] == b"" and 1 <= len(lines) - 1 <= most,
          f"{what}: {len(lines) - 1} lines", result)
    check(lines[0].startswith(b"keysieve: "), f"{what}: how it begins", result)
    check(not any(c < 32 or c == 127 for c in result.err.replace(b"\n", b"")),
          f"{what}: control bytes", result)


def test_forged():
    names = [b"no\nkeysieve: not found: a.csv", b"\x1b[31mred.csv",
             b"tab\t.csv", b"cr\r.csv", b"del\x7f.csv", b"c1\xc2\x9b.csv"]
    for name in names:
        result = expect("a missing file", call("build", "-k", "id", name), 2)
        check_lines(f"file {name}", result)
        check(b"\nkeysieve" not in result.err, f"forged by {name}", result)
        check(b"\x9b" not in result.err, f"C1 of {name}", result)
        result = expect("a missing key", call("get", "--", name), 1, b"")
        check_lines(f"key {name}", result, 1)
        for option in ("-i", "-f"):
            result = expect(option, call("get", option, name, "a"), 2, b"")
            check_lines(f"{option} {name}", result)
        check_lines(f"option {name}", call("get", b"--" + name))
        check_lines(f"verb {name}", call(name))
    result = call("get", b"\xff\xfe")
    check(result.err == b"keysieve: not found: \xff\xfe\n", "other bytes pass",
          result)
    result = call("get", "new\nline", "x" * 70000)
    check(result.err == b"keysieve: not found: new\\nline\n"
          b"keysieve: not found: " + b"x" * 70000 + b"\n", "a long key", result)


def test_remedies():
    for index, words in ((".keysieve", b"keysieve update\n"),
                         ("other dir", b"keysieve update -i 'other dir'\n"),
                         ("it's", b"keysieve update -i 'it'\\''s'\n"),
                         ("plain", b"keysieve update -i plain\n")):
        write("data.csv", b"id,v\na,1\n")
        expect("build", call("build", "-q", "-i", index, "-k", "id",
                             "data.csv"))
        write("data.csv", b"id,v\nbbb,1\n")
        result = expect("stale", call("get", "-i", index, "a"), 2, b"", words)
        check_lines("stale", result)
        check(b"data.csv" in result.err.split(b"\n")[0], "the file's name",
              result)
        command = result.err.split(b"\n")[1].split(b": ", 1)[1].decode()
        done = subprocess.run(command.replace("keysieve", TOOL, 1) + " -q",
                              shell=True, stderr=subprocess.PIPE, check=False)
        check(done.returncode == 0, f"{command}: {done}")
        expect("after it", call("get", "-i", index, "bbb"), out=b"bbb,1\n")
    result = expect("no index", call("get", "-i", "none", "a"), 2, b"",
                    b"keysieve build -i none -k KEY FILE...\n")
    check_lines("no index", result)
    result = expect("no index", call("get", "a", cwd="/"), 2, b"",
                    b"keysieve build -k KEY FILE...\n")
    check_lines("no index", result)


def test_places():
    write("quote.csv", b"id,v\na,1\n\"b,2\nc,3\n")
    result = expect("an open quote", call("build", "-i", "q", "-k", "id",
                                          "quote.csv"), 2, b"")
    check_lines("an open quote", result)
    check(result.err.startswith(b"keysieve: quote.csv: ") and
          b"(line 3, byte 9)" in result.err, "where it is", result)
    check(result.err.count(b"quote.csv") == 1, "said once", result)


def test_report():
    write("some.csv", b"id,v\na,1\n,2\na,3\n,4\n")
    result = expect("build", call("build", "-i", "r", "-k", "id", "some.csv"),
                    out=b"")
    for line in (b"files                1 indexed\n",
                 b"records              4\n",
                 b"records without key  2, the first in some.csv at byte 9\n",
                 b"distinct keys        1\n"):
        check(line in result.err, f"the report has {line}", result)
    result = expect("again", call("build", "-i", "r", "some.csv"), out=b"")
    check(b"1 unchanged" in result.err, "the report of nothing", result)
    expect("-q", call("build", "-q", "-i", "r", "some.csv"), out=b"", err=b"")
    check(call("build", "-q", "-i", "r", "some.csv").err == b"", "-q")


def run_on_terminal(words, columns):
    """What the tool writes to a terminal that is standard error."""
    ours, theirs = pty.openpty()
    subprocess.run(["stty", "cols", str(columns), "-onlcr"], stdin=theirs,
                   check=False)
    process = subprocess.Popen([TOOL, *words], stderr=theirs,
                               stdout=subprocess.DEVNULL)
    os.close(theirs)
    got = b""
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:
            break
        if not piece:
            break
        got += piece
    os.close(ours)
    check(process.wait() == 0, f"{words} on a terminal: {got[-300:]}")
    return got


def test_progress():
    with open("big.csv", "wb") as file:
        file.write(b"id,v\n")
        for i in range(20):
            file.write(b"".join(b"%d,%d\n" % (i * 20000 + j, j)
                                for j in range(20000)))
    for columns in (80, 30):
        shutil.rmtree("p", True)
        got = run_on_terminal(["build", "-i", "p", "-k", "id", "big.csv"],
                              columns)
        head, _, tail = got.rpartition(b"\r")
        check(tail.startswith(b"files "), f"the line is erased: {tail[:80]}")
        drawn = [x for x in head.split(b"\r") if x.strip()]
        check(all(len(x) < columns for x in drawn),
              f"{columns} columns: {drawn[:3]}")
        if drawn:
            check(all(b"%" in x for x in drawn), f"percents: {drawn[:3]}")
    shutil.rmtree("p", True)
    for words in (["--progress", "never"], ["-q"]):
        got = run_on_terminal(["build", "-i", "p", *words, "-k", "id",
                               "big.csv"], 80)
        check(b"\r" not in got, f"{words}: no progress")
        shutil.rmtree("p", True)
    result = call("build", "-i", "p", "-k", "id", "data.csv")
    check(b"\r" not in result.err, "no progress in a pipe", result)


for test in (test_forged, test_remedies, test_places, test_report,
             test_progress):
    test()
finish()
