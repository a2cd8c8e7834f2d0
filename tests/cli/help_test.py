#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Help: fits a terminal, and every option in it is one that the verb takes."""
import os
import re

from cli_support import (FILTER_VERBS, SOURCE, VERBS, call, check, expect,
                         finish, write)

VALUES = {
    "fpr": "0.01", "memory": "64M", "threads": "1", "hash": "xxh3",
    "organisation": "hash", "bad-records": "skip", "progress": "never",
    "trailing-garbage": "ignore", "files-from": "names", "keys-from": "names",
    "format": "csv", "key": "id", "key-separator": "|", "delimiter": ",",
    "quote": "none", "escape": "double", "record-end": "lf",
    "expect": "5", "bits": "99", "hashes": "3", "like": "f", "output": "g",
    "record-size": "4", "prefix": "a", "limit": "3", "range": "a..b", "index": "ix",
    "window": "1h", "time-field": "ts", "generations": "4", "state": "st",
    "checkpoint": "5s", "temp-dir": "/tmp",
    "watch-pattern": "*.csv", "wait": "1",
}
OPTION = re.compile(r"^  (?:-(\w), |    )--([a-z-]+)(?: (\S+))?(?:  .*)?$")

write("data.csv", b"id,v\na,1\n")
write("names", b"data.csv\n")
with open(os.path.join(SOURCE, "docs", "keysieve.1"), encoding="utf-8") as f:
    MANUAL = f.read().replace("\\-", "-")


def check_shape(what, text, most_lines):
    lines = text.decode().split("\n")
    check(all(len(line) <= 80 for line in lines), f"{what}: over 80 columns")
    check(len(lines) - 1 <= most_lines, f"{what}: {len(lines) - 1} lines")
    check(not re.search(r"[ \t]$", text.decode(), re.M),
          f"{what}: blanks at a line's end")


def check_option(verb, letter, name, argument):
    verb = verb.split()
    words = verb + [f"--{name}"] + ([VALUES[name]] if argument else [])
    result = call(*words)
    check(b"unknown option" not in result.err, f"{verb} --{name}", result)
    if letter:
        words[len(verb)] = f"-{letter}"
        result = call(*words)
        check(b"unknown option" not in result.err, f"{verb} -{letter}", result)
    check(f"--{name}" in MANUAL, f"the manual page lacks --{name}")


def check_verb(verb):
    words = verb.split()
    text = expect("help", call("help", *words)).out
    for more in (["--help"], ["-h"], ["x", "--help"]):
        expect("the same help", call(*words, *more), out=text)
    check_shape(verb, text, 40 if verb == "build" else 24)
    options = [m.groups() for m in map(OPTION.match, text.decode().split("\n"))
               if m]
    check(len(options) >= 2, f"{verb}: its help shows no options")
    for option in options:
        check_option(verb, *option)
    check(text.startswith(b"usage: keysieve " + verb.encode()),
          f"{verb}: no usage line")
    check(b"\nExample: keysieve " + verb.encode() in text,
          f"{verb}: no example")


overview = expect("help", call("help")).out
check_shape("help", overview, 24)
for verb_name in VERBS + ["dedup"]:
    check(b"\n  " + verb_name.encode() + b" " in overview,
          f"help lacks {verb_name}")
    check_verb(verb_name)
for verb_name in FILTER_VERBS:
    check_verb(f"filter {verb_name}")
group = expect("help filter", call("help", "filter")).out
check_shape("filter", group, 24)
for words in (["--help"], ["-h"]):
    expect("the same help", call("filter", *words), out=group)
expect("no such verb", call("help", "filter", "nosuch"), 2, b"", b"nosuch")
expect("--help", call("--help"), out=overview)
expect("-h", call("-h"), out=overview)
expect("no verb", call(), 2, b"", b"usage: keysieve")
expect("help of an unknown verb", call("help", "nosuch"), 2, b"", b"nosuch")
expect("help of two verbs", call("help", "get", "has"), 2, b"")
version = expect("--version", call("--version")).out
check(re.fullmatch(rb"keysieve \d+\.\d+\.\d+\n", version), "version line")
check(b"\n  filter " in overview, "help lacks filter")
check(b"\nEXAMPLE" not in overview, "shape of help")
with open("/dev/full", "wb") as full:
    expect("help on a full disk", call("help", stdout=full), 2, None,
           b"standard output")
finish()
