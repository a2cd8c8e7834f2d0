#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prefixes and ranges of keys on the command line, against a list in memory."""
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cli_support import call, check, expect, expect_usage, finish, write

ORGANISATIONS = sys.argv[1:] or ["sorted", "btree"]

FIRST = [(b"b", b"1"), (b"a", b"2"), (b"ab", b"3"), (b"b", b"4"), (b"c..d", b"5"), (b"\xff\xfe", b"6"), (b"zz", b"7")]
SECOND = [(b"aa", b"8"), (b"b", b"9"), (b"abc", b"10"), (b"c\\e", b"11"), (b"~", b"12")]


def lines(records):
    return b"".join(key + b"," + value + b"\n" for key, value in records)


def in_order(test):
    """Keys by bytes, records of one key by file, then place."""
    return sorted((r for r in FIRST + SECOND if test(r[0])), key=lambda r: r[0])


def rows(records):
    return b"".join(key + b"," + value + b"\n" for key, value in records)


def between(low, high):
    return lambda key: (low is None or key >= low) and (high is None or key <= high)


def try_all(index):
    """The same answers from the index and by a scan."""
    for scan in ([], ["--scan"]):
        def get(*words, **more):
            return call("get", "-i", index, *scan, *words, **more)

        for prefix in (b"a", b"ab", b"b", b"c", b"c..", b"\xff", b"\xff\xfe", b"", b"z"):
            wanted = in_order(lambda key: key.startswith(prefix))
            expect(f"prefix {prefix}", get("--prefix", prefix), 0, rows(wanted))
            expect(f"prefix {prefix} back", get("--reverse", "--prefix", prefix), 0, rows(wanted[::-1]))
        for text, low, high in ((b"a..b", b"a", b"b"), (b"ab..", b"ab", None), (b"..ab", None, b"ab"), (b"..", None, None),
                                (b"aab..bz", b"aab", b"bz"), (b"c\\.\\.d..c\\\\e", b"c..d", b"c\\e"),
                                (b"c\\..c\\.z", b"c.", b"c.z"), (b"b..b", b"b", b"b")):
            if text == b"c\\..c\\.z":
                # "c\." is the key "c.", and what follows it is a point that is not doubled.
                expect_usage("one point", get("--range", text), b"A..B")
                continue
            wanted = in_order(between(low, high))
            expect(f"range {text}", get("--range", text), 0, rows(wanted))
            expect(f"range {text} limit", get("--limit", "2", "--range", text), 0, rows(wanted[:2]))
            expect(f"range {text} last", get("--reverse", "--limit", "3", "--range", text), 0, rows(wanted[::-1][:3]))
        expect("nothing", get("--prefix", "q"), 1, b"", b"")
        expect("nothing between", get("--range", "b..a"), 1, b"", b"")
        expect("both", get("--prefix", "a", "--range", "ab.."), 0,
               rows(in_order(lambda key: key.startswith(b"a") and key >= b"ab")))
        expect("first", get("--first", "--range", "b..b"), 0, b"b,1\n")
        expect("first from behind", get("--first", "--reverse", "--range", "b..b"), 0, b"b,1\n")
        expect("counts", get("-c", "--prefix", "b"), 0, b"b\t3\n")
        expect("counts of two", get("-c", "--limit", "2", "--range", ".."), 0, b"a\t1\naa\t1\n")
        expect("places", get("-l", "--range", "b..b"), 0, b"b\t1.csv\t5\t3\nb\t1.csv\t18\t3\nb\t2.csv\t10\t3\n")
        expect("header", get("--header", "--prefix", "aa"), 0, b"id,v\naa,8\n")
        expect("quiet", get("-q", "--prefix", "aa"), 0, b"")
        expect("quietly nothing", get("-q", "--prefix", "q"), 1, b"", b"")
        r = expect("json", get("--json", "--range", "abc..abc"), 0)
        check(json.loads(r.out) == {"key": "abc", "file": "2.csv", "offset": 14, "length": 6, "record": "abc,10"}, "json", r)
        r = expect("stats", get("--stats", "--json", "-q", "--prefix", "a"), 0)
        cost = json.loads(r.err)
        check(cost["keys"] == cost["found"] == 4, "keys that were counted", r)
        expect("has", call("has", "-i", index, *scan, "--prefix", "b"), 0, b"b\n")
        expect("has not", call("has", "-i", index, *scan, "--prefix", "q"), 1, b"")
    expect("keys", call("keys", "-i", index, "--range", "ab..b"), 0, b"ab\nabc\nb\nb\nb\n")
    expect("keys, NUL", call("keys", "-i", index, "-0", "--reverse", "--limit", "3", "--prefix", "a"), 0, b"abc\0ab\0aa\0")
    expect("no keys", call("keys", "-i", index, "--prefix", "q"), 0, b"")
    expect("keys with places", call("keys", "-i", index, "-l", "--prefix", "ab"), 0, b"ab\t1.csv\t13\t4\nabc\t2.csv\t14\t6\n")
    for words in (["get", "--prefix", "a", "b"], ["get", "--explain", "--prefix", "a"], ["has", "-v", "--prefix", "a"],
                  ["get", "--limit", "3", "a"], ["get", "--range", "a..b..c"], ["get", "--range", "a"],
                  ["get", "--limit", "0", "--prefix", "a"], ["keys", "--reverse"], ["has", "--maybe", "--range", ".."]):
        expect_usage(" ".join(words), call(words[0], "-i", index, *words[1:]))


def try_changes(index, name):
    """A range over a file that changed since is no answer."""
    write("2.csv", b"id,v\n" + lines(SECOND) + b"ac,13\n")
    for words in (["get", "--prefix", "a"], ["keys", "--prefix", "a"], ["get", "--range", "x.."]):
        expect(f"changed: {words}", call(words[0], "-i", index, *words[1:]), 2, b"", b"keysieve update")
    expect("update", call("update", "-i", index))
    expect("after the update", call("keys", "-i", index, "--prefix", "a"), 0, b"a\naa\nab\nabc\nac\n")
    write("2.csv", b"id,v\n" + lines(SECOND[1:]))
    expect("update again", call("update", "-i", index))
    expect("after another", call("keys", "-i", index, "--prefix", "a"), 0, b"a\nab\nabc\n")
    expect("verify", call("verify", "-i", index, "--data"))
    r = expect("info", call("info", "-i", index, "--json"))
    check(json.loads(r.out)["organisation"] == name, "info", r)
    other = "hash" if name != "hash" else "sorted"
    expect("another organisation", call("build", "-i", index, "--organisation", other, "1.csv"), 2, b"", b"organisation")
    expect("that of the index", call("build", "-i", index, "1.csv"))


for organisation in ORGANISATIONS:
    write("1.csv", b"id,v\n" + lines(FIRST))
    write("2.csv", b"id,v\n" + lines(SECOND))
    expect("build", call("build", "-i", organisation, "--organisation", organisation, "-k", "id", "1.csv", "2.csv"))
    try_all(organisation)
    try_changes(organisation, organisation)

write("2.csv", b"id,v\n" + lines(SECOND))
expect("build by hash", call("build", "-i", "hash", "-k", "id", "1.csv", "2.csv"))
expect("hash has no order", call("get", "-i", "hash", "--prefix", "a"), 2, b"", b"sorted")
expect("nor keys", call("keys", "-i", "hash", "--range", "a.."), 2, b"", b"sorted")
expect("a scan has", call("get", "-i", "hash", "--scan", "--prefix", "aa"), 0, b"aa,8\n")
finish()
