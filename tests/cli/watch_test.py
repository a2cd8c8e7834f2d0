#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Watched patterns: which files a build and later updates take in."""
import json
import os
import random
import re
import shutil

from cli_support import call, check, expect, expect_usage, finish, write

SEED = 20240607


def put(path, key=None):
    """A data file whose one key is its path."""
    if os.path.dirname(path):
        os.makedirs(os.path.dirname(path), exist_ok=True)
    write(path, b"id,v\n%s,1\n" % os.fsencode(key or path))


def files(*words, cwd=None):
    """The names of the data files that an index has."""
    result = expect("info", call("info", "--json", *words, cwd=cwd))
    return {f["file"] for f in json.loads(result.out)["files"]}


def patterns(*words):
    result = expect("info", call("info", "--json", *words))
    return [p["pattern"] for p in json.loads(result.out)["watch_patterns"]]


def fresh(name):
    os.makedirs(name)
    os.chdir(name)


def test_life():
    fresh("life")
    put("logs/a.csv")
    put("logs/b.txt")
    put("logs/deep/c.csv")
    expect("build", call("build", "-k", "id", "--watch-pattern",
                         "logs/**/*.csv", "--watch-pattern", "more/*.csv"), 2,
           err=b"more")
    check(not os.path.exists(".keysieve"), "a directory that is not there")
    os.mkdir("more")
    expect("build", call("build", "-k", "id", "--watch-pattern",
                         "logs/**/*.csv", "--watch-pattern", "more/*.csv"))
    check(files() == {"logs/a.csv", "logs/deep/c.csv"}, "the first build")
    check(patterns() == ["logs/**/*.csv", "more/*.csv"], "patterns are kept")
    expect("key", call("get", "logs/deep/c.csv"), out=b"logs/deep/c.csv,1\n")
    put("more/d.csv")
    put("logs/new/.e.csv")
    expect("not yet", call("has", "-q", "more/d.csv"), 1)
    expect("one file only", call("update", "logs/a.csv"))
    expect("still not", call("has", "-q", "more/d.csv"), 1)
    expect("update", call("update"), err=b"2 indexed, 2 unchanged")
    check(files() == {"logs/a.csv", "logs/deep/c.csv", "logs/new/.e.csv",
                      "more/d.csv"}, "the first update")
    shutil.rmtree("logs/deep")
    os.remove("more/d.csv")
    expect("keep", call("update", "--keep-missing"))
    check("more/d.csv" in files(), "--keep-missing")
    expect("drop", call("update"), err=b"2 unchanged, 2 dropped")
    check(files() == {"logs/a.csv", "logs/new/.e.csv"}, "vanished ones")
    put("more/d.csv")
    expect("back again", call("update"), err=b"1 indexed")
    expect("same pattern", call("build", "--watch-pattern", "./more/*.csv",
                                "logs/a.csv"))
    check(len(patterns()) == 2, f"a pattern twice: {patterns()}")
    expect("other", call("build", "--forget-patterns", "--watch-pattern",
                         "*.csv", "logs/a.csv"))
    check(patterns() == ["*.csv"], "patterns replaced")
    expect("forget", call("build", "--forget-patterns"))
    put("logs/f.csv")
    expect("nothing is watched", call("update"), err=b"0 indexed")
    check("logs/a.csv" in files() and patterns() == [], "patterns forgotten")
    os.chdir("..")


def test_places():
    """From another directory, and after all of it has moved."""
    fresh("places")
    put("project/data/a.csv", "a")
    put("project/tmp/.keep")
    expect("build", call("build", "-k", "id", "--watch-pattern", "data/*.csv",
                         cwd="project"))
    put("project/data/b.csv", "b")
    expect("from elsewhere", call("update", "-i", "../.keysieve",
                                  cwd="project/tmp"), err=b"1 indexed")
    check(files("-i", "project/.keysieve") == {"data/a.csv", "data/b.csv"},
          "names are those of the build")
    os.rename("project", "moved")
    put("moved/data/c.csv", "c")
    expect("moved", call("update", "-i", "moved/.keysieve"),
           err=b"1 indexed, 2 unchanged")
    expect("key", call("get", "-i", "moved/.keysieve", "c"), out=b"c,1\n")
    absolute = os.path.abspath("moved/data")
    expect("absolute", call("build", "-i", "other", "-k", "id",
                            "--watch-pattern", absolute + "/*.csv"))
    os.rename("other", "moved/tmp/other")
    put("moved/data/d.csv", "d")
    expect("index alone moved", call("update", "-i", "moved/tmp/other"),
           err=b"1 indexed, 3 unchanged")
    check(absolute + "/d.csv" in files("-i", "moved/tmp/other"), "absolute")
    os.chdir("..")


def test_links():
    """A circle of links, a link that is named, and data in the index."""
    fresh("links")
    put("real/deep/a.csv", "a")
    os.symlink("..", "real/deep/up")
    os.symlink("real", "link")
    put("linked.csv", "l")
    os.symlink("linked.csv", "alias.csv")
    expect("build", call("build", "-k", "id", "--watch-pattern", "**/*.csv"))
    check(files() == {"real/deep/a.csv", "linked.csv", "alias.csv"},
          f"** follows no directory links: {files()}")
    expect("build", call("build", "-i", "ix", "-k", "id", "--watch-pattern",
                         "l*/deep/*.csv"))
    check(files("-i", "ix") == {"link/deep/a.csv"}, "a link that is named")
    expect("in the index directory", call("build", "-i", ".", "-f", "csv",
                                          "-k", "id", "--watch-pattern",
                                          "*.csv"))
    expect("once more", call("update", "-i", "."), err=b"0 indexed")
    expect("everything there", call("build", "-i", "real/deep", "-f", "lines",
                                    "--watch-pattern", "real/deep/**"))
    check(files("-i", "real/deep") == {"real/deep/a.csv"},
          "the files of the index are no data")
    os.chdir("..")


def test_refusals():
    fresh("refusals")
    for pattern, why in (("a[b", b"without a ]"), ("x/../*.csv", b"x/.."),
                         ("*/../a", b".."), ("none/*.csv", b"none")):
        expect(pattern, call("build", "-k", "id", "-f", "csv",
                             "--watch-pattern", pattern), 2, b"", why)
    expect_usage("empty", call("build", "-k", "id", "--watch-pattern", ""))
    expect_usage("nothing", call("build", "-k", "id"), b"no data file")
    expect_usage("forget without index", call("build", "-k", "id",
                                              "--forget-patterns"))
    expect("no match", call("build", "-k", "id", "--watch-pattern", "*.csv"),
           2, b"", b"no file matches")
    check(not os.path.exists(".keysieve"), "no index is left")
    put("good.csv", "good")
    write("bad.csv", b"nothing\n")
    expect("one is bad", call("build", "-k", "id", "--watch-pattern",
                              "*.csv"), 2, b"", b"bad.csv")
    expect("the other is there", call("get", "good"), out=b"good,1\n")
    put("bad.csv", "cured")
    expect("update", call("update"), err=b"1 indexed, 1 unchanged")
    if os.getuid() != 0:
        os.mkdir("closed")
        os.chmod("closed", 0)
        expect("closed", call("build", "--watch-pattern", "**/*.csv"),
               err=b"warning: closed")
        os.chmod("closed", 0o700)
    os.chdir("..")


def as_regex(pattern):
    """An independent reading of a pattern."""
    text = ""
    parts = pattern.split("/")
    for i, part in enumerate(parts):
        last = i + 1 == len(parts)
        if part == "**":
            text += ".+" if last else "(?:[^/]+/)*"
            continue
        for piece in re.findall(r"\*+|\?|\[[^]]*\]|.", part):
            if piece[0] == "*":
                text += "[^/]*"
            elif piece == "?":
                text += "[^/]"
            elif piece[0] == "[":
                text += piece.replace("!", "^")
            else:
                text += re.escape(piece)
        text += "" if last else "/"
    return re.compile(text)


def test_random():
    """Random trees and patterns, read by another program."""
    fresh("random")
    source = random.Random(SEED)
    for number in range(25):
        os.mkdir(str(number))
        os.chdir(str(number))
        paths = set()
        for _ in range(12):
            parts = ["d" + "".join(source.choice("ab")
                                   for _ in range(source.randint(0, 2)))
                     for _ in range(source.randint(0, 3))]
            name = "".join(source.choice("ab.") for _ in range(3)) + "f"
            paths.add("/".join(parts + [name]))
        for path in paths:
            put(path)
        pattern = "/".join(
            source.choice(["**", "d*", "d?", "*a", "d[ab]*", "d", "*"])
            for _ in range(source.randint(0, 3)))
        name = source.choice(["*", "*f", "a*", "?[!b]*", "**", ".*f", "[.a]*"])
        pattern = f"{pattern}/{name}" if pattern else name
        # Directories before the first special one have to be there.
        for part in ("d/", "d/d/", "d/d/d/"):
            os.makedirs(part, exist_ok=True)
        expected = {p for p in paths if as_regex(pattern).fullmatch(p)}
        result = call("build", "-f", "csv", "-k", "id", "--watch-pattern",
                      pattern, "-i", "../ix%d" % number)
        got = (files("-i", "../ix%d" % number) if result.rc == 0 else set())
        check(got == expected, f"seed {SEED}, {number}: {pattern}: "
              f"{sorted(got)} instead of {sorted(expected)}", result)
        os.chdir("..")
    os.chdir("..")


test_life()
test_places()
test_links()
test_refusals()
test_random()
finish()
