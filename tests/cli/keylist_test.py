#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Lists of keys: line ends, byte order mark, NUL, sizes, waiting."""
import json
import random
import subprocess

from cli_support import TOOL, call, check, expect, finish, write

ODD = [b"a", b"b", b"\xef\xbb\xbfbom", b"cr\r", b" lead", b"trail ", b"n\0ul",
       b"two\nlines", b"\r"]
write("data.csv", b"id\n" + b"".join(b'"' + k + b'"\n' for k in ODD))
expect("build", call("build", "-q", "-k", "id", "data.csv"))


def answers(stdin, *more, name="-"):
    """(key, found) for every key that the list asks for."""
    result = call("has", "--json", "-f", name, *more, stdin=stdin)
    return [(o["key"].encode(), o["found"])
            for o in map(json.loads, result.out.decode().splitlines())]


def check_list(what, stdin, keys, *more):
    want = [(k, k in ODD) for k in keys]
    got = answers(stdin, *more)
    check(got == want, f"{what}: expected {want}, got {got}")
    write("list", stdin)
    got = answers(b"", *more, name="list")
    check(got == want, f"{what}, from a file: expected {want}, got {got}")


def blank_lines(stdin, *more):
    err = call("get", "-q", "--json", "--stats", "-f", "-", *more,
               stdin=stdin).err
    return json.loads(err)["blank_lines"]


def test_lines():
    check_list("lines", b"a\nb\nn\n", [b"a", b"b", b"n"])
    check_list("no end", b"a\nb", [b"a", b"b"])
    check_list("CRLF", b"a\r\nb\r\r\n", [b"a", b"b\r"])
    check_list("CR at the end of the list", b"a\r\nb\r", [b"a", b"b\r"])
    check_list("byte order mark", b"\xef\xbb\xbfa\n\xef\xbb\xbfbom\n",
               [b"a", ODD[2]])
    check_list("only a byte order mark", b"\xef\xbb\xbf", [])
    check_list("half a byte order mark", b"\xef\xbb\nx\n"[2:], [b"x"])
    check_list("blank lines", b"\na\n\n\r\nb\n\n", [b"a", b"b"])
    check_list("blanks", b" lead\ntrail \n \n", [b" lead", b"trail ", b" "])
    check_list("NUL is a byte", b"n\0ul\nn\0\n", [b"n\0ul", b"n\0"])
    check_list("nothing", b"", [])
    check(blank_lines(b"\na\n\n\r\nb\n\n") == 4, "blank lines counted")
    check(blank_lines(b"a\n") == 0, "no blank lines counted")


def test_nul():
    check_list("NUL", b"a\0two\nlines\0cr\r\0\r\0",
               [b"a", b"two\nlines", b"cr\r", b"\r"], "-0")
    check_list("no end", b"a\0b", [b"a", b"b"], "-0")
    check_list("nothing dropped", b"\xef\xbb\xbfbom\0a\n\0",
               [ODD[2], b"a\n"], "-0")
    check_list("an empty key", b"\0a\0", [b"", b"a"], "-0")
    expect("an empty key", call("get", "-0", "-f", "-", stdin=b"\0"), 1, b"",
           b"keysieve: not found: (empty key)\n")
    check(blank_lines(b"\n\0", "-0") == 0, "no blank lines with -0")


def test_arguments_first():
    expect("arguments, then the list",
           call("get", "b", "-f", "-", "a", stdin=b"b\n"),
           out=b'"b"\n"a"\n"b"\n')


def test_many():
    keys = [b"key%d" % i for i in range(50000)]
    write("many.csv", b"id\n" + b"".join(k + b"\n" for k in keys))
    expect("build", call("build", "-q", "-i", "many", "-k", "id", "many.csv"))
    rnd = random.Random(5)
    asked = [b"key%d" % rnd.randrange(100000) for _ in range(200000)]
    stdin = b"".join(k + b"\n" for k in asked)
    there = set(keys)
    want = b"".join(k + b"\n" for k in asked if k in there)
    result = expect("200,000 keys", call("get", "-i", "many", "-f", "-",
                                         stdin=stdin), 1, want)
    missing = [b"keysieve: not found: " + k for k in asked if k not in there]
    check(result.err.split(b"\n")[:-1] == missing,
          "every missing key is named, in order")
    expect("200,000 keys", call("has", "-i", "many", "-f", "-", stdin=stdin),
           1, want)
    some = stdin[:stdin.index(b"\n", 100000) + 1]
    want = b"".join(k + b"\n" for k in some.split(b"\n")[:-1] if k in there)
    expect("--scan", call("get", "-i", "many", "--scan", "-f", "-",
                          stdin=some), 1, want)


def test_huge_key():
    huge = b"k" * 30000000
    result = call("has", "--json", "-f", "-", stdin=b"a\n" + huge + b"\nb\n")
    got = [len(json.loads(x)["key"]) for x in result.out.splitlines()]
    check(got == [1, len(huge), 1], f"a huge key: {got}")
    check(len(result.err) > len(huge), "the message about a huge key is cut")
    write("huge.csv", b"id,v\n" + huge + b",1\n")
    expect("build", call("build", "-q", "-i", "huge", "-k", "id", "huge.csv"))
    expect("get", call("get", "-i", "huge", "-f", "-", stdin=huge),
           out=huge + b",1\n")


def test_waiting():
    """An answer comes before the next key is written."""
    with subprocess.Popen([TOOL, "get", "-f", "-"], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE) as get:
        for key in (b"a", b"b", b"a"):
            get.stdin.write(key + b"\n")
            get.stdin.flush()
            line = get.stdout.readline()
            check(line == b'"' + key + b'"\n', f"answer to {key}: {line}")
        get.stdin.close()
        check(get.stdout.read() == b"" and get.wait() == 0, "end of the list")


for test in (test_lines, test_nul, test_arguments_first, test_many,
             test_huge_key, test_waiting):
    test()
finish()
